// SPDX-License-Identifier: Apache-2.0
#include "gofile.h"

enum { PCS_LINES = 0x40 }; /* of gofile_put_lines() */

/* where record i stands, relative to the start of the table that functab's offsets refer to */
static uint64_t gofile_record_off(const struct gofile *g, unsigned i)
{
	return (g->layout == PCLNTAB_12 ? GOFILE_RECORDS : 0) + 0x100 + i * 0x80;
}

uint64_t gofile_record(const struct gofile *g, unsigned i)
{
	uint64_t base = g->layout == PCLNTAB_12 ? 0 : GOFILE_RECORDS;

	return GOFILE_TAB + base + gofile_record_off(g, i);
}

uint64_t gofile_functab(const struct gofile *g, unsigned i)
{
	if (g->layout == PCLNTAB_12)
		return GOFILE_TAB + 16 + i * 16;
	return GOFILE_TAB + GOFILE_RECORDS + i * (g->layout == PCLNTAB_116 ? 16 : 8);
}

static void gofile_put_header(struct gofile *g)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1};
	static const uint64_t offs[] = {GOFILE_NAMES, GOFILE_UNITS, GOFILE_FILES, GOFILE_PCS,
					GOFILE_RECORDS};
	uint64_t at = GOFILE_TAB + 24;

	elffile_u32(g->f, GOFILE_TAB, magics[g->layout]);
	*elffile_at(g->f, GOFILE_TAB + 6) = g->quantum;
	*elffile_at(g->f, GOFILE_TAB + 7) = 8;
	elffile_u64(g->f, GOFILE_TAB + 8, 3);
	if (g->layout == PCLNTAB_12)
		return;
	elffile_u64(g->f, GOFILE_TAB + 16, 2);
	if (g->layout >= PCLNTAB_118) {
		elffile_u64(g->f, at, g->release < 26 ? ELFFILE_TEXT : 0);
		at += 8;
	}
	for (unsigned i = 0; i < 5; i++)
		elffile_u64(g->f, at + i * 8, offs[i]);
}

static void gofile_put_functab(struct gofile *g)
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t at = gofile_functab(g, i);
		uint64_t off = i < 3 ? gofile_record_off(g, i) : 0;

		if (g->layout >= PCLNTAB_118) {
			elffile_u32(g->f, at, g->starts[i] - ELFFILE_TEXT);
			elffile_u32(g->f, at + 4, off);
		} else {
			elffile_u64(g->f, at, g->starts[i]);
			elffile_u64(g->f, at + 8, off);
		}
	}
	if (g->layout == PCLNTAB_12)
		elffile_u32(g->f, gofile_functab(g, 3) + 8, GOFILE_UNITS);
}

/* names and files at offsets 1, 8, ..., tables of values, the unit table */
static void gofile_put_texts(struct gofile *g)
{
	static const char names[] = "\0main.a\0main.b\0main.c\0main.inl1\0main.inl2";
	static const char files[] = "\0b.go\0a.s";
	static const uint8_t pcs[] = {
		0,                                /* no table */
		2,  4,  48, 40, 47, 20, 0,        /* 1: sp 0, 24, 0 */
		4,  64, 0,                        /* 8: file 1 */
		22, 4,  20, 40, 17, 20, 0,        /* 11: lines 10, 20, 11 */
		0,  4,  2,  20, 2,  20, 3, 20, 0, /* 18: inlined -1, 0, 1, -1 */
		6,  64, 0,                        /* 27: file 2 */
	};
	uint32_t base = g->layout == PCLNTAB_12 ? GOFILE_FILES : 0;
	/* files 1 and 2, from place 2 on in layouts that have units */
	unsigned first = g->layout == PCLNTAB_12 ? 1 : 3;

	elffile_bytes(g->f, GOFILE_TAB + GOFILE_NAMES, names, sizeof(names));
	elffile_bytes(g->f, GOFILE_TAB + GOFILE_FILES, files, sizeof(files));
	elffile_bytes(g->f, GOFILE_TAB + GOFILE_PCS, pcs, sizeof(pcs));
	elffile_u32(g->f, GOFILE_TAB + GOFILE_UNITS + first * 4, base + 1);
	elffile_u32(g->f, GOFILE_TAB + GOFILE_UNITS + first * 4 + 4, base + 6);
}

uint8_t gofile_wrapper_id(const struct gofile *g)
{
	return g->release < 18 ? 22 : g->release < 22 ? 21 : g->release < 25 ? 22 : 23;
}

/* the funcdata of main.b: only the inline tree */
static void gofile_put_funcdata(struct gofile *g, uint64_t at)
{
	unsigned tree = g->layout == PCLNTAB_12 ? 4 : 3;

	if (g->layout < PCLNTAB_118)
		at = (at + 7) & ~7ULL;
	for (unsigned i = 0; i < 5; i++) {
		if (g->layout < PCLNTAB_118)
			elffile_u64(g->f, at + i * 8, i == tree ? GOFILE_TREE : 0);
		else
			elffile_u32(g->f, at + i * 4, i == tree ? GOFILE_TREE - GOFILE_GOFUNC : -1);
	}
}

/* main.a is assembly, main.c a wrapper */
static void gofile_put_record(struct gofile *g, unsigned i)
{
	bool old = g->layout == PCLNTAB_12;
	uint32_t names = old ? GOFILE_NAMES : 0, pcs = old ? GOFILE_PCS : 0;
	uint32_t fields[] = {names + 1 + 7 * i, 16, 0, pcs + 1, pcs + (i ? 8 : 27),
			     pcs + 11,          3,  2, 7};
	unsigned nfields = old ? 7 : g->layout == PCLNTAB_120 ? 9 : 8;
	uint64_t at = gofile_record(g, i);

	if (g->layout >= PCLNTAB_118)
		elffile_u32(g->f, at, g->starts[i] - ELFFILE_TEXT);
	else
		elffile_u64(g->f, at, g->starts[i]);
	at += g->layout >= PCLNTAB_118 ? 4 : 8;
	elffile_bytes(g->f, at, fields, nfields * 4);
	at += nfields * 4;
	elffile_at(g->f, at)[0] = i == 2 ? gofile_wrapper_id(g) : 3;
	elffile_at(g->f, at)[1] = i == 0 && g->release >= 18 ? 4 : 1;
	elffile_at(g->f, at)[3] = 5;
	elffile_u32(g->f, at + 12, i == 1 ? pcs + 18 : 0); /* PCDATA 2 */
	gofile_put_funcdata(g, at + 16);
	if (i != 1)
		elffile_at(g->f, at)[3] = 0;
}

void gofile_rename(struct gofile *g, unsigned i, unsigned like)
{
	uint64_t at = g->layout >= PCLNTAB_118 ? 4 : 8;
	const void *name = elffile_at(g->f, gofile_record(g, like) + at);

	memcpy(elffile_at(g->f, gofile_record(g, i) + at), name, 4);
}

uint8_t *gofile_put_step(uint8_t *table, int change, unsigned bytes)
{
	*table++ = change < 0 ? -change * 2 - 1 : change * 2;
	*table++ = bytes;
	return table;
}

void gofile_put_lines(struct gofile *g, const struct gofile_lines *lines)
{
	uint8_t table[32], *at = table;
	int before = -1;
	unsigned pc = 0;

	for (; pc < 64; lines++) {
		at = gofile_put_step(at, (int)lines->line - before, lines->to - pc);
		before = lines->line;
		pc = lines->to;
	}
	*at++ = 0;
	elffile_bytes(g->f, GOFILE_TAB + GOFILE_PCS + PCS_LINES, table, at - table);
	elffile_u32(g->f, gofile_record(g, 1) + 24, PCS_LINES);
}

static void gofile_put_tree(struct gofile *g)
{
	uint32_t names = g->layout == PCLNTAB_12 ? GOFILE_NAMES : 0;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t name = names + 22 + i * 10;
		uint32_t parent_pc = (i ? 4 : 0) * g->quantum;

		if (g->layout == PCLNTAB_120) {
			const uint32_t node[] = {0, name, parent_pc, 1};

			elffile_bytes(g->f, GOFILE_TREE + i * 16, node, 16);
		} else {
			const uint32_t node[] = {i ? 0 : 0xffff, 0, i ? 20 : 10, name, parent_pc};

			elffile_bytes(g->f, GOFILE_TREE + i * 20, node, 20);
		}
	}
}

void gofile_put_word(struct gofile *g, unsigned word, uint64_t value)
{
	elffile_u64(g->f, GOFILE_MODULEDATA + word * 8, value);
}

static void gofile_put_moduledata(struct gofile *g)
{
	gofile_put_word(g, 0, GOFILE_TAB);
	if (g->layout == PCLNTAB_12) {
		gofile_put_word(g, 3, GOFILE_TAB + 16);
		return;
	}
	gofile_put_word(g, 1, GOFILE_TAB + GOFILE_NAMES);
	gofile_put_word(g, 13, GOFILE_TAB + GOFILE_RECORDS);
	gofile_put_word(g, 16, GOFILE_TAB + GOFILE_RECORDS);
	gofile_put_word(g, 22, ELFFILE_TEXT);
	if (g->layout == PCLNTAB_118)
		gofile_put_word(g, 38, GOFILE_GOFUNC);
	if (g->layout != PCLNTAB_120)
		return;
	gofile_put_word(g, 37, ELFFILE_RODATA);                         /* types */
	gofile_put_word(g, 38, g->release == 27 ? 0x80 : ELFFILE_DATA); /* their size, or end */
	gofile_put_word(g, g->release == 27 ? 43 : 40, GOFILE_GOFUNC);
}

void gofile_make(struct gofile *g, int release, unsigned machine)
{
	*g = (struct gofile){.release = release, .f = elffile_new(machine)};
	g->quantum = machine == EM_AARCH64 ? 4 : 1;
	g->layout = release < 16   ? PCLNTAB_12
		    : release < 18 ? PCLNTAB_116
		    : release < 20 ? PCLNTAB_118
				   : PCLNTAB_120;
	for (unsigned i = 0; i < 4; i++)
		g->starts[i] = ELFFILE_TEXT + i * 0x40 * g->quantum;
	gofile_put_header(g);
	gofile_put_texts(g);
	gofile_put_functab(g);
	for (unsigned i = 0; i < 3; i++)
		gofile_put_record(g, i);
	gofile_put_tree(g);
	gofile_put_moduledata(g);
}
