// SPDX-License-Identifier: Apache-2.0
/* A snapshot for other programs: folded stacks, JSON, a profile. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "frames/frame_print.h"
#include "goroutines/goroutine_frames.h"
#include "gostacks/goroutines_print.h"
#include "gostacks/goroutines_print_internal.h"
#include "gostacks/groups_internal.h"
#include "gostacks/labels_print_internal.h"
#include "gostacks/wait_print_internal.h"
#include "profile/profile.h"

/* --- folded --- */

void goroutines_print_folded(FILE *out, const struct goroutines_view *view)
{
	size_t group_count;
	struct group *groups = groups_make(view->snap, view->picked, &group_count);

	for (size_t i = 0; i < group_count; i++) {
		const struct goroutine *g = groups[i].first;
		size_t count;
		const uint64_t *stack = snapshot_stack(view->snap, g->stack, &count);

		if (view->several) {
			frame_print_word(out, view->name);
			fprintf(out, "-%d;", view->pid);
		}
		if (g->stack_state == STACK_CUT)
			fputs("...;", out);
		frame_print_folded(out, view->frames, stack, count);
		fputc('[', out);
		frame_print_word(out, snapshot_state(view->snap, g));
		fprintf(out, "] %zu\n", groups[i].count);
	}
	free(groups);
}

/* --- JSON --- */

static void add_frame(void *ctx, const struct frame *frame)
{
	struct json *json = ctx;

	json_object(json);
	frame_json(json, frame);
	json_object_end(json);
}

/* What the frames are: all of them ("whole"), or why not. */
static const char *stack_word(const struct goroutine *g)
{
	static const char *const words[] = {[STACK_READ] = "whole",
					    [STACK_CUT] = "cut",
					    [STACK_RUNNING] = "running",
					    [STACK_CHANGED] = "changed",
					    [STACK_UNKNOWN] = "unknown"};

	return words[g->stack_state];
}

static void json_creator(struct json *json, const struct frame *creator, const uint64_t *goid)
{
	json_object(json);
	frame_json(json, creator);
	if (goid)
		json_key(json, "goid");
	if (goid && *goid)
		json_u64(json, *goid);
	else if (goid)
		json_null(json);
	json_object_end(json);
}

void goroutines_json_where(struct json *json, const struct goroutines_view *view,
			   const struct goroutine *g, bool with_parent)
{
	struct frame creator;
	size_t count;
	const uint64_t *stack = snapshot_stack(view->snap, g->stack, &count);

	json_member_string(json, "stack", stack_word(g));
	json_key(json, "frames");
	json_array(json);
	frames_each(view->frames, stack, count, add_frame, json);
	json_array_end(json);
	json_key(json, "created_by");
	if (goroutine_creator(g, view->frames, &creator))
		json_creator(json, &creator, with_parent ? &g->parent : NULL);
	else
		json_null(json);
}

static void json_goroutine(struct json *json, const struct goroutines_view *view,
			   const struct goroutine *g)
{
	uint64_t since;

	json_object(json);
	json_member_string(json, "type", "goroutine");
	json_member_i64(json, "pid", view->pid);
	json_member_u64(json, "goid", g->goid);
	json_member_string(json, "state", snapshot_state(view->snap, g));
	json_key(json, "since_ns");
	if (snapshot_since(view->snap, g, &since))
		json_u64(json, since);
	else
		json_null(json);
	labels_json(json, view, g);
	goroutines_json_where(json, view, g, true);
	json_key(json, "waits_for");
	if (view->waits)
		wait_json(json, view->waits, view->snap, g);
	else
		json_null(json);
	json_object_end(json);
}

void goroutines_print_json(FILE *out, const struct goroutines_view *view)
{
	struct json json;

	json_init(&json, out);
	for (size_t i = 0; i < view->snap->count; i++)
		if (view->picked[i])
			json_goroutine(&json, view, &view->snap->all[i]);
}

/* --- profile --- */

static const struct profile_type profile_types[] = {{"goroutines", "count"}};
const struct profile_spec goroutines_profile_spec = {
	.tool = "gostacks", .types = profile_types, .type_count = 1};

static void profile_stack(struct profile *profile, const struct goroutines_view *view,
			  const struct goroutine *g)
{
	struct profile_at at = {profile, view->frames};
	size_t count;
	const uint64_t *stack = snapshot_stack(view->snap, g->stack, &count);

	frames_each(view->frames, stack, count, profile_frame, &at);
	if (!count) {
		char *word = mem_printf("[%s]", stack_word(g));

		profile_word(profile, word);
		free(word);
	}
	if (g->stack_state == STACK_CUT)
		profile_word(profile, "...");
}

void goroutines_profile(struct profile *profile, const struct goroutines_view *view)
{
	size_t group_count;
	struct group *groups = groups_make(view->snap, view->picked, &group_count);
	struct frame creator;

	for (size_t i = 0; i < group_count; i++) {
		const struct goroutine *g = groups[i].first;

		profile_stack(profile, view, g);
		profile_label(profile, "state", snapshot_state(view->snap, g));
		if (goroutine_creator(g, view->frames, &creator))
			profile_label(profile, "created_by", creator.func);
		profile_number(profile, "pid", view->pid);
		profile_label(profile, "comm", view->name);
		profile_add(profile, (uint64_t[]){groups[i].count});
	}
	free(groups);
}
