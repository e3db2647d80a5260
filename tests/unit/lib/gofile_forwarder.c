// SPDX-License-Identifier: Apache-2.0
#include "gofile_forwarder.h"

#include <string.h>

enum { NAMES = 48, INNER_AT = 24 }; /* after gofile.h's own; quanta */

uint64_t gofile_forwarder_call(const struct gofile *g)
{
	return g->starts[1] + INNER_AT * g->quantum;
}

/* main.b's code: stores in main.inl1, from 4 quanta on, and the call in main.inl2 */
static void put_code(struct gofile *g)
{
	static const uint8_t amd64[] = "\x90\x48\x89\xc3\x90\x48\x89\x03\x48\x89\x43\x08\x48\x89"
				       "\x43\x10\x48\x89\x43\x08\x48\x89\x43\x10"
				       "\xe8\x23\0\0\0\x90\x90\x90\x48\x89\xc1\x48\x89\xc8\x48\x89"
				       "\xc8\x48\x89\xc8\xc3\xcc\xcc\xcc";
	uint64_t at = g->starts[1];

	if (g->quantum == 1) {
		elffile_bytes(g->f, at, amd64, sizeof(amd64) - 1);
		return;
	}
	for (unsigned i = 0; i < 0x40; i++)
		elffile_u32(g->f, at + i * 4, i < 4 ? 0xd503201f : 0xf9000020);      /* nop; str */
	elffile_u32(g->f, gofile_forwarder_call(g), 0x94000000 | (0x40 - INNER_AT)); /* bl main.c */
	elffile_u32(g->f, at + 44 * 4, 0xd65f03c0);                                  /* ret */
}

void gofile_make_forwarder(struct gofile *g, int release, unsigned machine,
			   const struct gofile_forwarder *names)
{
	const char *const texts[] = {names->outer, names->inner, names->callee};
	uint32_t at = NAMES, base, offs[3];

	gofile_make(g, release, machine);
	base = g->layout == PCLNTAB_12 ? GOFILE_NAMES : 0;
	for (unsigned i = 0; i < 3; i++) {
		offs[i] = base + at;
		elffile_bytes(g->f, GOFILE_TAB + GOFILE_NAMES + at, texts[i], strlen(texts[i]) + 1);
		at += strlen(texts[i]) + 1;
	}
	for (unsigned i = 0; i < 2; i++)
		elffile_u32(g->f,
			    GOFILE_TREE + (g->layout == PCLNTAB_120 ? i * 16 + 4 : i * 20 + 12),
			    offs[i]);
	uint64_t record = gofile_record(g, 2) + (g->layout >= PCLNTAB_118 ? 4 : 8);

	elffile_u32(g->f, record, offs[2]);
	elffile_u32(g->f, record + 4, names->args);
	put_code(g);
}
