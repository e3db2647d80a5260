// SPDX-License-Identifier: Apache-2.0
/* What has come in an interval. The kernel side's sums go on from the beginning, and have no waits
 * that go on: so a row's time is that of both, less what was shown of it.
 *
 * Sums and waits are not read at the same moment, nor all of them at one. What ended in between is
 * in neither: it has less time then than was shown, and is shown as soon as it has more. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "blocked/blocked_internal.h"

static int by_key(const void *a, const void *b)
{
	const struct blocked_row *x = a, *y = b;

	return memcmp(&x->key, &y->key, sizeof(x->key));
}

/* Rows of one key become one, whose time is its sum's. */
static size_t fold(struct blocked_row *rows, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(rows, count, sizeof(*rows), by_key);
	for (size_t i = 0; i < count; i++) {
		rows[i].sum.total_ns += rows[i].open.ns;
		rows[i].open.ns = 0;
		if (kept && !by_key(&rows[kept - 1], &rows[i]))
			rows[kept - 1].sum.total_ns += rows[i].sum.total_ns;
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

/* Takes what was shown before off the rows. Returns both, in order, with what is shown by now. */
static size_t take_off(struct blocked *blocked, struct blocked_row *both)
{
	struct blocked_row *rows = blocked->rows;
	const struct blocked_row *before = blocked->before;
	size_t i = 0, j = 0, count = 0;

	while (i < blocked->row_count || j < blocked->before_count) {
		int order = i == blocked->row_count      ? 1
			    : j == blocked->before_count ? -1
							 : by_key(&rows[i], &before[j]);

		if (order > 0) {
			both[count++] = before[j++];
			continue;
		}
		uint64_t now = rows[i].sum.total_ns, shown = order ? 0 : before[j++].sum.total_ns;

		both[count] = rows[i];
		both[count++].sum.total_ns = now > shown ? now : shown;
		rows[i++].sum.total_ns = now > shown ? now - shown : 0;
	}
	return count;
}

void blocked_since(struct blocked *blocked)
{
	blocked->row_count = fold(blocked->rows, blocked->row_count);
	struct blocked_row *both =
		mem_zalloc(blocked->row_count + blocked->before_count, sizeof(*both));

	blocked->before_count = take_off(blocked, both);
	free(blocked->before);
	blocked->before = both;
	size_t kept = 0;

	for (size_t i = 0; i < blocked->row_count; i++)
		if (blocked->rows[i].sum.total_ns)
			blocked->rows[kept++] = blocked->rows[i];
	blocked->row_count = kept;
}
