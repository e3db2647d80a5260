/* SPDX-License-Identifier: Apache-2.0 */
/* Tests by tables: each row has a signature, and where its parameters and results are. */
#ifndef ABI_ROWS_H
#define ABI_ROWS_H

#include "abi/abi.h"
#include "machine/arch.h"

struct abi_row {
	const char *signature, *expected;
	unsigned stack_size, args_size;
};

/* "i0+i1 f0 [8] -> i0": registers and stack slots; "-8": of size 0, with its slot at 8; "h5.4": the
 * register with DWARF number 5, from its byte 4 on; "@0.8": memory, 8 bytes past the address in
 * register 0. Caller frees. */
char *abi_rows_describe(const struct abi_layout *layout);
void abi_rows_check_one(const struct abi_row *row, enum arch arch, enum abi_convention convention,
			int dictionary);
void abi_rows_check(const struct abi_row *rows, size_t count, enum arch arch,
		    enum abi_convention convention);

#endif
