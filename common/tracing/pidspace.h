/* SPDX-License-Identifier: Apache-2.0 */
/* The tool in a PID namespace of its own: what the kernel side is compiled with to call processes
 * as the tool does, those in namespaces nested in that one too. See bpf-src/parts/probe.h. */
#ifndef PIDSPACE_H
#define PIDSPACE_H

#include <stddef.h>
#include <sys/types.h>

struct bpfprog_define;
struct errmsg;

enum { PIDSPACE_DEFINES = 11 };

/* `defs` has room for PIDSPACE_DEFINES more, and *count grows by what is added. `pid`: the one
 * process that is traced; 0: all. 0; -1 with *err: that process is in another namespace, and the
 * kernel tells nothing of its types, without which only processes of the tool's own are known. */
int pidspace_define(pid_t pid, struct bpfprog_define *defs, size_t *count, struct errmsg *err);

#endif
