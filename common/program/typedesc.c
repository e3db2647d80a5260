// SPDX-License-Identifier: Apache-2.0
#include "program/typedesc.h"

#include <string.h>

#include "elf/image.h"
#include "program/typedesc_dialect_internal.h"
#include "program/typedesc_gc.h"

enum { /* sizes and offsets, in bytes */
       HEAD = 48,
       AT_TFLAG = 20,
       AT_ALIGN = 21,
       AT_KIND = 23,
       AT_NAME = 40,
       AT_POINTER = 44,
       OLD_MAP = 88, /* before the swiss ones */
       UNCOMMON = 16,
       METHOD = 16,
       INTERFACE_METHOD = 8,
       FIELD = 24,
};

enum { TFLAG_UNCOMMON = 1, TFLAG_EXTRA_STAR = 2, TFLAG_NAMED = 4 };
enum { DIRECT = 0x20 }; /* DIRECT: in the kind; from 1.26 in tflag */
enum { MAX_NAME = UINT16_MAX, MAX_NAME_LEN = MAX_NAME + 4, MAX_LIST = UINT16_MAX };

int32_t typedesc_i32(const uint8_t *array, size_t index)
{
	int32_t value;

	memcpy(&value, array + index * sizeof(value), sizeof(value));
	return value;
}

uint64_t typedesc_u64(const uint8_t *array, size_t index)
{
	uint64_t value;

	memcpy(&value, array + index * sizeof(value), sizeof(value));
	return value;
}

uint64_t typedesc_resolve(const struct typedesc_module *mod, int32_t off)
{
	uint64_t addr = mod->types + off;

	return off > 0 && addr < mod->types_end ? addr : 0;
}

/* --- names: a byte of flags, the length, the text --- */

/* Bytes that the length takes; 0: it is malformed. */
static size_t read_length(const struct typedesc_module *mod, const uint8_t *data, uint64_t left,
			  size_t *len)
{
	*len = 0;
	if (mod->wide_lengths) {
		if (left < 2)
			return 0;
		*len = data[0] << 8 | data[1];
		return 2;
	}
	for (size_t i = 0; i < left && i < 3; i++) {
		*len |= (size_t)(data[i] & 0x7f) << (7 * i);
		if (!(data[i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* Compilers quote control characters: what has one is no name. */
static bool has_control(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return true;
	return false;
}

static bool read_name(const struct typedesc_module *mod, uint64_t addr, struct typedesc_text *out)
{
	uint64_t left = image_left(mod->img, addr);
	size_t len, skip;

	if (left > MAX_NAME_LEN)
		left = MAX_NAME_LEN;

	const uint8_t *data = image_at(mod->img, addr, left);

	if (!data || left < 2)
		return false;
	skip = read_length(mod, data + 1, left - 1, &len);
	if (!skip || len > MAX_NAME || len > left - 1 - skip)
		return false;
	*out = (struct typedesc_text){(const char *)data + 1 + skip, len, data[0] & 8};
	return !has_control(out->text, len);
}

bool typedesc_name(const struct typedesc_module *mod, int32_t off, struct typedesc_text *out)
{
	uint64_t addr = typedesc_resolve(mod, off);

	return addr && read_name(mod, addr, out) && out->len;
}

const uint8_t *typedesc_name_bytes(const struct typedesc_module *mod, uint64_t addr)
{
	const uint8_t *head = image_at(mod->img, addr, HEAD);
	uint64_t name = head ? typedesc_resolve(mod, typedesc_i32(head + AT_NAME, 0)) : 0;

	return name ? image_at(mod->img, name, 2) : NULL;
}

static bool read_own_name(const struct typedesc_module *mod, const uint8_t *head,
			  struct typedesc_text *out)
{
	if (!typedesc_name(mod, typedesc_i32(head + AT_NAME, 0), out))
		return false;
	if (head[AT_TFLAG] & TFLAG_EXTRA_STAR) {
		out->text++;
		out->len--;
	}
	return out->len;
}

/* --- what follows the head --- */

/* Points `list` to the elements of the Go slice {pointer, length} at `words`. */
static bool read_slice(const struct typedesc_module *mod, const uint8_t *words, size_t size,
		       struct typedesc *out)
{
	uint64_t addr = typedesc_u64(words, 0), len = typedesc_u64(words, 1);

	if (len > MAX_LIST)
		return false;
	out->listed = len;
	out->len += len * size;
	if (!len)
		return true;
	out->list = image_at(mod->img, addr, len * size);
	return out->list;
}

/* The types of parameters and results follow the descriptor, and its uncommontype. */
static bool read_func(const struct typedesc_module *mod, const uint8_t *own, bool uncommon,
		      struct typedesc *out)
{
	uint16_t counts[2];

	memcpy(counts, own, sizeof(counts));
	out->in = counts[0];
	out->listed = out->in + (counts[1] & 0x7fff); /* the highest bit: variadic */
	out->len = HEAD + 8 + out->listed * 8;
	if (!out->listed)
		return true;
	out->list = image_at(mod->img, out->addr + HEAD + 8 + (uncommon ? UNCOMMON : 0),
			     out->listed * 8);
	return out->list;
}

/* A swiss map's fifth word is the size of the group that its third word describes. An older map's
 * fifth word packs small numbers, the third of which is the bucket's size. */
static void read_map(const struct typedesc_module *mod, const uint8_t *own, struct typedesc *out)
{
	uint64_t group_size;

	out->key = typedesc_u64(own, 0);
	out->elem = typedesc_u64(own, 1);
	out->swiss = image_u64(mod->img, typedesc_u64(own, 2), &group_size) &&
		     typedesc_u64(own, 4) == group_size;
	out->len = out->swiss ? mod->swiss_size : OLD_MAP;
}

static bool read_own(const struct typedesc_module *mod, const uint8_t *own, bool uncommon,
		     struct typedesc *out)
{
	switch (out->kind) {
	case GOKIND_ARRAY:
		out->slice = typedesc_u64(own, 1);
		out->count = typedesc_u64(own, 2);
		out->len = HEAD + 24;
		break;
	case GOKIND_CHAN:
		out->len = HEAD + 16;
		break;
	case GOKIND_FUNC:
		return read_func(mod, own, uncommon, out);
	case GOKIND_INTERFACE:
		out->len = HEAD + 32;
		return read_slice(mod, own + 8, INTERFACE_METHOD, out);
	case GOKIND_STRUCT:
		out->len = HEAD + 32;
		return read_slice(mod, own + 8, FIELD, out);
	case GOKIND_MAP:
		read_map(mod, own, out);
		return true;
	case GOKIND_POINTER:
	case GOKIND_SLICE:
		out->len = HEAD + 8;
		break;
	default:
		return true;
	}
	out->elem = typedesc_u64(own, 0);
	return true;
}

/* Bytes that a descriptor's own part takes at most, to be read at once. */
static size_t own_size(enum gokind kind)
{
	static const uint8_t sizes[] = {
		[GOKIND_ARRAY] = 24,         [GOKIND_CHAN] = 16,   [GOKIND_FUNC] = 8,
		[GOKIND_INTERFACE] = 32,     [GOKIND_POINTER] = 8, [GOKIND_SLICE] = 8,
		[GOKIND_STRING] = 0,         [GOKIND_STRUCT] = 32, [GOKIND_MAP] = 40,
		[GOKIND_UNSAFE_POINTER] = 0,
	};

	return sizes[kind];
}

static bool read_head(const struct typedesc_module *mod, const uint8_t *head, struct typedesc *out)
{
	out->kind = head[AT_KIND] & GOKIND_MASK;
	out->size = typedesc_u64(head, 0);
	out->align = head[AT_ALIGN];
	out->named = head[AT_TFLAG] & TFLAG_NAMED;
	out->direct = (head[AT_KIND] | head[AT_TFLAG]) & DIRECT;
	out->pointer = typedesc_resolve(mod, typedesc_i32(head + AT_POINTER, 0));
	out->len = HEAD;
	return gokind_fits(out->kind, out->size, out->align) &&
	       read_own_name(mod, head, &out->name);
}

/* The end of the part that every descriptor of its kind has. */
static uint64_t fixed_end(const struct typedesc *desc)
{
	switch (desc->kind) {
	case GOKIND_FUNC:
		return desc->addr + HEAD + 8;
	case GOKIND_INTERFACE:
	case GOKIND_STRUCT:
		return desc->addr + HEAD + 32;
	default:
		return desc->addr + desc->len;
	}
}

static void read_methods(const struct typedesc_module *mod, const struct typedesc *desc,
			 struct typedesc_methods *out)
{
	const uint8_t *uncommon =
		desc->uncommon ? image_at(mod->img, desc->uncommon, UNCOMMON) : NULL;
	uint16_t count;
	uint32_t off;

	*out = (struct typedesc_methods){0};
	if (!uncommon)
		return;
	memcpy(&count, uncommon + 4, sizeof(count));
	memcpy(&off, uncommon + 8, sizeof(off));
	out->list = image_at(mod->img, desc->uncommon + off, count * METHOD);
	out->count = out->list ? count : 0;
}

static bool read_gc(const struct typedesc_module *mod, uint64_t addr, struct typedesc *out)
{
	const uint8_t *head = image_at(mod->img, addr, HEAD);

	*out = (struct typedesc){.addr = addr};
	if (addr < mod->types || addr >= mod->types_end || !head || !read_head(mod, head, out))
		return false;

	bool uncommon = head[AT_TFLAG] & TFLAG_UNCOMMON;
	struct typedesc_methods methods;

	if (!image_at(mod->img, addr, HEAD + own_size(out->kind)) ||
	    !read_own(mod, head + HEAD, uncommon, out))
		return false;
	if (uncommon) {
		out->uncommon = fixed_end(out);
		read_methods(mod, out, &methods);
		out->len += UNCOMMON + methods.count * METHOD;
	}
	return true;
}

/* --- its parts --- */

static bool read_field(const struct typedesc_module *mod, const struct typedesc *desc, size_t index,
		       struct typedesc_field *out)
{
	const uint8_t *words = desc->list + index * FIELD;

	*out = (struct typedesc_field){.type = typedesc_u64(words, 1),
				       .off = typedesc_u64(words, 2)};
	if (!read_name(mod, typedesc_u64(words, 0), &out->name))
		return false;
	out->embedded = out->name.embedded;
	if (mod->shifted_offsets) {
		out->embedded = out->off & 1;
		out->off >>= 1;
	}
	return true;
}

static bool read_package(const struct typedesc_module *mod, const struct typedesc *desc,
			 struct typedesc_text *out)
{
	const uint8_t *uncommon =
		desc->uncommon ? image_at(mod->img, desc->uncommon, UNCOMMON) : NULL;

	return uncommon && typedesc_name(mod, typedesc_i32(uncommon, 0), out);
}

static size_t keep_plain(const char *name, size_t len, char *out)
{
	memcpy(out, name, len);
	return len;
}

const struct typedesc_dialect typedesc_gc = {
	.read = read_gc,
	.field = read_field,
	.package = read_package,
	.methods = read_methods,
	.plain = keep_plain,
};

/* --- of either compiler --- */

bool typedesc_read(const struct typedesc_module *mod, uint64_t addr, struct typedesc *out)
{
	return mod->dialect->read(mod, addr, out);
}

bool typedesc_field(const struct typedesc_module *mod, const struct typedesc *desc, size_t index,
		    struct typedesc_field *out)
{
	return mod->dialect->field(mod, desc, index, out);
}

bool typedesc_package(const struct typedesc_module *mod, const struct typedesc *desc,
		      struct typedesc_text *out)
{
	return mod->dialect->package(mod, desc, out);
}

void typedesc_methods(const struct typedesc_module *mod, const struct typedesc *desc,
		      struct typedesc_methods *out)
{
	mod->dialect->methods(mod, desc, out);
}

size_t typedesc_plain(const struct typedesc_module *mod, const struct typedesc_text *name,
		      char *out)
{
	return mod->dialect->plain(name->text, name->len, out);
}
