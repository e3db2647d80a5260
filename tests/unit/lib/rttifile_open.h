/* SPDX-License-Identifier: Apache-2.0 */
/* The Go program of rttifile.h opened, for tests. */
#ifndef RTTIFILE_OPEN_H
#define RTTIFILE_OPEN_H

#include "rttifile.h"
#include "program/functab_internal.h"
#include "unit.h"

static const int releases[] = {15, 16, 17, 18, 19, 20, 23, 24, 25, 26, 27};

enum { NRELEASES = sizeof(releases) / sizeof(*releases) };

struct opened {
	struct rttifile r;
	struct image *img;
	struct functab *tab;
	struct gotypes *types;
	struct rtti *rtti;
};

static inline bool try_open(struct opened *o, int release)
{
	struct errmsg err = {0};

	o->img = elffile_open(o->r.g.f, NULL);
	o->tab = o->img ? functab_open(o->img, &err) : NULL;
	o->types = gotypes_new();
	o->rtti = o->tab ? rtti_open(o->img, o->tab, release, o->types, &err) : NULL;
	return o->rtti;
}

static inline void open_it(struct opened *o)
{
	if (!try_open(o, o->r.g.release))
		fail_msg("Go 1.%d: not opened", o->r.g.release);
}

static inline void close_it(struct opened *o)
{
	rtti_close(o->rtti);
	gotypes_free(o->types);
	if (o->tab)
		functab_close(o->tab);
	image_close(o->img);
}

static inline void make_and_open(struct opened *o, int release)
{
	rttifile_make(&o->r, release, EM_X86_64);
	open_it(o);
}

static inline void free_it(struct opened *o)
{
	close_it(o);
	elffile_free(o->r.g.f);
}

static inline const struct gotype *get(struct opened *o, enum rttifile_type which)
{
	const struct gotype *type = rtti_type(o->rtti, o->r.addr[which]);

	if (!type) {
		fail_msg("Go 1.%d: no type %d", o->r.g.release, which);
		abort();
	}
	assert_int_equal(type->rtype, o->r.addr[which]);
	return type;
}

#endif
