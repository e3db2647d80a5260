// SPDX-License-Identifier: Apache-2.0
#include "selection/nearest_internal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/errmsg.h"
#include "golang/pattern.h"
#include "program/functab.h"
#include "program/toolchain.h"
#include "sites/inlining.h"

enum { NEAREST_MAX = 3 };

struct nearest {
	const char *typed;
	const char *names[NEAREST_MAX]; /* nearest first */
	unsigned distances[NEAREST_MAX];
	size_t count;
	unsigned limit; /* names at a greater distance are not offered */
};

static void offer(struct nearest *near, const char *name)
{
	unsigned distance = pattern_distance(near->typed, name);
	size_t at = near->count;

	if (distance > near->limit)
		return;
	for (size_t i = 0; i < near->count; i++)
		if (!strcmp(near->names[i], name))
			return;
	while (at > 0 && near->distances[at - 1] > distance)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (near->count < NEAREST_MAX)
		near->count++;
	for (size_t i = near->count - 1; i > at; i--) {
		near->names[i] = near->names[i - 1];
		near->distances[i] = near->distances[i - 1];
	}
	near->names[at] = name;
	near->distances[at] = distance;
}

static bool offer_copy(const struct inlining_copy *copy, void *ctx)
{
	offer(ctx, copy->name);
	return true;
}

/* The wrapper (*T).M that the compiler makes of T.M: its name may be nearer to what was typed, but
 * few calls go through it. */
static bool is_made_method(const struct functab_func *fn)
{
	return fn->is_wrapper && strstr(fn->name, "(*");
}

static struct nearest search(const struct functab *tab, const char *typed)
{
	struct nearest near = {.typed = typed, .limit = 2 + strlen(typed) / 4};
	struct budget names = budget_new(functab_file_size(tab), BUDGET_NAMES);
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(tab); i++)
		if (functab_func(tab, i, &fn) && budget_take_name(&names, fn.name) &&
		    !is_made_method(&fn))
			offer(&near, fn.name);
	inlining_each(tab, offer_copy, &near);
	return near;
}

void nearest_hint(const struct functab *tab, const char *typed, struct errmsg *err)
{
	/* such as one that was reduced to a constant: debug information lacks it, too */
	static const char folded[] = "; a function that was inlined may leave no code: ";
	const char *keep = functab_toolchain(tab)->keep_inlined;
	bool one = !strchr(typed, '*');
	const char *slash = strrchr(typed, '/'); /* paths change from version to version */
	struct nearest near = search(tab, typed);
	char list[400] = "";
	size_t len = 0;

	if (!near.count && slash)
		near = search(tab, slash + 1);
	for (size_t i = 0; i < near.count && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
				near.names[i]);
	if (near.count)
		errmsg_hint(err, "near names: %s", list);
	else
		errmsg_hint(err, "gofuncs lists the names, as in gofuncs 'BINARY:%s%s'%s%s%s",
			    slash ? "*" : "", slash ? slash : "main.*", one ? folded : "",
			    one ? keep : "", one ? " keeps it" : "");
}
