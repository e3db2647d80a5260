// SPDX-License-Identifier: Apache-2.0
#include "objects/objects_look.h"

#include <stdlib.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/gotype.h"
#include "goroutines/memory_pages.h"
#include "gostacks/goprocesses.h"
#include "gostacks/goroutines_print.h"
#include "objects/object_walk_internal.h"
#include "objects/objects_print_internal.h"
#include "objects/objects_still_internal.h"
#include "objects/objects_sum_internal.h"
#include "objects/processors_internal.h"
#include "objects/retained_internal.h"
#include "program/functab.h"
#include "program/moduledata.h"
#include "program/program.h"
#include "rtti/rtti.h"

enum {
	WORD_NS = 200, /* for each word with pointers, on a slow machine */
	SLOT_NS = 100,
	SLOT_BYTES = 64,
	LOOKS = 16, /* at a word by as many types, at most */
};
#define WORDS_MIN (UINT64_C(1) << 24)

/* --- looking --- */

/* For one way through all of the objects */
static void allow(struct object_walk *walk, const struct objects_still *still)
{
	walk->words_left = WORDS_MIN + still->scanned / sizeof(uint64_t) * LOOKS;
	budget_watch_allow(still->scanned / sizeof(uint64_t) * WORD_NS +
				   walk->spans->slots * SLOT_NS,
			   walk->spans->slots * SLOT_BYTES + still->scanned);
}

/* Finalizers tell of which type their objects are. */
static void follow_specials(struct object_walk *walk)
{
	const struct specials *specials = &walk->spans->specials;

	for (size_t i = 0; i < specials->count; i++) {
		const struct special *special = &specials->all[i];
		const struct gotype *type =
			special->type ? object_walk_type(walk, special->type) : NULL;

		if (type && type->kind == GOTYPE_POINTER)
			object_walk_pointer(walk, type, special->typed);
	}
}

static void follow(struct object_walk *walk, const struct objects_still *still)
{
	walk->kind_of = mem_zalloc(walk->spans->slots + 1, sizeof(*walk->kind_of));
	allow(walk, still);
	object_walk_headers(walk);
	processors_find(walk);
	follow_specials(walk);
	for (size_t i = 0; i < still->root_count; i++)
		object_walk_words(walk, still->roots[i].addr, still->roots[i].len);
	object_walk_unknown(walk);
}

static void show_types(const struct objects_look *look, const struct goprocesses_one *one,
		       const struct object_walk *walk, uint64_t *count)
{
	struct objects_table table;

	objects_add_up(&table, walk);
	table.release = goprocess_release(one->gp);
	*count = objects_print(stdout, look, one, &table);
	objects_say(stderr, walk, &table);
	objects_table_free(&table);
}

static int show_retained(const struct objects_look *look, const struct goprocesses_one *one,
			 struct object_walk *walk, const struct objects_still *still,
			 uint64_t *count, struct errmsg *err)
{
	struct retained retained;

	allow(walk, still);
	if (retained_find(look, walk, still, goprocess_frames(one->gp), &retained, err))
		return -1;
	*count = retained_print(stdout, look, one, walk, &retained);
	retained_say(stderr, walk, &retained);
	retained_free(&retained);
	return 0;
}

static int show(const struct objects_look *look, const struct goprocesses_one *one,
		struct object_walk *walk, const struct objects_still *still, uint64_t *count,
		struct errmsg *err)
{
	struct memory_pages *pages = memory_pages_new(&still->mem);
	struct memory_pages *live = memory_pages_new(goprocess_memory(one->gp));
	int ret = 0;

	walk->spans = &still->spans;
	walk->mem = memory_pages_memory(pages);
	walk->live = memory_pages_memory(live);
	follow(walk, still);
	if (look->retained || look->retained_addr)
		ret = show_retained(look, one, walk, still, count, err);
	else
		show_types(look, one, walk, count);
	object_walk_end(walk);
	memory_pages_free(pages);
	memory_pages_free(live);
	return ret;
}

static int read_types(struct object_walk *walk, struct gotypes *types, struct errmsg *err)
{
	const struct program *prog = walk->prog;
	const struct moduledata_layout *layout = moduledata_layout(prog->release);
	uint64_t md = functab_moduledata(prog->tab);

	if (!prog->release_told)
		return errmsg_set(err,
				  "%s: does not say which release of Go built it: how its heap is "
				  "laid out is not known",
				  prog->path);
	walk->rtti = rtti_open(prog->img, prog->tab, prog->release, types, err);
	walk->types = moduledata_word(prog->img, md, layout->types) + walk->bias;
	walk->types_end = moduledata_word(prog->img, md, layout->types_end) + walk->bias;
	return walk->rtti ? 0 : -1;
}

static int read_and_show(const struct objects_look *look, const struct goprocesses_one *one,
			 struct object_walk *walk, uint64_t *count, struct errmsg *err)
{
	struct objects_still still = {0};
	struct objects_places places;

	if (spans_find(walk->prog, goprocess_memory(one->gp), walk->bias, &places.spans, err))
		return -1;
	special_queues_find(walk->prog, &places.queues);
	int ret = objects_still_take(one, &places, &still, err);

	if (still.stopped_ns)
		goroutines_print_stopped(stderr, "goheap", one->pid, still.stopped_ns);
	if (!ret)
		ret = show(look, one, walk, &still, count, err);
	objects_still_free(&still);
	return ret;
}

int objects_look(const struct objects_look *look, const struct goprocesses_one *one,
		 uint64_t *count, struct errmsg *err)
{
	struct object_walk walk = {.prog = goprocess_program(one->gp),
				   .bias = goprocess_frames(one->gp)->bias};
	struct gotypes *types = gotypes_new();
	int ret = read_types(&walk, types, err);

	if (!ret)
		ret = read_and_show(look, one, &walk, count, err);
	rtti_close(walk.rtti);
	gotypes_free(types);
	return ret;
}
