// SPDX-License-Identifier: Apache-2.0
#include "objects/variable_names_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/image.h"

struct variable_names {
	const struct image *img;
	struct image_symbol *all; /* by address */
	size_t count, cap;
};

static bool is_writable(const struct image *img, uint64_t addr)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++)
		if (segments[i].write && addr - segments[i].addr < segments[i].memsz)
			return true;
	return false;
}

static bool add(const struct image_symbol *symbol, void *ctx)
{
	struct variable_names *names = ctx;

	if (symbol->is_func || symbol->is_tls || !symbol->size ||
	    !is_writable(names->img, symbol->addr))
		return true;
	names->all = mem_grow(names->all, names->count, &names->cap, sizeof(*names->all));
	names->all[names->count++] = *symbol;
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return strcmp(x->name, y->name);
}

struct variable_names *variable_names_new(const struct image *img)
{
	struct variable_names *names = mem_zalloc(1, sizeof(*names));

	names->img = img;
	image_each_symbol(img, add, names);
	if (names->count)
		qsort(names->all, names->count, sizeof(*names->all), by_addr);
	return names;
}

void variable_names_free(struct variable_names *names)
{
	if (!names)
		return;
	free(names->all);
	free(names);
}

const char *variable_names_at(const struct variable_names *names, uint64_t addr, uint64_t *begin)
{
	size_t low = 0, high = names->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (names->all[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - names->all[low - 1].addr >= names->all[low - 1].size)
		return NULL;
	*begin = names->all[low - 1].addr;
	return names->all[low - 1].name;
}
