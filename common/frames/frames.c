// SPDX-License-Identifier: Apache-2.0
#include "frames/frames.h"

#include <string.h>

#include "golang/release.h"
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

/* `name`: by which it is left out */
static bool is_shown(const struct gostack_line *line, const char *name, const char *callee,
		     bool first)
{
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

/* By which name tracebacks leave out one of the frames at an address. */
static const char *judged_name(const struct frames *frames, const struct gostack_place *place,
			       size_t line)
{
	bool by_own = frames->release < 0 || frames->release >= RELEASE_INLINED_BY_NAME;

	return place->lines[by_own ? line : place->count - 1].name;
}

static void show_place(struct walk *walk, const struct gostack_place *place, size_t number,
		       uint64_t at)
{
	for (size_t i = 0; i < place->count; i++) {
		const struct gostack_line *line = &place->lines[i];
		struct frame frame = {.func = line->name ? line->name : "?",
				      .file = line->file,
				      .line = line->line,
				      .start_line = line->start_line,
				      .off = place->off,
				      .inlined = line->inlined,
				      .number = number,
				      .at = at,
				      .told = at};

		if (line->call && walk->frames->release >= 0 &&
		    walk->frames->release < RELEASE_TRACEBACK2)
			frame.told = line->call;

		if (walk->all || is_shown(line, judged_name(walk->frames, place, i), walk->callee,
					  !walk->shown)) {
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

size_t frames_shown(const struct frames *frames, const uint64_t *addrs, size_t count)
{
	return walk_stack(frames, addrs, count, false, NULL, NULL);
}

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
			      .start_line = functab_start_line(frames->tab, &fn),
			      .at = addr - (addr > fn.addr),
			      .off = place.off};
	return is_shown(&line, fn.name, NULL, false);
}
