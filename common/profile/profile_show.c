// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "frames/frame_print.h"
#include "frames/frames.h"
#include "golang/quoted.h"
#include "profile/profile_internal.h"

struct shown {
	size_t row; /* the first of those that are shown as one */
	uint64_t *values;
};

struct showing {
	const struct profile *profile;
	struct interned same; /* what is shown of a row: the number is that of `rows` */
	struct shown *rows;
	size_t cap;
};

static const uint64_t *row_words(const struct profile *profile, size_t row, unsigned which,
				 const struct interned *set, size_t *count)
{
	size_t n;
	const uint64_t *words = interned_words_at(&profile->rows, row, &n);

	return interned_words_at(set, words[which], count);
}

static const uint64_t *stack_of(const struct profile *profile, size_t row, size_t *count)
{
	return row_words(profile, row, PROFILE_ROW_STACK, &profile->stacks, count);
}

static const uint64_t *labels_of(const struct profile *profile, size_t row, size_t *count)
{
	return row_words(profile, row, PROFILE_ROW_LABELS, &profile->labels, count);
}

/* --- frames --- */

typedef void frame_fn(void *ctx, const struct frame *frame);

static struct frame frame_at(const struct profile *profile, const uint64_t *line, bool inlined,
			     bool of_kernel)
{
	size_t n;
	const uint64_t *func = interned_words_at(&profile->funcs, line[0], &n);
	const char *file = interned_text_at(&profile->texts, func[PROFILE_FUNC_FILE]);

	return (struct frame){
		.func = interned_text_at(&profile->texts, func[PROFILE_FUNC_NAME]),
		.file = *file && !of_kernel ? file : NULL,
		.module = of_kernel ? file : NULL,
		.line = (int)line[1],
		.inlined = inlined,
	};
}

/* Innermost first. */
static void each_frame(const struct profile *profile, size_t row, frame_fn *fn, void *ctx)
{
	size_t depth, words;
	const uint64_t *stack = stack_of(profile, row, &depth);

	for (size_t i = 0; i < depth; i++) {
		const uint64_t *location = interned_words_at(&profile->locations, stack[i], &words);
		bool of_kernel = location[PROFILE_LOCATION_MAPPING] == PROFILE_OF_KERNEL;

		for (size_t at = PROFILE_LOCATION_WORDS; at + 1 < words; at += 2) {
			struct frame frame =
				frame_at(profile, location + at, at + 2 < words, of_kernel);

			fn(ctx, &frame);
		}
	}
}

/* --- rows of which the same is shown --- */

/* The lines of all locations, without their addresses, then the labels. */
static size_t same_as(struct showing *show, size_t row)
{
	const struct profile *profile = show->profile;
	struct profile_words words = {0};
	size_t depth, count, labels;
	const uint64_t *stack = stack_of(profile, row, &depth), *line;

	for (size_t i = 0; i < depth; i++) {
		line = interned_words_at(&profile->locations, stack[i], &count);
		profile_words_add(&words, line[PROFILE_LOCATION_MAPPING] == PROFILE_OF_KERNEL);
		for (size_t at = PROFILE_LOCATION_WORDS; at < count; at++)
			profile_words_add(&words, line[at]);
	}
	const uint64_t *label = labels_of(profile, row, &labels);

	for (size_t i = 0; i < labels; i++)
		profile_words_add(&words, label[i]);
	profile_words_add(&words, depth);
	profile_words_add(&words, labels);
	size_t number = interned_words(&show->same, words.all, words.count);

	free(words.all);
	return number;
}

static void add_rows(struct showing *show)
{
	const struct profile *profile = show->profile;
	size_t types = profile->spec->type_count, count = 0;

	for (size_t row = 0; row < profile->rows.count; row++) {
		size_t n = same_as(show, row);

		if (n == count) {
			show->rows = mem_grow(show->rows, count, &show->cap, sizeof(*show->rows));
			show->rows[count++] =
				(struct shown){row, mem_zalloc(types, sizeof(uint64_t))};
		}
		for (size_t i = 0; i < types; i++)
			show->rows[n].values[i] += profile->values[row * types + i];
	}
}

static int largest_last(const void *a, const void *b, void *ctx)
{
	const struct profile *profile = ctx;
	const struct shown *x = a, *y = b;
	uint64_t of_x = x->values[profile->spec->shown], of_y = y->values[profile->spec->shown];

	if (of_x != of_y)
		return of_x < of_y ? -1 : 1;
	return x->row < y->row ? -1 : 1;
}

/* --- labels --- */

/* One of the tool's, with this key: its text, or else *number. NULL: there is none. */
static const char *label(const struct profile *profile, size_t row, const char *key,
			 uint64_t *number)
{
	size_t count;
	const uint64_t *words = labels_of(profile, row, &count);

	for (size_t i = 0; i < count; i += PROFILE_LABEL_WORDS, words += PROFILE_LABEL_WORDS) {
		*number = words[PROFILE_LABEL_NUMBER];
		if (words[PROFILE_LABEL_OF] == PROFILE_LABEL_TOOL &&
		    !strcmp(interned_text_at(&profile->texts, words[PROFILE_LABEL_KEY]), key))
			return interned_text_at(&profile->texts, words[PROFILE_LABEL_TEXT]);
	}
	return NULL;
}

/* The program's, as its tracebacks print them: {handler: "/get", tenant: acme}. With `before` in
 * front, if there are any. */
static void print_labels(FILE *out, const struct profile *profile, size_t row, const char *before)
{
	const char *between = "{";
	size_t count;
	const uint64_t *words = labels_of(profile, row, &count);

	for (; count; count -= PROFILE_LABEL_WORDS, words += PROFILE_LABEL_WORDS) {
		const char *key = interned_text_at(&profile->texts, words[PROFILE_LABEL_KEY]);
		const char *value = interned_text_at(&profile->texts, words[PROFILE_LABEL_TEXT]);

		if (words[PROFILE_LABEL_OF] == PROFILE_LABEL_TOOL)
			continue;
		fprintf(out, "%s%s", *between == '{' ? before : "", between);
		between = ", ";
		if (words[PROFILE_LABEL_OF] == PROFILE_LABEL_CUT) {
			fputs("...", out);
			continue;
		}
		quoted_print(out, key, strlen(key));
		fputs(": ", out);
		quoted_print(out, value, strlen(value));
	}
	fputs(*between == ',' ? "}" : "", out);
}

/* --- text --- */

static uint64_t unit(const struct profile_style *style)
{
	return style->unit ? style->unit : 1;
}

static void print_leaf(FILE *out, const struct profile *profile, size_t row, const char *key)
{
	uint64_t none;
	const char *leaf = key ? label(profile, row, key, &none) : NULL;

	escape_print(out, leaf ? leaf : "");
}

/* "        1200        57600 main.T" */
static void print_line(FILE *out, const struct profile *profile, const struct shown *shown,
		       const struct profile_style *style)
{
	for (size_t i = 0; i < profile->spec->type_count; i++)
		fprintf(out, "%12" PRIu64 " ", shown->values[i] / unit(style));
	print_leaf(out, profile, shown->row, style->leaf);
	fputc('\n', out);
}

static void print_state(FILE *out, const struct profile *profile, size_t row, const char *key)
{
	uint64_t none;
	const char *state = key ? label(profile, row, key, &none) : NULL;

	if (!state)
		return;
	fputs(": ", out);
	escape_print(out, state);
}

static void print_row(FILE *out, const struct profile *profile, const struct shown *shown,
		      const struct profile_style *style)
{
	uint64_t pid, none;
	const char *leaf = style->leaf;
	const char *comm = label(profile, shown->row, "comm", &none);

	if (leaf) {
		fputs("    ", out);
		print_leaf(out, profile, shown->row, leaf);
		fputc('\n', out);
	}
	each_frame(profile, shown->row, frame_print_line, out);
	if (label(profile, shown->row, "pid", &pid)) {
		fputs("    -                ", out);
		escape_print(out, comm ? comm : "-");
		fprintf(out, " (%" PRIu64 ")", pid);
		print_labels(out, profile, shown->row, " ");
		print_state(out, profile, shown->row, style->state);
		fputc('\n', out);
	}
	fputs("       ", out);
	for (size_t i = 0; i < profile->spec->type_count; i++)
		fprintf(out, leaf ? " %" PRIu64 " %s" : " %" PRIu64, shown->values[i] / unit(style),
			profile->spec->types[i].name);
	fputs("\n\n", out);
}

/* --- folded --- */

struct name {
	const char *text;
	bool of_kernel;
};

struct names {
	struct name *all; /* innermost first */
	size_t count, cap;
};

static void note_name(void *ctx, const struct frame *frame)
{
	struct names *names = ctx;

	names->all = mem_grow(names->all, names->count, &names->cap, sizeof(*names->all));
	names->all[names->count++] = (struct name){frame->func, frame->module != NULL};
}

/* As one frame. */
static void fold_labels(FILE *out, const struct profile *profile, size_t row)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return;
	print_labels(to, profile, row, "");
	fclose(to);
	if (len) {
		frame_print_word(out, text);
		fputc(';', out);
	}
	free(text);
}

static void fold_row(FILE *out, const struct profile *profile, const struct shown *shown,
		     const struct profile_style *style)
{
	struct names names = {0};
	uint64_t pid, none;
	const char *key = style->state ? style->state : style->leaf;
	const char *comm = label(profile, shown->row, "comm", &none);
	const char *leaf = key ? label(profile, shown->row, key, &none) : NULL;

	each_frame(profile, shown->row, note_name, &names);
	if (label(profile, shown->row, "pid", &pid)) {
		frame_print_word(out, comm ? comm : "-");
		fprintf(out, "-%" PRIu64 ";", pid);
	}
	fold_labels(out, profile, shown->row);
	for (size_t i = names.count; i-- > 0;) {
		frame_print_word(out, names.all[i].text);
		/* as flamegraph.pl knows them */
		fputs(names.all[i].of_kernel ? "_[k]" : "", out);
		fputs(i || leaf ? ";" : "", out);
	}
	fputs(leaf && style->state ? "[" : "", out);
	if (leaf)
		frame_print_word(out, leaf);
	fprintf(out, "%s %" PRIu64 "\n", leaf && style->state ? "]" : "",
		shown->values[profile->spec->shown] / unit(style));
	free(names.all);
}

/* --- JSON --- */

static void add_labels(struct json *json, const struct profile *profile, size_t row,
		       enum profile_label_of of)
{
	size_t count;
	const uint64_t *words = labels_of(profile, row, &count);

	for (size_t i = 0; i < count; i += PROFILE_LABEL_WORDS, words += PROFILE_LABEL_WORDS) {
		if (words[PROFILE_LABEL_OF] != of)
			continue;
		json_key(json, interned_text_at(&profile->texts, words[PROFILE_LABEL_KEY]));
		if (of == PROFILE_LABEL_CUT)
			json_bool(json, true);
		else if (of == PROFILE_LABEL_TOOL && words[PROFILE_LABEL_TEXT] == PROFILE_NO_TEXT)
			json_u64(json, words[PROFILE_LABEL_NUMBER]);
		else
			json_string(json,
				    interned_text_at(&profile->texts, words[PROFILE_LABEL_TEXT]));
	}
}

static void json_row(FILE *out, const struct profile *profile, const struct shown *shown,
		     const struct profile_style *style)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	json_member_string(&json, "type", style->type);
	if (style->begin)
		style->begin(&json);
	add_labels(&json, profile, shown->row, PROFILE_LABEL_TOOL);
	for (size_t i = 0; i < profile->spec->type_count; i++)
		json_member_u64(&json, profile->spec->types[i].name, shown->values[i]);
	if (style->labels) {
		json_key(&json, "labels");
		json_object(&json);
		add_labels(&json, profile, shown->row, PROFILE_LABEL_PROGRAM);
		json_object_end(&json);
		add_labels(&json, profile, shown->row, PROFILE_LABEL_CUT);
	}
	json_key(&json, "stack");
	json_array(&json);
	each_frame(profile, shown->row, frame_json_item, &json);
	json_array_end(&json);
	json_object_end(&json);
}

void profile_show(FILE *out, const struct profile *profile, const struct profile_style *style)
{
	struct showing show = {.profile = profile};

	add_rows(&show);
	size_t count = show.same.count;

	if (count)
		qsort_r(show.rows, count, sizeof(*show.rows), largest_last, (void *)profile);
	for (size_t i = 0; i < count; i++) {
		if (style->json)
			json_row(out, profile, &show.rows[i], style);
		else if (style->folded)
			fold_row(out, profile, &show.rows[i], style);
		else if (style->lines)
			print_line(out, profile, &show.rows[i], style);
		else
			print_row(out, profile, &show.rows[i], style);
		free(show.rows[i].values);
	}
	free(show.rows);
	interned_free(&show.same);
}
