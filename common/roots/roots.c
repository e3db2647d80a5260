// SPDX-License-Identifier: Apache-2.0
#include "roots/roots.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "blocked/losses.h"
#include "bpf-src/shared/roots.h"
#include "kernel/bpfmap.h"
#include "roots/channels.h"
#include "roots/starts.h"
#include "selection/selection.h"
#include "selection/target.h"
#include "tracing/tracer.h"

enum { GOROUTINES_MAX = 1 << 20 }; /* below calls of ROOT; the map takes memory only as it fills */

static const char asked[] = "--follow", asked_channels[] = "--follow-channels";

struct roots {
	const char *root; /* NULL: not given yet */
	bool channels;
	size_t first_start, first_channel, first_root, end; /* of the selection's items */
	struct tracer_plan *plans;                          /* of all of these */
	int losses;                                         /* map */
};

int roots_take(struct roots **roots, const char *root, struct errmsg *err)
{
	if (*roots && (*roots)->root)
		return errmsg_set(err, "%s: \"%s\" is a second ROOT", asked, root);
	if (!*roots)
		*roots = mem_zalloc(1, sizeof(**roots));
	(*roots)->root = root;
	return 0;
}

void roots_take_channels(struct roots **roots)
{
	if (!*roots)
		*roots = mem_zalloc(1, sizeof(**roots));
	(*roots)->channels = true;
}

int roots_check(const struct roots *roots, struct errmsg *err)
{
	if (!roots || roots->root)
		return 0;
	return errmsg_set(err, "%s needs %s ROOT: whose calls are to be followed?", asked_channels,
			  asked);
}

void roots_free(struct roots *roots)
{
	if (!roots)
		return;
	free(roots->plans);
	free(roots);
}

/* --- what is traced --- */

/* In one program, or in each of them. */
static int add_in_programs(struct tracer *tracer, const struct target_spec *spec,
			   struct errmsg *err)
{
	struct selection *sel = tracer_selection(tracer);
	const struct program *only = NULL;
	int ret = SELECTION_NONE;

	if (spec->binary && !(only = tracer_named(tracer, spec->binary, err)))
		return -1;
	for (size_t i = 0; ret >= 0 && i < tracer_program_count(tracer); i++) {
		const struct program *prog = tracer_program(tracer, i);
		struct errmsg why = {0};

		if (only && prog != only)
			continue;
		int one = selection_add(sel, prog, spec->pattern, &why);

		ret = one < 0 || !one ? one : ret;
		if (one && (one < 0 || !err->text[0]))
			*err = why;
	}
	return ret;
}

static int add_root(const struct roots *roots, struct tracer *tracer, struct errmsg *err)
{
	struct selection *sel = tracer_selection(tracer);
	size_t first_row = sel->row_count;
	struct target_spec spec;

	if (target_spec_parse(roots->root, true, &spec, err))
		return -1;
	selection_group(sel, sel->group + 1, true);
	int ret = add_in_programs(tracer, &spec, err);

	target_spec_free(&spec);
	for (size_t i = first_row; i < sel->row_count; i++)
		sel->rows[i].hidden = true;
	return ret;
}

int roots_plan(struct roots *roots, struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);
	struct errmsg why = {0};

	roots->first_start = sel->item_count;
	if (starts_plan(tracer, asked, err))
		return -1;
	roots->first_channel = sel->item_count;
	if (roots->channels && channels_plan(tracer, err))
		return -1;
	roots->first_root = sel->item_count;
	if (add_root(roots, tracer, &why)) {
		errmsg_set(err, "%s: %.400s", asked, why.text);
		if (*why.hint)
			errmsg_hint(err, "%s", why.hint);
		return -1;
	}
	roots->end = sel->item_count;
	tracer_define(tracer, "ROOTS", bpfmap_room(GOROUTINES_MAX));
	return 0;
}

static uint32_t part_of(const struct roots *roots, size_t item, uint32_t first)
{
	if (item < roots->first_channel)
		return first;
	return first + 1 + (roots->channels && item >= roots->first_root);
}

static char *programs_of(const struct roots *roots, uint32_t first)
{
	static const char *const with[] = {"on_root_start", "on_root_channel", "on_root"},
				 *const without[] = {"on_root_start", "on_root"};
	const char *const *names = roots->channels ? with : without;
	char *text = mem_printf("%s", "");

	for (uint32_t i = 0; i < 2U + roots->channels; i++) {
		char *before = text;

		text = mem_printf("%sint on_probe_%u(struct pt_regs *ctx)\n{\n"
				  "\treturn %s(ctx);\n}\n\n",
				  before, first + i, names[i]);
		free(before);
	}
	return text;
}

void roots_serve(struct roots *roots, struct tracer *tracer)
{
	const struct tracer_plan *before = tracer_plans(tracer);
	uint32_t first = tracer_parts(tracer);
	struct tracer_plan *plans = mem_zalloc(roots->end, sizeof(*plans));

	if (before)
		memcpy(plans, before, roots->first_start * sizeof(*plans));
	for (size_t i = roots->first_start; i < roots->end; i++)
		plans[i].part = part_of(roots, i, first);
	free(roots->plans);
	roots->plans = plans;
	tracer_set_plans(tracer, plans);
	tracer_set_parts(tracer, first + 2 + roots->channels);
	/* where a PROBE stands at the same place, its call is below that of ROOT */
	tracer_lead(tracer);
	tracer_insert(tracer, "root_programs", programs_of(roots, first));
}

/* --- the run --- */

int roots_begin(struct roots *roots, const struct tracer *tracer, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tracer);
	const struct selection_item *skipped = NULL;
	size_t traced = 0;

	roots->losses = tracer_map(tracer, "root_losses");
	if (starts_check(tracer, asked, err))
		return -1;
	for (size_t i = roots->first_root; i < roots->end; i++) {
		if (sel->items[i].skipped)
			skipped = &sel->items[i];
		else
			traced++;
	}
	if (!skipped)
		return 0;
	const char *name = sel->rows[skipped->row].name;

	if (!traced)
		return errmsg_set(err, "%s: %s cannot be traced: %s", asked, name,
				  skipped->skipped);
	fprintf(stderr, "%s: %zu of %zu functions are not seen: ", asked,
		roots->end - roots->first_root - traced, roots->end - roots->first_root);
	escape_print(stderr, name);
	fprintf(stderr, " cannot be traced: %s\n", skipped->skipped);
	return 0;
}

void roots_say_lost(const struct roots *roots, const char *tool)
{
	static const char *const said[ROOT_LOSSES] = {
		[ROOT_LOSS_CALLS] = "calls of ROOT were not followed: there was no room for them",
		[ROOT_LOSS_UNREADABLE] =
			"calls of ROOT were not followed: the goroutine could not be read",
		[ROOT_LOSS_SYSTEM] = "calls of ROOT were not followed: they were on a system stack",
		[ROOT_LOSS_STARTED] = "goroutines were not followed: more than there is room for",
		[ROOT_LOSS_NEWBORN] = "goroutines were not followed: they could not be read",
		[ROOT_LOSS_VALUES] =
			"values in channels were not followed: more than there is room for",
		[ROOT_LOSS_CHANNELS] =
			"values in channels were not followed: they could not be read",
	};
	uint64_t lost[ROOT_LOSSES];

	losses_say(roots->losses, tool, said, lost, ROOT_LOSSES);
}
