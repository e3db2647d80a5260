/* SPDX-License-Identifier: Apache-2.0 */
/* What a goroutine waits for, as text and as JSON. */
#ifndef WAIT_PRINT_H
#define WAIT_PRINT_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

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
	/* of the descriptor at an address in memory; NULL: not known */
	const char *(*type_name)(void *ctx, uint64_t addr);
	void *type_ctx;
};

/* Lines that begin with `indent`, nothing if it is not known:
 *	waits to receive from chan int 0xc00008c060, 2 of 10, with 3 others
 */
void wait_print(FILE *out, const char *indent, const struct wait_context *waits,
		const struct snapshot *snap, const struct goroutine *g);
/* A line for each circle of goroutines that wait for each other's locks, of those with one that is
 * picked, nothing if there is none:
 *	deadlock? goroutine 7 -> sync.Mutex 0xc00008c060 main.(*T).mu -> goroutine 9 -> ...
 */
void wait_print_circles(FILE *out, const struct wait_context *waits, const struct snapshot *snap,
			const unsigned char *picked);
/* An object, or null. */
void wait_json(struct json *json, const struct wait_context *waits, const struct snapshot *snap,
	       const struct goroutine *g);

#endif
