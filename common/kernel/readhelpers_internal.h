/* SPDX-License-Identifier: Apache-2.0 */
/* In each compile libbcc asks whether the kernel has bpf_probe_read_user and bpf_probe_read_kernel
 * (Linux 5.5), or bpf_probe_read alone, and reads all of /proc/kallsyms to find out: half the
 * start-up time of a small program. Where the kernel hides its addresses, the answer is even wrong.
 * readhelpers.c defines bcc_procutils_each_ksym(), by which libbcc reads that file: the program's
 * own definition takes precedence over the library's, and reports these two symbols alone. */
#ifndef READHELPERS_INTERNAL_H
#define READHELPERS_INTERNAL_H

/* Tries both helpers out; to be called before libbcc compiles. Without the privileges to try, they
 * are taken to be there. */
void readhelpers_try(void);

#endif
