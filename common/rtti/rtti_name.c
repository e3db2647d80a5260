// SPDX-License-Identifier: Apache-2.0
/* Types by name. Descriptors carry the name as Go prints it, "http.Request", and beside it the path
 * of its package, "net/http". */
#include "rtti/rtti.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "rtti/rtti_internal.h"

static void add_alias(struct rtti *rtti, const char *text, const struct gotype *type, bool full)
{
	rtti->aliases = mem_grow(rtti->aliases, rtti->alias_count, &rtti->alias_cap,
				 sizeof(*rtti->aliases));
	rtti->aliases[rtti->alias_count++] = (struct rtti_alias){text, type, full};
}

/* The path takes the place of the package's name. */
static const char *full_name(struct rtti *rtti, const struct gotype *type)
{
	const char *dot = strchr(type->name, '.');
	struct typedesc_text path;
	struct typedesc desc;

	if (!dot || !typedesc_read(&rtti->mod, type->rtype, &desc) ||
	    !typedesc_package(&rtti->mod, &desc, &path))
		return NULL;

	char *text = mem_printf("%.*s%s", (int)path.len, path.text, dot);
	const char *kept = rtti_keep_text(rtti, text, strlen(text));

	free(text);
	return kept;
}

static void add_names(struct rtti *rtti, const struct gotype *type)
{
	const char *full = type->defined ? full_name(rtti, type) : NULL;

	if (full && strcmp(full, type->name) != 0) {
		add_alias(rtti, full, type, true);
		add_alias(rtti, type->name, type, false);
	} else {
		add_alias(rtti, type->name, type, true);
	}
}

static int by_type_name_offset(const void *a, const void *b)
{
	const struct rtti_alias *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static void make_aliases(struct rtti *rtti)
{
	if (rtti->aliases)
		return;
	rtti_search(rtti);
	for (size_t i = 0; i < rtti->count; i++)
		if (rtti->entries[i].type)
			add_names(rtti, rtti->entries[i].type);
	if (rtti->alias_count)
		qsort(rtti->aliases, rtti->alias_count, sizeof(*rtti->aliases),
		      by_type_name_offset);
}

static size_t first_named(const struct rtti *rtti, const char *name)
{
	size_t low = 0, high = rtti->alias_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(rtti->aliases[mid].text, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct gotype *rtti_named(struct rtti *rtti, const char *name)
{
	const struct gotype *found[2] = {NULL, NULL}; /* by short and by full names */
	size_t count[2] = {0, 0};

	make_aliases(rtti);
	for (size_t i = first_named(rtti, name);
	     i < rtti->alias_count && strcmp(rtti->aliases[i].text, name) == 0; i++) {
		found[rtti->aliases[i].full] = rtti->aliases[i].type;
		count[rtti->aliases[i].full]++;
	}
	if (count[true])
		return count[true] == 1 ? found[true] : NULL;
	return count[false] == 1 ? found[false] : NULL;
}

/* --- by the last part --- */

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

static int compare_last(const void *a, const void *b)
{
	const struct gotype *const *x = a, *const *y = b;

	return strcmp(last_part((*x)->name), last_part((*y)->name));
}

static void sort_by_last(struct rtti *rtti)
{
	if (rtti->by_last)
		return;
	rtti_search(rtti);
	rtti->by_last = mem_zalloc(rtti->count + 1, sizeof(struct gotype *));
	for (size_t i = 0; i < rtti->count; i++) {
		const struct gotype *type = rtti->entries[i].type;

		if (type && type->defined)
			rtti->by_last[rtti->last_count++] = type;
	}
	qsort(rtti->by_last, rtti->last_count, sizeof(struct gotype *), compare_last);
}

const char *rtti_last(struct rtti *rtti, const char *last, enum gotype_kind kind, uint64_t size,
		      bool *several)
{
	const char *found = NULL;
	size_t low = 0, high;

	sort_by_last(rtti);
	for (high = rtti->last_count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(last_part(rtti->by_last[mid]->name), last) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < rtti->last_count; low++) {
		const struct gotype *type = rtti->by_last[low];

		if (strcmp(last_part(type->name), last) != 0)
			break;
		if (type->kind != kind || (size != UINT64_MAX && type->size != size))
			continue;
		*several |= found && strcmp(found, type->name) != 0;
		found = type->name;
	}
	return *several ? NULL : found;
}
