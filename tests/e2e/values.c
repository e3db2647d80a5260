// SPDX-License-Identifier: Apache-2.0
/* Reads lines of tests/fixtures/values.go: a type, a value's bytes, the text that Go has for it.
 * Prints those that come out otherwise, and how many there were. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values/value_internal.h"

enum { RECORD_MAX = 4096 };

struct line {
	struct gotypes *types;
	const char *type, *bytes, *text;
	uint8_t record[RECORD_MAX];
};

static uint32_t unhex(const char *hex, uint8_t *out, uint32_t max)
{
	uint32_t len = 0;
	unsigned byte;

	for (; len < max && sscanf(hex + 2 * (size_t)len, "%2x", &byte) == 1; len++)
		out[len] = (uint8_t)byte;
	return len;
}

static const struct gotype *defined(struct gotypes *types, const char *name, const char *of)
{
	const struct gotype *basic = gotypes_basic(types, of);
	struct gotype *type = gotypes_add(types, basic->kind, name);

	type->size = basic->size;
	type->defined = true;
	return type;
}

static const struct gotype *struct_of(struct gotypes *types, const char *name, uint64_t size)
{
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, name);

	type->size = size;
	type->align = 1;
	return type;
}

static const struct gotype *type_of(struct gotypes *types, const char *name)
{
	if (!strcmp(name, "time.Duration"))
		return defined(types, name, "int64");
	if (!strcmp(name, "syscall.Errno"))
		return defined(types, name, "uintptr");
	if (!strcmp(name, "time.Time"))
		return struct_of(types, name, 24);
	if (!strcmp(name, "struct {}"))
		return struct_of(types, name, 0);
	return gotypes_basic(types, name);
}

/* "old:int:bool:HEADER" */
static const struct gotype *map_of(struct gotypes *types, char *name, const char **header)
{
	struct gotype *type = gotypes_add(types, GOTYPE_MAP, "");
	char text[100], *save;

	type->swiss = !strcmp(strtok_r(name, ":", &save), "swiss");
	type->key = type_of(types, strtok_r(NULL, ":", &save));
	type->elem = type_of(types, strtok_r(NULL, ":", &save));
	type->size = 8;
	*header = strtok_r(NULL, ":", &save);
	snprintf(text, sizeof(text), "map[%s]%s", type->key->name, type->elem->name);
	type->name = gotypes_text(types, text, strlen(text));
	return type;
}

static void put_word(struct line *line, uint32_t at, uint64_t word)
{
	memcpy(line->record + at, &word, sizeof(word));
}

static void put_ref(struct line *line, const struct shape_ref *ref, const char *hex)
{
	put_word(line, ref->state_at, unhex(hex, line->record + ref->at, ref->max));
}

static const struct shape *shape_of(struct line *line, char *type_name,
				    const struct shape_limits *limits, uint32_t *end)
{
	const char *header = NULL;
	const struct gotype *type = strchr(type_name, ':') ? map_of(line->types, type_name, &header)
							   : type_of(line->types, type_name);
	struct shape *shape = shape_new(line->types, type, limits, end);

	if (type->kind == GOTYPE_STRING) {
		put_word(line, shape->at, 1);
		put_word(line, shape->at + 8, strlen(line->bytes) / 2);
		put_ref(line, &shape->refs[0], line->bytes);
	} else if (header) {
		put_word(line, shape->at, 1);
		put_ref(line, &shape->refs[0], header);
		put_ref(line, shape->refs[0].group, line->bytes);
	} else {
		unhex(line->bytes, line->record + shape->at, shape->size);
	}
	return shape;
}

static char *printed(struct line *line, char *type_name)
{
	struct value_source source = {
		.record = line->record,
		.limits = {.string_max = 400, .record_max = RECORD_MAX, .follow = true}};
	bool is_errno = !strcmp(type_name, "syscall.Errno");
	const struct shape *shape = shape_of(line, type_name, &source.limits, &source.len);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		exit(1);
	value_print(out, shape, &source, is_errno ? VALUE_PLAIN : VALUE_DEEP);
	fclose(out);
	return text;
}

/* "TYPE BYTES TEXT", where a type may have a space, and BYTES may be none */
static bool check(char *whole)
{
	char *type_end = strstr(whole, " ");
	static struct line line;

	if (!strncmp(type_end, " {}:", 4))
		type_end = strstr(type_end + 1, " ");
	*type_end = '\0';
	char *bytes = type_end + 1, *text = strchr(bytes, ' ');

	*text = '\0';
	line.types = gotypes_new();
	line.bytes = bytes;
	char *got = printed(&line, whole);
	bool same = !strcmp(got, text + 1);

	if (!same)
		printf("%s %s: %s, not %s\n", whole, bytes, got, text + 1);
	free(got);
	gotypes_free(line.types);
	return same;
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	unsigned long count = 0, wrong = 0;

	for (; getline(&line, &cap, stdin) > 0; count++) {
		line[strcspn(line, "\n")] = '\0';
		wrong += !check(line);
	}
	free(line);
	printf("%lu values, %lu wrong\n", count, wrong);
	return wrong || !count;
}
