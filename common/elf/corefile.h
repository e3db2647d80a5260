/* SPDX-License-Identifier: Apache-2.0 */
/* A core file: the memory of a process as it was, and where its threads were (Linux's
 * fs/binfmt_elf.c, core(5)). Of x86-64. What it does not hold, such as pages of files, is missing,
 * not zero. */
#ifndef COREFILE_H
#define COREFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct corefile;
struct errmsg;
struct heldfile;

struct corefile_thread {
	pid_t tid;
	int call; /* the number of the system call that it was in; -1: none */
	uint64_t pc, sp;
	uint64_t tls; /* what fs points to */
};

/* `file` becomes its own, NULL too: then *err says why. NULL and *err: not a core file, of another
 * machine, malformed... A truncated one is opened. The caller closes. */
struct corefile *corefile_open(struct heldfile *file, struct errmsg *err);
void corefile_close(struct corefile *core); /* NULL is all right */

const char *corefile_path(const struct corefile *core);
pid_t corefile_pid(const struct corefile *core); /* of its first thread; 0: not known */
/* In the file's order: of a crash, the thread that crashed is the first. */
const struct corefile_thread *corefile_threads(const struct corefile *core, size_t *count);

/* How many bytes from addr on, up to `len`, were copied: 0 where it holds none. */
size_t corefile_read(const struct corefile *core, uint64_t addr, void *out, size_t len);
/* Of how many bytes that its headers tell of, how many are not there: the file was cut off. */
uint64_t corefile_missing(const struct corefile *core, uint64_t *whole);

#endif
