// SPDX-License-Identifier: Apache-2.0
/* Methods that the compiler makes of others. */
#include "selection/selection_wrapper_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"

/* Finds p.T.M for the wrapper "p.(*T).M", which the compiler makes for calls through an interface.
 * Caller frees *name if found. */
static bool find_wrapped(const struct program *prog, const char *wrapper, char **name)
{
	const char *star = strstr(wrapper, "(*"), *end = star ? strchr(star, ')') : NULL;
	struct functab_func fn;
	bool found = false;

	if (!end)
		return false;
	*name = mem_printf("%.*s%.*s%s", (int)(star - wrapper), wrapper, (int)(end - star - 2),
			   star + 2, end + 1);
	for (size_t i = 0; !found && i < functab_count(prog->tab); i++)
		found = functab_func(prog->tab, i, &fn) && !strcmp(fn.name, *name);
	if (!found)
		free(*name);
	return found;
}

void selection_note_wrappers(struct selection *sel, size_t first_item)
{
	struct functab_func fn;
	char *wrapped;

	for (size_t i = first_item; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->is_copy || !functab_func(item->prog->tab, item->func, &fn) ||
		    !fn.is_wrapper || !find_wrapped(item->prog, fn.name, &wrapped))
			continue;
		selection_note(sel, mem_printf("%s is a wrapper made by the compiler, for calls "
					       "through an interface: other calls go to %s",
					       fn.name, wrapped));
		free(wrapped);
	}
}
