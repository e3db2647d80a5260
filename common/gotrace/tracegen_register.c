// SPDX-License-Identifier: Apache-2.0
/* Reads values, or parts of them, from registers. */
#include "gotrace/tracegen_register_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gotrace/tracegen_step_internal.h"

void gen_register(const struct gen *gen, const struct abi_piece *piece, char *text, size_t size)
{
	const struct registers_general *reg = abi_register(gen->probe->arch, piece);

	if (reg && !reg->probe)
		snprintf(text, size, "probe_register(ctx, 8 * %u)", reg->hardware);
	else
		snprintf(text, size, "probe_register(ctx, REGISTER_%s)", reg ? reg->probe : "PC");
}

static bool is_general(const struct gen *gen, const struct abi_piece *piece)
{
	return piece->where != ABI_AT && abi_register(gen->probe->arch, piece);
}

/* The register's bytes from `skip` on */
static void shifted(const struct gen *gen, const struct abi_piece *piece, uint64_t skip, char *text,
		    size_t size)
{
	char reg[NAME_MAX_LEN];

	gen_register(gen, piece, reg, sizeof(reg));
	if (skip)
		snprintf(text, size, "(%s >> %u)", reg, (unsigned)skip * 8);
	else
		snprintf(text, size, "%s", reg);
}

/* Arguments may no longer be in their registers; results always are. */
static void check_kept(struct gen *gen)
{
	if (gen->probe->restarts && !gen->returning) {
		ctext_line(gen->out, "must_be_kept(&bad, ctx, hit);");
		gen_step(gen, &(struct trace_step){.what = TRACE_STEP_KEPT});
	}
}

static bool in_memory(const struct abi_piece *piece)
{
	return piece->where == ABI_SLOT || piece->where == ABI_SP;
}

uint64_t gen_slot(const struct abi_piece *piece)
{
	/* Go's stack arguments begin above the return address (arm64: the saved LR) */
	return piece->n + (piece->where == ABI_SLOT ? UINT64_C(8) : 0);
}

static const struct abi_piece *piece_with(const struct abi_value *value, uint64_t off,
					  unsigned size)
{
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];

		if (piece->off <= off && off - piece->off + size <= piece->size)
			return piece;
	}
	return NULL;
}

bool gen_is_there(const struct abi_value *value, uint64_t off, unsigned size)
{
	return piece_with(value, off, size) != NULL;
}

int gen_load_register(struct gen *gen, const struct abi_value *value, uint64_t off, unsigned size,
		      bool is_signed, const char *name)
{
	const struct abi_piece *piece = piece_with(value, off, size);
	char text[2 * NAME_MAX_LEN];

	if (!piece || (!is_general(gen, piece) && !in_memory(piece)))
		return -1;
	if (in_memory(piece))
		snprintf(text, sizeof(text), "fetch_word(&bad, %u, hit->sp + %" PRIu64 ")", size,
			 gen_slot(piece) + off - piece->off);
	else
		shifted(gen, piece, piece->from + off - piece->off, text, sizeof(text));
	if (!in_memory(piece))
		check_kept(gen);
	ctext_line(gen->out, "u64 %s = (%c%u)%s;", name, is_signed ? 's' : 'u', 8 * size, text);
	return 0;
}

/* Copies bytes [off, end) of a value to record + `at`, in as many stores as alignment requires. */
static void copy_part(struct gen *gen, const struct abi_piece *piece, uint64_t off, uint64_t end,
		      uint32_t at)
{
	char text[2 * NAME_MAX_LEN];

	while (off < end) {
		uint32_t size = 8;

		while (at % size || off + size > end)
			size /= 2;
		shifted(gen, piece, piece->from + off - piece->off, text, sizeof(text));
		ctext_line(gen->out, "*(u%u *)(rec + %u) = %s;", 8 * size, at, text);
		gen_step_register(gen, piece, (piece->from + off - piece->off) * 8, size, at);
		off += size;
		at += size;
	}
}

static void add_holes(uint64_t *holes, uint64_t off, uint64_t end)
{
	for (uint64_t bit = off / 4; bit * 4 < end && bit < 64; bit++)
		*holes |= UINT64_C(1) << bit;
}

void gen_copy_memory(struct gen *gen, const char *base, uint64_t off, uint32_t size, uint32_t at)
{
	ctext_line(gen->out, "must(&bad, fetch(rec + %u, %u, %s + %" PRIu64 "));", at, size, base,
		   off);
	if (!strcmp(base, "hit->sp") && off <= UINT32_MAX)
		gen_step(gen, &(struct trace_step){
				      .what = TRACE_STEP_STACK, .at = at, .max = size, .n = off});
}

void gen_copy_registers(struct gen *gen, const struct abi_value *value, uint64_t off, uint32_t size,
			uint32_t at, uint64_t *holes)
{
	if (value->count && !in_memory(&value->pieces[0]))
		check_kept(gen);
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];
		uint64_t from = piece->off > off ? piece->off : off;
		uint64_t end = piece->off + piece->size;

		if (end > off + size)
			end = off + size;
		if (from >= end)
			continue;
		if (in_memory(piece))
			gen_copy_memory(gen, "hit->sp", gen_slot(piece) + from - piece->off,
					end - from, at + (uint32_t)(from - off));
		else if (is_general(gen, piece))
			copy_part(gen, piece, from, end, at + (uint32_t)(from - off));
		else
			add_holes(holes, from - off, end - off);
	}
}
