/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the locks that goroutines wait for, by the code that waits: each stack leads to one
 * lock of each struct that its functions are given. */
#ifndef WAIT_CODE_H
#define WAIT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "goroutines/wait.h"

struct frames;
struct lock_fields;
struct snapshot;
struct wait_code;

/* For a goroutine with this stack: its addresses as they are in the process, the innermost first.
 * "main.(*Store).mu", by functions of package sync only if in_sync is true; NULL: not known. The
 * caller frees. */
char *wait_code_of(const struct frames *frames, struct lock_fields *fields, const uint64_t *addrs,
		   size_t count, enum wait_kind kind, bool in_sync);

#endif
