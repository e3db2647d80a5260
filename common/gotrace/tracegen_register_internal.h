/* SPDX-License-Identifier: Apache-2.0 */
/* Values in pieces: in registers, in parts of the stack. */
#ifndef TRACEGEN_REGISTER_INTERNAL_H
#define TRACEGEN_REGISTER_INTERNAL_H

#include "gotrace/tracegen_internal.h"

/* C for the general register that a piece is in, or whose address it is at */
void gen_register(const struct gen *gen, const struct abi_piece *piece, char *text, size_t size);

/* the offset of a piece in memory from hit->sp */
uint64_t gen_slot(const struct abi_piece *piece);
/* Does one piece of the value have all bytes [off, off + size)? */
bool gen_is_there(const struct abi_value *value, uint64_t off, unsigned size);
/* Reads bytes [off, off + size) of a value in pieces into `name`; -1: no readable piece has all of
 * them. */
int gen_load_register(struct gen *gen, const struct abi_value *value, uint64_t off, unsigned size,
		      bool is_signed, const char *name);
/* Copies bytes of memory, at base + off, to record + `at`. */
void gen_copy_memory(struct gen *gen, const char *base, uint64_t off, uint32_t size, uint32_t at);
/* Copies these bytes into the record at `at`, as far as they can be read; `holes` gets bits for the
 * others, as in struct shape. */
void gen_copy_registers(struct gen *gen, const struct abi_value *value, uint64_t off, uint32_t size,
			uint32_t at, uint64_t *holes);

#endif
