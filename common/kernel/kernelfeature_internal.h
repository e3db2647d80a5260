/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room kernel uses of kernelfeature. */
#ifndef KERNELFEATURE_INTERNAL_H
#define KERNELFEATURE_INTERNAL_H

#include "kernel/kernelfeature.h"

bool kernelfeature_uprobe_multi(void); /* one link for many uprobes: Linux 6.6 */
bool kernelfeature_cookies(void);      /* bpf_get_attach_cookie: 5.15 */
/* the two that read memory of the one kind alone: 5.5 */
bool kernelfeature_probe_read_user(void);
bool kernelfeature_probe_read_kernel(void);
bool kernelfeature_ringbuf(void); /* BPF ring buffer: 5.8 */
/* a uprobe's program that reads user memory as the user would, waiting for the page; with hashes
 * that are not allocated beforehand: 6.1. No without the privileges. */
bool kernelfeature_sleepable(void);

#endif
