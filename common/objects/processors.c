// SPDX-License-Identifier: Apache-2.0
#include "objects/processors_internal.h"

#include <string.h>

#include "golang/gotype.h"
#include "objects/object_walk_internal.h"
#include "objects/spans_internal.h"
#include "program/program.h"
#include "rtti/rtti.h"

struct buffer { /* bytes from the struct's begin: src/runtime/mwbbuf.go, type wbBuf */
	uint64_t next, end, bytes, bytes_end;
};

static const struct gotype_field *field_of(const struct gotype *type, const char *name,
					   uint64_t *off)
{
	return type && type->kind == GOTYPE_STRUCT ? gotype_field(type, name, off, NULL) : NULL;
}

static bool find_buffer(const struct gotype *type, struct buffer *out)
{
	uint64_t at, next, end, bytes;
	const struct gotype_field *buffer = field_of(type, "wbBuf", &at), *buf;

	if (!buffer || !field_of(buffer->type, "next", &next) ||
	    !field_of(buffer->type, "end", &end))
		return false;
	buf = field_of(buffer->type, "buf", &bytes);
	if (!buf)
		return false;
	*out = (struct buffer){at + next, at + end, at + bytes, at + bytes + buf->type->size};
	return true;
}

/* A pointer to the end of its own buffer, and one into it, are in nothing else. */
static bool is_one(const struct object_walk *walk, uint64_t addr, const struct buffer *buffer)
{
	uint64_t next = object_walk_word(walk, addr + buffer->next);

	return object_walk_word(walk, addr + buffer->end) == addr + buffer->bytes_end &&
	       next >= addr + buffer->bytes && next <= addr + buffer->bytes_end;
}

void processors_find(struct object_walk *walk)
{
	const struct gotype *type = rtti_named(walk->rtti, "runtime.p");
	struct object_place place = {.count = 1, .type = type, .role = OBJECT_VALUE};
	struct buffer buffer;

	if (!find_buffer(type, &buffer))
		return;
	uint64_t elem = spans_rounded(type->size, false, walk->prog->release);

	for (size_t i = 0; i < walk->spans->count; i++) {
		const struct span *span = &walk->spans->all[i];

		for (uint32_t n = 0; n < span->count && span->elem == elem && !span->noscan; n++) {
			place.addr = span->base + n * elem + spans_header(walk->spans, span);
			if (!spans_is_allocated(walk->spans, span, n) || !object_walk_spend(walk) ||
			    !is_one(walk, place.addr, &buffer))
				continue;
			object_walk_reach(walk, &place);
			walk->processors = walk->kind_of[span->first + n];
		}
	}
}
