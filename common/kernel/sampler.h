/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a BPF program at each tick of a clock: on each CPU so many times a second, whatever runs
 * there. */
#ifndef SAMPLER_H
#define SAMPLER_H

#include <stdint.h>

struct errmsg;
struct sampler;

/* `prog_fd`: what bpfprog_load_sampled() has returned. It begins at once. NULL with *err: not
 * permitted, or so often that the kernel refuses it. The caller frees, which ends it. */
struct sampler *sampler_new(int prog_fd, uint32_t hz, struct errmsg *err);
void sampler_free(struct sampler *sampler); /* NULL is all right */

#endif
