// SPDX-License-Identifier: Apache-2.0
#include "gotree/treescope.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/funcname.h"
#include "program/buildsettings.h"
#include "program/functab.h"
#include "program/program.h"
#include "selection/selection.h"
#include "selection/target.h"

/* More are not taken without being asked for: each call costs some microseconds. */
enum { FUNCTIONS_MAX = 10000 };

/* The paths of packages whose functions are taken. */
struct scope {
	char *package; /* ROOT's */
	char *module;  /* and packages below; NULL: not known, or not ROOT's */
};

static bool is_below(const char *path, const char *module)
{
	size_t len = strlen(module);

	return !strncmp(path, module, len) && (path[len] == '/' || !path[len]);
}

/* A program that was built without modules tells its main package instead. By custom that is in
 * "cmd" of what a module would be. */
static void cut_command(char *module)
{
	char *cmd = strstr(module, "/cmd/");

	if (cmd)
		*cmd = 0;
}

static void find_scope(struct scope *scope, const struct program *prog, const char *root)
{
	struct funcname name;

	funcname_parse(root, &name);
	scope->package = mem_strndup(root, name.package_len);
	scope->module = buildsettings_module(prog->img);
	if (!scope->module)
		return;
	cut_command(scope->module);
	if (strcmp(scope->package, "main") != 0 && !is_below(scope->package, scope->module)) {
		free(scope->module);
		scope->module = NULL;
	}
}

static size_t count_functions(const struct program *prog, const struct scope *scope, bool module)
{
	size_t len = strlen(scope->package), count = 0;
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(prog->tab); i++) {
		struct funcname name;

		if (!functab_func(prog->tab, i, &fn))
			continue;
		funcname_parse(fn.name, &name);
		if (name.package_len == len && !strncmp(fn.name, scope->package, len)) {
			count++;
			continue;
		}
		if (!module)
			continue;
		char *path = mem_strndup(fn.name, name.package_len);

		count += is_below(path, scope->module);
		free(path);
	}
	return count;
}

/* A pattern made by the tool: what it does not match is not told. */
static int add(struct selection *sel, const struct program *prog, char *pattern, struct errmsg *err)
{
	struct selection_want want = sel->want;

	sel->want.regex = false;
	sel->want.may_miss = true;
	int ret = selection_add(sel, prog, pattern, err);

	sel->want = want;
	free(pattern);
	return ret == SELECTION_NONE ? 0 : ret;
}

static int add_scope(struct selection *sel, const struct program *prog, const struct scope *scope,
		     bool module, struct errmsg *err)
{
	if (add(sel, prog, mem_printf("%s.*", scope->package), err))
		return -1;
	if (!module)
		return 0;
	return add(sel, prog, mem_printf("%s.*", scope->module), err) ||
			       add(sel, prog, mem_printf("%s/*", scope->module), err)
		       ? -1
		       : 0;
}

static int choose(struct selection *sel, const struct program *prog, const struct scope *scope,
		  char **taken, struct errmsg *err)
{
	size_t own = count_functions(prog, scope, false), count = own;
	bool module = false;

	if (scope->module) {
		count = count_functions(prog, scope, true);
		module = count > own; /* of a program of one file it may be no path */
	}

	if (module && count > FUNCTIONS_MAX) {
		module = false;
		selection_note(sel,
			       mem_printf("module %s has %zu functions: only those of package %s "
					  "are traced; name others after ROOT",
					  scope->module, count, scope->package));
		count = own;
	}
	*taken = module ? mem_printf("module %s", scope->module)
			: mem_printf("package %s", scope->package);
	if (count <= FUNCTIONS_MAX)
		return add_scope(sel, prog, scope, module, err);
	errmsg_set(err, "package %s has %zu functions: too many to trace them all unasked",
		   scope->package, count);
	errmsg_hint(err, "name those that matter after ROOT, as in '%s.(*T).*'", scope->package);
	return -1;
}

bool treescope_is_first(const struct selection *sel, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (sel->rows[i].prog == sel->rows[row].prog)
			return false;
	return true;
}

static int add_module_of(struct selection *sel, size_t row, char **taken, struct errmsg *err)
{
	const struct program *prog = sel->rows[row].prog;
	struct scope scope = {0};

	find_scope(&scope, prog, sel->rows[row].name);
	int ret = choose(sel, prog, &scope, taken, err);

	free(scope.package);
	free(scope.module);
	return ret;
}

int treescope_add_module(struct selection *sel, size_t roots, char **taken, struct errmsg *err)
{
	char *other = NULL;
	int ret = 0;

	for (size_t i = 0; !ret && i < roots; i++)
		if (treescope_is_first(sel, i)) {
			ret = add_module_of(sel, i, i ? &other : taken, err);
			free(other);
			other = NULL;
		}
	return ret;
}

static int add_pattern(struct selection *sel, size_t row, const struct target_spec *spec,
		       const char *binary, struct errmsg *err)
{
	struct errmsg why = {0};

	if (spec->binary && (!binary || strcmp(spec->binary, binary) != 0)) {
		errmsg_set(err, "\"%s:%s\": PATTERNs are of the program that ROOT is of",
			   spec->binary, spec->pattern);
		errmsg_hint(err, "leave out \"%s:\"", spec->binary);
		return -1;
	}
	int ret = selection_add(sel, sel->rows[row].prog, spec->pattern, &why);

	if (ret == SELECTION_NONE) {
		selection_note(sel, mem_printf("warning: %s%s%s", why.text, *why.hint ? "; " : "",
					       why.hint));
		return 0;
	}
	if (ret)
		*err = why;
	return ret;
}

int treescope_add_patterns(struct selection *sel, size_t roots, char *const *patterns, size_t count,
			   const char *binary, struct errmsg *err)
{
	for (size_t i = 0; i < count; i++) {
		struct target_spec spec;
		int ret = 0;

		if (target_spec_parse(patterns[i], true, &spec, err))
			return -1;
		for (size_t row = 0; !ret && row < roots; row++)
			if (treescope_is_first(sel, row))
				ret = add_pattern(sel, row, &spec, binary, err);
		target_spec_free(&spec);
		if (ret)
			return ret;
	}
	return 0;
}
