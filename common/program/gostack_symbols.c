// SPDX-License-Identifier: Apache-2.0
/* What an address means: its function, and the calls inlined there from the innermost outward, as
 * the runtime's own tracebacks tell them (Go's src/runtime/symtabinl.go). */
#include "program/gostack_symbols_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "elf/image.h"
#include "program/functab_internal.h"
#include "program/toolchain.h"

enum {
	INLINED_MAX = 128, /* levels; malformed trees may be endless */
	PLACES = 4096,     /* entries of a cache: a place gives way to another with its hash */
};

struct remembered {
	uint64_t addr;
	bool returns;
	struct gostack_place place; /* count 0: nothing is remembered */
};

struct gostack_symbols {
	const struct image *img;
	const struct functab *tab;
	struct remembered *places;
	struct image_symbol *symbols; /* functions of .symtab by address; NULL: not read yet */
	size_t symbol_count, symbol_cap;
};

struct gostack_symbols *gostack_symbols_new(const struct image *img, const struct functab *tab)
{
	struct gostack_symbols *syms = mem_zalloc(1, sizeof(*syms));

	syms->img = img;
	syms->tab = tab;
	syms->places = mem_zalloc(PLACES, sizeof(*syms->places));
	return syms;
}

bool gostack_symbols_hold(const struct gostack_symbols *syms, uint64_t addr)
{
	return image_is_text(syms->img, addr);
}

void gostack_symbols_free(struct gostack_symbols *syms)
{
	if (!syms)
		return;
	for (size_t i = 0; i < PLACES; i++)
		free((void *)syms->places[i].place.lines);
	free(syms->places);
	free(syms->symbols);
	free(syms);
}

/* --- Go functions --- */

static struct gostack_line position(const struct functab *tab, const struct functab_func *fn,
				    uint64_t addr)
{
	struct gostack_line line = {0};

	if (!functab_line(tab, fn, addr, &line.file, &line.line))
		line = (struct gostack_line){0};
	return line;
}

/* A caller's position is that of its call, the node's parent_pc, which has a node of its own in
 * turn. */
static size_t expand(const struct functab *tab, const struct functab_func *fn, uint64_t addr,
		     struct gostack_line *lines)
{
	struct functab_inlined inl;
	size_t n = 0;

	while (n < INLINED_MAX && addr) {
		int32_t node = functab_node_at(tab, fn, addr);

		if (node < 0 || !functab_inlined(tab, fn, node, &inl))
			break;
		lines[n] = position(tab, fn, addr);
		lines[n].name = inl.name;
		lines[n].start_line = inl.start_line;
		lines[n++].inlined = true;
		addr = inl.parent_pc;
	}
	lines[n] = position(tab, fn, addr);
	lines[n].call = addr;
	lines[n].name = fn->name;
	lines[n].start_line = functab_start_line(tab, fn);
	return n + 1;
}

/* --- what is no Go function --- */

static bool keep_symbol(const struct image_symbol *sym, void *ctx)
{
	struct gostack_symbols *syms = ctx;

	if (!sym->is_func)
		return true;
	syms->symbols = mem_grow(syms->symbols, syms->symbol_count, &syms->symbol_cap,
				 sizeof(*syms->symbols));
	syms->symbols[syms->symbol_count++] = *sym;
	return true;
}

static int by_file_addr(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void read_symbols(struct gostack_symbols *syms)
{
	/* room for one, so that there is an array even where there are no symbols */
	syms->symbols = mem_grow(NULL, 0, &syms->symbol_cap, sizeof(*syms->symbols));
	image_each_symbol(syms->img, keep_symbol, syms);
	qsort(syms->symbols, syms->symbol_count, sizeof(*syms->symbols), by_file_addr);
}

/* the last symbol that begins at or before addr, if addr is in it; symbols of assembly may have no
 * size */
static const struct image_symbol *find_symbol(struct gostack_symbols *syms, uint64_t addr)
{
	size_t low = 0, high;

	if (!syms->symbols)
		read_symbols(syms);
	for (high = syms->symbol_count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (syms->symbols[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || !image_is_text(syms->img, addr))
		return NULL;
	const struct image_symbol *sym = &syms->symbols[low - 1];

	return !sym->size || addr - sym->addr < sym->size ? sym : NULL;
}

/* --- both --- */

/* gccgo splits a main.f that calls recover(): main.f finds out whether it may, and calls
 * "main.f..r", which has the body (gofrontend's Build_recover_thunks). */
static bool is_recovering(const struct gostack_symbols *syms, const char *name)
{
	size_t len = strlen(name);

	while (len && isdigit((unsigned char)name[len - 1]))
		len--;
	return functab_toolchain(syms->tab)->mangled && len > 3 &&
	       !strncmp(name + len - 3, "..r", 3);
}

static size_t look_up(struct gostack_symbols *syms, uint64_t addr, bool returns,
		      struct gostack_line *lines, uint64_t *off)
{
	const struct image_symbol *sym;
	struct functab_func fn;
	uint64_t call = addr - returns;

	*off = 0;
	if (functab_find(syms->tab, call, &fn)) {
		size_t count = expand(syms->tab, &fn, call, lines);

		*off = addr - fn.addr;
		lines[count - 1].wrapper = fn.is_wrapper;
		lines[count - 1].hidden = fn.is_wrapper && functab_toolchain(syms->tab)->mangled;
		return count;
	}
	lines[0] = (struct gostack_line){0};
	sym = find_symbol(syms, call);
	if (sym) {
		lines[0].name = sym->name;
		lines[0].hidden = is_recovering(syms, sym->name);
		*off = addr - sym->addr;
	}
	return 1;
}

struct gostack_place gostack_symbols_find(struct gostack_symbols *syms, uint64_t addr, bool returns)
{
	struct remembered *slot = &syms->places[index_hash(returns, addr) % PLACES];
	struct gostack_line lines[INLINED_MAX + 1], *copy;

	if (slot->place.count && slot->addr == addr && slot->returns == returns)
		return slot->place;
	free((void *)slot->place.lines);
	slot->addr = addr;
	slot->returns = returns;
	slot->place.count = look_up(syms, addr, returns, lines, &slot->place.off);
	copy = mem_alloc(slot->place.count * sizeof(*copy));
	memcpy(copy, lines, slot->place.count * sizeof(*copy));
	slot->place.lines = copy;
	return slot->place;
}

bool gostack_symbols_interrupt(const struct gostack_place *callee)
{
	const char *name = callee->lines[callee->count - 1].name;

	return name && (!strcmp(name, "runtime.sigpanic") || !strcmp(name, "runtime.sigpanic0") ||
			!strcmp(name, "runtime.asyncPreempt") ||
			!strncmp(name, "runtime.debugCall", strlen("runtime.debugCall")));
}
