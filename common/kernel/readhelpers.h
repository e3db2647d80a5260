/* SPDX-License-Identifier: Apache-2.0 */
/* In each compile libbcc asks whether the kernel has bpf_probe_read_user and
 * bpf_probe_read_kernel (Linux 5.5), or bpf_probe_read alone, and reads all of /proc/kallsyms for
 * it: half of what a small program's start costs. Where the kernel hides its addresses, the answer
 * is wrong besides. readhelpers.c defines bcc_procutils_each_ksym(), which libbcc reads the file
 * by; as the program's own definition it comes before the library's, and tells these two symbols
 * alone. */
#ifndef READHELPERS_H
#define READHELPERS_H

/* Tries both helpers out; to be called before libbcc compiles. Without the privileges to try, they
 * are taken to be there. */
void readhelpers_try(void);

#endif
