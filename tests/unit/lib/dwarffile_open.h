/* SPDX-License-Identifier: Apache-2.0 */
/* The program of dwarffile.h, opened. */
#ifndef DWARFFILE_OPEN_H
#define DWARFFILE_OPEN_H

#include "base/errmsg.h"
#include "dwarf/debuginfo.h"
#include "dwarffile.h"
#include "elf/image.h"
#include "program/functab_internal.h"
#include "unit.h"

struct opened {
	struct dwarffile d;
	struct image *img;
	struct functab *tab;
	struct gotypes *types;
	struct debuginfo *dbg;
};

static inline void open_it(struct opened *o)
{
	struct errmsg err = {0};

	o->img = elffile_open(o->d.g.f, &err);
	o->tab = o->img ? functab_open(o->img, &err) : NULL;
	if (!o->tab)
		fail_msg("%s", err.text);
	o->types = gotypes_new();
	o->dbg = debuginfo_open(o->img, o->tab, o->d.g.release, o->types, &err);
	if (!o->dbg)
		fail_msg("%s", err.text);
}

static inline void close_it(struct opened *o)
{
	debuginfo_close(o->dbg);
	gotypes_free(o->types);
	functab_close(o->tab);
	image_close(o->img);
	elffile_free(o->d.g.f);
}

#endif
