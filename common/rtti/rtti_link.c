// SPDX-License-Identifier: Apache-2.0
/* A gccgo program refers to the types of its library by symbols that the dynamic linker looks up.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/dynlink.h"
#include "elf/image.h"
#include "program/typedesc_gccgo.h"
#include "rtti/rtti_internal.h"

enum { MAX_LINKS = 1 << 20 };

struct wanted { /* a word to be filled */
	const char *name;
	uint64_t addr;
	int64_t addend;
	uint64_t copied; /* as struct typedesc_link's */
};

struct search {
	struct wanted *wanted; /* by name */
	size_t count, cap;
	struct typedesc_library *library;
	size_t link_cap;
};

static bool want(const struct dynlink_reloc *reloc, void *ctx)
{
	struct search *search = ctx;

	bool is_copy = reloc->type == R_X86_64_COPY;

	if (!is_copy && (reloc->type != R_X86_64_64 || reloc->symbol.defined))
		return true;
	search->wanted =
		mem_grow(search->wanted, search->count, &search->cap, sizeof(*search->wanted));
	search->wanted[search->count++] = (struct wanted){
		.name = reloc->symbol.name,
		.addr = reloc->addr,
		.addend = reloc->addend,
		.copied = is_copy ? reloc->symbol.size : 0,
	};
	return search->count < MAX_LINKS;
}

static int by_link_name(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* the first of this name; search->count: none */
static size_t first_of_name(const struct search *search, const char *name)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(search->wanted[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void add_link(struct search *search, const struct wanted *wanted, uint64_t addr)
{
	struct typedesc_library *library = search->library;

	library->links = mem_grow(library->links, library->link_count, &search->link_cap,
				  sizeof(*library->links));
	library->links[library->link_count++] = (struct typedesc_link){
		wanted->addr, TYPEDESC_LIBRARY + addr + (uint64_t)wanted->addend, wanted->copied};
}

static bool on_symbol(const struct image_symbol *symbol, void *ctx)
{
	struct search *search = ctx;

	if (symbol->is_func || symbol->is_tls)
		return true;
	for (size_t i = first_of_name(search, symbol->name); i < search->count; i++) {
		if (strcmp(search->wanted[i].name, symbol->name) != 0 ||
		    search->library->link_count == MAX_LINKS)
			break;
		add_link(search, &search->wanted[i], symbol->addr);
	}
	return true;
}

static int by_descriptor(const void *a, const void *b)
{
	const struct typedesc_link *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

void rtti_link(struct rtti *rtti, const struct image *img)
{
	struct typedesc_library *library = &rtti->library;
	struct search search = {.library = library};

	library->img = img;
	rtti->mod.library = library;
	dynlink_each(rtti->mod.img, want, &search);
	if (search.count) {
		qsort(search.wanted, search.count, sizeof(*search.wanted), by_link_name);
		image_each_symbol(img, on_symbol, &search);
	}
	if (library->link_count)
		qsort(library->links, library->link_count, sizeof(*library->links), by_descriptor);
	free(search.wanted);
}
