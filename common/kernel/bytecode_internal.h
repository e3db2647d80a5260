/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled BPF program apart from the compiler: maps to create and functions to load. As bytes it
 * can be kept in a file. */
#ifndef BYTECODE_INTERNAL_H
#define BYTECODE_INTERNAL_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bytecode_map {
	char *name; /* in the program's text; the kernel keeps 15 bytes of it; or NULL */
	uint32_t type, key_size, value_size, entries, flags; /* as BPF_MAP_CREATE takes them */
};

struct bytecode_func {
	char *name;
	struct bpf_insn *insns; /* those that load a map have its number in place of a descriptor */
	uint32_t count;
};

struct bytecode {
	struct bytecode_map *maps;
	struct bytecode_func *funcs;
	uint32_t nmaps, nfuncs;
};

void bytecode_free(struct bytecode *code); /* NULL is fine */
/* Does the instruction load the address of a map? The next one belongs to it. */
bool bytecode_is_map(const struct bpf_insn *insn);
/* In the byte order of this machine. */
void bytecode_write(FILE *out, const struct bytecode *code);
/* NULL: not what bytecode_write() writes. Caller frees. */
struct bytecode *bytecode_read(const void *bytes, size_t size);

#endif
