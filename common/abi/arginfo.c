// SPDX-License-Identifier: Apache-2.0
#include "abi/arginfo.h"

#include "elf/image.h"
#include "program/functab.h"

enum {
	FUNCDATA_ARGINFO = 5,
	CODE_TOO_FAR = 0xfb,
	CODE_MORE = 0xfc,
	CODE_CLOSE = 0xfd,
	CODE_OPEN = 0xfe,
	CODE_END = 0xff,
	FIRST_CODE = 0xf0,
	DEPTH = 5, /* levels of aggregates; deeper ones are not listed */
	WORD = 8,
	LEN_MAX = 2 * ARGINFO_ITEMS + 1, /* bytes of what is kept, and its end */
};

static void add_word(struct arginfo *info, enum arginfo_kind kind, uint8_t size, int16_t off)
{
	if (info->count < ARGINFO_ITEMS)
		info->items[info->count++] = (struct arginfo_item){kind, size, off};
}

/* Reads one item of the `left` bytes at `bytes`. Returns its length in bytes; 0: malformed. */
static size_t read_item(const uint8_t *bytes, uint64_t left, int *depth, struct arginfo *out)
{
	if (bytes[0] < FIRST_CODE) {
		if (left < 2)
			return 0;
		add_word(out, ARGINFO_VALUE, bytes[1], bytes[0]);
		return 2;
	}
	if (bytes[0] == CODE_TOO_FAR) {
		add_word(out, ARGINFO_VALUE, 0, -1);
	} else if (bytes[0] == CODE_MORE) {
		add_word(out, ARGINFO_MORE, 0, 0);
		out->truncated |= *depth == 0;
	} else if (bytes[0] == CODE_OPEN && *depth < DEPTH) {
		add_word(out, ARGINFO_OPEN, 0, 0);
		++*depth;
	} else if (bytes[0] == CODE_CLOSE && *depth > 0) {
		add_word(out, ARGINFO_CLOSE, 0, 0);
		--*depth;
	} else {
		return 0;
	}
	return 1;
}

static bool read_items(const struct image *img, uint64_t addr, struct arginfo *out)
{
	uint64_t left = image_left(img, addr);

	if (left > LEN_MAX)
		left = LEN_MAX;

	const uint8_t *bytes = image_at(img, addr, left);
	int depth = 0;

	while (bytes && left && bytes[0] != CODE_END && out->count < ARGINFO_ITEMS) {
		size_t len = read_item(bytes, left, &depth, out);

		if (!len)
			return false;
		bytes += len;
		left -= len;
	}
	return bytes && left && bytes[0] == CODE_END && depth == 0;
}

bool arginfo_read(const struct image *img, const struct functab *tab, const struct functab_func *fn,
		  struct arginfo *out)
{
	uint64_t addr = functab_funcdata(tab, fn, FUNCDATA_ARGINFO);

	out->count = 0;
	out->truncated = false;
	if (!addr || !read_items(img, addr, out)) {
		out->count = 0;
		return false;
	}
	return true;
}

size_t arginfo_next(const struct arginfo *info, size_t at)
{
	int depth = 0;

	while (at < info->count) {
		uint8_t kind = info->items[at++].kind;

		depth += (kind == ARGINFO_OPEN) - (kind == ARGINFO_CLOSE);
		if (depth <= 0)
			break;
	}
	return at;
}

/* A comparison of a type with items as the compiler wrote them: `at` is the next item. */
struct match {
	const struct arginfo *info;
	size_t at;
	bool more; /* what is left of the type is not told */
};

static bool match_type(struct match *m, const struct gotype *type, int depth);

static bool match_kind(struct match *m, enum arginfo_kind kind)
{
	if (m->at >= m->info->count || m->info->items[m->at].kind != kind)
		return false;
	m->at++;
	return true;
}

static bool is_more(struct match *m)
{
	if (m->at < m->info->count && m->info->items[m->at].kind == ARGINFO_MORE)
		m->more = true;
	return m->more;
}

static bool match_value(struct match *m, uint64_t size)
{
	const struct arginfo_item *item = &m->info->items[m->at];

	if (is_more(m))
		return true;
	return match_kind(m, ARGINFO_VALUE) && (item->off < 0 || item->size == (uint8_t)size);
}

static bool match_values(struct match *m, unsigned count, uint64_t size)
{
	for (unsigned i = 0; i < count && !m->more; i++)
		if (!match_value(m, size))
			return false;
	return true;
}

static bool match_array(struct match *m, const struct gotype *type, int depth)
{
	for (uint64_t i = 0; i < type->count && !m->more; i++)
		if (!match_type(m, type->elem, depth))
			return false;
	return true;
}

static bool match_struct(struct match *m, const struct gotype *type, int depth)
{
	for (size_t i = 0; i < type->field_count && !m->more; i++)
		if (!match_type(m, type->fields[i].type, depth))
			return false;
	return true;
}

static bool match_inside(struct match *m, const struct gotype *type, int depth)
{
	switch (type->kind) {
	case GOTYPE_STRING:
	case GOTYPE_INTERFACE:
		return match_values(m, 2, WORD);
	case GOTYPE_SLICE:
		return match_values(m, 3, WORD);
	case GOTYPE_COMPLEX:
		return match_values(m, 2, type->size / 2);
	case GOTYPE_ARRAY:
		return match_array(m, type, depth);
	default:
		return match_struct(m, type, depth);
	}
}

static bool is_aggregate(const struct gotype *type)
{
	return type->kind == GOTYPE_STRING || type->kind == GOTYPE_INTERFACE ||
	       type->kind == GOTYPE_SLICE || type->kind == GOTYPE_COMPLEX ||
	       type->kind == GOTYPE_ARRAY || type->kind == GOTYPE_STRUCT;
}

static bool match_type(struct match *m, const struct gotype *type, int depth)
{
	if (is_more(m))
		return true;
	if (!is_aggregate(type))
		return match_value(m, type->size);
	if (depth >= DEPTH || !match_kind(m, ARGINFO_OPEN))
		return false;
	if (depth + 1 >= DEPTH) /* the compiler writes {...} */
		return match_kind(m, ARGINFO_MORE) && match_kind(m, ARGINFO_CLOSE);
	return match_inside(m, type, depth + 1) && (m->more || match_kind(m, ARGINFO_CLOSE));
}

bool arginfo_fits(const struct arginfo *info, size_t at, const struct gotype *type)
{
	struct match m = {.info = info, .at = at};

	return match_type(&m, type, 0) && (m.more || m.at == arginfo_next(info, at));
}
