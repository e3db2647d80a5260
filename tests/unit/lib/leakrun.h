/* SPDX-License-Identifier: Apache-2.0 */
/* In place of a process whose goroutines are looked at, for goleaks: what leaks, when it is looked
 * at, and how the session ends are the test's. With faketool.h, whose notes say what was asked. */
#ifndef LEAKRUN_H
#define LEAKRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gostacks/leaks.h"
#include "tracing/session.h"

enum { LEAKRUN_LEAKS = 4, LEAKRUN_PROCESS_FD = 9, LEAKRUN_GO_STATEMENT = 0x401000 };

extern struct leakrun {
	struct leak all[LEAKRUN_LEAKS]; /* those before the first that has no looks */
	uint64_t now_ns;                /* each look takes a second */
	uint64_t passes_ns;             /* between the last look and the end */
	unsigned looks;                 /* in the session, after the first */
	enum session_end session_ends;
	bool runs; /* the process */
	size_t left_out;
} leakrun;

#endif
