// SPDX-License-Identifier: Apache-2.0
#include "selection/runtime_func.h"

#include <stddef.h>
#include <string.h>

#include "base/errmsg.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/selection.h"
#include "sites/inlining.h"

struct copies {
	const char *name;
	size_t count;
};

static bool count_copy(const struct inlining_copy *copy, void *ctx)
{
	struct copies *copies = ctx;

	copies->count += !strcmp(copy->name, copies->name);
	return true;
}

static const char *find_name(const struct program *prog, const struct runtime_func *func)
{
	struct functab_func fn;

	for (int i = 0; i < RUNTIME_FUNC_NAMES && func->names[i]; i++)
		if (functab_named(prog->tab, func->names[i], &fn))
			return func->names[i];
	return NULL;
}

static bool find_call(struct site_finder *finder, const struct functab_func *fn,
		      const struct runtime_func *func, struct site *out)
{
	const struct site_callee want = {func->callee, func->after, func->not_before};

	if (func->after || func->not_before)
		return !site_one_call(finder, fn, &want, out);
	if (func->behind)
		return !site_behind_call(finder, fn, func->callee, out);
	return !site_call(finder, fn, func->callee, out) ||
	       (func->other_callee && !site_call(finder, fn, func->other_callee, out));
}

/* Its probe stands where it calls another function, not where it begins. */
static void locate_call(struct selection *sel, const struct program *prog,
			const struct runtime_func *func, size_t first_item)
{
	const struct site_list none = {0};

	for (size_t i = first_item; i < sel->item_count; i++) {
		struct selection_item *item = &sel->items[i];
		struct functab_func fn;
		struct site site = {0};
		bool known = functab_func(prog->tab, item->func, &fn);
		bool found = known && find_call(selection_finder(sel, prog), &fn, func, &site);

		selection_locate(sel, item, &site, &none,
				 found ? NULL : "its call of another function is not found");
	}
}

int runtime_func_add(struct selection *sel, const struct program *prog,
		     const struct runtime_func *func, struct errmsg *err)
{
	const char *name = find_name(prog, func);
	struct copies copies = {.name = name ? name : func->names[0]};
	size_t first_item = sel->item_count;

	if (prog->toolchain->libgo)
		return errmsg_set(err,
				  "\"%s\" is built by gccgo: %s is known in the runtime of Go's gc "
				  "compiler only",
				  prog->path, func->names[0]);
	if (!name && func->optional)
		return 0;
	inlining_each(prog->tab, count_copy, &copies);
	if (copies.count && !func->inlined) {
		errmsg_set(err,
			   "\"%s\": %s is inlined in %zu place%s, whose arguments cannot be read: "
			   "not every call of it would be seen",
			   prog->path, copies.name, copies.count, copies.count == 1 ? "" : "s");
		errmsg_hint(err, "a build with -pgo=off does not inline it");
		return -1;
	}
	if (!name)
		return errmsg_set(
			err,
			"\"%s\": there is no %s in its runtime: that of Go 1.15 to 1.27 is "
			"known",
			prog->path, func->names[0]);
	if (selection_add(sel, prog, name, err))
		return -1;
	if (func->callee)
		locate_call(sel, prog, func, first_item);
	return 0;
}
