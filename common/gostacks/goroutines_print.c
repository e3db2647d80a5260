// SPDX-License-Identifier: Apache-2.0
#include "gostacks/goroutines_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "frames/frame_args.h"
#include "frames/frame_print.h"
#include "goroutines/goroutine_frames.h"
#include "gostacks/goroutines_print_internal.h"
#include "gostacks/groups_internal.h"
#include "gostacks/labels_print_internal.h"
#include "waits/wait_objects.h"
#include "gostacks/wait_print_internal.h"

enum { GROUP_FRAMES = 10 };
#define MINUTE_NS 60000000000ULL

/* --- how many --- */

static void print_summary(FILE *out, const struct goroutines_view *view)
{
	static const struct {
		const char *name;
		unsigned char first, second;
	} kinds[] = {{"running", GOROUTINE_RUNNING, GOROUTINE_COPYSTACK},
		     {"runnable", GOROUTINE_RUNNABLE, GOROUTINE_PREEMPTED},
		     {"in system calls", GOROUTINE_SYSCALL, GOROUTINE_SYSCALL},
		     {"waiting", GOROUTINE_WAITING, GOROUTINE_LEAKED}};
	size_t counts[GOROUTINE_DEADEXTRA + 1] = {0}, total = 0;
	const char *mark = ": ";

	for (size_t i = 0; i < view->snap->count; i++) {
		counts[view->snap->all[i].status] += view->picked[i];
		total += view->picked[i];
	}
	fprintf(out, "%zu goroutine%s", total, total == 1 ? "" : "s");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t n = counts[kinds[i].first];

		if (kinds[i].second != kinds[i].first)
			n += counts[kinds[i].second];
		if (!n)
			continue;
		fprintf(out, "%s%zu %s", mark, n, kinds[i].name);
		mark = ", ";
	}
	fputc('\n', out);
}

void goroutines_print_title(FILE *out, const struct goroutines_view *view)
{
	fprintf(out, "%d ", view->pid);
	escape_print(out, view->name);
	if (view->release >= 0)
		fprintf(out, " (go1.%d)", view->release);
	fputs(": ", out);
	print_summary(out, view);
	if (view->waits)
		wait_print_circles(out, view->waits, view->snap, view->picked);
}

void goroutines_print_stopped(FILE *out, const char *tool, int pid, uint64_t ns)
{
	fprintf(out, "%s: process %d was stopped for %" PRIu64 ".%03" PRIu64 " ms\n", tool, pid,
		ns / 1000000, ns / 1000 % 1000);
}

/* --- together --- */

static void print_minutes(FILE *out, uint64_t shortest, uint64_t longest)
{
	uint64_t low = shortest / MINUTE_NS, high = longest / MINUTE_NS;

	if (!high)
		return;
	if (low != high)
		fprintf(out, ", %" PRIu64 "-%" PRIu64 " minutes", low, high);
	else
		fprintf(out, ", %" PRIu64 " minutes", high);
}

/* Why there is no stack; NULL: there is. */
static const char *no_stack(const struct goroutine *g)
{
	switch (g->stack_state) {
	case STACK_RUNNING:
		return "goroutine running on other thread; stack unavailable";
	case STACK_CHANGED:
		return "goroutine changed while it was read; stack unavailable";
	case STACK_UNKNOWN:
		return "stack unavailable";
	default:
		return NULL;
	}
}

struct lines {
	FILE *out;
	size_t count;
};

static void print_short(void *ctx, const struct frame *frame)
{
	struct lines *lines = ctx;

	if (lines->count++ >= GROUP_FRAMES)
		return;
	fputs("        ", lines->out);
	frame_print(lines->out, frame);
	fputc('\n', lines->out);
}

void goroutines_print_state(FILE *out, const struct goroutines_view *view,
			    const struct group *group)
{
	escape_print(out, snapshot_state(view->snap, group->first));
	if (group->noted)
		print_minutes(out, group->noted < group->count ? 0 : group->shortest,
			      group->longest);
	fputc('\n', out);
}

void goroutines_print_where(FILE *out, const struct goroutines_view *view,
			    const struct goroutine *g)
{
	struct lines lines = {.out = out};
	struct frame creator;
	size_t count;
	const uint64_t *stack = snapshot_stack(view->snap, g->stack, &count);

	if (no_stack(g) && g->stack_state != STACK_RUNNING)
		fprintf(out, "        (%s)\n", no_stack(g));
	frames_each(view->frames, stack, count, print_short, &lines);
	if (lines.count > GROUP_FRAMES)
		fprintf(out, "        ... %zu more\n", lines.count - GROUP_FRAMES);
	else if (g->stack_state == STACK_CUT)
		fputs("        ...\n", out);
	if (goroutine_creator(g, view->frames, &creator)) {
		fputs("        created by ", out);
		frame_print(out, &creator);
		fputc('\n', out);
	}
}

/* Of many that wait for many things, and of each that waits alone for no lock, it would be too
 * much.
 */
static bool tells_waits(const struct goroutines_view *view, const struct group *group)
{
	const struct goroutine *g = group->first;

	if (!view->waits || !group->waits_alike)
		return false;
	return group->count > 1 || wait_print_is_lock(view->snap, g) ||
	       wait_objects_next_in_circle(view->waits->objects, g, NULL);
}

void goroutines_print_groups(FILE *out, const struct goroutines_view *view)
{
	size_t count;
	struct group *groups = groups_make(view->snap, view->picked, &count);

	if (count)
		fputs("COUNT   STATE\n", out);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%6zu  ", groups[i].count);
		goroutines_print_state(out, view, &groups[i]);
		if (tells_waits(view, &groups[i]))
			wait_print(out, "        ", view->waits, view->snap, groups[i].first);
		goroutines_print_where(out, view, groups[i].first);
	}
	free(groups);
}

/* --- each --- */

static void print_position(FILE *out, const struct frame *frame)
{
	fputc('\t', out);
	escape_print(out, frame->file ? frame->file : "?");
	fprintf(out, ":%d", frame->line);
	if (!frame->inlined && frame->off)
		fprintf(out, " +0x%" PRIx64, frame->off);
	fputc('\n', out);
}

struct tracing {
	FILE *out;
	const struct goroutines_view *view;
	const struct goroutine *g;
};

static void print_args(const struct tracing *tracing, const struct frame *frame)
{
	size_t len;
	const uint8_t *bytes = snapshot_args(tracing->view->snap, tracing->g, frame->number, &len);

	if (bytes && !frame->inlined)
		frame_args_print(tracing->out, tracing->view->frames, frame->told, bytes, len);
	else
		fputs("...", tracing->out);
}

static void print_long(void *ctx, const struct frame *frame)
{
	const struct tracing *tracing = ctx;
	struct frame at = *frame;

	frame_print_name(tracing->out,
			 strcmp(frame->func, "runtime.gopanic") != 0 ? frame->func : "panic");
	fputc('(', tracing->out);
	print_args(tracing, frame);
	fputs(")\n", tracing->out);
	if (tracing->g->interrupted && !frame->number && !frame->inlined)
		at.off--;
	print_position(tracing->out, &at);
}

static void print_one(FILE *out, const struct goroutines_view *view, const struct goroutine *g)
{
	struct tracing tracing = {out, view, g};
	struct frame creator;
	size_t count;
	const uint64_t *stack = snapshot_stack(view->snap, g->stack, &count);
	uint64_t since;

	fprintf(out, "goroutine %" PRIu64 " [", g->goid);
	escape_print(out, snapshot_state(view->snap, g));
	if (snapshot_since(view->snap, g, &since))
		print_minutes(out, since, since);
	if (g->locked)
		fputs(", locked to thread", out);
	if (g->bubble)
		fprintf(out, ", synctest bubble %" PRIu64, g->bubble);
	fputc(']', out);
	if (view->shows_labels)
		labels_print(out, view->snap, g);
	fputs(":\n", out);
	if (view->waits)
		wait_print(out, "\t", view->waits, view->snap, g);
	if (no_stack(g))
		fprintf(out, "\t%s\n", no_stack(g));
	frames_each(view->frames, stack, count, print_long, &tracing);
	if (g->stack_state == STACK_CUT)
		fputs("...more frames elided...\n", out);
	if (!goroutine_creator(g, view->frames, &creator))
		return;
	fputs("created by ", out);
	frame_print_name(out, creator.func);
	if (g->parent)
		fprintf(out, " in goroutine %" PRIu64, g->parent);
	fputc('\n', out);
	print_position(out, &creator);
}

void goroutines_print_each(FILE *out, const struct goroutines_view *view)
{
	const char *before = "";

	for (size_t i = 0; i < view->snap->count; i++) {
		if (!view->picked[i])
			continue;
		fputs(before, out);
		print_one(out, view, &view->snap->all[i]);
		before = "\n";
	}
}

void goroutines_print_left_out(const struct snapshot *snap, size_t more, const char *tool)
{
	if (snap->left_out + more)
		fprintf(stderr, "%s: %zu more goroutines are not shown\n", tool,
			snap->left_out + more);
	if (snap->unread)
		fprintf(stderr, "%s: %zu goroutines could not be read\n", tool, snap->unread);
	if (snap->gave_up)
		fprintf(stderr,
			"%s: some stacks are left out: too many different return addresses\n",
			tool);
}
