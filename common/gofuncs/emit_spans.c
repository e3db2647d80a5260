// SPDX-License-Identifier: Apache-2.0
#include "gofuncs/emit_spans_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "elf/image.h"

static bool on_symbol(const struct image_symbol *symbol, void *ctx)
{
	struct emit_spans *spans = ctx;

	if (!symbol->size || symbol->addr > UINT64_MAX - symbol->size)
		return true;
	spans->items = mem_grow(spans->items, spans->count, &spans->cap, sizeof(*spans->items));
	spans->items[spans->count++] =
		(struct emit_span){symbol->addr, symbol->addr + symbol->size};
	return true;
}

static int by_span(const void *a, const void *b)
{
	const struct emit_span *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

void emit_spans_read(const struct image *img, struct emit_spans *out)
{
	size_t count = 0;

	*out = (struct emit_spans){0};
	image_each_symbol(img, on_symbol, out);
	if (!out->count)
		return;
	qsort(out->items, out->count, sizeof(*out->items), by_span);
	for (size_t i = 0; i < out->count; i++) {
		const struct emit_span span = out->items[i];

		if (!count || span.addr > out->items[count - 1].end)
			out->items[count++] = span;
		else if (span.end > out->items[count - 1].end)
			out->items[count - 1].end = span.end;
	}
	out->count = count;
}

void emit_spans_free(struct emit_spans *spans)
{
	free(spans->items);
}

bool emit_spans_cover(const struct emit_spans *spans, uint64_t addr)
{
	size_t low = 0, high = spans->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (spans->items[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < spans->count && spans->items[low].addr <= addr;
}
