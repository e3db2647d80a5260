// SPDX-License-Identifier: Apache-2.0
#include "heap/heap_print_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "frames/frame_print.h"
#include "frames/frames.h"
#include "golang/funcname.h"
#include "heap/heap_stacks_internal.h"
#include "program/program.h"

enum { SHOWN_FRAMES = 20 };
#define SECOND_NS 1000000000.0

static struct heap_count value_of(const struct heap_look *look, const struct heap_row *row)
{
	return look->alloc ? row->allocated : row->in_use;
}

static bool is_shown(const struct heap_view *view, const struct heap_row *row)
{
	if (!row->picked)
		return false;
	if (view->look->json)
		return row->sampled_allocated.objects || row->sampled_in_use.objects;
	return value_of(view->look, row).bytes;
}

size_t heap_print_count(const struct heap_view *view)
{
	size_t count = 0;

	for (size_t i = 0; i < view->now->count; i++)
		count += is_shown(view, &view->now->rows[i]);
	return count;
}

/* --- order --- */

struct order {
	size_t number;
	int64_t by;
};

static int most_first(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->by != y->by)
		return x->by < y->by ? 1 : -1;
	return x->number < y->number ? -1 : 1;
}

/* Rows that are shown, most bytes first. The caller frees. */
static struct order *sorted(const struct heap_view *view, size_t *count)
{
	const struct heap_table *now = view->now;
	struct order *order = mem_alloc((now->count + 1) * sizeof(*order));

	*count = 0;
	for (size_t i = 0; i < now->count; i++)
		if (is_shown(view, &now->rows[i]))
			order[(*count)++] = (struct order){
				i, (int64_t)value_of(view->look, &now->rows[i]).bytes};
	qsort(order, *count, sizeof(*order), most_first);
	return order;
}

/* --- head --- */

static void print_age(FILE *out, const struct heap *heap)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	double age = (double)now.tv_sec - (double)heap->marked_ns / SECOND_NS +
		     (double)now.tv_nsec / SECOND_NS;

	if (heap->marked_ns && age >= 0)
		fprintf(out, ", %.1f s ago", age);
}

static void print_collection(FILE *out, const struct heap_view *view)
{
	const struct heap *heap = &view->now->heap;

	if (heap->early) {
		fputs("all that was allocated so far: no collection's numbers are published yet\n",
		      out);
		return;
	}
	fprintf(out, "as of collection %" PRIu32 " of %" PRIu32, heap->of, heap->cycle);
	if (!view->of->ended)
		print_age(out, heap);
	fputc('\n', out);
}

static void print_rate(FILE *out, int64_t rate)
{
	if (rate == 1)
		fputs("; every allocation is sampled\n", out);
	else if (rate <= 0)
		fputs("; sampling is off now\n", out);
	else
		fprintf(out, "; a sample every %" PRId64 " bytes\n", rate);
}

void heap_print_head(FILE *out, const struct heap_view *view)
{
	const struct heap_table *now = view->now;
	struct heap_count total = value_of(view->look, &now->total),
			  picked = value_of(view->look, &now->picked);

	fprintf(out, "%d ", view->of->pid);
	escape_print(out, view->of->name);
	fprintf(out, " (go1.%d): %" PRIu64 " bytes %s, %" PRIu64 " objects",
		view->of->prog->release, total.bytes, view->look->alloc ? "allocated" : "in use",
		total.objects);
	print_rate(out, now->heap.rate);
	print_collection(out, view);
	if (view->look->pattern_count)
		fprintf(out, "in stacks that match: %" PRIu64 " bytes, %" PRIu64 " objects\n",
			picked.bytes, picked.objects);
}

/* --- text --- */

struct lines {
	FILE *out;
	size_t count;
};

static void print_line(void *ctx, const struct frame *frame)
{
	struct lines *lines = ctx;

	if (lines->count++ >= SHOWN_FRAMES)
		return;
	fputs("        ", lines->out);
	frame_print(lines->out, frame);
	fputc('\n', lines->out);
}

static void print_stack(FILE *out, const struct heap_view *view, size_t number)
{
	struct lines lines = {.out = out};

	heap_stacks_each(view->stacks, number, print_line, &lines);
	if (lines.count > SHOWN_FRAMES)
		fprintf(out, "        ... %zu more\n", lines.count - SHOWN_FRAMES);
}

void heap_print_table(FILE *out, const struct heap_view *view)
{
	const struct heap_table *now = view->now;
	double total = (double)value_of(view->look, &now->total).bytes;
	size_t count;
	struct order *order = sorted(view, &count);

	if (count)
		fputs("       BYTES     OBJECTS  SHARE\n", out);
	for (size_t i = 0; i < count; i++) {
		struct heap_count value = value_of(view->look, &now->rows[order[i].number]);

		fprintf(out, "%12" PRIu64 " %11" PRIu64 " %5.1f%%\n", value.bytes, value.objects,
			100 * (double)value.bytes / total);
		print_stack(out, view, order[i].number);
	}
	free(order);
}

/* --- what has changed --- */

static struct heap_count before_of(const struct heap_view *view, size_t number)
{
	static const struct heap_row none;
	const struct heap_table *before = view->before;

	return value_of(view->look, number < before->count ? &before->rows[number] : &none);
}

/* Those of which something has changed, the largest growth first. The caller frees. */
static struct order *changed(const struct heap_view *view, size_t *count)
{
	const struct heap_table *now = view->now;
	struct order *order = mem_alloc((now->count + 1) * sizeof(*order));

	*count = 0;
	for (size_t i = 0; i < now->count; i++) {
		struct heap_count value = value_of(view->look, &now->rows[i]);
		struct heap_count before = before_of(view, i);

		if (now->rows[i].picked && value.bytes != before.bytes)
			order[(*count)++] =
				(struct order){i, (int64_t)(value.bytes - before.bytes)};
	}
	qsort(order, *count, sizeof(*order), most_first);
	return order;
}

void heap_print_changes(FILE *out, const struct heap_view *view)
{
	const struct heap *now = &view->now->heap, *before = &view->before->heap;
	size_t count;
	struct order *order = changed(view, &count);

	if (!count)
		fputs(now->of == before->of && !now->early ? "no other collection since\n"
							   : "the same as before\n",
		      out);
	else
		fputs("        GREW       BYTES     OBJECTS\n", out);
	for (size_t i = 0; i < count; i++) {
		size_t n = order[i].number;
		struct heap_count value = value_of(view->look, &view->now->rows[n]);

		fprintf(out, "%+12" PRId64 " %11" PRIu64 " %11" PRIu64 "\n", order[i].by,
			value.bytes, value.objects);
		print_stack(out, view, n);
	}
	free(order);
}

/* --- folded --- */

struct names {
	const char **all; /* innermost first */
	size_t count, cap;
};

static void note_name(void *ctx, const struct frame *frame)
{
	struct names *names = ctx;

	names->all = mem_grow(names->all, names->count, &names->cap, sizeof(*names->all));
	names->all[names->count++] = frame->func;
}

void heap_print_folded(FILE *out, const struct heap_view *view)
{
	size_t count;
	struct order *order = sorted(view, &count);

	for (size_t i = 0; i < count; i++) {
		struct names names = {0};

		heap_stacks_each(view->stacks, order[i].number, note_name, &names);
		while (names.count) {
			char *name = funcname_short(names.all[--names.count]);

			frame_print_word(out, name);
			free(name);
			fputs(names.count ? ";" : "", out);
		}
		fprintf(out, " %" PRIu64 "\n",
			value_of(view->look, &view->now->rows[order[i].number]).bytes);
		free(names.all);
	}
	free(order);
}

/* --- JSON --- */

static void json_counts(struct json *json, const struct heap_count *in_use,
			const struct heap_count *allocated)
{
	json_member_u64(json, "inuse_objects", in_use->objects);
	json_member_u64(json, "inuse_bytes", in_use->bytes);
	json_member_u64(json, "alloc_objects", allocated->objects);
	json_member_u64(json, "alloc_bytes", allocated->bytes);
}

static void json_known(struct json *json, const char *key, bool known, uint64_t n)
{
	json_key(json, key);
	if (known)
		json_u64(json, n);
	else
		json_null(json);
}

static void json_row(struct json *json, const struct heap_view *view, size_t number)
{
	const struct heap_row *row = &view->now->rows[number];
	const struct heap *heap = &view->now->heap;

	json_object(json);
	json_member_string(json, "type", "heap");
	if (view->look->json_time)
		view->look->json_time(json);
	json_member_i64(json, "pid", view->of->pid);
	json_counts(json, &row->in_use, &row->allocated);
	json_key(json, "sampled");
	json_object(json);
	json_counts(json, &row->sampled_in_use, &row->sampled_allocated);
	json_object_end(json);
	json_member_i64(json, "rate", heap->rate);
	json_known(json, "collection", !heap->early, heap->of);
	json_known(json, "collected_ns", heap->marked_ns, heap->marked_ns);
	json_key(json, "frames");
	json_array(json);
	heap_stacks_each(view->stacks, number, frame_json_item, json);
	json_array_end(json);
	json_object_end(json);
}

void heap_print_json(FILE *out, const struct heap_view *view)
{
	struct json json;
	size_t count;
	struct order *order = sorted(view, &count);

	json_init(&json, out);
	for (size_t i = 0; i < count; i++)
		json_row(&json, view, order[i].number);
	free(order);
}
