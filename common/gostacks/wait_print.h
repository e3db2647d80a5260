/* SPDX-License-Identifier: Apache-2.0 */
/* What a goroutine waits for, as text and as JSON. */
#ifndef WAIT_PRINT_H
#define WAIT_PRINT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "machine/arch.h"

struct goroutine;
struct json;
struct process_files;
struct snapshot;
struct wait_objects;

struct wait_context { /* what is known beside the snapshot */
	struct wait_objects *objects;
	struct process_files *files; /* NULL: not known */
	/* the number of the system call that a thread is in; -1: none, or not known */
	int (*call)(void *ctx, pid_t tid);
	void *call_ctx;
	enum arch arch; /* whose calls they are */
	/* of the descriptor at an address in memory; NULL: not known */
	const char *(*type_name)(void *ctx, uint64_t addr);
	void *type_ctx;
};

#endif
