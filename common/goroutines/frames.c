// SPDX-License-Identifier: Apache-2.0
#include "goroutines/frames.h"

#include <string.h>

#include "goroutines/snapshot.h"
#include "program/functab.h"
#include "program/gostack_symbols.h"

static const char prefix[] = "runtime.";

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* runtime.Gosched, runtime.(*Cleanup).Stop: of exported types */
static bool is_exported(const char *name)
{
	const char *in = name + strlen(prefix), *dot = strrchr(in, '.');

	if (!dot)
		return is_upper(*in);
	return is_upper(dot[1]) && is_upper(in[0] == '(' ? in[2] : in[0]);
}

static bool is_runtime(const char *name)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* They panic: what calls them, even if the compiler made it, has to do with it. */
static bool panics(const char *name)
{
	return name && (!strcmp(name, "runtime.gopanic") || !strcmp(name, "runtime.sigpanic") ||
			!strcmp(name, "runtime.panicwrap"));
}

static bool is_shown(const struct gostack_line *line, const char *callee, bool first)
{
	const char *name = line->name;

	if (!name || (line->wrapper && !panics(callee)))
		return false;
	if (!strcmp(name, "runtime.runFinalizers") || !strcmp(name, "runtime.runCleanups"))
		return true;
	if (!strcmp(name, "runtime.gopanic"))
		return !first;
	return strchr(name, '.') && (!is_runtime(name) || is_exported(name));
}

/* --- of a stack --- */

struct walk {
	const struct frames *frames;
	bool all;
	size_t shown;
	const char *callee;
	void (*fn)(void *ctx, const struct frame *frame);
	void *ctx;
};

static void show_place(struct walk *walk, const struct gostack_place *place, size_t number,
		       uint64_t at)
{
	for (size_t i = 0; i < place->count; i++) {
		const struct gostack_line *line = &place->lines[i];
		struct frame frame = {.func = line->name ? line->name : "?",
				      .file = line->file,
				      .line = line->line,
				      .off = place->off,
				      .inlined = line->inlined,
				      .number = number,
				      .at = at};

		if (walk->all || is_shown(line, walk->callee, !walk->shown)) {
			walk->shown++;
			if (walk->fn)
				walk->fn(walk->ctx, &frame);
		}
		walk->callee = line->name;
	}
}

/* A goroutine that has not run yet stands at its first instruction: no call is before that. */
static bool is_entry(const struct frames *frames, uint64_t addr)
{
	struct functab_func fn;

	return functab_find(frames->tab, addr, &fn) && fn.addr == addr;
}

static size_t walk_stack(const struct frames *frames, const uint64_t *addrs, size_t count, bool all,
			 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	struct walk walk = {.frames = frames, .all = all, .fn = fn, .ctx = ctx};
	bool returns = count && !is_entry(frames, addrs[0] - frames->bias);

	for (size_t i = 0; i < count; i++) {
		uint64_t addr = addrs[i] - frames->bias;
		struct gostack_place place = gostack_symbols_find(frames->syms, addr, returns);

		/* names live as long as the table, lines do not */
		show_place(&walk, &place, i, addr - returns);
		returns = !gostack_symbols_interrupt(&place);
	}
	return walk.shown;
}

void frames_each(const struct frames *frames, const uint64_t *addrs, size_t count,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	if (!walk_stack(frames, addrs, count, false, fn, ctx))
		walk_stack(frames, addrs, count, true, fn, ctx);
}

void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	walk_stack(frames, addrs, count, true, fn, ctx);
}

/* --- of a goroutine --- */

bool frames_go_statement(const struct frames *frames, uint64_t addr, struct frame *out)
{
	struct functab_func fn;

	addr -= frames->bias;
	if (!functab_find(frames->tab, addr, &fn))
		return false;
	struct gostack_place place = gostack_symbols_find(frames->syms, addr, addr > fn.addr);
	struct gostack_line line = {.name = fn.name};

	*out = (struct frame){.func = fn.name,
			      .file = place.lines[0].file,
			      .line = place.lines[0].line,
			      .off = place.off};
	return is_shown(&line, NULL, false);
}

bool frames_creator(const struct frames *frames, const struct goroutine *g, struct frame *out)
{
	/* the first goroutine is created by no go statement */
	return g->created_by && g->goid != 1 && frames_go_statement(frames, g->created_by, out);
}

static bool any_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/* isSystemGoroutine() */
bool frames_is_system(const struct frames *frames, const struct goroutine *g, const uint64_t *addrs,
		      size_t count)
{
	static const char *const users[] = {"runtime.main", "runtime.corostart",
					    "runtime.handleAsyncEvent", NULL};
	static const char *const callers[] = {"runtime.runfinq", "runtime.runFinalizers",
					      "runtime.runCleanups", NULL};
	struct functab_func fn;

	if (!g->start || !functab_find(frames->tab, g->start - frames->bias, &fn) ||
	    !is_runtime(fn.name) || any_of(fn.name, users))
		return false;
	/* beside runtime.runFinalizers itself, which is shown */
	return !any_of(fn.name, callers) ||
	       walk_stack(frames, addrs, count, false, NULL, NULL) <=
		       (size_t)(strcmp(fn.name, "runtime.runfinq") != 0);
}
