/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the locks that goroutines wait for, by the code that waits: each stack leads to one
 * lock of each struct that its functions are given. */
#ifndef WAIT_CODE_H
#define WAIT_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "goroutines/wait.h"

struct frames;
struct lock_fields;
struct snapshot;
struct wait_code;

/* All of these outlive it. */
struct wait_code *wait_code_new(const struct snapshot *snap, const struct frames *frames,
				struct lock_fields *fields);
void wait_code_free(struct wait_code *code); /* NULL is all right */
/* For a goroutine of the snapshot with this stack, in other functions than those of package sync,
 * or in these too: "main.(*Store).mu"; NULL: not known. */
const char *wait_code_name(struct wait_code *code, uint32_t stack, enum wait_kind kind,
			   bool in_sync);

#endif
