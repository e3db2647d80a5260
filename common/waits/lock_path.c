// SPDX-License-Identifier: Apache-2.0
#include "waits/lock_path_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/origin.h"
#include "golang/gotype.h"

enum {
	DEPTH_MAX = 16,       /* of structs in structs */
	FIELDS_MAX = 1 << 12, /* of a struct and those in it, that may be pointers */
};

struct sought {
	enum wait_kind kind;
	bool points; /* a pointer to it */
};

static bool is_lock(const struct gotype *type, enum wait_kind kind)
{
	static const char *const names[] = {[WAIT_SEMAPHORE] = "uint32",
					    [WAIT_MUTEX] = "sync.Mutex",
					    [WAIT_RWMUTEX] = "sync.RWMutex",
					    [WAIT_WAITGROUP] = "sync.WaitGroup",
					    [WAIT_COND] = "sync.Cond"};

	return !strcmp(type->name, names[kind]) ||
	       (kind == WAIT_MUTEX && !strcmp(type->name, "internal/sync.Mutex"));
}

static bool is_sought(const struct gotype *type, const struct sought *sought)
{
	if (sought->points)
		type = type->kind == GOTYPE_POINTER ? type->elem : NULL;
	return type && type->name && is_lock(type, sought->kind);
}

/* Writes ".field[3].mu", to where the type has it at this offset; false: it has none. */
static bool print_path(FILE *out, const struct gotype *type, uint64_t off,
		       const struct sought *lock, int depth)
{
	if (depth > DEPTH_MAX || off >= type->size)
		return false;
	if (off == 0 && is_sought(type, lock))
		return true;
	if (type->kind == GOTYPE_ARRAY && type->elem && type->elem->size) {
		fprintf(out, "[%" PRIu64 "]", off / type->elem->size);
		return print_path(out, type->elem, off % type->elem->size, lock, depth + 1);
	}
	if (type->kind != GOTYPE_STRUCT)
		return false;
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (off < field->off || off - field->off >= field->type->size)
			continue;
		fprintf(out, ".%s", field->name);
		return print_path(out, field->type, off - field->off, lock, depth + 1);
	}
	return false;
}

/* "main.(*Store)" of main.Store */
static void print_pointer(FILE *out, const char *name)
{
	const char *args = strchr(name, '['), *dot = NULL;

	for (const char *at = name; *at && at != args; at++)
		if (*at == '.')
			dot = at;
	if (dot)
		fprintf(out, "%.*s.(*%s)", (int)(dot - name), name, dot + 1);
	else
		fprintf(out, "(*%s)", name);
}

char *lock_path(const struct gotype *type, uint64_t off, enum wait_kind kind, bool points)
{
	struct sought sought = {kind, points};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	print_pointer(out, type->name);
	size_t before = (size_t)ftell(out);
	bool found = print_path(out, type, off, &sought, 0);

	fclose(out);
	if (found && len > before)
		return text;
	free(text);
	return NULL;
}

/* --- behind pointers --- */

struct behind {
	const uint8_t *bytes; /* of the outermost struct */
	size_t len;
	const struct gotype *type;
	uint64_t lock;
	enum wait_kind kind;
	size_t left; /* fields to look at */
};

static char *behind_pointer(const struct behind *behind, const struct gotype *type, uint64_t off)
{
	const struct gotype *elem = type->elem;
	uint64_t value;

	if (!elem || !elem->name || off > behind->len || behind->len - off < sizeof(value))
		return NULL;
	memcpy(&value, behind->bytes + off, sizeof(value));
	if (value == behind->lock && is_lock(elem, behind->kind))
		return lock_path(behind->type, off, behind->kind, true);
	if (!value || elem->kind != GOTYPE_STRUCT || behind->lock - value >= elem->size)
		return NULL;
	return lock_path(elem, behind->lock - value, behind->kind, false);
}

/* All pointers in a struct at this offset, those of structs in it as well. */
static char *behind_fields(struct behind *behind, const struct gotype *type, uint64_t off,
			   int depth)
{
	char *name = NULL;

	for (size_t i = 0; i < type->field_count && !name && behind->left; i++) {
		const struct gotype_field *field = &type->fields[i];

		behind->left--;
		if (field->type->kind == GOTYPE_STRUCT && depth < DEPTH_MAX)
			name = behind_fields(behind, field->type, off + field->off, depth + 1);
		else if (field->type->kind == GOTYPE_POINTER)
			name = behind_pointer(behind, field->type, off + field->off);
	}
	return name;
}

char *lock_path_behind(const struct gotype *type, const void *bytes, size_t len, uint64_t lock,
		       enum wait_kind kind)
{
	struct behind behind = {bytes, len, type, lock, kind, FIELDS_MAX};

	return behind_fields(&behind, type, 0, 0);
}

/* What the pointer at this offset in the struct points to; NULL: there is none. */
static const struct gotype *pointed(const struct gotype *type, uint64_t off, int depth)
{
	if (depth > DEPTH_MAX || off >= type->size)
		return NULL;
	if (type->kind == GOTYPE_POINTER)
		return off ? NULL : type->elem;
	if (type->kind == GOTYPE_ARRAY && type->elem && type->elem->size)
		return pointed(type->elem, off % type->elem->size, depth + 1);
	for (size_t i = 0; type->kind == GOTYPE_STRUCT && i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (off >= field->off && off - field->off < field->type->size)
			return pointed(field->type, off - field->off, depth + 1);
	}
	return NULL;
}

/* What is at the end of the way that the origin tells, which begins at such a struct. */
char *lock_path_along(const struct gotype *type, const struct origin *origin, enum wait_kind kind)
{
	const struct gotype *next = type;

	for (size_t i = 0; i < origin->loads; i++) {
		type = next;
		next = pointed(type, origin->adds[i], 0);
		if (!next || !next->name)
			return NULL;
	}
	int64_t off = origin->adds[origin->loads];

	if (origin->loads && !off && is_lock(next, kind))
		return lock_path(type, origin->adds[origin->loads - 1], kind, true);
	return next->kind == GOTYPE_STRUCT ? lock_path(next, off, kind, false) : NULL;
}
