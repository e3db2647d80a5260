// SPDX-License-Identifier: Apache-2.0
#include "values/shape_walk_internal.h"

#include <string.h>

enum {
	NESTING = 8,       /* structs and arrays within each other */
	ELEMENTS = 16,     /* of an array */
	STEPS_MAX = 10000, /* fields and elements looked at in all */
};

struct walk {
	uint32_t size;
	unsigned steps;
	bool stopped;
	bool (*fn)(const struct gotype *type, uint32_t off, void *ctx);
	void *ctx;
};

static void visit(struct walk *walk, const struct gotype *type, uint64_t off, unsigned depth);

bool shape_walk_is_followed(const struct gotype *type)
{
	static const char *const names[] = {
		"net.TCPAddr",   "net.UDPAddr",  "net.IPAddr",       "net.UnixAddr",  "net.IPNet",
		"url.URL",       "url.Userinfo", "big.Int",          "status.Status", "time.zone",
		"time.Location", "intern.Value", "netip.addrDetail",
	};

	for (size_t i = 0; type && i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(type->name, names[i]))
			return true;
	}
	return false;
}

/* Of a time.Location only the cached zone is shown, that of the present. */
static bool is_shown(const struct gotype *type, const struct gotype_field *field)
{
	return strcmp(type->name, "time.Location") || !strcmp(field->name, "cacheZone");
}

static void visit_fields(struct walk *walk, const struct gotype *type, uint64_t off, unsigned depth)
{
	if (!strcmp(type->name, "intern.Value")) /* what it holds is not shown */
		return;
	for (size_t i = 0; i < type->field_count && !walk->stopped; i++) {
		if (type->fields[i].off < walk->size && is_shown(type, &type->fields[i]))
			visit(walk, type->fields[i].type, off + type->fields[i].off, depth + 1);
	}
}

static void visit_elements(struct walk *walk, const struct gotype *type, uint64_t off,
			   unsigned depth)
{
	uint64_t count = type->count < ELEMENTS ? type->count : ELEMENTS;

	if (!type->elem || type->elem->size > walk->size)
		return;
	for (uint64_t i = 0; i < count && !walk->stopped; i++)
		visit(walk, type->elem, off + i * type->elem->size, depth + 1);
}

/* the bytes that a reference takes; 0: the type refers to nothing */
static uint32_t reference_size(enum gotype_kind kind)
{
	switch (kind) {
	case GOTYPE_STRING:
	case GOTYPE_INTERFACE:
	case GOTYPE_PAIR:
		return 16;
	case GOTYPE_SLICE:
		return 24;
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_FUNC:
		return 8;
	default:
		return 0;
	}
}

static void visit(struct walk *walk, const struct gotype *type, uint64_t off, unsigned depth)
{
	if (!type || walk->stopped || depth > NESTING || ++walk->steps > STEPS_MAX)
		return;
	if (type->kind == GOTYPE_STRUCT) {
		visit_fields(walk, type, off, depth);
	} else if (type->kind == GOTYPE_ARRAY) {
		visit_elements(walk, type, off, depth);
	} else {
		uint32_t size = reference_size(type->kind);

		if (size && off + size <= walk->size)
			walk->stopped = !walk->fn(type, (uint32_t)off, walk->ctx);
	}
}

void shape_walk(const struct gotype *type, uint32_t size,
		bool (*fn)(const struct gotype *type, uint32_t off, void *ctx), void *ctx)
{
	struct walk walk = {.size = size, .fn = fn, .ctx = ctx};

	visit(&walk, type, 0, 0);
}

static bool found(const struct gotype *type, uint32_t off, void *ctx)
{
	(void)type;
	(void)off;
	*(bool *)ctx = true;
	return false;
}

bool shape_walk_any(const struct gotype *type, uint32_t size)
{
	bool any = false;

	shape_walk(type, size, found, &any);
	return any;
}
