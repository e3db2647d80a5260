/* SPDX-License-Identifier: Apache-2.0 */
/* A core file of a Go program, as its memory and its threads: what the core does not hold of the
 * program's own file is taken from that. */
#ifndef GOCORE_H
#define GOCORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct corefile;
struct errmsg;
struct gocore;
struct goruntime;
struct image;
struct process_registers;

/* NULL and *err: it is one of another program. Both outlive it; the caller frees. */
struct gocore *gocore_new(const struct corefile *core, const struct image *img, struct errmsg *err);
void gocore_free(struct gocore *core); /* NULL is all right */

bool gocore_is_told(const struct gocore *core); /* that it is one of this program */
uint64_t gocore_bias(const struct gocore *core);
/* of struct memory */
bool gocore_read(void *ctx, uint64_t addr, void *out, size_t len);
/* To be called before those below: which thread is whose, by the runtime's own numbers of them. */
void gocore_find_threads(struct gocore *core, const struct goruntime *rt);
/* ctx: the gocore. As process_stop_registers(); the number of a system call, -1: in none. */
bool gocore_registers(const void *ctx, pid_t tid, struct process_registers *out);
int gocore_call(const void *ctx, pid_t tid);

#endif
