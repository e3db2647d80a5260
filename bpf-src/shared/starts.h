/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the runtime that tell which goroutine starts which, and when one ends: what
 * parts/starts.bpf.c is told of its probes. */
#ifndef STARTS_SHARED_H
#define STARTS_SHARED_H

enum starts_func {                   /* the copy of the cookie */
		   FOLLOW_START = 1, /* newproc1 */
		   FOLLOW_END,       /* gdestroy */
};

#endif
