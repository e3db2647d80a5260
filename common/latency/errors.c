// SPDX-License-Identifier: Apache-2.0
#include "latency/errors.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "golang/gotype.h"
#include "kernel/bpfmap.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

struct errors {
	struct error_place *places; /* by row */
	size_t count;
};

struct errors *errors_new(void)
{
	return mem_zalloc(1, sizeof(struct errors));
}

void errors_free(struct errors *errors)
{
	if (!errors)
		return;
	free(errors->places);
	free(errors);
}

/* What is known of a program's functions. */
struct known {
	const struct program *prog;
	struct gotypes *memory;
	struct funcinfo *info;
};

static void forget(struct known *known)
{
	funcinfo_free(known->info);
	gotypes_free(known->memory);
	*known = (struct known){0};
}

static bool is_error(const struct gotype *type)
{
	return type && type->kind == GOTYPE_INTERFACE && type->name && !strcmp(type->name, "error");
}

/* Where the first word of a result is */
static struct error_place place_of(const struct abi_value *result)
{
	const struct abi_piece *piece = result->pieces;

	if (!result->count || piece->off || piece->from || piece->size < sizeof(uint64_t))
		return (struct error_place){ERROR_NOWHERE, 0};
	if (piece->where == ABI_INT)
		return (struct error_place){ERROR_IN_REGISTER, piece->n};
	if (piece->where == ABI_SLOT)
		return (struct error_place){ERROR_ON_STACK, piece->n};
	return (struct error_place){ERROR_NOWHERE, 0};
}

static struct error_place find(const struct known *known, const struct selection_item *item)
{
	struct error_place place = {ERROR_NOWHERE, 0};
	struct functab_func fn;
	struct abi_layout abi;
	struct gofunc sig;

	if (item->is_copy || !functab_func(item->prog->tab, item->func, &fn))
		return place;
	funcinfo_find(known->info, &fn, &sig);
	if (!sig.result_count || !is_error(sig.results[sig.result_count - 1].type))
		return place;
	funcinfo_layout(known->info, &fn, &sig, &abi);
	if (abi.result_count == sig.result_count)
		place = place_of(&abi.results[sig.result_count - 1]);
	abi_layout_free(&abi);
	return place;
}

int errors_plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct errors *errors = ctx;
	const struct selection *sel = tracer_selection(tracer);
	bool *seen = mem_zalloc(sel->row_count + 1, sizeof(*seen));
	struct known known = {0};

	(void)err;
	errors->count = sel->row_count;
	errors->places = mem_zalloc(sel->row_count + 1, sizeof(*errors->places));
	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];
		struct error_place *place = &errors->places[item->row], this;

		if (!known.prog || item->prog != known.prog) { /* they come one after another */
			forget(&known);
			known = (struct known){.prog = item->prog, .memory = gotypes_new()};
			known.info = funcinfo_new(known.prog, known.memory);
		}
		this = find(&known, item);
		if (!seen[item->row])
			*place = this;
		else if (this.where != place->where || this.n != place->n)
			place->where = ERROR_NOWHERE;
		seen[item->row] = true;
	}
	forget(&known);
	free(seen);
	return 0;
}

int errors_begin(const struct errors *errors, struct tracer *tracer, struct errmsg *err)
{
	int map = tracer_map(tracer, "error_places");

	for (uint32_t row = 0; row < errors->count; row++)
		if (errors_counted(errors, row) && bpfmap_update(map, &row, &errors->places[row]))
			return errmsg_set(err, "cannot tell the BPF program where errors are: %s",
					  strerror(errno));
	return 0;
}

bool errors_counted(const struct errors *errors, size_t row)
{
	return row < errors->count && errors->places[row].where != ERROR_NOWHERE;
}
