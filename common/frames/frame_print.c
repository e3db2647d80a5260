// SPDX-License-Identifier: Apache-2.0
#include "frames/frame_print.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "golang/funcname.h"

void frame_print_name(FILE *out, const char *func)
{
	char *name = funcname_short(func);

	escape_print(out, name);
	free(name);
}

void frame_print(FILE *out, const struct frame *frame)
{
	const char *slash = frame->file ? strrchr(frame->file, '/') : NULL;

	frame_print_name(out, frame->func);
	if (frame->module) {
		fputs(" [", out);
		escape_print(out, frame->module);
		fputc(']', out);
	}
	if (!frame->file)
		return;
	fputc(' ', out);
	escape_print(out, slash ? slash + 1 : frame->file);
	fprintf(out, ":%d", frame->line);
}

void frame_json(struct json *json, const struct frame *frame)
{
	json_member_string(json, "func", frame->func);
	json_member_string(json, "file", frame->file);
	json_key(json, "line");
	if (frame->file)
		json_i64(json, frame->line);
	else
		json_null(json);
}

void frame_json_object(struct json *json, const struct frame *frame)
{
	json_object(json);
	frame_json(json, frame);
	if (frame->inlined)
		json_member_bool(json, "inlined", true);
	if (frame->module)
		json_member_string(json, "module", frame->module);
	json_object_end(json);
}

void frame_print_line(void *ctx, const struct frame *frame)
{
	FILE *out = ctx;

	fputs("    ", out);
	frame_print(out, frame);
	fputc('\n', out);
}

void frame_json_item(void *ctx, const struct frame *frame)
{
	frame_json_object(ctx, frame);
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
		char *name = funcname_short(names.all[--names.count]);

		frame_print_word(out, name);
		free(name);
		fputc(';', out);
	}
	free(names.all);
}
