// SPDX-License-Identifier: Apache-2.0
#include "kernel/bytecode_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAPS_MAX = 128, FUNCS_MAX = 256, NAME_MAX_BYTES = 128, INSNS_MAX = 1000000 };

void bytecode_free(struct bytecode *code)
{
	if (!code)
		return;
	for (uint32_t i = 0; i < code->nmaps; i++)
		free(code->maps[i].name);
	for (uint32_t i = 0; i < code->nfuncs; i++) {
		free(code->funcs[i].name);
		free(code->funcs[i].insns);
	}
	free(code->maps);
	free(code->funcs);
	free(code);
}

bool bytecode_is_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_DW | BPF_IMM) && insn->src_reg == BPF_PSEUDO_MAP_FD;
}

static void put(FILE *out, uint32_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

static void put_name(FILE *out, const char *name)
{
	uint32_t len = strlen(name);

	put(out, len);
	fwrite(name, 1, len, out);
}

void bytecode_write(FILE *out, const struct bytecode *code)
{
	put(out, code->nmaps);
	for (uint32_t i = 0; i < code->nmaps; i++) {
		const struct bytecode_map *map = &code->maps[i];

		put_name(out, map->name);
		put(out, map->type);
		put(out, map->key_size);
		put(out, map->value_size);
		put(out, map->entries);
		put(out, map->flags);
	}
	put(out, code->nfuncs);
	for (uint32_t i = 0; i < code->nfuncs; i++) {
		const struct bytecode_func *func = &code->funcs[i];

		put_name(out, func->name);
		put(out, func->count);
		fwrite(func->insns, sizeof(*func->insns), func->count, out);
	}
}

struct reading {
	const uint8_t *at;
	size_t left;
	bool bad;
};

/* The next `size` bytes; NULL: there are not as many. */
static const uint8_t *take(struct reading *r, size_t size)
{
	const uint8_t *at = r->at;

	if (r->bad || r->left < size) {
		r->bad = true;
		return NULL;
	}
	r->at += size;
	r->left -= size;
	return at;
}

/* Not above `max`: else 0, and what is read is bad. */
static uint32_t take_number(struct reading *r, uint32_t max)
{
	const uint8_t *at = take(r, sizeof(uint32_t));
	uint32_t number = 0;

	if (at)
		memcpy(&number, at, sizeof(number));
	if (number <= max)
		return number;
	r->bad = true;
	return 0;
}

static char *take_name(struct reading *r)
{
	uint32_t len = take_number(r, NAME_MAX_BYTES);
	const uint8_t *at = take(r, len);

	return mem_strndup(at ? (const char *)at : "", at ? len : 0);
}

static void take_maps(struct reading *r, struct bytecode *code)
{
	uint32_t count = take_number(r, MAPS_MAX);

	code->maps = mem_zalloc(count + 1, sizeof(*code->maps));
	for (; code->nmaps < count && !r->bad; code->nmaps++) {
		struct bytecode_map *map = &code->maps[code->nmaps];

		map->name = take_name(r);
		map->type = take_number(r, UINT32_MAX);
		map->key_size = take_number(r, UINT32_MAX);
		map->value_size = take_number(r, UINT32_MAX);
		map->entries = take_number(r, UINT32_MAX);
		map->flags = take_number(r, UINT32_MAX);
	}
}

static bool maps_are_known(const struct bytecode_func *func, uint32_t nmaps)
{
	for (uint32_t i = 0; i < func->count; i++)
		if (bytecode_is_map(&func->insns[i]) && (uint32_t)func->insns[i].imm >= nmaps)
			return false;
	return true;
}

static void take_funcs(struct reading *r, struct bytecode *code)
{
	uint32_t count = take_number(r, FUNCS_MAX);

	code->funcs = mem_zalloc(count + 1, sizeof(*code->funcs));
	for (; code->nfuncs < count && !r->bad; code->nfuncs++) {
		struct bytecode_func *func = &code->funcs[code->nfuncs];

		func->name = take_name(r);
		func->count = take_number(r, INSNS_MAX);
		const uint8_t *insns = take(r, func->count * sizeof(*func->insns));

		func->count = insns ? func->count : 0;
		func->insns = mem_zalloc(func->count + 1, sizeof(*func->insns));
		if (insns)
			memcpy(func->insns, insns, func->count * sizeof(*func->insns));
		r->bad = r->bad || !maps_are_known(func, code->nmaps);
	}
}

struct bytecode *bytecode_read(const void *bytes, size_t size)
{
	struct reading r = {.at = bytes, .left = size};
	struct bytecode *code = mem_zalloc(1, sizeof(*code));

	take_maps(&r, code);
	take_funcs(&r, code);
	if (!r.bad && !r.left)
		return code;
	bytecode_free(code);
	return NULL;
}
