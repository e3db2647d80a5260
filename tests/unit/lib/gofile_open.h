/* SPDX-License-Identifier: Apache-2.0 */
/* The Go program of gofile.h opened, for tests of pclntab. */
#ifndef GOFILE_OPEN_H
#define GOFILE_OPEN_H

#include "gofile.h"
#include "program/functab_internal.h"
#include "unit.h"

struct opened {
	struct gofile g;
	struct image *img;
	struct functab *tab;
};

static inline void open_it(struct opened *o)
{
	struct errmsg err = {0};

	o->img = elffile_open(o->g.f, &err);
	if (!o->img)
		fail_msg("%s", err.text);
	o->tab = functab_open(o->img, &err);
	if (!o->tab)
		fail_msg("Go 1.%d: %s", o->g.release, err.text);
}

static inline void close_it(struct opened *o)
{
	functab_close(o->tab);
	image_close(o->img);
	elffile_free(o->g.f);
}

static inline void get(struct opened *o, unsigned index, struct functab_func *fn)
{
	assert_true(functab_func(o->tab, index, fn));
	assert_int_equal(fn->index, index);
}

static const int releases[] = {15, 16, 17, 18, 19, 20, 23, 25, 26, 27};

enum { NRELEASES = sizeof(releases) / sizeof(*releases) };

struct runs {
	unsigned count, limit;
	uint64_t from[8], to[8];
	int32_t value[8];
};

static inline bool keep_run(uint64_t from, uint64_t to, int32_t value, void *ctx)
{
	struct runs *runs = ctx;

	runs->from[runs->count] = from;
	runs->to[runs->count] = to;
	runs->value[runs->count] = value;
	return ++runs->count < runs->limit;
}

#endif
