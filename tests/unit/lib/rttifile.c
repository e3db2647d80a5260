// SPDX-License-Identifier: Apache-2.0
#include "rttifile.h"

enum { UNCOMMON = 1, STAR = 2, NAMED = 4, DIRECT = 0x20, MAX_NESTING = 40 };

struct plan { /* the parts of a descriptor that all kinds have */
	uint8_t kind, tflag, align;
	bool direct;
	uint64_t size;
	unsigned own; /* bytes of what follows the head, its uncommontype aside */
	const char *name;
};

static const struct plan plans[RTTIFILE_COUNT] = {
	[RTTIFILE_INT] = {2, NAMED | STAR, 8, false, 8, 0, "*int"},
	[RTTIFILE_STRING] = {24, NAMED, 8, false, 16, 0, "string"},
	[RTTIFILE_T] = {25, NAMED | STAR | UNCOMMON, 8, false, 32, 32, "*main.T"},
	[RTTIFILE_POINTER] = {22, UNCOMMON, 8, true, 8, 8, "*main.T"},
	[RTTIFILE_SLICE] = {23, 0, 8, false, 24, 8, "[]main.T"},
	[RTTIFILE_ARRAY] = {17, 0, 8, false, 32, 24, "[4]int"},
	[RTTIFILE_MAP] = {21, NAMED | UNCOMMON, 8, true, 8, 40, "http.Header"},
	[RTTIFILE_CHAN] = {18, 0, 8, true, 8, 16, "chan int"},
	[RTTIFILE_FUNC] = {19, 0, 8, true, 8, 8, "func(int) string"},
	[RTTIFILE_INTERFACE] = {20, NAMED | UNCOMMON, 8, false, 16, 32, "main.I"},
	[RTTIFILE_EMPTY] = {20, 0, 8, false, 16, 32, "interface {}"},
	[RTTIFILE_FLOAT] = {13, NAMED, 4, false, 4, 0, "float32"},
	[RTTIFILE_BOX] = {25, 0, 8, false, 32, 32, "struct { a [4]int }"},
};

/* bytes of what follows the uncommontype: fields, methods, parameters */
static unsigned list_size(enum rttifile_type type)
{
	switch (type) {
	case RTTIFILE_T:
		return 3 * 24;
	case RTTIFILE_POINTER:
	case RTTIFILE_FUNC:
		return 16;
	case RTTIFILE_INTERFACE:
		return 8;
	case RTTIFILE_BOX:
		return 24;
	default:
		return 0;
	}
}

uint64_t rttifile_name(struct rttifile *r, unsigned flags, const char *text)
{
	uint64_t addr = r->next_name;
	uint8_t *at = elffile_at(r->g.f, addr);
	size_t len = strlen(text), skip = 1;

	at[0] = flags;
	if (r->g.release < 17) {
		at[1] = len >> 8;
		at[2] = len;
		skip = 3;
	} else {
		for (size_t rest = len; rest || skip == 1; rest >>= 7)
			at[skip++] = (rest & 0x7f) | (rest > 0x7f ? 0x80 : 0);
	}
	elffile_bytes(r->g.f, addr + skip, text, len);
	r->next_name += skip + len;
	return addr;
}

static void put_head(struct rttifile *r, enum rttifile_type type)
{
	const struct plan *plan = &plans[type];
	uint64_t addr = r->addr[type];
	uint8_t *at = elffile_at(r->g.f, addr);

	elffile_u64(r->g.f, addr, plan->size);
	at[20] = plan->tflag | (plan->direct && r->g.release >= 26 ? DIRECT : 0);
	at[21] = at[22] = plan->align;
	at[23] = plan->kind | (plan->direct && r->g.release < 26 ? DIRECT : 0);
	elffile_u32(r->g.f, addr + 40, rttifile_name(r, 1, plan->name) - RTTIFILE_TYPES);
}

static unsigned own_size(const struct rttifile *r, enum rttifile_type type)
{
	if (type != RTTIFILE_MAP)
		return plans[type].own;
	return r->g.release < 24 ? 40 : r->g.release < 27 ? 64 : 88;
}

static void place(struct rttifile *r)
{
	uint64_t addr = RTTIFILE_TYPES + 8;

	for (unsigned i = 0; i < RTTIFILE_COUNT; i++) {
		r->addr[i] = addr;
		addr += 48 + own_size(r, i) + (plans[i].tflag & UNCOMMON ? 16 : 0) + list_size(i);
	}
	r->end = addr;
	r->fields = r->addr[RTTIFILE_T] + 48 + 32 + 16;
	r->uncommon = r->addr[RTTIFILE_POINTER] + 48 + 8;
	r->method = r->uncommon + 16;
}

/* sets word `index` after a descriptor's head */
static void put_own(struct rttifile *r, enum rttifile_type type, unsigned index, uint64_t value)
{
	elffile_u64(r->g.f, r->addr[type] + 48 + index * 8, value);
}

static void put_field(struct rttifile *r, uint64_t at, const char *name, enum rttifile_type type,
		      uint64_t off, bool embedded)
{
	bool shifted = r->g.release < 19;

	elffile_u64(r->g.f, at, rttifile_name(r, embedded && !shifted ? 8 : 0, name));
	elffile_u64(r->g.f, at + 8, r->addr[type]);
	elffile_u64(r->g.f, at + 16, shifted ? off << 1 | embedded : off);
}

static void put_structs(struct rttifile *r)
{
	uint64_t box = r->addr[RTTIFILE_BOX] + 80;

	put_field(r, r->fields, "A", RTTIFILE_INT, 0, false);
	put_field(r, r->fields + 24, "B", RTTIFILE_STRING, 8, true);
	put_field(r, r->fields + 48, "next", RTTIFILE_POINTER, 24, false);
	put_own(r, RTTIFILE_T, 1, r->fields);
	put_own(r, RTTIFILE_T, 2, 3);
	put_field(r, box, "a", RTTIFILE_ARRAY, 0, false);
	put_own(r, RTTIFILE_BOX, 1, box);
	put_own(r, RTTIFILE_BOX, 2, 1);
}

static void put_map(struct rttifile *r)
{
	put_own(r, RTTIFILE_MAP, 0, r->addr[RTTIFILE_STRING]);
	put_own(r, RTTIFILE_MAP, 1, r->addr[RTTIFILE_SLICE]);
	put_own(r, RTTIFILE_MAP, 2, r->addr[RTTIFILE_BOX]); /* of 32 bytes */
	put_own(r, RTTIFILE_MAP, 4, r->g.release < 24 ? 32 << 16 | 24 << 8 | 16 : 32);
}

/* uncommontype: package, number of methods, and their offset from here */
static void put_uncommon(struct rttifile *r, uint64_t at, const char *path, unsigned methods)
{
	elffile_u32(r->g.f, at, rttifile_name(r, 1, path) - RTTIFILE_TYPES);
	elffile_u32(r->g.f, at + 4, methods);
	elffile_u32(r->g.f, at + 8, 16);
}

static void put_methods(struct rttifile *r)
{
	uint64_t name = rttifile_name(r, 0, "b");
	uint64_t listed = r->addr[RTTIFILE_INTERFACE] + 96;
	uint32_t func = r->addr[RTTIFILE_FUNC] - RTTIFILE_TYPES;
	uint32_t code = r->g.starts[1] - ELFFILE_TEXT;
	const uint32_t method[] = {name - RTTIFILE_TYPES, func, code, code};

	put_uncommon(r, r->addr[RTTIFILE_T] + 80, "main", 0);
	put_uncommon(r, r->addr[RTTIFILE_INTERFACE] + 80, "main", 0);
	put_uncommon(r, r->addr[RTTIFILE_MAP] + 48 + own_size(r, RTTIFILE_MAP), "net/http", 0);
	put_uncommon(r, r->uncommon, "main", 1);
	elffile_bytes(r->g.f, r->method, method, sizeof(method));
	elffile_bytes(r->g.f, listed, method, 8);
	put_own(r, RTTIFILE_INTERFACE, 1, listed);
	put_own(r, RTTIFILE_INTERFACE, 2, 1);
	put_own(r, RTTIFILE_FUNC, 0, 0x10001);
	put_own(r, RTTIFILE_FUNC, 1, r->addr[RTTIFILE_INT]);
	put_own(r, RTTIFILE_FUNC, 2, r->addr[RTTIFILE_STRING]);
}

static void put_others(struct rttifile *r)
{
	uint64_t array = r->addr[RTTIFILE_ARRAY];

	put_own(r, RTTIFILE_POINTER, 0, r->addr[RTTIFILE_T]);
	put_own(r, RTTIFILE_SLICE, 0, r->addr[RTTIFILE_T]);
	put_own(r, RTTIFILE_CHAN, 0, r->addr[RTTIFILE_INT]);
	put_own(r, RTTIFILE_ARRAY, 0, r->addr[RTTIFILE_INT]);
	put_own(r, RTTIFILE_ARRAY, 2, 4);
	elffile_u32(r->g.f, array + 44, r->addr[RTTIFILE_CHAN] - RTTIFILE_TYPES); /* not really */
}

/* Tells moduledata where the descriptors are. Up to Go 1.26 three of them are listed, and an itab;
 * from 1.27 on those before main.I are walked, and the itab. These refer to all others but the last
 * three. */
static void put_lists(struct rttifile *r)
{
	static const unsigned types_words[] = {25, 35, 35, 37};
	unsigned types = types_words[r->g.layout];
	unsigned links = r->g.release < 16   ? 30
			 : r->g.release < 18 ? 40
			 : r->g.release < 20 ? 42
			 : r->g.release < 26 ? 44
					     : 45;

	gofile_put_word(&r->g, r->g.release < 16 ? 12 : 22, ELFFILE_TEXT);
	gofile_put_word(&r->g, types, RTTIFILE_TYPES);
	elffile_u64(r->g.f, RTTIFILE_ITAB, r->addr[RTTIFILE_INTERFACE]);
	elffile_u64(r->g.f, RTTIFILE_ITAB + 8, r->addr[RTTIFILE_POINTER]);
	if (r->g.release >= 27) {
		gofile_put_word(&r->g, 38, r->addr[RTTIFILE_INTERFACE] - RTTIFILE_TYPES);
		gofile_put_word(&r->g, 39, ELFFILE_DATA);
		gofile_put_word(&r->g, 40, RTTIFILE_ITAB - RTTIFILE_TYPES);
		gofile_put_word(&r->g, 41, 32);
		return;
	}
	gofile_put_word(&r->g, types + 1, ELFFILE_DATA);
	elffile_u32(r->g.f, RTTIFILE_LINKS, r->addr[RTTIFILE_MAP] - RTTIFILE_TYPES);
	elffile_u32(r->g.f, RTTIFILE_LINKS + 4, r->addr[RTTIFILE_ARRAY] - RTTIFILE_TYPES);
	elffile_u32(r->g.f, RTTIFILE_LINKS + 8, r->addr[RTTIFILE_POINTER] - RTTIFILE_TYPES);
	elffile_u64(r->g.f, RTTIFILE_LINKS + 16, RTTIFILE_ITAB);
	gofile_put_word(&r->g, links, RTTIFILE_LINKS);
	gofile_put_word(&r->g, links + 1, 3);
	gofile_put_word(&r->g, links + 3, RTTIFILE_LINKS + 16);
	gofile_put_word(&r->g, links + 4, 1);
}

void rttifile_make(struct rttifile *r, int release, unsigned machine)
{
	*r = (struct rttifile){.next_name = RTTIFILE_NAMES};
	gofile_make(&r->g, release, machine);
	place(r);
	for (unsigned i = 0; i < RTTIFILE_COUNT; i++)
		put_head(r, i);
	put_structs(r);
	put_map(r);
	put_methods(r);
	put_others(r);
	put_lists(r);
}

/* --- walking what was read --- */

static bool are_parts_sound(const struct gotype *type, unsigned depth);

static bool is_part_sound(const struct gotype *part, const struct gotype *whole, uint64_t off,
			  unsigned depth)
{
	return part && off <= whole->size && part->size <= whole->size - off &&
	       are_parts_sound(part, depth + 1);
}

static bool are_parts_sound(const struct gotype *type, unsigned depth)
{
	if (depth > MAX_NESTING || !type->name || type->align == 0)
		return false;
	for (size_t i = 0; i < type->field_count; i++)
		if (!type->fields[i].name ||
		    !is_part_sound(type->fields[i].type, type, type->fields[i].off, depth))
			return false;
	if (type->kind != GOTYPE_ARRAY)
		return type->kind == GOTYPE_STRUCT || !type->field_count;
	return (!type->count || is_part_sound(type->elem, type, 0, depth)) &&
	       type->elem->size * type->count == type->size;
}

bool rttifile_is_sound(const struct gotype *type)
{
	return are_parts_sound(type, 0);
}

static bool check_type(const struct gotype *type, void *ctx)
{
	if (!rttifile_is_sound(type) || (type->elem && !type->elem->name) ||
	    (type->key && !type->key->name))
		abort();
	++*(unsigned *)ctx;
	return true;
}

static void check_params(const struct goparam *params, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!params[i].name || !params[i].type || !rttifile_is_sound(params[i].type))
			abort();
}

unsigned rttifile_walk(struct rtti *rtti, const struct functab *tab)
{
	static const char *const names[] = {"main.T", "T", "", "net/http.Header", "http.Header"};
	struct functab_func fn;
	struct gofunc func;
	unsigned count = 0;

	rtti_each(rtti, check_type, &count);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		rtti_named(rtti, names[i]);
	for (size_t i = 0; i < functab_count(tab) && i < 100; i++) {
		if (!functab_func(tab, i, &fn) || rtti_func(rtti, fn.addr, &func) < 0)
			continue;
		check_params(func.params, func.param_count);
		check_params(func.results, func.result_count);
	}
	return count;
}
