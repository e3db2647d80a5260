// SPDX-License-Identifier: Apache-2.0
/* Reads of registers and memory as bpftrace expressions. */
#include <inttypes.h>
#include <stdio.h>

#include "machine/arch.h"
#include "gofuncs/emit_args_internal.h"
#include "gofuncs/emit_leaf_internal.h"

enum {
	PLACE_TEXT = 24,
	RETURN_ADDRESS = 8, /* bytes at the stack pointer, below the first stack argument */
};

static void print_register(FILE *out, enum arch arch, const struct abi_piece *piece)
{
	char text[PLACE_TEXT];
	const char *name = emit_register(arch, piece, text, sizeof(text));

	if (arch == ARCH_ARM64) /* bpftrace's name for x0 */
		fprintf(out, "reg(\"r%s\")", name + 1);
	else
		fprintf(out, "reg(\"%s\")", name);
}

static const struct abi_piece *find_piece(const struct abi_value *value, uint64_t off,
					  uint64_t size)
{
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];

		if (piece->off <= off && size <= piece->size &&
		    off - piece->off <= piece->size - size)
			return piece;
	}
	return NULL;
}

static void print_access(FILE *out, const struct emit_leaf_site *site,
			 const struct abi_piece *piece, uint64_t off, const char *cast)
{
	int64_t at = (int64_t)(off - piece->off) + piece->from;

	switch (piece->where) {
	case ABI_SLOT:
		at += (int64_t)site->sp_adjust + RETURN_ADDRESS + piece->n;
		fprintf(out, "*(%s *)(reg(\"sp\") + %" PRId64 ")", cast, at);
		break;
	case ABI_AT:
		fprintf(out, "*(%s *)(", cast);
		print_register(out, site->arch, piece);
		fprintf(out, " + %" PRId64 ")", at);
		break;
	default:
		fprintf(out, at ? "(%s)(" : "(%s)", cast);
		print_register(out, site->arch, piece);
		if (at)
			fprintf(out, " >> %" PRId64 ")", at * 8);
	}
}

static bool is_readable(const struct abi_piece *piece)
{
	return piece->where == ABI_INT || piece->where == ABI_HARDWARE ||
	       piece->where == ABI_SLOT || piece->where == ABI_AT;
}

char *emit_access(const struct emit_leaf_site *site, uint64_t off, uint64_t size, const char *cast,
		  const char **lost)
{
	const struct abi_piece *piece = find_piece(site->value, off, size);
	char *text = NULL;
	size_t len;

	if (!piece || !is_readable(piece)) {
		*lost = piece && piece->where == ABI_FLOAT ? "it is in a floating-point register"
							   : "its place is not known";
		return NULL;
	}
	FILE *out = open_memstream(&text, &len);

	if (!out) {
		*lost = "no memory";
		return NULL;
	}
	print_access(out, site, piece, off, cast);
	fclose(out);
	return text;
}
