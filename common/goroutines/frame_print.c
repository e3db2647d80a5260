// SPDX-License-Identifier: Apache-2.0
#include "goroutines/frame_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "goroutines/frames.h"

void frame_print(FILE *out, const struct frame *frame)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	escape_print(out, frame->func);
	if (!frame->file)
		return;
	fputc(' ', out);
	escape_print(out, slash ? slash + 1 : frame->file);
	fprintf(out, ":%d", frame->line);
}

void frame_json(struct json *json, const struct frame *frame)
{
	json_key(json, "func");
	json_string(json, frame->func);
	json_key(json, "file");
	json_string(json, frame->file);
	json_key(json, "line");
	if (frame->file)
		json_i64(json, frame->line);
	else
		json_null(json);
}

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

void frame_print_word(FILE *out, const char *text)
{
	char *word = mem_strdup(text);

	for (char *c = word; *c; c++)
		if (*c == ';')
			*c = ',';
	escape_print(out, word);
	free(word);
}

void frame_print_folded(FILE *out, const struct frames *frames, const uint64_t *addrs, size_t count)
{
	struct names names = {0};

	frames_each(frames, addrs, count, note_name, &names);
	while (names.count) {
		frame_print_word(out, names.all[--names.count]);
		fputc(';', out);
	}
	free(names.all);
}
