// SPDX-License-Identifier: Apache-2.0
/* One function's record (runtime._func) and the tables that it points to. */
#include "base/errmsg.h"
#include "elf/image.h"
#include "program/pclntab_table_internal.h"
#include "program/pcvalue_internal.h"
#include "program/pcvalue_index_internal.h"

enum { NO_FUNCDATA = UINT32_MAX, NO_FILE = UINT32_MAX };

/* u32 fields from `base` on: nameoff, args, deferreturn, pcsp, pcfile, pcln, npcdata, from 1.16
 * cuOffset, from 1.20 startLine; then bytes funcID, flag, pad, nfuncdata. */
bool pclntab_record(const struct functab *tab, const struct functab_func *fn,
		    struct pclntab_record *out)
{
	uint64_t off = fn->record - tab->records.addr;
	unsigned base = tab->layout < PCLNTAB_118 ? 8 : 4;
	unsigned nfields = tab->layout == PCLNTAB_120 ? 9 : tab->layout == PCLNTAB_12 ? 7 : 8;
	uint32_t fields[9];
	uint64_t len = base + nfields * 4 + 4;

	if (off > tab->records.len || tab->records.len - off < len)
		return false;

	const uint8_t *data = tab->records.data + off;

	memcpy(fields, data + base, nfields * 4);
	data += base + nfields * 4;
	*out = (struct pclntab_record){
		.name = fields[0],
		.args = fields[1],
		.pcsp = fields[3],
		.pcfile = fields[4],
		.pcln = fields[5],
		.npcdata = fields[6],
		.unit = nfields > 7 ? fields[7] : 0,
		.start_line = nfields > 8 ? fields[8] : 0,
		.func_id = data[0],
		.flags = data[1],
		.nfuncdata = data[3],
		.pcdata = off + len,
	};
	return true;
}

/* --- PC-value tables --- */

static bool begin_table(const struct functab *tab, const struct functab_func *fn, uint32_t off,
			struct pcvalue *pcv)
{
	if (!off || off >= tab->pcs.len)
		return false;
	pcvalue_begin(pcv, tab->pcs.data + off, tab->pcs.len - off, fn->addr, tab->quantum);
	return true;
}

static bool value_at(const struct functab *tab, const struct functab_func *fn, uint32_t off,
		     uint64_t addr, int32_t *value)
{
	return addr >= fn->addr && addr < fn->end && off && tab->values &&
	       pcvalue_index_at(tab->values, off, addr - fn->addr, value);
}

bool functab_sp_delta(const struct functab *tab, const struct functab_func *fn, uint64_t addr,
		      int32_t *bytes)
{
	struct pclntab_record rec;

	return pclntab_record(tab, fn, &rec) && value_at(tab, fn, rec.pcsp, addr, bytes);
}

bool functab_args_size(const struct functab *tab, const struct functab_func *fn, int32_t *bytes)
{
	struct pclntab_record rec;

	if (!pclntab_record(tab, fn, &rec))
		return false;
	*bytes = rec.args;
	return true;
}

static bool pcdata_table(const struct functab *tab, const struct functab_func *fn, unsigned table,
			 uint32_t *off)
{
	struct pclntab_record rec;

	return pclntab_record(tab, fn, &rec) && table < rec.npcdata &&
	       pclntab_part_u32(&tab->records, rec.pcdata + table * 4ULL, off);
}

bool pclntab_pcdata_at(const struct functab *tab, const struct functab_func *fn, unsigned table,
		       uint64_t addr, int32_t *value)
{
	uint32_t off;

	return pcdata_table(tab, fn, table, &off) && value_at(tab, fn, off, addr, value);
}

static bool each_value(const struct functab *tab, const struct functab_func *fn, uint32_t off,
		       bool (*each)(uint64_t from, uint64_t to, int32_t value, void *ctx),
		       void *ctx)
{
	struct pcvalue pcv;

	if (!begin_table(tab, fn, off, &pcv))
		return false;
	while (pcvalue_next(&pcv)) {
		if (pcv.to > fn->end)
			return false;
		if (!each(pcv.from, pcv.to, pcv.value, ctx))
			return true;
	}
	return !pcv.malformed;
}

bool functab_pcdata(const struct functab *tab, const struct functab_func *fn, unsigned table,
		    bool (*each)(uint64_t from, uint64_t to, int32_t value, void *ctx), void *ctx)
{
	uint32_t off;

	return pcdata_table(tab, fn, table, &off) && each_value(tab, fn, off, each, ctx);
}

bool functab_each_line(const struct functab *tab, const struct functab_func *fn,
		       bool (*each)(uint64_t from, uint64_t to, int32_t value, void *ctx),
		       void *ctx)
{
	struct pclntab_record rec;

	return pclntab_record(tab, fn, &rec) && each_value(tab, fn, rec.pcln, each, ctx);
}

/* --- source positions --- */

/* Up to 1.15 `units` is the file table: an array of offsets, number 0 being its count. Later a
 * file number counts from the compilation unit's place in the unit table. */
static const char *file_name(const struct functab *tab, const struct pclntab_record *rec,
			     int32_t number)
{
	uint64_t entry = (uint64_t)rec->unit + number;
	uint32_t off;

	if (number < 0 || !pclntab_part_u32(&tab->units, entry * 4, &off) || off == NO_FILE)
		return NULL;
	return pclntab_part_text(&tab->files, off);
}

bool functab_line(const struct functab *tab, const struct functab_func *fn, uint64_t addr,
		  const char **file, int *line)
{
	struct pclntab_record rec;
	int32_t number, found;

	if (!pclntab_record(tab, fn, &rec) || !value_at(tab, fn, rec.pcfile, addr, &number) ||
	    !value_at(tab, fn, rec.pcln, addr, &found))
		return false;
	*file = file_name(tab, &rec, number);
	*line = found;
	return *file;
}

int functab_start_line(const struct functab *tab, const struct functab_func *fn)
{
	struct pclntab_record rec;

	return pclntab_record(tab, fn, &rec) && rec.start_line > 0 ? rec.start_line : 0;
}

/* --- funcdata --- */

uint64_t functab_funcdata(const struct functab *tab, const struct functab_func *fn, unsigned index)
{
	struct pclntab_record rec;
	uint64_t addr;
	uint32_t off;

	if (!pclntab_record(tab, fn, &rec) || index >= rec.nfuncdata)
		return 0;

	uint64_t start = rec.pcdata + rec.npcdata * 4ULL;

	if (tab->layout < PCLNTAB_118) { /* aligned absolute pointers */
		start += -(tab->records.addr + start) & 7;
		return pclntab_part_u64(&tab->records, start + index * 8ULL, &addr) ? addr : 0;
	}
	if (!tab->gofunc || !pclntab_part_u32(&tab->records, start + index * 4ULL, &off) ||
	    off == NO_FUNCDATA)
		return 0;
	return tab->gofunc + off;
}
