/* SPDX-License-Identifier: Apache-2.0 */
/* libbcc, loaded when the first BPF program is to be compiled: it brings Clang and LLVM, some 60 MB
 * and most of the start of a tool that needs none of it. */
#ifndef LIBBCC_INTERNAL_H
#define LIBBCC_INTERNAL_H

#include <bcc/bcc_common.h>

struct errmsg;

struct libbcc {
	__typeof__(bpf_module_create_c_from_string) *compile;
	__typeof__(bpf_module_destroy) *destroy;
	__typeof__(bpf_num_tables) *num_tables;
	__typeof__(bpf_table_name) *table_name;
	__typeof__(bpf_table_fd_id) *table_fd;
	__typeof__(bpf_num_functions) *num_functions;
	__typeof__(bpf_function_name) *function_name;
	__typeof__(bpf_function_start_id) *function_start;
	__typeof__(bpf_function_size_id) *function_size;
};

/* Loaded once and kept until the process ends. NULL with *err where there is none, or an older one
 * that lacks something. */
const struct libbcc *libbcc_open(struct errmsg *err);

#endif
