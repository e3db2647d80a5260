// SPDX-License-Identifier: Apache-2.0
#include "objects/objects_print_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "golang/pattern.h"
#include "gostacks/goprocesses.h"

void objects_table_free(struct objects_table *table)
{
	free(table->rows);
	*table = (struct objects_table){0};
}

static int most_first(const void *a, const void *b)
{
	const struct objects_row *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->what != OBJECTS_TYPE)
		return x->size != y->size ? (x->size < y->size ? -1 : 1)
					  : (int)x->pointers - (int)y->pointers;
	return strcmp(x->name, y->name);
}

static bool is_picked(const struct objects_look *look, const struct objects_row *row)
{
	for (size_t i = 0; i < look->pattern_count && row->name; i++)
		if (pattern_match(look->patterns[i], row->name))
			return true;
	return !look->pattern_count;
}

/* --- text --- */

void objects_print_what(FILE *out, const struct objects_row *row)
{
	const char *pointers = row->pointers ? "with pointers" : "without pointers";

	switch (row->what) {
	case OBJECTS_TYPE:
		escape_print(out, row->name);
		break;
	case OBJECTS_STRING:
		fputs("bytes of strings", out);
		break;
	case OBJECTS_TINY:
		fputs("blocks of 16 bytes, shared by small objects", out);
		break;
	case OBJECTS_SEVERAL:
		fputs("? pointers of several types lead to it", out);
		break;
	default:
		if (row->size)
			fprintf(out, "? %" PRIu64 " bytes, %s", row->size, pointers);
		else
			fprintf(out, "? more than 32 KiB, %s", pointers);
	}
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_head(FILE *out, const struct goprocesses_one *one,
		       const struct objects_table *table)
{
	uint64_t objects = 0, bytes = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (table->rows[i].what >= OBJECTS_SEVERAL)
			continue;
		objects += table->rows[i].objects;
		bytes += table->rows[i].bytes;
	}
	fprintf(out, "%d ", one->pid);
	escape_print(out, one->name);
	fprintf(out, " (go1.%d): %" PRIu64 " bytes in %" PRIu64 " objects\n", table->release,
		table->bytes, table->objects);
	fprintf(out, "known are %.1f%% of the bytes, %.1f%% of the objects\n",
		share(bytes, table->bytes), share(objects, table->objects));
	fputs("       BYTES     OBJECTS  SHARE TYPE\n", out);
}

static void print_row(FILE *out, const struct objects_table *table, const struct objects_row *row)
{
	fprintf(out, "%12" PRIu64 " %11" PRIu64 " %5.1f%% ", row->bytes, row->objects,
		share(row->bytes, table->bytes));
	objects_print_what(out, row);
	fputc('\n', out);
}

/* --- JSON --- */

void objects_json_what(struct json *json, const struct objects_row *row)
{
	static const char *const whats[] = {[OBJECTS_TYPE] = "type",
					    [OBJECTS_STRING] = "strings",
					    [OBJECTS_TINY] = "tiny",
					    [OBJECTS_SEVERAL] = "several",
					    [OBJECTS_UNKNOWN] = "unknown"};

	json_member_string(json, "what", whats[row->what]);
	json_member_string(json, "go_type", row->name);
	if (row->what != OBJECTS_UNKNOWN)
		return;
	json_key(json, "size");
	if (row->size)
		json_u64(json, row->size);
	else
		json_null(json);
	json_member_bool(json, "pointers", row->pointers);
}

static void json_row(FILE *out, const struct goprocesses_one *one, const struct objects_row *row)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	json_member_string(&json, "type", "objects");
	json_member_i64(&json, "pid", one->pid);
	objects_json_what(&json, row);
	json_member_u64(&json, "objects", row->objects);
	json_member_u64(&json, "bytes", row->bytes);
	json_object_end(&json);
}

size_t objects_print(FILE *out, const struct objects_look *look, const struct goprocesses_one *one,
		     struct objects_table *table)
{
	size_t shown = 0;

	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), most_first);
	if (!look->json && look->has_printed)
		fputc('\n', out);
	if (!look->json)
		print_head(out, one, table);
	for (size_t i = 0; i < table->count; i++) {
		if (!is_picked(look, &table->rows[i]))
			continue;
		shown++;
		if (look->json)
			json_row(out, one, &table->rows[i]);
		else
			print_row(out, table, &table->rows[i]);
	}
	return shown;
}
