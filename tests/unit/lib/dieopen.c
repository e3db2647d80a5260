// SPDX-License-Identifier: Apache-2.0
#include "dieopen.h"

#include "base/errmsg.h"
#include "dwarf/debuginfo.h"
#include "program/functab_internal.h"
#include "unit.h"

void dieopen(struct dieopen *o, struct elffile *f, int release)
{
	struct errmsg err = {0};

	o->f = f;
	o->img = elffile_open(f, &err);
	o->tab = o->img ? functab_open(o->img, &err) : NULL;
	o->types = gotypes_new();
	o->dbg = o->tab ? debuginfo_open(o->img, o->tab, release, o->types, &err) : NULL;
	if (!o->dbg)
		fail_msg("%s", err.text);
}

void dieopen_close(struct dieopen *o)
{
	debuginfo_close(o->dbg);
	gotypes_free(o->types);
	functab_close(o->tab);
	image_close(o->img);
	elffile_free(o->f);
}
