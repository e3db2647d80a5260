/* SPDX-License-Identifier: Apache-2.0 */
/* libbcc, loaded when the first BPF program is to be compiled: it brings Clang and LLVM, some 60 MB
 * and most of the start of a tool that needs none of it. */
#ifndef LIBBCC_INTERNAL_H
#define LIBBCC_INTERNAL_H

#include <bcc/bcc_common.h>
#include <bcc/libbpf.h>

struct errmsg;

struct libbcc {
	__typeof__(bpf_module_create_c_from_string) *compile;
	__typeof__(bpf_module_destroy) *destroy;
	__typeof__(bpf_table_fd) *table_fd;
	__typeof__(bpf_function_start) *function_start;
	__typeof__(bpf_function_size) *function_size;
	__typeof__(bcc_func_load) *load;
};

/* Loaded once and kept until the process ends. NULL with *err where there is none, or an older one
 * that lacks something. */
const struct libbcc *libbcc_open(struct errmsg *err);

#endif
