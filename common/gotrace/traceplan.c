// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_parts.h"

#include <stdlib.h>
#include <string.h>

#include "arguments/copyinfo.h"
#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/progress.h"
#include "bpf-src/shared/trace.h"
#include "elf/image.h"
#include "gotrace/tracegen_assert.h"
#include "gotrace/tracegen_told.h"
#include "gotrace/traceplan_held.h"
#include "gotrace/traceplan_text.h"
#include "gotrace/traceplan_types.h"
#include "kernel/bpfprog.h"
#include "program/pclntab.h"
#include "selection/program.h"
#include "tracing/tracer.h"
#include "values/format.h"

enum { PLANS_MAX = 1 << 16, QUOTE_MAX = 200, RECORD_MAX = 16384 };

/* Where a record has not room for all that -Z allows, shorter strings leave room for more of them:
 * so many bytes each are always tried. In interfaces, which may have a dozen strings, they have the
 * same length in all records: so many bytes where each has room, or those few. */
enum { STRING_LEAST = 80, DYNAMIC_MOST = 1024, DYNAMIC_FEW = 256 };

static int parse_probe(struct traceplan *plan, size_t n, struct errmsg *err)
{
	struct probespec *spec = &plan->specs[n];

	if (probespec_parse(plan->config->probes[n], plan->config->regex, spec, err))
		return -1;
	plan->parsed = n + 1;
	plan->patterns[n] = spec->target;
	plan->returns[n] = spec->at_return;
	if (!spec->format)
		return 0;
	plan->formats[n] = format_parse(spec->format, spec->format_len, spec->format_cols, err);
	return plan->formats[n] ? 0 : -1;
}

/* Which of several PROBEs is wrong is said by quoting it, as far as there is room. */
static void quote_probe(struct errmsg *err, const char *probe)
{
	bool all = strlen(probe) <= QUOTE_MAX;
	struct errmsg why = *err;

	errmsg_set(err, "\"%.*s%s\": %s", QUOTE_MAX, probe, all ? "" : "...", why.text);
	if (why.hint[0])
		errmsg_hint(err, "%s", why.hint);
}

struct traceplan *traceplan_new(const struct traceplan_config *config, struct errmsg *err)
{
	struct traceplan *plan = mem_zalloc(1, sizeof(*plan));

	plan->config = config;
	plan->specs = mem_zalloc(config->probe_count, sizeof(*plan->specs));
	plan->formats = mem_zalloc(config->probe_count, sizeof(struct format *));
	plan->patterns = mem_zalloc(config->probe_count, sizeof(char *));
	plan->returns = mem_zalloc(config->probe_count, sizeof(bool));
	plan->memory = gotypes_new();
	plan->text = traceplan_text_new();
	for (size_t i = 0; i < config->probe_count; i++) {
		if (!parse_probe(plan, i, err))
			continue;
		quote_probe(err, config->probes[i]);
		traceplan_free(plan);
		return NULL;
	}
	return plan;
}

void traceplan_free(struct traceplan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->parsed; i++) {
		probespec_free(&plan->specs[i]);
		format_free(plan->formats[i]);
	}
	for (size_t i = 0; i < plan->info_count; i++)
		funcinfo_free(plan->infos[i]);
	traceplan_types_free(plan->types);
	traceplan_text_free(plan->text);
	traceplan_free_warnings(plan);
	gotypes_free(plan->memory);
	free(plan->specs);
	free(plan->formats);
	free(plan->patterns);
	free(plan->returns);
	free(plan->infos);
	free(plan->items);
	free(plan);
}

char *const *traceplan_patterns(const struct traceplan *plan)
{
	return plan->patterns;
}

const bool *traceplan_returns(const struct traceplan *plan)
{
	return plan->returns;
}

static uint32_t program_of(const struct tracer *tracer, const struct program *prog)
{
	uint32_t n = 0;

	while (tracer->programs[n] != prog)
		n++;
	return n;
}

struct shape_limits traceplan_limits(const struct traceplan *plan)
{
	return (struct shape_limits){.string_max = plan->config->string_max,
				     .record_max = RECORD_MAX,
				     .dynamic_max = plan->dynamic_max};
}

/* Does the spec ask for an argument or a result at all? */
static bool asks(const struct probespec *spec)
{
	return !spec->format || spec->arg_count || spec->predicate;
}

static void note_unknown(struct traceplan *plan, const char *name)
{
	if (!plan->unknown++)
		plan->first_unknown = name;
}

/* Several copies of one function may differ in what is left of their arguments. */
static int copy_signature(struct traceplan *plan, struct tracer *tracer,
			  struct selection_item *item, struct gofunc *sig, struct abi_layout *abi,
			  struct errmsg *err)
{
	const struct probespec *spec = &plan->specs[item->group];
	uint32_t program = plan->items[plan->item_count].program;
	struct copyinfo_asker asker = {.info = plan->infos[program],
				       .minor = tracer->runtimes[program].minor,
				       .memory = plan->memory,
				       .sel = tracer->sel,
				       .signature = spec->signature,
				       .col = spec->signature_col};
	struct copyinfo copy;

	if (copyinfo_find(&asker, item, &copy, err))
		return -1;
	*sig = copy.sig;
	*abi = copy.layout;
	plan->known_copy |= copy.known || (sig->source != GOFUNC_NONE && !sig->param_count);
	plan->unknown_copy = item->copy.name;
	return 0;
}

static int signature_of(struct traceplan *plan, struct selection_item *item,
			const struct pclntab_func *fn, struct gofunc *sig, struct abi_layout *abi,
			struct errmsg *err)
{
	const struct probespec *spec = &plan->specs[item->group];
	struct funcinfo *info = plan->infos[plan->items[plan->item_count].program];

	*sig = (struct gofunc){.dictionary = -1};
	if (spec->signature) {
		if (funcinfo_signature(info, fn, spec->signature, spec->signature_col, sig, err))
			return -1;
	} else if (asks(spec)) {
		funcinfo_find(info, fn, sig);
		if (sig->source == GOFUNC_NONE &&
		    funcinfo_words(info, fn, spec->format != NULL, sig, abi))
			return 0;
		if (sig->source == GOFUNC_NONE && !spec->format)
			note_unknown(plan, fn->name);
	}
	item->restart = funcinfo_layout(info, fn, sig, abi);
	return 0;
}

/* With strings as long as there is room for. */
static int plan_strings(struct traceplan *plan, struct tracegen_probe *probe,
			struct tracegen_plan *made, struct errmsg *err)
{
	uint32_t missing = 0, max = plan->config->string_max;

	probe->limits = traceplan_limits(plan);
	probe->limits.missing = &missing;
	for (;; max = max / 2 > STRING_LEAST ? max / 2 : STRING_LEAST) {
		missing = 0;
		probe->limits.string_max = max;
		if (tracegen_plan(plan->memory, probe, made, err))
			return -1;
		if (!missing || max <= STRING_LEAST)
			break;
		tracegen_free(made);
	}
	plan->lacks_room |= missing > 0;
	return 0;
}

static int plan_item(struct traceplan *plan, struct tracer *tracer, struct selection_item *item,
		     bool several, struct errmsg *err)
{
	struct traceplan_item *as = &plan->items[plan->item_count];
	const struct tracegen_held held = {traceplan_held_type, plan->infos[as->program]};
	const struct tracegen_told told = {traceplan_warn, plan, plan->config->probes[item->group]};
	struct tracegen_probe probe = {.spec = as->spec,
				       .format = as->format,
				       .arch = image_arch(item->prog->img),
				       .several = several,
				       .is_copy = item->is_copy,
				       .held = &held,
				       .told = &told};
	struct pclntab_func fn;
	struct gofunc sig = {.dictionary = -1};
	struct abi_layout abi;
	struct tracegen_plan made;

	if (!pclntab_func(item->prog->tab, item->func, &fn))
		return errmsg_set(err, "the entry in the function table is malformed");
	if (item->is_copy && (asks(as->spec) || as->spec->signature)
		    ? copy_signature(plan, tracer, item, &sig, &abi, err)
		    : signature_of(plan, item, &fn, &sig, &abi, err))
		return -1;
	probe.fn = &sig;
	probe.abi = &abi;
	probe.is_gccgo = pclntab_is_gccgo(item->prog->tab);
	probe.is_clone = fn.is_clone;
	probe.restarts = item->restart != 0;
	/* a copy without a site is left out for that */
	int ret = item->skipped ? 0 : plan_strings(plan, &probe, &made, err);

	abi_layout_free(&abi);
	if (ret || item->skipped)
		return ret;
	as->args = made.args;
	as->arg_count = made.arg_count;
	as->saved_size = made.saved_size;
	as->record_size = made.record_size;
	if (made.saved_size > plan->saved_max)
		plan->saved_max = made.saved_size;
	plan->uses_parent |= made.uses_parent;
	plan->uses_identity |= made.uses_identity;
	item->plan = traceplan_text_add(plan->text, &made, item->returns) | as->program << 16;
	item->part = traceplan_text_part(plan->text, item->plan & 0xffff);
	tracegen_free(&made);
	return 0;
}

/* A function that lacks what the predicate needs cannot be traced: of several, it is left out. */
static int plan_or_skip(struct traceplan *plan, struct tracer *tracer, size_t n, bool several,
			struct errmsg *err)
{
	struct selection_item *item = &tracer->sel->items[n];

	plan->item_count = n;
	plan->items[n] = (struct traceplan_item){.spec = &plan->specs[item->group],
						 .format = plan->formats[item->group],
						 .program = program_of(tracer, item->prog)};
	if (!plan_item(plan, tracer, item, several, err))
		return 0;
	if (!several) {
		quote_probe(err, plan->config->probes[item->group]);
		return -1;
	}
	const char *why = errmsg_after_col(err); /* it is about the function, not the PROBE */

	item->skipped = gotypes_text(plan->memory, why, strlen(why));
	return 0;
}

/* How many items has each PROBE? */
static size_t *count_items(const struct traceplan *plan, const struct selection *sel)
{
	size_t *counts = mem_zalloc(plan->config->probe_count, sizeof(*counts));

	for (size_t i = 0; i < sel->item_count; i++)
		counts[sel->items[i].group]++;
	return counts;
}

/* The kernel side tells only so many PROBEs at one function's returns apart. */
static int check_returns(const struct traceplan *plan, const struct selection *sel,
			 struct errmsg *err)
{
	size_t probes = 0;

	for (size_t i = 0; i < plan->config->probe_count; i++)
		probes += plan->returns[i];
	for (size_t i = 0; probes > TRACE_SAME_DEPTH && i < sel->item_count; i++)
		if (selection_returns_like(sel, i) > TRACE_SAME_DEPTH)
			return errmsg_set(err, "more than %d r: PROBEs of %s", TRACE_SAME_DEPTH,
					  sel->rows[sel->items[i].row].name);
	return 0;
}

static int plan_all(struct traceplan *plan, struct tracer *tracer, struct errmsg *err)
{
	size_t *counts = count_items(plan, tracer->sel);
	int ret = 0;

	for (size_t i = 0; !ret && i < tracer->sel->item_count; i++) {
		ret = plan_or_skip(plan, tracer, i, counts[tracer->sel->items[i].group] > 1, err);
		progress_signatures(i + 1);
	}
	plan->item_count = tracer->sel->item_count;
	free(counts);
	return ret;
}

static void forget_plans(struct traceplan *plan)
{
	traceplan_text_free(plan->text);
	plan->text = traceplan_text_new();
	plan->saved_max = 0;
	plan->unknown = 0;
}

static int plan_with_room(struct traceplan *plan, struct tracer *tracer, struct errmsg *err)
{
	uint32_t most = plan->config->string_max;

	plan->dynamic_max = most < DYNAMIC_MOST ? most : DYNAMIC_MOST;
	if (plan_all(plan, tracer, err))
		return -1;
	if (!plan->lacks_room || plan->dynamic_max <= DYNAMIC_FEW)
		return 0;
	plan->dynamic_max = DYNAMIC_FEW;
	forget_plans(plan);
	return plan_all(plan, tracer, err);
}

int traceplan_make(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct traceplan *plan = ctx;

	if (check_returns(plan, tracer->sel, err) ||
	    traceplan_check_runtimes(plan->config, tracer, err))
		return -1;
	traceplan_open_infos(plan, tracer);
	plan->items = mem_zalloc(tracer->sel->item_count, sizeof(*plan->items));
	if (plan_with_room(plan, tracer, err))
		return -1;
	if (traceplan_text_count(plan->text) > PLANS_MAX)
		return errmsg_set(err, "too many functions of different signatures");
	traceplan_define(plan, tracer);
	tracer->part_count = traceplan_text_parts(plan->text);
	tracer_insert(tracer, "plans", traceplan_text_plans(plan->text));
	tracer_insert(tracer, "programs", traceplan_text_programs(plan->text));
	return 0;
}

int traceplan_loaded(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct traceplan *plan = ctx;
	struct shape_limits limits = traceplan_limits(plan);
	int fd = bpfprog_map(tracer->bpf, "dyntypes");

	(void)err;
	if (traceplan_text_uses_types(plan->text))
		traceplan_types_fill(plan->types, fd, tracer, plan->infos, &limits);
	return 0;
}

const struct traceplan_item *traceplan_item(const struct traceplan *plan, size_t item)
{
	return item < plan->item_count ? &plan->items[item] : NULL;
}

size_t traceplan_kinds(const struct traceplan *plan)
{
	return traceplan_text_count(plan->text);
}

size_t traceplan_unknown(const struct traceplan *plan, const char **first)
{
	*first = plan->first_unknown;
	return plan->unknown;
}

const char *traceplan_unknown_copy(const struct traceplan *plan)
{
	return plan->known_copy ? NULL : plan->unknown_copy;
}
