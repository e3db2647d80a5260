// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_text_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctext.h"
#include "base/index.h"
#include "base/mem.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "gotrace/traceplan_tables_internal.h"

/* Bytes of text for one BPF program: jumps reach at most 32767 instructions, and twice as much text
 * takes the compiler more than twice as long. */
enum { PART_TEXT = 40000 };

struct plan_text {
	uint32_t part;
	bool tabular;   /* has a table */
	bool by_table;  /* and is served by it */
	uint32_t table; /* its number */
	size_t same;    /* by a table: the first plan with the same code beside the table */
	char *save, *wanted, *fill, *key;
	uint32_t saved_size, record_size;
	bool at_return, wants_at_entry;
};

struct traceplan_text {
	struct plan_text *plans;
	size_t count, cap;
	struct index by_bodies; /* of these */
	size_t part_len;        /* bytes in the last part */
	bool uses_types;
	bool keyed; /* records become keys */
	struct traceplan_tables *tables;
	uint32_t parts;
	struct traceplan_table_parts by_table;
};

static const struct traceplan_table_parts no_parts = {TRACEPLAN_NO_PART, TRACEPLAN_NO_PART,
						      TRACEPLAN_NO_PART};

struct traceplan_text *traceplan_text_new(void)
{
	struct traceplan_text *text = mem_zalloc(1, sizeof(*text));

	text->tables = traceplan_tables_new();
	text->parts = 1;
	text->by_table = no_parts;
	return text;
}

void traceplan_text_free(struct traceplan_text *text)
{
	if (!text)
		return;
	for (size_t i = 0; i < text->count; i++) {
		free(text->plans[i].save);
		free(text->plans[i].wanted);
		free(text->plans[i].fill);
		free(text->plans[i].key);
	}
	free(text->plans);
	index_free(&text->by_bodies);
	traceplan_tables_free(text->tables);
	free(text);
}

static bool is_same_text(const struct plan_text *a, const struct plan_text *b)
{
	return a->at_return == b->at_return && a->wants_at_entry == b->wants_at_entry &&
	       a->saved_size == b->saved_size && a->record_size == b->record_size &&
	       !strcmp(a->save, b->save) && !strcmp(a->wanted, b->wanted) &&
	       !strcmp(a->fill, b->fill) && !strcmp(a->key, b->key);
}

static void put_in_part(struct traceplan_text *text, struct plan_text *plan)
{
	size_t len =
		strlen(plan->save) + strlen(plan->wanted) + strlen(plan->fill) + strlen(plan->key);

	if (text->part_len && text->part_len + len > PART_TEXT) {
		text->parts++;
		text->part_len = 0;
	}
	text->part_len += len;
	plan->part = text->parts - 1;
}

uint32_t traceplan_text_add(struct traceplan_text *text, const struct tracegen_plan *plan,
			    bool at_return)
{
	struct plan_text add = {.save = plan->save,
				.wanted = plan->wanted,
				.fill = plan->fill,
				.key = plan->key ? plan->key : "",
				.saved_size = plan->saved_size,
				.record_size = plan->record_size,
				.at_return = at_return,
				.wants_at_entry = plan->wants_at_entry};

	text->uses_types |= plan->uses & TRACEGEN_TYPES;
	text->keyed |= plan->key != NULL;
	uint64_t hash = index_hash_text(index_hash_text(index_hash_text(0, add.save), add.wanted),
					add.fill);
	size_t n = index_first(&text->by_bodies, hash);

	while (n != INDEX_NONE && !is_same_text(&text->plans[n], &add))
		n = index_next(&text->by_bodies, n);
	if (n != INDEX_NONE)
		return n;
	add.tabular = plan->tabular;
	if (add.tabular)
		add.table = traceplan_tables_add(text->tables, plan);
	add.save = mem_strdup(add.save);
	add.wanted = mem_strdup(add.wanted);
	add.fill = mem_strdup(add.fill);
	add.key = mem_strdup(add.key);
	text->plans = mem_grow(text->plans, text->count, &text->cap, sizeof(add));
	text->plans[text->count++] = add;
	return index_add(&text->by_bodies, hash);
}

size_t traceplan_text_count(const struct traceplan_text *text)
{
	return text->count;
}

/* The first plan by a table that has the same code beside it. */
static size_t first_like(const struct traceplan_text *text, size_t plan)
{
	const struct plan_text *like = &text->plans[plan];
	size_t i = 0;

	while (i < plan && !(text->plans[i].by_table && text->plans[i].same == i &&
			     text->plans[i].at_return == like->at_return &&
			     text->plans[i].wants_at_entry == like->wants_at_entry &&
			     !strcmp(text->plans[i].wanted, like->wanted)))
		i++;
	return i;
}

/* A predicate is code of the part that serves tables. What it has no room for is served by code
 * alone; *len: bytes that are in it. */
static bool put_by_table(struct traceplan_text *text, size_t n, size_t *len)
{
	struct plan_text *plan = &text->plans[n];
	size_t same = first_like(text, n), more = same == n ? strlen(plan->wanted) : 0;

	if (*len + more > PART_TEXT)
		return false;
	*len += more;
	plan->same = same;
	return true;
}

/* After those that are code: ends of calls before their beginnings, as tracer_config.h has it. */
static void put_tables(struct traceplan_text *text, size_t entries, size_t returns)
{
	struct traceplan_table_parts *parts = &text->by_table;

	*parts = no_parts;
	if (entries + returns == text->count)
		text->parts = 0;
	if (returns) {
		parts->ends = text->parts++;
		parts->begins = text->parts++;
	}
	if (entries)
		parts->entries = text->parts++;
	for (size_t i = 0; i < text->count; i++)
		if (text->plans[i].by_table)
			text->plans[i].part =
				text->plans[i].at_return ? parts->begins : parts->entries;
}

void traceplan_text_serve(struct traceplan_text *text, bool by_tables)
{
	size_t served[2] = {0, 0}, len = 0;

	text->parts = 1;
	text->part_len = 0;
	for (size_t i = 0; i < text->count; i++) {
		struct plan_text *plan = &text->plans[i];

		plan->same = i;
		plan->by_table = by_tables && plan->tabular && put_by_table(text, i, &len);
		served[plan->at_return] += plan->by_table;
		if (!plan->by_table)
			put_in_part(text, plan);
	}
	if (text->count)
		put_tables(text, served[false], served[true]);
}

static bool any_by_table(const struct traceplan_text *text)
{
	return text->by_table.entries != TRACEPLAN_NO_PART ||
	       text->by_table.begins != TRACEPLAN_NO_PART;
}

const struct traceplan_tables *traceplan_text_tables(const struct traceplan_text *text,
						     struct traceplan_table_parts *parts)
{
	*parts = text->by_table;
	return any_by_table(text) ? text->tables : NULL;
}

struct traceplan_served traceplan_text_served(const struct traceplan_text *text, uint32_t plan)
{
	const struct plan_text *as = &text->plans[plan];

	return (struct traceplan_served){as->same, as->part, as->table,
					 as->by_table && as->at_return};
}

size_t traceplan_text_tabular(const struct traceplan_text *text)
{
	return traceplan_tables_count(text->tables);
}

size_t traceplan_text_compiled(const struct traceplan_text *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->count; i++)
		count += !text->plans[i].by_table;
	return count;
}

uint32_t traceplan_text_parts(const struct traceplan_text *text)
{
	return text->parts;
}

bool traceplan_text_uses_types(const struct traceplan_text *text)
{
	return text->uses_types;
}

/* Writes lines that are indented already. */
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
	ctext_line(out, "static inline %s%s_%zu(struct pt_regs *ctx, struct hit *hit%s)", type,
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
	begin_function(out, "bool ", "wants", n, "");
	ctext_line(out, "bool want = true;");
	ctext_line(out, "s64 bad = 0;");
	ctext_line(out, "%s", "");
	if (plan->wants_at_entry || !plan->at_return)
		paste(out, plan->wanted);
	ctext_line(out, "return is_wanted(want, bad);");
	end_function(out);
}

/* By a table: the predicate that needs what is known at return. */
static void write_holds(struct ctext *out, const struct plan_text *plan, size_t n)
{
	begin_function(out, "bool ", "holds", n, ", char *saved");
	ctext_line(out, "char *rec = saved;");
	ctext_line(out, "bool want = true;");
	ctext_line(out, "s64 bad = 0;");
	ctext_line(out, "%s", "");
	paste(out, plan->wanted);
	ctext_line(out, "return is_wanted(want, bad);");
	end_function(out);
}

static void write_save(struct ctext *out, const struct plan_text *plan, size_t n)
{
	begin_function(out, "void ", "save", n, ", char *rec");
	ctext_line(out, "s64 bad = 0;");
	ctext_line(out, "%s", "");
	paste(out, plan->save);
	end_function(out);
}

static void write_room(struct ctext *out, const struct plan_text *plan, bool keyed)
{
	if (keyed)
		ctext_line(out, "event = key_room();");
	else
		ctext_line(out,
			   "event = events.ringbuf_reserve(sizeof(*event) + %u + FRAMES_SIZE);",
			   plan->record_size);
	ctext_open(out, "if (!event)");
	ctext_line(out, "count(%s);", keyed ? "TRACE_ROOMS_FULL" : "TRACE_LOST");
	ctext_line(out, "return 0;");
	ctext_close(out);
	ctext_line(out, "rec = %s;", keyed ? "event->record" : "(char *)(event + 1)");
}

/* Writes the function that reserves the event, or room for a key, and fills all but its head; it
 * returns NULL if there is none. */
static void write_report(struct ctext *out, const struct plan_text *plan, size_t n, bool keyed)
{
	begin_function(out, "REPORT *", "report", n, ", char *saved");
	ctext_line(out, "REPORT *event;");
	ctext_line(out, "char *rec = saved;");
	ctext_line(out, "bool want = true;");
	ctext_line(out, "s64 bad = 0;");
	ctext_line(out, "%s", "");
	if (!plan->at_return || !plan->wants_at_entry) {
		paste(out, plan->wanted);
		ctext_open(out, "if (!is_wanted(want, bad))");
		ctext_line(out, "return 0;");
		ctext_close(out);
	}
	write_room(out, plan, keyed);
	if (plan->saved_size)
		ctext_line(out, "probe_read_kernel(rec, %u, saved);", plan->saved_size);
	paste(out, plan->fill);
	ctext_line(out, "hit->size = sizeof(*event) + %u;", plan->record_size);
	ctext_line(out, "return event;");
	end_function(out);
}

static void write_key(struct ctext *out, const struct plan_text *plan, size_t n)
{
	begin_function(out, "void ", "key", n, ", char *rec");
	paste(out, plan->key);
	end_function(out);
}

static void write_plan(struct ctext *out, const struct traceplan_text *text, size_t n)
{
	const struct plan_text *plan = &text->plans[n];

	if (plan->same != n)
		return;
	if (plan->at_return || plan->by_table)
		write_wants(out, plan, n);
	if (plan->by_table && plan->at_return && !plan->wants_at_entry)
		write_holds(out, plan, n);
	if (plan->by_table)
		return;
	if (plan->at_return)
		write_save(out, plan, n);
	write_report(out, plan, n, text->keyed);
	if (text->keyed)
		write_key(out, plan, n);
}

/* A set of functions, one of each plan, that does the same thing. */
struct choice {
	const char *type, *name; /* of the function that chooses */
	const char *call;        /* the plans' functions are called call_N */
	const char *params, *args;
	const char *otherwise; /* what is returned where no plan has one; NULL: nothing */
	bool entry;            /* plans of entry probes have it too */
	enum { LIKE_CODE, BY_TABLE, NOT_BY_TABLE } tables; /* what parts do that read by tables */
};

static void write_cases(const struct traceplan_text *text, struct ctext *out,
			const struct choice *choice, uint32_t part)
{
	const char *give = choice->otherwise ? "return " : "";

	ctext_line(out, "switch (hit->plan) {");
	for (size_t i = 0; i < text->count; i++) {
		if (text->plans[i].part != part || text->plans[i].same != i ||
		    (!text->plans[i].at_return && !choice->entry))
			continue;
		ctext_line(out, "case %zu:", i);
		ctext_line(out, "\t%s%s_%zu(ctx, hit%s);", give, choice->call, i, choice->args);
		if (!choice->otherwise)
			ctext_line(out, "\tbreak;");
	}
	ctext_line(out, "}");
}

/* The same for a part that reads by tables. The loop over steps is called in one place: so it is in
 * the program once, whatever predicates there are. */
static void write_table_cases(const struct traceplan_text *text, struct ctext *out, uint32_t part)
{
	bool at_return = part == text->by_table.ends;

	ctext_line(out, "bool want = true;");
	ctext_line(out, "%s", "");
	ctext_line(out, "switch (hit->plan) {");
	for (size_t i = 0; i < text->count; i++) {
		const struct plan_text *plan = &text->plans[i];

		if (!plan->by_table || plan->same != i || plan->at_return != at_return ||
		    (at_return && plan->wants_at_entry))
			continue;
		ctext_line(out, "case %zu:", i);
		if (at_return)
			ctext_line(out, "\twant = holds_%zu(ctx, hit, saved);", i);
		else
			ctext_line(out, "\twant = wants_%zu(ctx, hit);", i);
		ctext_line(out, "\tbreak;");
	}
	ctext_line(out, "}");
	ctext_line(out, "if (forget_value(want, hit->sp))");
	ctext_line(out, "\treturn table_report(ctx, hit, %s);", at_return ? "saved" : "0");
}

static void write_part(const struct traceplan_text *text, struct ctext *out,
		       const struct choice *choice, uint32_t part)
{
	const struct traceplan_table_parts *tables = &text->by_table;
	bool reports = part == tables->entries || part == tables->ends;

	if ((!reports && part != tables->begins) || choice->tables == LIKE_CODE)
		write_cases(text, out, choice, part);
	else if (reports && choice->tables == BY_TABLE)
		write_table_cases(text, out, part);
}

/* Writes a function for each part that chooses among its plans, and one that chooses the part,
 * which is a constant for the caller. */
static void write_choice(const struct traceplan_text *text, struct ctext *out,
			 const struct choice *choice)
{
	uint32_t parts = traceplan_text_parts(text);

	for (uint32_t part = 0; part <= parts; part++) {
		bool last = part == parts;

		ctext_line(out, "%s", "");
		if (last)
			ctext_line(out,
				   "static inline %s%s(struct pt_regs *ctx, struct hit *hit%s, "
				   "u32 part)",
				   choice->type, choice->name, choice->params);
		else
			ctext_line(out,
				   "static inline %s%s_in_%u(struct pt_regs *ctx, struct hit "
				   "*hit%s)",
				   choice->type, choice->name, part, choice->params);
		ctext_line(out, "{");
		out->depth = 1;
		if (!last)
			write_part(text, out, choice, part);
		for (uint32_t i = 0; last && i < parts; i++) {
			ctext_line(out, "if (part == %u)", i);
			ctext_line(out, "\t%s%s_in_%u(ctx, hit%s);",
				   choice->otherwise ? "return " : "", choice->name, i,
				   choice->args);
		}
		if (choice->otherwise)
			ctext_line(out, "return %s;", choice->otherwise);
		end_function(out);
	}
}

/* Writes a function that tells for which plans something is true. */
static void write_test(const struct traceplan_text *text, struct ctext *out, const char *name,
		       bool tests_results)
{
	ctext_line(out, "\nstatic inline bool %s(u32 plan)", name);
	ctext_line(out, "{");
	out->depth = 1;
	ctext_line(out, "switch (plan) {");
	for (size_t i = 0; i < text->count; i++)
		if (text->plans[i].same == i && text->plans[i].at_return &&
		    !(tests_results && text->plans[i].wants_at_entry))
			ctext_line(out, "case %zu:", i);
	ctext_line(out, "case ~0U:");
	ctext_line(out, "\treturn true;");
	ctext_line(out, "}");
	ctext_line(out, "return false;");
	end_function(out);
}

char *traceplan_text_plans(const struct traceplan_text *text)
{
	static const struct choice choices[] = {
		{"bool ", "wants_at_entry", "wants", "", "", "true", false, LIKE_CODE},
		{"void ", "save_arguments", "save", ", char *rec", ", rec", NULL, false,
		 NOT_BY_TABLE},
		{"REPORT *", "fill_event", "report", ", char *saved", ", saved", "0", true,
		 BY_TABLE},
		/* the last one, of keyed plans */
		{"void ", "make_key", "key", ", char *rec", ", rec", NULL, true, NOT_BY_TABLE},
	};
	size_t count = sizeof(choices) / sizeof(choices[0]) - !text->keyed;
	struct ctext out = {0};

	for (size_t i = 0; i < text->count; i++)
		write_plan(&out, text, i);
	write_test(text, &out, "waits_for_return", false);
	write_test(text, &out, "tests_results", true);
	for (size_t i = 0; i < count; i++)
		write_choice(text, &out, &choices[i]);
	return ctext_take(&out);
}

char *traceplan_text_programs(const struct traceplan_text *text)
{
	struct ctext out = {0};

	for (uint32_t part = 0; part < traceplan_text_parts(text); part++) {
		if (part)
			ctext_line(&out, "\nint on_probe_%u(struct pt_regs *ctx)", part);
		else
			ctext_line(&out, "\nint on_probe(struct pt_regs *ctx)");
		ctext_line(&out, "{");
		ctext_line(&out, "\treturn handle(ctx, %u);", part);
		ctext_line(&out, "}");
	}
	return ctext_take(&out);
}
