// SPDX-License-Identifier: Apache-2.0
#include "traceplan_text.h"

#include <stdlib.h>
#include <string.h>

#include "ctext.h"
#include "mem.h"
#include "tracegen.h"

struct plan_text {
	char *save, *wanted, *fill;
	uint32_t saved_size, record_size;
	bool at_return, wants_at_entry;
	uint64_t hash;
};

struct traceplan_text {
	struct plan_text *plans;
	size_t count, cap;
};

struct traceplan_text *traceplan_text_new(void)
{
	return mem_zalloc(1, sizeof(struct traceplan_text));
}

void traceplan_text_free(struct traceplan_text *text)
{
	if (!text)
		return;
	for (size_t i = 0; i < text->count; i++) {
		free(text->plans[i].save);
		free(text->plans[i].wanted);
		free(text->plans[i].fill);
	}
	free(text->plans);
	free(text);
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	while (*text)
		h = (h ^ (unsigned char)*text++) * 0x100000001b3u;
	return (h ^ 0xff) * 0x100000001b3u;
}

static bool is_same(const struct plan_text *a, const struct plan_text *b)
{
	return a->hash == b->hash && a->at_return == b->at_return &&
	       a->wants_at_entry == b->wants_at_entry && a->saved_size == b->saved_size &&
	       a->record_size == b->record_size && !strcmp(a->save, b->save) &&
	       !strcmp(a->wanted, b->wanted) && !strcmp(a->fill, b->fill);
}

uint32_t traceplan_text_add(struct traceplan_text *text, const struct tracegen_plan *plan,
			    bool at_return)
{
	struct plan_text add = {.save = plan->save,
				.wanted = plan->wanted,
				.fill = plan->fill,
				.saved_size = plan->saved_size,
				.record_size = plan->record_size,
				.at_return = at_return,
				.wants_at_entry = plan->wants_at_entry};

	add.hash = hash_text(hash_text(hash_text(0xcbf29ce484222325u, add.save), add.wanted),
			     add.fill);
	for (size_t i = 0; i < text->count; i++)
		if (is_same(&text->plans[i], &add))
			return i;
	add.save = mem_strdup(add.save);
	add.wanted = mem_strdup(add.wanted);
	add.fill = mem_strdup(add.fill);
	text->plans = mem_grow(text->plans, text->count, &text->cap, sizeof(add));
	text->plans[text->count++] = add;
	return text->count - 1;
}

size_t traceplan_text_count(const struct traceplan_text *text)
{
	return text->count;
}

bool traceplan_text_uses_types(const struct traceplan_text *text)
{
	for (size_t i = 0; i < text->count; i++)
		if (strstr(text->plans[i].save, "fetch_dynamic") ||
		    strstr(text->plans[i].fill, "fetch_dynamic"))
			return true;
	return false;
}

/* Lines that are indented already */
static void paste(struct ctext *out, const char *lines)
{
	unsigned depth = out->depth;

	out->depth = 0;
	while (*lines) {
		int len = strcspn(lines, "\n");

		ctext_line(out, "%.*s", len, lines);
		lines += len + (lines[len] == '\n');
	}
	out->depth = depth;
}

static void begin_function(struct ctext *out, const char *type, const char *name, size_t n,
			   const char *more)
{
	ctext_line(out, "%s", "");
	ctext_line(out, "static inline %s %s_%zu(struct pt_regs *ctx, struct hit *hit%s)", type,
		   name, n, more);
	ctext_line(out, "{");
	out->depth = 1;
}

static void end_function(struct ctext *out)
{
	out->depth = 0;
	ctext_line(out, "}");
}

static void write_wants(struct ctext *out, const struct plan_text *plan, size_t n)
{
	begin_function(out, "bool", "wants", n, "");
	ctext_line(out, "bool want = true;");
	ctext_line(out, "s64 bad = 0;");
	ctext_line(out, "%s", "");
	if (plan->wants_at_entry)
		paste(out, plan->wanted);
	ctext_line(out, "return is_wanted(want, bad);");
	end_function(out);
}

static void write_save(struct ctext *out, const struct plan_text *plan, size_t n)
{
	begin_function(out, "void", "save", n, ", char *rec");
	ctext_line(out, "s64 bad = 0;");
	ctext_line(out, "%s", "");
	paste(out, plan->save);
	end_function(out);
}

/* reserves the event, fills it and sends it */
static void write_event(struct ctext *out, const struct plan_text *plan)
{
	ctext_line(out, "event = events.ringbuf_reserve(sizeof(*event) + %u + FRAMES_SIZE);",
		   plan->record_size);
	ctext_open(out, "if (!event)");
	ctext_line(out, "count(TRACE_LOST);");
	ctext_line(out, "return;");
	ctext_close(out);
	ctext_line(out, "begin_event(hit, event, %s);",
		   plan->at_return ? "TRACE_RETURNED" : "TRACE_ENTRY");
	ctext_line(out, "rec = (char *)(event + 1);");
	if (plan->saved_size)
		ctext_line(out, "probe_read_kernel(rec, %u, saved);", plan->saved_size);
	paste(out, plan->fill);
	ctext_line(out, "add_frames(ctx, hit, event, rec + %u);", plan->record_size);
	ctext_line(out, "submit(event, sizeof(*event) + %u + FRAMES_SIZE);", plan->record_size);
}

static void write_report(struct ctext *out, const struct plan_text *plan, size_t n)
{
	begin_function(out, "void", "report", n, ", char *saved");
	ctext_line(out, "struct trace_event *event;");
	ctext_line(out, "char *rec = saved;");
	ctext_line(out, "bool want = true;");
	ctext_line(out, "s64 bad = 0;");
	ctext_line(out, "%s", "");
	if (!plan->at_return || !plan->wants_at_entry) {
		paste(out, plan->wanted);
		ctext_open(out, "if (!is_wanted(want, bad))");
		ctext_line(out, "return;");
		ctext_close(out);
	}
	write_event(out, plan);
	end_function(out);
}

static void write_plan(struct ctext *out, const struct plan_text *plan, size_t n)
{
	if (plan->at_return) {
		write_wants(out, plan, n);
		write_save(out, plan, n);
	}
	write_report(out, plan, n);
}

/* A function that calls the one of its kind of each plan that has it. */
static void write_choice(const struct traceplan_text *text, struct ctext *out, const char *head,
			 const char *call, const char *args, const char *otherwise)
{
	bool returns = *otherwise;
	bool all = !strcmp(call, "report");

	ctext_line(out, "\n%s", head);
	ctext_line(out, "{");
	out->depth = 1;
	ctext_line(out, "switch (hit->plan) {");
	for (size_t i = 0; i < text->count; i++) {
		if (!text->plans[i].at_return && !all)
			continue;
		ctext_line(out, "case %zu:", i);
		ctext_line(out, "\t%s%s_%zu(%s);", returns ? "return " : "", call, i, args);
		if (!returns)
			ctext_line(out, "\tbreak;");
	}
	ctext_line(out, "}");
	if (returns)
		ctext_line(out, "return %s;", otherwise);
	end_function(out);
}

/* Of which plans is something true? */
static void write_test(const struct traceplan_text *text, struct ctext *out, const char *name,
		       bool tests_results)
{
	ctext_line(out, "\nstatic inline bool %s(u32 plan)", name);
	ctext_line(out, "{");
	out->depth = 1;
	ctext_line(out, "switch (plan) {");
	for (size_t i = 0; i < text->count; i++)
		if (text->plans[i].at_return && !(tests_results && text->plans[i].wants_at_entry))
			ctext_line(out, "case %zu:", i);
	ctext_line(out, "case ~0U:");
	ctext_line(out, "\treturn true;");
	ctext_line(out, "}");
	ctext_line(out, "return false;");
	end_function(out);
}

char *traceplan_text_take(struct traceplan_text *text)
{
	struct ctext out = {0};

	for (size_t i = 0; i < text->count; i++)
		write_plan(&out, &text->plans[i], i);
	write_test(text, &out, "waits_for_return", false);
	write_test(text, &out, "tests_results", true);
	write_choice(text, &out,
		     "static inline bool wants_at_entry(struct pt_regs *ctx, struct hit *hit)",
		     "wants", "ctx, hit", "true");
	write_choice(text, &out,
		     "static inline void save_arguments(struct pt_regs *ctx, struct hit *hit, "
		     "char *rec)",
		     "save", "ctx, hit, rec", "");
	write_choice(text, &out,
		     "static inline void report(struct pt_regs *ctx, struct hit *hit, char *saved)",
		     "report", "ctx, hit, saved", "");
	return ctext_take(&out);
}
