// SPDX-License-Identifier: Apache-2.0
#include "gostacks/labels_print_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"
#include "goroutines/snapshot.h"
#include "gostacks/goroutines_print.h"

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '/' && c != '_')
			return false;
	}
	return true;
}

static void print_character(FILE *out, uint32_t c)
{
	if (c == '\n')
		fputs("\\n", out);
	else if (c == '\r')
		fputs("\\r", out);
	else if (c == '\t')
		fputs("\\t", out);
	else if (c == '\\' || c == '"')
		fprintf(out, "\\%c", (char)c);
	else if (c >= ' ' && c <= '~')
		fputc((int)c, out);
	else if (c < 127)
		fprintf(out, "\\x%02" PRIx32, c);
	else
		fprintf(out, c < 0x10000 ? "\\u%04" PRIx32 : "\\U%08" PRIx32, c);
}

/* What is printed is ASCII, without control characters, whatever the text is (src/runtime/print.go,
 * printquoted). */
static void print_text(FILE *out, const char *text, size_t len)
{
	uint32_t c;

	if (is_plain(text, len)) {
		fwrite(text, 1, len, out);
		return;
	}
	fputc('"', out);
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_decode(text + i, len - i, &c);
		if (n)
			print_character(out, c);
		else
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
		n += !n;
	}
	fputc('"', out);
}

void labels_print(FILE *out, const struct snapshot *snap, const struct goroutine *g)
{
	const char *before = " {";
	struct snapshot_label label;
	uint64_t at = g->labels;
	bool cut;

	while (snapshot_labels_next(&snap->labels, &at, &label, &cut)) {
		fputs(before, out);
		print_text(out, label.key, label.key_len);
		fputs(": ", out);
		print_text(out, label.value, label.value_len);
		before = ", ";
	}
	if (cut)
		fprintf(out, "%s...", before);
	if (cut || *before == ',')
		fputc('}', out);
}

void labels_json(struct json *json, const struct goroutines_view *view, const struct goroutine *g)
{
	struct snapshot_label label;
	uint64_t at = g->labels;
	bool cut;

	json_key(json, "labels");
	if (!view->has_labels) {
		json_null(json);
		return;
	}
	json_object(json);
	while (snapshot_labels_next(&view->snap->labels, &at, &label, &cut)) {
		json_key_bytes(json, label.key, label.key_len);
		json_bytes(json, label.value, label.value_len);
	}
	json_object_end(json);
	if (cut) {
		json_key(json, "labels_cut");
		json_bool(json, true);
	}
}
