// SPDX-License-Identifier: Apache-2.0
#include "abi/argtable_place_internal.h"

#include <string.h>

#include "abi/arginfo.h"
#include "abi/argreads_internal.h"

enum {
	WORD = 8,
	TRIES_MAX = 20000, /* ways of one function, whole or not */
	/* what is less likely than its opposite, weighed: */
	COST_UNREAD = 2,   /* a place that the code does not read */
	COST_FLOAT = 1,    /* the same, for floating-point numbers */
	COST_ON_STACK = 1, /* an aggregate that registers have room for */
	COST_ABI0 = 4,     /* nothing in registers */
	SLACK = 8, /* bytes: fields without size at a parameter's end are padded, and not told */
};

struct param {
	size_t first, count; /* values */
	bool aggregate;
	int off, size, align; /* bytes */
};

/* One way to place the parameters, or only the first ones yet */
struct way {
	struct abi_piece pieces[ARGTABLE_VALUES];
	unsigned ints, floats; /* registers that are taken */
	int stack_end;         /* bytes: of the stack arguments */
	int spill_start;       /* where slots of register arguments begin; -1: not known yet */
	int spill_len;
	bool slack; /* the parameter before may be longer than told */
	unsigned cost;
};

struct search {
	const struct argtable_asked *asked;
	const struct arginfo_item *values[ARGTABLE_VALUES];
	struct param params[ARGTABLE_VALUES];
	size_t value_count, param_count;
	bool whole; /* there are no other parameters */
	unsigned max_ints, max_floats;
	unsigned tries, ways;
	struct way best;
	bool sure[ARGTABLE_VALUES]; /* the same place in all ways */
	bool tie[ARGTABLE_VALUES];  /* another place in another way of the same cost */
};

static int align_up(int n, int align)
{
	return (n + align - 1) / align * align;
}

/* --- what there is to place --- */

/* false: the parameter is not told of completely */
static bool add_param(struct search *search, struct argtable_places *out, size_t from, size_t to)
{
	const struct arginfo *info = search->asked->info;
	struct param param = {.first = search->value_count,
			      .aggregate = info->items[from].kind == ARGINFO_OPEN,
			      .align = 1};

	for (size_t i = from; i < to; i++) {
		const struct arginfo_item *item = &info->items[i];

		if (item->kind == ARGINFO_OPEN || item->kind == ARGINFO_CLOSE)
			continue;
		if (item->kind == ARGINFO_MORE || item->off < 0 || item->size > WORD ||
		    !item->size || param.first + param.count == ARGTABLE_VALUES)
			return false;
		if (!param.count)
			param.off = item->off;
		if (param.align < item->size)
			param.align = item->size;
		param.size = item->off + item->size - param.off;
		search->values[param.first + param.count] = item;
		out->items[param.first + param.count++] = i;
	}
	if (!param.count)
		return true;
	search->value_count += param.count;
	search->params[search->param_count++] = param;
	return true;
}

static void add_params(struct search *search, struct argtable_places *out)
{
	const struct arginfo *info = search->asked->info;
	size_t next;

	search->whole = !info->truncated;
	for (size_t at = 0; at < info->count; at = next) {
		next = arginfo_next(info, at);
		if (!add_param(search, out, at, next)) {
			search->whole = false;
			break;
		}
	}
	out->count = search->value_count;
}

/* --- ways --- */

static bool agrees_with_code(const struct search *search, const struct way *way)
{
	const struct argreads *reads = search->asked->reads;

	if (search->whole && (reads->ints >> way->ints || reads->floats >> way->floats))
		return false;
	for (size_t i = 0; i < search->value_count; i++) {
		int off = search->values[i]->off;

		if (off < ARGREADS_STACK && reads->stack[off] && way->pieces[i].where != ABI_SLOT)
			return false;
	}
	return true;
}

static bool agrees_with_size(const struct search *search, const struct way *way)
{
	int32_t args = search->asked->args;
	int end = way->spill_start < 0 ? way->stack_end : way->spill_start + way->spill_len;
	int least = align_up(end, WORD), most = least + (way->slack ? SLACK : 0);

	if (args < 0 || !search->whole)
		return true;
	/* after stack arguments come stack results */
	return args >= least && (way->spill_start < 0 || args <= most);
}

static bool same_place(const struct abi_piece *a, const struct abi_piece *b)
{
	return a->where == b->where && a->n == b->n;
}

static void add_way(struct search *search, const struct way *way)
{
	bool better = !search->ways || way->cost < search->best.cost;

	if (!agrees_with_code(search, way) || !agrees_with_size(search, way))
		return;
	for (size_t i = 0; i < search->value_count; i++) {
		bool same = !search->ways || same_place(&way->pieces[i], &search->best.pieces[i]);

		search->sure[i] = search->ways ? search->sure[i] && same : true;
		if (better)
			search->tie[i] = false;
		else if (way->cost == search->best.cost)
			search->tie[i] |= !same;
	}
	if (better)
		search->best = *way;
	search->ways++;
}

/* Is the parameter's slot where it must be if it comes next in an area that yet ends at `end`? */
static bool comes_next(const struct way *way, const struct param *param, int end)
{
	int at = align_up(end, param->align);

	return param->off >= at && param->off <= at + (way->slack ? SLACK : 0);
}

static unsigned cost_of(const struct argreads *reads, const struct abi_piece *piece)
{
	bool read = piece->where == ABI_FLOAT ? reads->floats >> piece->n & 1
		    : piece->where == ABI_INT ? reads->ints >> piece->n & 1
					      : piece->n < ARGREADS_STACK && reads->stack[piece->n];

	if (read)
		return 0;
	return COST_UNREAD + (piece->where == ABI_FLOAT ? COST_FLOAT : 0);
}

static bool put_on_stack(const struct search *search, const struct param *param, struct way *way)
{
	if (!comes_next(way, param, way->stack_end))
		return false;
	way->stack_end = param->off + param->size;
	for (size_t i = param->first; i < param->first + param->count; i++) {
		way->pieces[i] = (struct abi_piece){.where = ABI_SLOT,
						    .n = search->values[i]->off,
						    .size = search->values[i]->size};
		way->cost += cost_of(search->asked->reads, &way->pieces[i]);
	}
	way->slack = param->aggregate;
	return way->spill_start < 0 || way->stack_end <= way->spill_start;
}

static bool put_slot(const struct param *param, struct way *way)
{
	int at = align_up(way->spill_len, param->align);

	if (way->spill_start < 0)
		way->spill_start = param->off - at;
	if (way->spill_start % WORD || way->spill_start < way->stack_end ||
	    !comes_next(way, param, way->spill_start + way->spill_len))
		return false;
	way->spill_len = param->off - way->spill_start + param->size;
	return true;
}

/* `floats`: bit n: the parameter's n-th value is a floating-point number. false: the registers do
 * not suffice. */
static bool put_in_registers(const struct search *search, const struct param *param,
			     unsigned floats, struct way *way)
{
	for (size_t i = 0; i < param->count; i++) {
		struct abi_piece *piece = &way->pieces[param->first + i];
		bool is_float = floats >> i & 1;

		*piece = (struct abi_piece){.where = is_float ? ABI_FLOAT : ABI_INT,
					    .n = is_float ? way->floats++ : way->ints++,
					    .size = search->values[param->first + i]->size};
		way->cost += cost_of(search->asked->reads, piece);
	}
	return way->ints <= search->max_ints && way->floats <= search->max_floats;
}

static bool can_be(const struct search *search, const struct param *param, unsigned floats)
{
	for (size_t i = 0; i < param->count; i++)
		if (floats >> i & 1 && search->values[param->first + i]->size < 4)
			return false;
	return true;
}

static void place_from(struct search *search, size_t p, const struct way *way);

static void place_in_registers(struct search *search, size_t p, const struct way *way, bool *fits,
			       bool *lacks)
{
	const struct param *param = &search->params[p];

	for (unsigned floats = 0; floats < 1u << param->count; floats++) {
		struct way next = *way;

		if (!can_be(search, param, floats))
			continue;
		if (!put_in_registers(search, param, floats, &next)) {
			*lacks = true;
			continue;
		}
		*fits |= !floats;
		if (!put_slot(param, &next))
			continue;
		next.slack = param->aggregate;
		place_from(search, p + 1, &next);
	}
}

/* Recursion is as deep as there are parameters. */
static void place_from(struct search *search, size_t p, const struct way *way)
{
	bool fits = false, lacks = false;
	struct way next = *way;

	if (++search->tries > TRIES_MAX)
		return;
	if (p == search->param_count) {
		add_way(search, way);
		return;
	}
	place_in_registers(search, p, way, &fits, &lacks);
	const struct param *param = &search->params[p];

	if (!lacks && !(param->aggregate && param->count > 1))
		return;
	next.cost += fits ? COST_ON_STACK : 0;
	if (put_on_stack(search, param, &next))
		place_from(search, p + 1, &next);
}

void argtable_place(const struct argtable_asked *asked, struct argtable_places *out)
{
	struct search search = {.asked = asked,
				.max_ints = registers_count(asked->arch, REGISTERS_GO),
				.max_floats = registers_go_floats(asked->arch)};
	struct way way = {
		.ints = asked->hidden, .spill_start = -1, .spill_len = (int)asked->hidden * WORD};

	memset(out, 0, sizeof(*out));
	add_params(&search, out);
	place_from(&search, 0, &way);
	/* functions that assembly calls take everything on the stack (ABI0) */
	search.max_ints = search.max_floats = 0;
	way = (struct way){
		.spill_start = -1, .cost = COST_ABI0, .stack_end = (int)asked->hidden * WORD};
	place_from(&search, 0, &way);
	for (size_t i = 0; search.ways && search.tries <= TRIES_MAX && i < out->count; i++) {
		out->pieces[i] = search.best.pieces[i];
		out->how[i] = search.sure[i]  ? GOPARAM_READ
			      : search.tie[i] ? GOPARAM_UNPLACED
					      : GOPARAM_GUESSED;
	}
}
