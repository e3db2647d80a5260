/* SPDX-License-Identifier: Apache-2.0 */
/* What the running kernel can do, found out by trying: versions are no guide, because vendors port
 * features back. Without the privileges to try, the answer is yes, and the real attempt then says
 * what is missing. Each takes well below a millisecond. */
#ifndef KERNELFEATURE_H
#define KERNELFEATURE_H

#include <stdbool.h>

bool kernelfeature_cmpxchg(void);    /* atomic compare and exchange in BPF: 5.12 */
bool kernelfeature_exec_watch(void); /* BPF programs that see each execve: 4.17 */
/* the registers of user code while the kernel works for it (bpf_task_pt_regs): 5.15, with BTF */
bool kernelfeature_task_registers(void);

#endif
