// SPDX-License-Identifier: Apache-2.0
/* Where a program keeps its descriptors. Up to 1.26 moduledata lists those that reflection looks up
 * by name, and the itabs; from 1.27 it says where descriptors stand one after the other, and where
 * itabs do. All others are referred to by these. */
#include "rtti/rtti.h"

#include <stdlib.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image.h"
#include "golang/release.h"
#include "program/moduledata.h"
#include "program/toolchain.h"
#include "program/functab.h"
#include "program/typedesc_gc.h"
#include "program/typedesc_gccgo.h"
#include "rtti/rtti_internal.h"

enum {
	ITAB_SIZE = 24,           /* bytes, without the methods */
	MAX_REFERENCES = 1 << 25, /* far beyond what programs have */
	MAX_SAMPLES = 1000,
	SWISS_MAP = 112, /* bytes of a swiss map's descriptor */
	SWISS_MAP_LONG = 136,
};

/* --- opening --- */

/* What a slice in moduledata points to, and how many of it there are. */
static const uint8_t *slice_at(const struct rtti *rtti, unsigned word, size_t size, size_t *count)
{
	const struct image *img = rtti->mod.img;
	uint64_t addr = moduledata_word(img, rtti->moduledata, word);
	uint64_t len = moduledata_word(img, rtti->moduledata, word + 1);

	*count = 0;
	if (!word || len > image_left(img, addr) / size)
		return NULL;
	*count = len;
	return image_at(img, addr, len * size);
}

static void locate(struct rtti *rtti, const struct image *img)
{
	const struct moduledata_layout *lists = rtti->lists;
	bool is_long = lists->first >= RELEASE_LONG_MAP_TYPE;
	uint64_t md = rtti->moduledata;

	rtti->mod = (struct typedesc_module){
		.img = img,
		.types = moduledata_word(img, md, lists->types),
		.types_end = moduledata_word(img, md, lists->types_end),
		.text = moduledata_word(img, md, lists->text),
		.swiss_size = is_long ? SWISS_MAP_LONG : SWISS_MAP,
		.dialect = &typedesc_gc,
	};
}

/* The higher byte of a u16 is 0 in almost any name, and the lowest part of a varint in none. */
static bool has_wide_lengths(const struct rtti *rtti)
{
	size_t count, wide = 0, seen = 0;
	const uint8_t *links = slice_at(rtti, rtti->lists->typelinks, 4, &count);

	for (size_t i = 0; links && i < count && i < MAX_SAMPLES; i++) {
		uint64_t addr = typedesc_resolve(&rtti->mod, typedesc_i32(links, i));
		const uint8_t *name = typedesc_name_bytes(&rtti->mod, addr);

		seen += name != NULL;
		wide += name && !name[1];
	}
	return wide * 2 > seen;
}

/* Offsets that are stored doubled lead out of most structs. */
static bool has_shifted_offsets(const struct rtti *rtti)
{
	size_t count;
	const uint8_t *links = slice_at(rtti, rtti->lists->typelinks, 4, &count);

	for (size_t i = 0; links && i < count && i < MAX_SAMPLES; i++) {
		uint64_t addr = typedesc_resolve(&rtti->mod, typedesc_i32(links, i));
		struct typedesc_field last;
		struct typedesc desc;

		if (typedesc_read(&rtti->mod, addr, &desc) && desc.kind == GOKIND_POINTER &&
		    typedesc_read(&rtti->mod, desc.elem, &desc) && desc.kind == GOKIND_STRUCT &&
		    desc.listed && typedesc_field(&rtti->mod, &desc, desc.listed - 1, &last) &&
		    last.off > desc.size)
			return true;
	}
	return false;
}

/* Is the program of a release before `change`? One layout of moduledata may serve releases before
 * and after the change. If the file does not name its release, `guess` looks at the descriptors. */
static bool is_before(const struct rtti *rtti, int release, int change,
		      bool (*guess)(const struct rtti *rtti))
{
	if (rtti->lists->last < change || rtti->lists->first >= change)
		return rtti->lists->last < change;
	return release < 0 ? guess(rtti) : release < change;
}

struct rtti *rtti_open(const struct image *img, const struct functab *tab, int release,
		       struct gotypes *types, struct errmsg *err)
{
	struct rtti *rtti = mem_zalloc(1, sizeof(*rtti));

	rtti->tab = tab;
	rtti->types = types;
	rtti->unknown = gotypes_add(types, GOTYPE_UNKNOWN, "?");
	if (functab_toolchain(tab)->libgo) {
		rtti->mod = (struct typedesc_module){.img = img, .dialect = &typedesc_gccgo};
		return rtti;
	}
	rtti->moduledata = functab_moduledata(tab);
	rtti->lists = moduledata_layout(functab_release_guess(tab));
	locate(rtti, img);
	rtti->mod.wide_lengths = is_before(rtti, release, RELEASE_VARINT_NAMES, has_wide_lengths);
	rtti->mod.shifted_offsets =
		is_before(rtti, release, RELEASE_PLAIN_OFFSETS, has_shifted_offsets);
	if (rtti->moduledata && rtti->mod.types < rtti->mod.types_end &&
	    image_left(img, rtti->mod.types))
		return rtti;
	errmsg_set(err, "\"%s\": its run-time type information was not found", image_path(img));
	rtti_close(rtti);
	return NULL;
}

void rtti_close(struct rtti *rtti)
{
	if (!rtti)
		return;
	free(rtti->library.links);
	free(rtti->entries);
	index_free(&rtti->by_addr);
	free(rtti->methods);
	free(rtti->aliases);
	free(rtti->by_last);
	free(rtti);
}

uint64_t rtti_names(const struct rtti *rtti)
{
	return rtti->mod.wide_lengths ? 0 : rtti->mod.types;
}

bool rtti_is_direct(const struct rtti *rtti, uint64_t addr)
{
	struct typedesc desc;

	return typedesc_read(&rtti->mod, addr, &desc) && desc.direct;
}

uint64_t rtti_key(const struct rtti *rtti, uint64_t addr)
{
	return typedesc_gccgo_key(&rtti->mod, addr);
}

/* --- finding all --- */

static void list_itab(struct rtti *rtti, uint64_t addr)
{
	uint64_t inter, type;

	if (image_u64(rtti->mod.img, addr, &inter) && image_u64(rtti->mod.img, addr + 8, &type)) {
		rtti_entry(rtti, inter);
		rtti_entry(rtti, type);
	}
}

static void list_links(struct rtti *rtti)
{
	size_t count;
	const uint8_t *links = slice_at(rtti, rtti->lists->typelinks, 4, &count);

	for (size_t i = 0; links && i < count; i++) {
		uint64_t addr = typedesc_resolve(&rtti->mod, typedesc_i32(links, i));

		if (addr)
			rtti_entry(rtti, addr);
	}
	links = slice_at(rtti, rtti->lists->itablinks, 8, &count);
	for (size_t i = 0; links && i < count; i++)
		list_itab(rtti, typedesc_u64(links, i));
}

/* The linker leaves a word free before the first. */
static void walk_descriptors(struct rtti *rtti)
{
	uint64_t addr = rtti->mod.types + 8;
	uint64_t len = moduledata_word(rtti->mod.img, rtti->moduledata, rtti->lists->types_len);
	struct typedesc desc;

	while (addr < rtti->mod.types + len && typedesc_read(&rtti->mod, addr, &desc)) {
		rtti_entry(rtti, addr);
		addr = (addr + desc.len + 7) & ~UINT64_C(7);
	}
}

static void walk_itabs(struct rtti *rtti)
{
	const struct moduledata_layout *lists = rtti->lists;
	const struct image *img = rtti->mod.img;
	uint64_t addr = rtti->mod.types + moduledata_word(img, rtti->moduledata, lists->itabs_off);
	uint64_t len = moduledata_word(img, rtti->moduledata, lists->itabs_len);
	uint64_t end = addr + len, inter;
	struct typedesc desc;

	if (len > image_left(img, addr))
		return;
	while (addr < end && image_u64(img, addr, &inter) &&
	       typedesc_read(&rtti->mod, inter, &desc) && desc.kind == GOKIND_INTERFACE) {
		list_itab(rtti, addr);
		addr += ITAB_SIZE + desc.listed * 8;
	}
}

static void add_method(struct rtti *rtti, const uint8_t *method, uint32_t receiver)
{
	struct rtti_method new = {
		.name = typedesc_i32(method, 0),
		.type = typedesc_i32(method, 1),
		.code = typedesc_i32(method, 3),
		.receiver = receiver,
	};

	/* methods that the linker left out have -1, up to Go 1.15 also 0 */
	if (new.type <= 0 || (int32_t) new.code <= 0)
		return;
	rtti->methods = mem_grow(rtti->methods, rtti->method_count, &rtti->method_cap,
				 sizeof(*rtti->methods));
	rtti->methods[rtti->method_count++] = new;
	rtti_entry(rtti, typedesc_resolve(&rtti->mod, new.type));
}

/* Lists what a descriptor refers to besides what its struct gotype refers to. */
static void list_references(struct rtti *rtti, uint32_t index, const struct typedesc *desc)
{
	struct typedesc_methods methods;

	rtti_entry(rtti, desc->pointer);
	rtti_entry(rtti, desc->slice);
	if (!rtti->lists)
		return;
	for (size_t i = 0; desc->kind == GOKIND_FUNC && i < desc->listed; i++)
		rtti_entry(rtti, typedesc_u64(desc->list, i));
	for (size_t i = 0; desc->kind == GOKIND_INTERFACE && i < desc->listed; i++) {
		int32_t type = typedesc_i32(desc->list, i * 2 + 1);

		rtti_entry(rtti, typedesc_resolve(&rtti->mod, type));
	}
	typedesc_methods(&rtti->mod, desc, &methods);
	for (size_t i = 0; i < methods.count; i++)
		add_method(rtti, methods.list + i * 16, index);
	rtti->references += desc->listed + methods.count;
}

static void close_over(struct rtti *rtti)
{
	struct typedesc desc;

	/* entries are added meanwhile, at the end */
	for (size_t i = 0; i < rtti->count; i++) {
		if (rtti->references < MAX_REFERENCES && rtti->entries[i].type &&
		    typedesc_read(&rtti->mod, rtti->entries[i].addr, &desc))
			list_references(rtti, i, &desc);
		if (i + 1 == rtti->count)
			rtti_fill(rtti);
	}
}

static bool list_symbol(const struct image_symbol *symbol, void *ctx)
{
	struct rtti *rtti = ctx;

	if (typedesc_gccgo_is_symbol(symbol->name))
		rtti_entry(rtti, symbol->addr);
	return true;
}

void rtti_search(struct rtti *rtti)
{
	if (rtti->searched)
		return;
	rtti->searched = true;
	if (!rtti->lists) {
		image_each_symbol(rtti->mod.img, list_symbol, rtti);
	} else if (rtti->lists->types_len) {
		walk_descriptors(rtti);
		walk_itabs(rtti);
	} else {
		list_links(rtti);
	}
	rtti_fill(rtti);
	close_over(rtti);
}

void rtti_each(struct rtti *rtti, bool (*fn)(const struct gotype *type, void *ctx), void *ctx)
{
	rtti_search(rtti);
	for (size_t i = 0; i < rtti->count; i++)
		if (rtti->entries[i].type && !fn(rtti->entries[i].type, ctx))
			return;
}
