/* SPDX-License-Identifier: Apache-2.0 */
/* What the running kernel can do, found out by trying: versions are no guide, because vendors port
 * features back. Without the privileges to try, the answer is yes, and the real attempt then says
 * what is missing. Each takes well below a millisecond. */
#ifndef KERNELFEATURE_H
#define KERNELFEATURE_H

#include <stdbool.h>

bool kernelfeature_uprobe_multi(void); /* one link for many uprobes: Linux 6.6 */
bool kernelfeature_cookies(void);      /* bpf_get_attach_cookie: 5.15 */
bool kernelfeature_cmpxchg(void);      /* atomic compare and exchange in BPF: 5.12 */
/* the two that read memory of the one kind alone: 5.5 */
bool kernelfeature_probe_read_user(void);
bool kernelfeature_probe_read_kernel(void);
bool kernelfeature_exec_watch(void); /* BPF programs that see each execve: 4.17 */
bool kernelfeature_ringbuf(void);    /* BPF ring buffer: 5.8 */
/* a uprobe's program that reads user memory as the user would, waiting for the page; with hashes
 * that are not allocated beforehand: 6.1. No without the privileges. */
bool kernelfeature_sleepable(void);

#endif
