/* SPDX-License-Identifier: Apache-2.0 */
/* Where the running kernel keeps what our programs read of it, from its own type information
 * (/sys/kernel/btf/vmlinux). The only file that includes libbpf's BTF reader. */
#ifndef BTF_H
#define BTF_H

#include <stdint.h>

struct errmsg;

/* Byte offsets. Each takes some ms: the kernel's types are read anew. 0; -1 with *err where the
 * kernel has no type information, or nothing of that name. */
int btf_thread_fsbase(uint32_t *off, struct errmsg *err); /* task_struct.thread.fsbase: amd64 */
/* task_struct.mm and mm_struct.start_code */
int btf_mm_start_code(uint32_t *task_mm, uint32_t *start_code, struct errmsg *err);

#endif
