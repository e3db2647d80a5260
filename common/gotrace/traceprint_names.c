// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceprint_names_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/funcname.h"
#include "selection/selection.h"

static int by_text(const void *a, const void *b)
{
	const char *const *x = *(const char *const *const *)a;
	const char *const *y = *(const char *const *const *)b;

	return strcmp(*x, *y);
}

/* Gives back their paths to those of names[0, count), all with one text, that are of different
 * functions. */
static void part(const char **const *same, size_t count, const char **names,
		 const struct selection *sel)
{
	bool differ = false;

	for (size_t i = 1; i < count; i++)
		differ |= strcmp(sel->rows[same[i] - names].name, sel->rows[same[0] - names].name);
	for (size_t i = 0; differ && i < count; i++)
		*same[i] = sel->rows[same[i] - names].name;
}

const char **traceprint_names(const struct selection *sel, bool full)
{
	size_t count = sel->row_count;
	const char **names = mem_zalloc(count + 1, sizeof(*names));
	const char ***sorted = mem_zalloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++) {
		names[i] = full ? sel->rows[i].name : funcname_without_path(sel->rows[i].name);
		sorted[i] = &names[i];
	}
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_text);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && !strcmp(*sorted[i], *sorted[next]); next++)
			;
		part(sorted + i, next - i, names, sel);
	}
	free(sorted);
	return names;
}
