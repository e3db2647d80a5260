// SPDX-License-Identifier: Apache-2.0
#include "program/gostack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "golang/funcname.h"
#include "program/gostack_symbols_internal.h"

/* Passes the frames of a stack to `emit`, one by one. */
struct walk {
	struct gostack_symbols *syms;
	const struct gostack *stack;
	void (*emit)(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
		     const struct gostack_line *line);
	FILE *out;
	bool detail;
	struct json *json;
	const char *const *names;
	bool *found;
	void (*fn)(void *ctx, size_t number, uint64_t at, const struct gostack_line *line);
	void *ctx;
	size_t number; /* of the address */
	bool returns;  /* it is one that a call returns to */
};

static const char *function_of(const struct gostack_place *place)
{
	const char *name = place->lines[place->count - 1].name;

	return name ? name : "";
}

/* Which of the inlined calls at frames[0] to begin with. */
static size_t skip_inlined(const struct gostack_place *place, const char *probed)
{
	for (size_t i = 0; probed && i < place->count; i++)
		if (place->lines[i].name && !strcmp(place->lines[i].name, probed))
			return i;
	return 0;
}

/* What comes after a frame of a function, if that is not the innermost frame. */
enum beyond { CALLER, NOBODY, LOST };

static enum beyond beyond(const struct gostack_place *place)
{
	static const struct {
		const char *name;
		enum beyond what;
	} ends[] = {
		{"runtime.goexit", NOBODY},
		{"runtime.kickoff", NOBODY}, /* gccgo's */
		/* its caller is parked by now, and may run elsewhere already */
		{"runtime.mcall", NOBODY},
		/* their callers, C code or the code that a signal interrupted, may keep no frame
		 * pointer */
		{"crosscall2", LOST},
		{"runtime.sigtramp", LOST},
		{"runtime.sigtrampgo", LOST},
	};
	const char *name = function_of(place);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (!strcmp(name, ends[i].name))
			return ends[i].what;
	return CALLER;
}

/* the function that every goroutine's stack begins with */
static bool is_first(const struct gostack_place *place)
{
	return !strcmp(function_of(place), "runtime.goexit") ||
	       !strcmp(function_of(place), "runtime.kickoff");
}

/* the frames at one address, from the `first` on */
static void emit_frames(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
			size_t first)
{
	bool innermost = addr == (walk->stack->at ? walk->stack->at : walk->stack->frames[0]);

	for (size_t i = first; i < place->count; i++)
		if (!place->lines[i].hidden || innermost)
			walk->emit(walk, addr, place, &place->lines[i]);
}

/* The function, and the calls inlined, at an address in the process's memory. */
static struct gostack_place find_frame(const struct walk *walk, uint64_t addr, bool returns)
{
	const struct gostack *stack = walk->stack;

	for (size_t i = 0; i < stack->other_count; i++) {
		const struct gostack_other *other = &stack->others[i];

		if (gostack_symbols_hold(other->syms, addr - other->bias - returns))
			return gostack_symbols_find(other->syms, addr - other->bias, returns);
	}
	return gostack_symbols_find(walk->syms, addr - stack->bias, returns);
}

/* true: the stack was shown to its very end */
static bool walk_stack(struct walk *walk)
{
	const struct gostack *stack = walk->stack;
	enum beyond next = CALLER;
	bool returns = false;

	for (size_t i = 0; i < stack->count && next == CALLER; i++) {
		uint64_t addr = !i && stack->at ? stack->at : stack->frames[i];
		struct gostack_place place = find_frame(walk, addr, returns);

		walk->number = i;
		walk->returns = returns;
		returns = !gostack_symbols_interrupt(&place);
		next = i ? beyond(&place) : CALLER;
		if (!i || !is_first(&place))
			emit_frames(walk, addr, &place,
				    i ? 0 : skip_inlined(&place, stack->probed));
	}
	return next == NOBODY || (next == CALLER && !stack->cut);
}

/* The first goroutine is created by no go statement, but by assembly, or the wrapper it calls. */
static bool is_go_statement(const struct gostack_place *place)
{
	const char *name = function_of(place);

	return strcmp(name, "runtime.rt0_go") != 0 && strcmp(name, "runtime.newproc") != 0;
}

/* the function with the go statement; false: not known, or there is none */
static bool find_creator(struct gostack_symbols *syms, const struct gostack *stack,
			 struct gostack_place *out)
{
	if (!stack->created_by)
		return false;
	*out = gostack_symbols_find(syms, stack->created_by - stack->bias, true);
	return is_go_statement(out);
}

/* --- as text --- */

static void print_name(FILE *out, const struct gostack_line *line)
{
	char *name = line->name ? funcname_short(line->name) : NULL;

	if (name)
		escape_print(out, name);
	else
		fputs("[unknown]", out);
	free(name);
}

static void print_position(FILE *out, const struct gostack_line *line)
{
	if (!line->file)
		return;
	fputc(' ', out);
	escape_print(out, line->file);
	fprintf(out, ":%d", line->line);
}

static void print_frame(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
			const struct gostack_line *line)
{
	FILE *out = walk->out;

	fputs("        ", out);
	if (walk->detail || !line->name)
		fprintf(out, "0x%016" PRIx64 " ", addr);
	print_name(out, line);
	if (line->name)
		fprintf(out, " +0x%" PRIx64, place->off);
	if (line->inlined)
		fputs(" (inlined)", out);
	if (walk->detail)
		print_position(out, line);
	fputc('\n', out);
}

static bool is_runtimes(const struct gostack_line *line)
{
	return line->name && strncmp(line->name, "runtime.", strlen("runtime.")) == 0;
}

static void note_other(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
		       const struct gostack_line *line)
{
	(void)addr;
	(void)place;
	*walk->found |= !is_runtimes(line);
}

static void print_other(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
			const struct gostack_line *line)
{
	struct gostack_line shown = *line;

	if (is_runtimes(line)) {
		if (strcmp(line->name, "runtime.gopanic") != 0)
			return;
		shown.name = "panic";
	}
	print_frame(walk, addr, place, &shown);
}

static bool has_others(const struct gostack *stack, struct gostack_symbols *syms)
{
	bool found = false;
	struct walk walk = {.syms = syms, .stack = stack, .emit = note_other, .found = &found};

	walk_stack(&walk);
	return found;
}

static void print_creator(const struct walk *walk, const struct gostack *stack)
{
	struct gostack_place place;
	FILE *out = walk->out;

	if (!find_creator(walk->syms, stack, &place))
		return;
	fputs("        ", out);
	if (walk->detail || !place.lines[0].name)
		fprintf(out, "0x%016" PRIx64 " ", stack->created_by);
	fputs("created by ", out);
	print_name(out, &place.lines[0]);
	if (stack->parent_goid)
		fprintf(out, " in goroutine %" PRIu64, stack->parent_goid);
	if (walk->detail) {
		fprintf(out, " +0x%" PRIx64, place.off);
		print_position(out, &place.lines[0]);
	}
	fputc('\n', out);
}

void gostack_print(FILE *out, const struct gostack *stack, struct gostack_symbols *syms,
		   bool detail)
{
	struct walk walk = {
		.syms = syms, .stack = stack, .emit = print_frame, .out = out, .detail = detail};

	if (stack->no_runtime && has_others(stack, syms))
		walk.emit = print_other;
	if (!walk_stack(&walk))
		fputs("        ...\n", out);
	print_creator(&walk, stack);
}

/* --- each --- */

static void pass_on(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
		    const struct gostack_line *line)
{
	(void)place;
	walk->fn(walk->ctx, walk->number, addr - walk->returns - walk->stack->bias, line);
}

bool gostack_each(const struct gostack *stack, struct gostack_symbols *syms,
		  void (*fn)(void *ctx, size_t number, uint64_t at,
			     const struct gostack_line *line),
		  void *ctx)
{
	struct walk walk = {.syms = syms, .stack = stack, .emit = pass_on, .fn = fn, .ctx = ctx};

	return walk_stack(&walk);
}

const char *gostack_creator(const struct gostack *stack, struct gostack_symbols *syms)
{
	struct gostack_place place;

	return find_creator(syms, stack, &place) ? place.lines[0].name : NULL;
}

/* --- as a set --- */

static void look_at_line(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
			 const struct gostack_line *line)
{
	(void)addr;
	(void)place;
	for (size_t i = 0; line->name && walk->names[i]; i++)
		if (!strcmp(line->name, walk->names[i]))
			*walk->found = true;
}

bool gostack_has(const struct gostack *stack, struct gostack_symbols *syms,
		 const char *const *names)
{
	bool found = false;
	struct walk walk = {.syms = syms,
			    .stack = stack,
			    .emit = look_at_line,
			    .names = names,
			    .found = &found};

	walk_stack(&walk);
	return found;
}

/* --- as JSON --- */

static void json_line(struct json *json, uint64_t addr, const struct gostack_place *place,
		      const struct gostack_line *line)
{
	json_member_u64(json, "addr", addr);
	json_member_string(json, "func", line->name);
	if (line->name)
		json_member_u64(json, "off", place->off);
	if (line->file) {
		json_member_string(json, "file", line->file);
		json_member_i64(json, "line", line->line);
	}
	if (line->inlined)
		json_member_bool(json, "inlined", true);
}

static void json_frame(const struct walk *walk, uint64_t addr, const struct gostack_place *place,
		       const struct gostack_line *line)
{
	json_object(walk->json);
	json_line(walk->json, addr, place, line);
	json_object_end(walk->json);
}

static void json_creator(struct json *json, const struct gostack *stack,
			 struct gostack_symbols *syms)
{
	struct gostack_place place;

	if (!find_creator(syms, stack, &place))
		return;
	json_key(json, "created_by");
	json_object(json);
	json_line(json, stack->created_by, &place, &place.lines[0]);
	if (stack->parent_goid)
		json_member_u64(json, "goid", stack->parent_goid);
	json_object_end(json);
}

void gostack_json(struct json *json, const struct gostack *stack, struct gostack_symbols *syms)
{
	struct walk walk = {.syms = syms, .stack = stack, .emit = json_frame, .json = json};

	json_key(json, "stack");
	json_array(json);
	bool complete = walk_stack(&walk);

	json_array_end(json);
	if (!complete)
		json_member_bool(json, "stack_cut", true);
	json_creator(json, stack, syms);
}
