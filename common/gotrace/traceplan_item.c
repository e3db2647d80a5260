// SPDX-License-Identifier: Apache-2.0
/* Makes the plan of one item of the selection: of a function or a copy, for the item's PROBE. */
#include <stdlib.h>

#include "arguments/copyinfo.h"
#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "bpf-src/shared/trace.h"
#include "elf/image.h"
#include "golang/funcname.h"
#include "golang/release.h"
#include "gotrace/tracegen_assert_internal.h"
#include "gotrace/tracegen_context_internal.h"
#include "gotrace/tracegen_told_internal.h"
#include "gotrace/traceplan_contexts_internal.h"
#include "gotrace/traceplan_held_internal.h"
#include "gotrace/traceplan_internal.h"
#include "gotrace/traceplan_text_internal.h"
#include "machine/calls.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/goruntime.h"
#include "tracing/tracer.h"
#include "gotrace/tracegen_plan_internal.h"

/* If a record has no room for strings as long as -Z allows, shorter ones leave room for more of
 * them: they get no shorter than this. */
enum { STRING_LEAST = 80 };
/* With more functions, pointers are not followed where nothing asks for it: that is code for each
 * field of each struct. */
enum { FOLLOWS_MAX = 16 };

static uint32_t program_of(const struct tracer *tracer, const struct program *prog)
{
	uint32_t n = 0;

	while (tracer_program(tracer, n) != prog)
		n++;
	return n;
}

static bool is_method(const char *name)
{
	struct funcname parts;

	funcname_parse(name, &parts);
	return parts.receiver;
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

/* An item that is planned now. */
struct planning {
	struct traceplan *plan;
	struct tracer *tracer;
	struct selection_item *item;
	struct traceplan_item *as;
	struct tracer_plan *to; /* the tracer */
	struct functab_func fn;
	struct gofunc sig;
	struct abi_layout abi;
};

/* Copies of one function may differ in which arguments are optimised out. */
static int copy_signature(struct planning *now, struct errmsg *err)
{
	struct traceplan *plan = now->plan;
	struct selection_item *item = now->item;
	struct copyinfo_asker asker = {
		.prog = item->prog,
		.finder = selection_finder(tracer_selection(now->tracer), item->prog),
		.info = plan->infos[now->as->program],
		.memory = plan->memory,
		.timed = item->returns,
		.signature = now->as->spec->signature,
		.col = now->as->spec->signature_col};
	struct site_list exits = {0};
	struct copyinfo copy;
	int ret = copyinfo_find(&asker, &item->copy, &exits, &copy, err);

	if (!ret) {
		selection_locate(tracer_selection(now->tracer), item, &copy.entry, &exits,
				 copy.skipped);
		now->sig = copy.sig;
		now->abi = copy.layout;
		plan->known_copy |=
			copy.known || (copy.sig.source != GOFUNC_NONE && !copy.sig.param_count);
		plan->unknown_copy = item->copy.name;
	}
	free(exits.items);
	return ret;
}

static int signature_of(struct planning *now, struct errmsg *err)
{
	const struct probespec *spec = now->as->spec;
	struct funcinfo *info = now->plan->infos[now->as->program];

	if (spec->signature) {
		if (funcinfo_signature(info, &now->fn, spec->signature, spec->signature_col,
				       &now->sig, err))
			return -1;
	} else if (asks(spec)) {
		funcinfo_find(info, &now->fn, &now->sig);
		if (now->sig.source == GOFUNC_NONE &&
		    funcinfo_words(info, &now->fn, spec->format != NULL, &now->sig, &now->abi)) {
			funcinfo_type_receiver(info, &now->fn, &now->sig);
			if (now->item->returns && !spec->format && !now->plan->no_results++)
				now->plan->first_no_results = now->fn.name;
			return 0;
		}
		if (now->sig.source == GOFUNC_NONE && !spec->format)
			note_unknown(now->plan, now->fn.name);
	}
	now->to->restart = funcinfo_layout(info, &now->fn, &now->sig, &now->abi);
	return 0;
}

/* A line has no parameters, and its variables are not known: there are $goid and its like. */
static int line_signature(const struct planning *now, struct errmsg *err)
{
	if (!now->as->spec->signature)
		return 0;
	return errmsg_set(err, "col %u: a line has no signature", now->as->spec->signature_col);
}

/* With strings as long as there is room for. */
static int plan_strings(struct traceplan *plan, struct tracegen_probe *probe,
			struct tracegen_plan *made, struct errmsg *err)
{
	uint32_t missing = 0, max = plan->config->string_max;
	int ret;

	probe->limits = traceplan_limits(plan);
	probe->limits.missing = &missing;
	for (;; max = max / 2 > STRING_LEAST ? max / 2 : STRING_LEAST) {
		missing = 0;
		probe->limits.string_max = max;
		ret = tracegen_plan(plan->memory, probe, made, err);
		if (ret || !missing || max <= STRING_LEAST)
			break;
		tracegen_free(made);
	}
	probe->limits.missing = NULL;
	plan->lacks_room |= !ret && missing > 0;
	return ret;
}

/* Notes what the kernel side and the printing of events need. */
static void note_plan(struct planning *now, const struct tracegen_plan *made)
{
	struct traceplan *plan = now->plan;
	struct traceplan_item *as = now->as;

	as->plan = traceplan_text_add(plan->text, made, now->item->returns);
	as->args = made->args;
	as->arg_count = made->arg_count;
	as->saved_size = made->saved_size;
	as->record_size = made->record_size;
	if (made->saved_size > plan->saved_max)
		plan->saved_max = made->saved_size;
	if (made->record_size > plan->record_max)
		plan->record_max = made->record_size;
	plan->uses |= made->uses;
}

/* Can stacks be read by frame pointers? Where the release is not known, it may be an old one. */
static bool has_frames(const struct program *prog)
{
	return prog->release >= calls_of(image_arch(prog->img))->frames_from;
}

static int plan_item(struct planning *now, bool several, struct errmsg *err)
{
	struct traceplan *plan = now->plan;
	const struct selection_item *item = now->item;
	struct traceplan_item *as = now->as;
	const struct tracegen_told told = {traceplan_warn, plan, plan->config->probes[item->group]};
	const struct tracegen_contexts contexts = {traceplan_contexts_find,
						   plan->contexts[as->program]};
	const struct tracegen_held held = {traceplan_held_type, plan->infos[as->program],
					   &contexts};
	struct tracegen_probe probe = {.spec = as->spec,
				       .format = as->format,
				       .arch = image_arch(item->prog->img),
				       .several = several,
				       .is_copy = item->is_copy,
				       .is_line = item->file != NULL,
				       .held = &held,
				       .told = &told};
	struct tracegen_plan made;

	if (!functab_func(item->prog->tab, item->func, &now->fn))
		return errmsg_set(err, "the entry in the function table is malformed");
	if ((plan->config->user_stack || plan->config->callers) && !has_frames(item->prog))
		return errmsg_set(err,
				  "stacks of arm64 programs from before Go 1.21 cannot be read: "
				  "their frame pointers are wrong once a stack has moved");
	if (item->file                                                 ? line_signature(now, err)
	    : item->is_copy && (asks(as->spec) || as->spec->signature) ? copy_signature(now, err)
								       : signature_of(now, err))
		return -1;
	if (several && traceplan_unwraps(as->spec, now->fn.name, &now->sig)) {
		abi_layout_free(&now->abi);
		return errmsg_set(err, "Unwrap and Cause return the error within another one: they "
				       "do not fail");
	}
	probe.fn = &now->sig;
	probe.abi = &now->abi;
	probe.toolchain = item->prog->toolchain;
	probe.is_clone = now->fn.is_clone;
	probe.is_method = is_method(item->is_copy ? item->copy.name : now->fn.name);
	probe.keyed = plan->config->histograms;
	probe.log2 = probe.keyed && plan->config->histograms[item->group];
	probe.says_types = plan->config->typed;
	probe.lists_alike = plan->config->lists_alike;
	probe.follows = plan->config->typed && plan->item_count <= FOLLOWS_MAX;
	probe.restarts = now->to->restart != 0;
	probe.g_labels = goruntime_labels(item->prog, tracer_runtime(now->tracer, as->program));
	probe.label_map = item->prog->release < RELEASE_LABEL_SETS;
	probe.has_states = plan->states && item->returns;
	/* a copy without a site is left out for that */
	int ret = item->skipped ? 0 : plan_strings(plan, &probe, &made, err);

	abi_layout_free(&now->abi);
	if (ret || item->skipped)
		return ret;
	note_plan(now, &made);
	tracegen_free(&made);
	return 0;
}

int traceplan_plan_item(struct traceplan *plan, struct tracer *tracer, size_t n, bool several,
			struct errmsg *err)
{
	struct selection_item *item = &tracer_selection(tracer)->items[n];
	struct planning now = {.plan = plan,
			       .tracer = tracer,
			       .item = item,
			       .as = &plan->items[n],
			       .to = &plan->numbers[n],
			       .sig = {.dictionary = -1}};

	*now.as = (struct traceplan_item){.spec = &plan->specs[item->group],
					  .format = plan->formats[item->group],
					  .program = program_of(tracer, item->prog)};
	*now.to = (struct tracer_plan){0};
	return plan_item(&now, several, err);
}
