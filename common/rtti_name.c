// SPDX-License-Identifier: Apache-2.0
/* Types by name. Descriptors carry the name as Go prints it, "http.Request", and beside it the path
 * of its package, "net/http". */
#include "rtti.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "rtti_parts.h"

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
	struct rtti_text path;
	struct rtti_desc desc;

	if (!dot || !rtti_desc_read(&rtti->mod, type->rtype, &desc) ||
	    !rtti_desc_package(&rtti->mod, &desc, &path))
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

static int compare(const void *a, const void *b)
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
		qsort(rtti->aliases, rtti->alias_count, sizeof(*rtti->aliases), compare);
}

static size_t first_of(const struct rtti *rtti, const char *name)
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
	for (size_t i = first_of(rtti, name);
	     i < rtti->alias_count && strcmp(rtti->aliases[i].text, name) == 0; i++) {
		found[rtti->aliases[i].full] = rtti->aliases[i].type;
		count[rtti->aliases[i].full]++;
	}
	if (count[true])
		return count[true] == 1 ? found[true] : NULL;
	return count[false] == 1 ? found[false] : NULL;
}
