// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_types_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/funcinfo.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "bpf-src/shared/type_key.h"
#include "golang/gotype.h"
#include "kernel/bpfmap.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "tracing/tracer.h"
#include "values/shape.h"
#include "sites/goruntime.h"

struct keyed {        /* a type of gccgo's */
	uint64_t key; /* as in the map */
	const struct gotype *type;
	bool direct, ambiguous;
};

struct traceplan_types {
	struct keyed *keyed; /* by key, except for those added last */
	size_t count, cap;
};

struct fill {
	struct traceplan_types *types;
	struct funcinfo *info;
	int fd;
	uint64_t program;
	bool is_shared;
	const struct shape_limits *limits;
};

struct traceplan_types *traceplan_types_new(void)
{
	return mem_zalloc(1, sizeof(struct traceplan_types));
}

void traceplan_types_free(struct traceplan_types *types)
{
	if (!types)
		return;
	free(types->keyed);
	free(types);
}

/* --- what the kernel side is told --- */

static bool tell(const struct fill *fill, uint64_t key, const struct gotype *type, bool direct)
{
	struct trace_dyntype how;

	shape_dyntype(type, direct, fill->limits, &how);
	/* it is not known which of several programs contains the descriptor of a pointer's type */
	if (fill->is_shared && how.inner_type > TRACE_DYN_LIST)
		how.inner_type = UINT64_MAX;
	/* the table is full: values of other types are shown by their type alone */
	return bpfmap_update(fill->fd, &key, &how) == 0 || errno != E2BIG;
}

static bool on_type(const struct gotype *type, bool direct, void *ctx)
{
	const struct fill *fill = ctx;
	struct traceplan_types *types = fill->types;
	uint64_t key = fill->is_shared ? funcinfo_rtype_key(fill->info, type->rtype) : 0;

	if (key) {
		types->keyed =
			mem_grow(types->keyed, types->count, &types->cap, sizeof(*types->keyed));
		types->keyed[types->count++] =
			(struct keyed){type_key_of(key, TYPE_KEY_EVERY_PROGRAM), type, direct, 0};
	}
	return tell(fill, type_key_of(type->rtype, fill->program), type, direct);
}

static int by_type_key(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Different types with the same key cannot be told apart: the key counts as unknown. */
static void join_equal(struct traceplan_types *types)
{
	size_t kept = 0;

	if (types->count)
		qsort(types->keyed, types->count, sizeof(*types->keyed), by_type_key);
	for (size_t i = 0; i < types->count; i++) {
		struct keyed *last = kept ? &types->keyed[kept - 1] : NULL;
		const struct keyed *next = &types->keyed[i];

		if (!last || last->key != next->key)
			types->keyed[kept++] = *next;
		else if (strcmp(last->type->name, next->type->name) != 0)
			last->ambiguous = true;
	}
	types->count = kept;
}

/* May events of other files tell these types? A library's types occur in every program that uses
 * it, and those of the one traced program in its library. */
static bool is_shared(const struct tracer *tracer, size_t program)
{
	bool one = tracer_pid(tracer) && tracer_program(tracer, program) == tracer_executed(tracer);

	return tracer_program(tracer, program)->toolchain->libgo &&
	       (one || tracer_runtime(tracer, program)->is_library);
}

void traceplan_types_fill(struct traceplan_types *types, int fd, const struct tracer *tracer,
			  struct funcinfo *const *infos, const struct shape_limits *limits)
{
	struct fill fill = {.types = types, .fd = fd, .limits = limits};

	for (size_t i = 0; i < tracer_program_count(tracer); i++) {
		fill.info = infos[i];
		fill.is_shared = is_shared(tracer, i);
		fill.program = i;
		funcinfo_each_rtype(infos[i], on_type, &fill);
	}
	join_equal(types);
	fill.is_shared = true;
	for (size_t i = 0; i < types->count; i++)
		if (!types->keyed[i].ambiguous &&
		    !tell(&fill, types->keyed[i].key, types->keyed[i].type, types->keyed[i].direct))
			break;
}

/* --- what it tells --- */

static const struct keyed *find_keyed(const struct traceplan_types *types, uint64_t key)
{
	const struct keyed wanted = {.key = key}, *found = NULL;

	if (types->count)
		found = bsearch(&wanted, types->keyed, types->count, sizeof(wanted), by_type_key);
	return found && !found->ambiguous ? found : NULL;
}

const struct gotype *traceplan_types_find(const struct traceplan_types *types,
					  struct funcinfo *info, uint64_t rtype, bool *direct)
{
	const struct keyed *found;

	if (type_key_program(rtype) != TYPE_KEY_EVERY_PROGRAM)
		return funcinfo_rtype(info, rtype, direct);
	found = find_keyed(types, rtype);
	*direct = found && found->direct;
	return found ? found->type : NULL;
}
