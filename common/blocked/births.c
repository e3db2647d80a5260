// SPDX-License-Identifier: Apache-2.0
#include "blocked/births.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/index.h"
#include "base/mem.h"
#include "bpf-src/shared/births.h"
#include "golang/release.h"
#include "gostacks/leaks.h"
#include "kernel/bpfmap.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "blocked/losses.h"
#include "tracing/toolrun.h"
#include "sites/goruntime.h"

enum { KEYS_MAX = 1 << 17 }; /* go statements, with the functions that they call */

struct counted {
	struct birth_key key;
	struct birth_sum last; /* as it was read */
};

struct births {
	struct bpfprog_define defs[1];
	int map, losses;
	struct counted *all;
	struct index index;
	size_t count, cap;
	struct leak_births *found; /* while it is read */
	size_t found_count, found_cap;
};

/* --- what is traced --- */

static const struct runtime_func funcs[] = {
	[BIRTH_BEGIN] = {.names = {"runtime.newproc1"}},
	[BIRTH_END] = {.names = {"runtime.gdestroy", "runtime.goexit0"}},
};

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	const struct program *prog = tracer_program(tracer, 0);
	const struct goruntime *rt = tracer_runtime(tracer, 0);

	(void)ctx;
	if (!rt->g_gopc || !prog->release_told)
		return errmsg_set(err,
				  "\"%s\": where its runtime notes who creates goroutines is "
				  "not known",
				  prog->path);
	if (prog->release >= RELEASE_GO_WITHOUT_ARGS)
		tracer_define(tracer, "CALLER_THIRD", 1);
	tracer_define(tracer, "G_GOPC", rt->g_gopc);
	return 0;
}

struct births *births_new(struct toolrun *run)
{
	struct births *births = mem_zalloc(1, sizeof(*births));

	births->defs[0] = (struct bpfprog_define){"BIRTHS", bpfmap_room(KEYS_MAX)};
	run->config.cpu = -1;
	run->config.runtime_funcs = funcs;
	run->config.runtime_func_count = sizeof(funcs) / sizeof(*funcs);
	run->config.bpf_file = "goleaks.bpf.c";
	run->config.defs = births->defs;
	run->config.def_count = 1;
	run->config.goroutines = run->config.sleepable = true;
	run->config.plan = plan;
	return births;
}

void births_free(struct births *births)
{
	if (!births)
		return;
	index_free(&births->index);
	free(births->all);
	free(births);
}

/* --- what was counted --- */

void births_begin(struct births *births, const struct tracer *tracer)
{
	births->map = tracer_map(tracer, "births");
	births->losses = tracer_map(tracer, "losses");
}

static struct counted *find(struct births *births, const struct birth_key *key)
{
	uint64_t hash = index_hash(index_hash(0, key->created_by), key->start);
	size_t n = index_first(&births->index, hash);

	while (n != INDEX_NONE && memcmp(&births->all[n].key, key, sizeof(*key)) != 0)
		n = index_next(&births->index, n);
	if (n != INDEX_NONE)
		return &births->all[n];
	index_add(&births->index, hash);
	births->all = mem_grow(births->all, births->count, &births->cap, sizeof(*births->all));
	births->all[births->count] = (struct counted){.key = *key};
	return &births->all[births->count++];
}

static int add(const void *key, const void *value, void *arg)
{
	struct births *births = arg;
	struct birth_key copy;
	struct birth_sum sum;

	memcpy(&copy, key, sizeof(copy));
	memcpy(&sum, value, sizeof(sum));
	struct counted *counted = find(births, &copy);

	births->found = mem_grow(births->found, births->found_count, &births->found_cap,
				 sizeof(*births->found));
	births->found[births->found_count++] =
		(struct leak_births){.created_by = copy.created_by,
				     .start = copy.start,
				     .born = sum.born - counted->last.born,
				     .ended = sum.ended - counted->last.ended};
	counted->last = sum;
	return 0;
}

int births_read(struct births *births, struct leak_births **out, size_t *count, struct errmsg *err)
{
	births->found = mem_zalloc(1, sizeof(*births->found));
	births->found_count = births->found_cap = 0;
	int ret = bpfmap_each(births->map, sizeof(struct birth_key), sizeof(struct birth_sum), add,
			      births);

	*out = births->found;
	*count = births->found_count;
	if (!ret)
		return 0;
	free(births->found);
	return errmsg_set(err, "cannot read the counts: %s", strerror(errno));
}

void births_say_lost(const struct births *births, const char *tool)
{
	static const char *const said[BIRTH_LOSSES] = {
		[BIRTH_LOSS_ROOM] = "births and ends were not counted: more go statements than "
				    "there is room for",
		[BIRTH_LOSS_UNREADABLE] =
			"births and ends were not counted: the goroutine could not be read",
	};
	uint64_t lost[BIRTH_LOSSES];

	losses_say(births->losses, tool, said, lost, BIRTH_LOSSES);
}
