/* SPDX-License-Identifier: Apache-2.0 */
/* Values in pieces: in registers, in parts of the stack. */
#ifndef TRACEGEN_REGISTER_H
#define TRACEGEN_REGISTER_H

#include "gotrace/tracegen_code.h"

/* C for the general register that a piece is in, or whose address it is at */
void gen_register(const struct gen *gen, const struct abi_piece *piece, char *text, size_t size);

/* of a piece in memory: bytes above hit->sp */
uint64_t gen_slot(const struct abi_piece *piece);
/* Has the value a piece that has all bytes [off, off + size)? */
bool gen_is_there(const struct abi_value *value, uint64_t off, unsigned size);
/* Bytes [off, off + size) of a value in pieces, into `name`: -1: they are not in one that can be
 * read. */
int gen_load_register(struct gen *gen, const struct abi_value *value, uint64_t off, unsigned size,
		      bool is_signed, const char *name);
/* The same bytes into the record at `at`, as far as they can be read; of the others `holes` has
 * bits, as in struct shape. */
void gen_copy_registers(struct gen *gen, const struct abi_value *value, uint64_t off, uint32_t size,
			uint32_t at, uint64_t *holes);

#endif
