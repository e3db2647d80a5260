/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that a program's symbols cover. */
#ifndef EMIT_SPANS_INTERNAL_H
#define EMIT_SPANS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

struct emit_spans {
	struct emit_span {
		uint64_t addr, end;
	} * items; /* in order, apart from each other */
	size_t count, cap;
};

/* Free *out with emit_spans_free(). */
void emit_spans_read(const struct image *img, struct emit_spans *out);
void emit_spans_free(struct emit_spans *spans);

bool emit_spans_cover(const struct emit_spans *spans, uint64_t addr);

#endif
