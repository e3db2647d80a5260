/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches again after an execve by another thread. The kernel keeps probes to one process by its
 * first thread. If another thread executes a program (Go's syscall.Exec does so on whatever thread
 * it runs), that thread becomes the first, and the kernel lets no hit through. So a thread of the
 * tool waits for such an execve, and attaches again at once. */
#ifndef EXECWATCH_H
#define EXECWATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

struct attach;
struct bpfprog;
struct execwatch;

struct execwatch_report {
	uint64_t times;        /* attached anew */
	uint64_t blind_ns;     /* from execve to attached, all of them together */
	struct errmsg failure; /* why that did not work; no text: it did */
};

/* Before anything is attached. Never NULL; caller frees. */
struct execwatch *execwatch_new(pid_t pid);
/* When all is attached, and before tracing begins: `bpf` has the program on_exec. `attached` may
 * hold NULLs and is the watch's until execwatch_end(). 0, or -1 with *err. */
int execwatch_begin(struct execwatch *watch, struct bpfprog *bpf, struct attach *const *attached,
		    size_t count, struct errmsg *err);
void execwatch_end(struct execwatch *watch); /* nothing is attached anew after it */
void execwatch_read(const struct execwatch *watch, struct execwatch_report *out); /* after _end */
void execwatch_free(struct execwatch *watch); /* NULL is all right */

#endif
