// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/funcinfo.h"
#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/progress.h"
#include "bpf-src/shared/later.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/traceplan_tables_internal.h"
#include "gotrace/traceplan_text_internal.h"
#include "gotrace/traceplan_contexts_internal.h"
#include "gotrace/traceplan_types_internal.h"
#include "kernel/bpfprog.h"
#include "kernel/bpfmap.h"
#include "kernel/kernelfeature.h"
#include "program/program.h"
#include "roots/roots.h"
#include "latency/states.h"
#include "tracing/tracer.h"
#include "values/format.h"
#include "sites/goruntime.h"
#include "gotrace/tracegen_uses_internal.h"

enum { QUOTE_MAX = 200, RECORD_MAX = LATER_PLACES };
enum { COMPILED_MAX = 16 }; /* plans: with more, to compile takes longer than to verify the loop */

/* Bytes for each string in an interface, of which there may be a dozen. The length is the same in
 * all records: the larger one if every record has room for that, else the smaller. */
enum { DYNAMIC_MOST = 1024, DYNAMIC_FEW = 256 };

static int parse_probe(struct traceplan *plan, size_t n, struct errmsg *err)
{
	struct probespec *spec = &plan->specs[n];

	if (plan->config->histograms
		    ? probespec_parse_values(plan->config->probes[n], plan->config->regex, spec,
					     err)
		    : probespec_parse(plan->config->probes[n], plan->config->regex, spec, err))
		return -1;
	plan->parsed = n + 1;
	plan->patterns[n] = spec->target;
	plan->returns[n] = spec->at_return;
	if (!plan->states)
		plan->states = spec->state;
	if (!spec->format)
		return 0;
	plan->formats[n] = format_parse(spec->format, spec->format_len, spec->format_cols, err);
	return plan->formats[n] ? 0 : -1;
}

/* Quotes the wrong one of several PROBEs before the error, as far as there is room. */
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
	for (size_t i = 0; i < plan->info_count; i++) {
		traceplan_contexts_free(plan->contexts[i]);
		funcinfo_free(plan->infos[i]);
	}
	free(plan->contexts);
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
	free(plan->numbers);
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

struct shape_limits traceplan_limits(const struct traceplan *plan)
{
	return (struct shape_limits){.string_max = plan->config->string_max,
				     .record_max = RECORD_MAX,
				     .dynamic_max = plan->dynamic_max};
}

/* A function that lacks what the predicate needs cannot be traced: if there are several, it is left
 * out. */
static int plan_or_skip(struct traceplan *plan, struct tracer *tracer, size_t n, bool several,
			struct errmsg *err)
{
	struct selection_item *item = &tracer_selection(tracer)->items[n];

	if (!traceplan_plan_item(plan, tracer, n, several, err))
		return 0;
	if (!several) {
		quote_probe(err, plan->config->probes[item->group]);
		return -1;
	}
	/* It is about the function, not the PROBE; but what is to be written is so for all. */
	bool about_all = !strncmp(err->hint, "write $", strlen("write $"));
	char *why = mem_printf("%s%s%s", errmsg_after_col(err), about_all ? ": " : "",
			       about_all ? err->hint : "");

	selection_skip(tracer_selection(tracer), item,
		       gotypes_text(plan->memory, why, strlen(why)));
	free(why);
	return 0;
}

/* Counts each PROBE's items. */
static size_t *count_items(const struct traceplan *plan, const struct selection *sel)
{
	size_t *counts = mem_zalloc(plan->config->probe_count, sizeof(*counts));

	for (size_t i = 0; i < sel->item_count; i++)
		counts[sel->items[i].group]++;
	return counts;
}

/* How many items, this one among them, are of returns of the same function. */
static size_t returns_like(const struct selection *sel, size_t item)
{
	const struct selection_item *like = &sel->items[item];
	size_t same = 0;

	for (size_t i = 0; like->returns && i < sel->item_count; i++)
		same += sel->items[i].returns && sel->items[i].prog == like->prog &&
			sel->items[i].func == like->func;
	return same;
}

/* The kernel side can tell only TRACE_SAME_DEPTH PROBEs at one function's returns apart. */
static int check_returns(const struct traceplan *plan, const struct selection *sel,
			 struct errmsg *err)
{
	size_t probes = 0;

	for (size_t i = 0; i < plan->config->probe_count; i++)
		probes += plan->returns[i];
	for (size_t i = 0; probes > TRACE_SAME_DEPTH && i < sel->item_count; i++)
		if (returns_like(sel, i) > TRACE_SAME_DEPTH)
			return errmsg_set(err, "more than %d r: PROBEs of %s", TRACE_SAME_DEPTH,
					  sel->rows[sel->items[i].row].name);
	return 0;
}

static int plan_all(struct traceplan *plan, struct tracer *tracer, struct errmsg *err)
{
	size_t *counts = count_items(plan, tracer_selection(tracer));
	int ret = 0;

	for (size_t i = 0; !ret && i < tracer_selection(tracer)->item_count; i++) {
		ret = plan_or_skip(plan, tracer, i,
				   counts[tracer_selection(tracer)->items[i].group] > 1, err);
		progress_signatures(i + 1);
	}
	free(counts);
	return ret;
}

static void forget_plans(struct traceplan *plan)
{
	traceplan_text_free(plan->text);
	plan->text = traceplan_text_new();
	plan->saved_max = plan->record_max = 0;
	plan->unknown = plan->no_results = 0;
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

/* -1 with *err: these runtimes cannot provide what is asked for. */
static int check_runtimes(const struct traceplan_config *config, struct tracer *tracer,
			  struct errmsg *err)
{
	const struct goruntime *rt = tracer_runtime(tracer, 0);

	if (!rt->split_stack || rt->g_goid)
		return 0;
	if (config->only_goid)
		return errmsg_set(err, "-G: goroutine IDs are not known in \"%s\"",
				  tracer_program(tracer, 0)->path);
	selection_note(tracer_selection(tracer),
		       mem_printf("goroutine IDs are not known in %s: GOID is 0",
				  tracer_program(tracer, 0)->path));
	return 0;
}

/* What is known of each of the tracer's programs. */
static void open_infos(struct traceplan *plan, const struct tracer *tracer)
{
	struct funcinfo *library = NULL;

	plan->infos = mem_zalloc(tracer_program_count(tracer), sizeof(struct funcinfo *));
	plan->contexts =
		mem_zalloc(tracer_program_count(tracer), sizeof(struct traceplan_contexts *));
	plan->info_count = tracer_program_count(tracer);
	plan->types = traceplan_types_new();
	for (size_t i = 0; i < tracer_program_count(tracer); i++) {
		plan->infos[i] = funcinfo_new(tracer_program(tracer, i), plan->memory);
		plan->contexts[i] = traceplan_contexts_new(plan->infos[i]);
		if (tracer_runtime(tracer, i)->is_library)
			library = plan->infos[i];
	}
	for (size_t i = 0; library && i < tracer_program_count(tracer); i++)
		if (plan->infos[i] != library)
			funcinfo_link(plan->infos[i], library);
}

/* Tells the kernel side and the tracer how plans are served. */
static void serve(struct traceplan *plan, struct tracer *tracer, bool by_tables)
{
	traceplan_text_serve(plan->text, by_tables);
	for (size_t i = 0; i < plan->item_count && traceplan_text_count(plan->text); i++) {
		struct tracer_plan *as = &plan->numbers[i];
		struct traceplan_served served =
			traceplan_text_served(plan->text, plan->items[i].plan);

		as->number = trace_plan(served.number, plan->items[i].program);
		as->part = served.part;
		as->table = served.table;
		as->ends_apart = served.ends_apart;
	}
	traceplan_define(plan, tracer);
	tracer_set_parts(tracer, traceplan_text_parts(plan->text));
	tracer_insert(tracer, "plans", traceplan_text_plans(plan->text));
	tracer_insert(tracer, "programs", traceplan_text_programs(plan->text));
}

/* What is traced beside the PROBEs' functions has the parts after theirs. */
static void serve_others(struct traceplan *plan, struct tracer *tracer)
{
	tracer_set_plans(tracer, plan->numbers);
	if (plan->states)
		traceplan_serve_states(plan, tracer);
	if (plan->config->roots)
		roots_serve(plan->config->roots, tracer);
}

static void serve_without_tables(void *ctx, struct tracer *tracer, const struct errmsg *why)
{
	struct traceplan *plan = ctx;

	progress_pause();
	fprintf(stderr, "%s: arguments are read by code instead of tables: %s\n",
		plan->config->tool, why->text);
	progress_resume();
	serve(plan, tracer, false);
	serve_others(plan, tracer);
	traceplan_say_compiling(plan);
}

/* NULL: tables can serve; else why not. */
static const char *why_no_tables(void)
{
	return kernelfeature_cmpxchg()
		       ? NULL
		       : "tables need atomic compare and exchange in BPF, of Linux 5.12";
}

/* Few plans are compiled sooner than the verifier has looked at the program that reads by tables,
 * and a hit costs a little less then. */
static bool wants_tables(struct traceplan *plan)
{
	const char *wish = getenv("GOTOOLS_TABLES"); /* for tests: "yes", "most", "no" */
	bool asked = wish && strcmp(wish, "no") != 0;

	if (!asked && (wish || traceplan_text_count(plan->text) <= COMPILED_MAX))
		return false;
	plan->why_no_tables = why_no_tables();
	return !plan->why_no_tables && (asked || traceplan_text_tabular(plan->text) > COMPILED_MAX);
}

int traceplan_make(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct traceplan *plan = ctx;

	if (check_returns(plan, tracer_selection(tracer), err) ||
	    check_runtimes(plan->config, tracer, err))
		return -1;
	open_infos(plan, tracer);
	plan->item_count = tracer_selection(tracer)->item_count;
	plan->items = mem_zalloc(plan->item_count, sizeof(*plan->items));
	plan->numbers = mem_zalloc(plan->item_count, sizeof(*plan->numbers));
	if (plan_with_room(plan, tracer, err))
		return -1;
	if (traceplan_text_count(plan->text) > TRACE_PLANS)
		return errmsg_set(err, "too many functions of different signatures");
	bool by_tables = wants_tables(plan);

	serve(plan, tracer, by_tables);
	if (by_tables)
		tracer_set_otherwise(tracer, serve_without_tables, plan);
	if (plan->states && traceplan_add_states(plan, tracer, err))
		return -1;
	if (plan->config->roots && roots_plan(plan->config->roots, tracer, err))
		return -1;
	serve_others(plan, tracer);
	traceplan_say_warnings(plan);
	traceplan_say_compiling(plan);
	return 0;
}

void traceplan_keep_time(const struct traceplan *plan, const struct tracer *tracer)
{
	if (!(plan->uses & TRACEGEN_TIME))
		return;
	uint64_t to_unix = clock_to_unix_ns();
	uint32_t zero = 0;

	bpfmap_update(tracer_map(tracer, "to_unix"), &zero, &to_unix);
}

int traceplan_loaded(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct traceplan *plan = ctx;
	struct shape_limits limits = traceplan_limits(plan);
	int fd = tracer_map(tracer, "dyntypes");

	if (traceplan_text_uses_types(plan->text))
		traceplan_types_fill(plan->types, fd, tracer, plan->infos, &limits);
	for (size_t i = 0; (plan->uses & TRACEGEN_CONTEXTS) && i < plan->info_count; i++)
		traceplan_contexts_fill(plan->contexts[i], tracer_map(tracer, "contexts"), i);
	traceplan_keep_time(plan, tracer);
	struct traceplan_table_parts parts;
	const struct traceplan_tables *tables = traceplan_text_tables(plan->text, &parts);

	if (tables && traceplan_tables_fill(tables, tracer_map(tracer, "tables"),
					    tracer_map(tracer, "steps")))
		return errmsg_set(err, "cannot pass %zu tables to the BPF program: %s",
				  traceplan_tables_count(tables), strerror(errno));
	return 0;
}

int traceplan_attached(const struct traceplan *plan, const struct tracer *tracer,
		       struct errmsg *err)
{
	return plan->states ? states_check(tracer, plan->states, err) : 0;
}

struct funcinfo *traceplan_funcinfo(const struct traceplan *plan, size_t program)
{
	return plan->infos[program];
}

const struct gotype *traceplan_rtype(const struct traceplan *plan, size_t program, uint64_t rtype,
				     bool *direct)
{
	return traceplan_types_find(plan->types, plan->infos[program], rtype, direct);
}

const struct traceplan_item *traceplan_item(const struct traceplan *plan, size_t item)
{
	return item < plan->item_count ? &plan->items[item] : NULL;
}

uint32_t traceplan_record_max(const struct traceplan *plan)
{
	return plan->record_max;
}

const struct probespec *traceplan_spec(const struct traceplan *plan, size_t probe)
{
	return &plan->specs[probe];
}

size_t traceplan_unknown(const struct traceplan *plan, const char **first)
{
	*first = plan->first_unknown;
	return plan->unknown;
}

size_t traceplan_no_results(const struct traceplan *plan, const char **first)
{
	*first = plan->first_no_results;
	return plan->no_results;
}

const char *traceplan_unknown_copy(const struct traceplan *plan)
{
	return plan->known_copy ? NULL : plan->unknown_copy;
}
