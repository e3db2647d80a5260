/* SPDX-License-Identifier: Apache-2.0 */
/* What functab.c and pclntab_*.c share: the parts of a pclntab as its header tells them. */
#ifndef PCLNTAB_TABLE_INTERNAL_H
#define PCLNTAB_TABLE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "program/functab_internal.h"

struct functab_symbols;
struct pcvalue_index;

struct pclntab_part {
	const uint8_t *data;
	uint64_t len; /* bytes that may be read: to the end of the segment, or less */
	uint64_t addr;
};

struct functab {
	const struct image *img;
	uint64_t addr; /* of the header */
	enum pclntab_layout layout;
	unsigned quantum; /* bytes */
	int release_guess;
	uint32_t nfunc;
	uint64_t text;       /* base of entry offsets, from 1.18 */
	uint64_t gofunc;     /* base of funcdata offsets, from 1.18; 0: unknown */
	uint64_t moduledata; /* 0: not found */
	uint8_t wrapper_id;  /* funcID_wrapper */
	struct pclntab_part functab, names, units, files, pcs, records;
	struct pcvalue_index *values; /* of pcs; NULL while the table is sought */
	/* Set for a gccgo program. Of the above only `img` is set then: the parts are empty, so
	 * that nothing is found in them. */
	struct functab_symbols *symbols;
};

struct pclntab_record {              /* a function's _func */
	uint32_t name;               /* offset in `names` */
	int32_t args, start_line;    /* bytes; a line, 0 before 1.20 */
	uint32_t pcsp, pcfile, pcln; /* offsets in `pcs`; 0: no table */
	uint32_t unit;               /* place of its compilation unit in `units` */
	uint32_t npcdata;
	uint8_t func_id, flags, nfuncdata;
	uint64_t pcdata; /* offset in `records` of u32 offsets in `pcs`; funcdata follow them */
};

/* Finds the table and fills *tab; -1 with *err. */
int pclntab_table_find(const struct image *img, struct functab *tab, struct errmsg *err);

static inline bool pclntab_part_u32(const struct pclntab_part *part, uint64_t off, uint32_t *out)
{
	if (off > part->len || part->len - off < sizeof(*out))
		return false;
	memcpy(out, part->data + off, sizeof(*out));
	return true;
}

bool pclntab_part_u64(const struct pclntab_part *part, uint64_t off, uint64_t *out);

/* the NUL-terminated text at `off` of `names` or `files`; NULL: none */
static inline const char *pclntab_part_text(const struct pclntab_part *part, uint64_t off)
{
	return off < part->len ? (const char *)part->data + off : NULL;
}

/* entry address of function `index`, or with index == nfunc the end of the last; and the offset
 * of its record in `records` (0 for the end) */
void pclntab_entry(const struct functab *tab, uint32_t index, uint64_t *addr, uint64_t *record);

bool pclntab_record(const struct functab *tab, const struct functab_func *fn,
		    struct pclntab_record *out);
/* value of a PCDATA table at one address; false: unknown */
bool pclntab_pcdata_at(const struct functab *tab, const struct functab_func *fn, unsigned table,
		       uint64_t addr, int32_t *value);

#endif
