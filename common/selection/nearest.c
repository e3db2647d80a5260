// SPDX-License-Identifier: Apache-2.0
#include "selection/nearest_internal.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "golang/pattern.h"
#include "program/buildsettings.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/inlining.h"

enum { NEAREST_MAX = 3 };

struct nearest {
	const char *typed, *module;
	const char *names[NEAREST_MAX]; /* nearest first */
	unsigned ranks[NEAREST_MAX];
	size_t count;
	unsigned limit; /* names at a greater distance are not offered */
	/* "*.Put", if only a last part was typed, or "*.f.func*" of a function without a name; and
	 * names that it matches. NULL: neither */
	char *last_text;
	struct pattern *last;
	size_t matched;
};

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Whose function it is: of names equally near, users mean their own first. */
static unsigned owner_of(const struct nearest *near, const char *name)
{
	size_t own = near->module ? strlen(near->module) : 0;
	size_t host = strcspn(name, "/"); /* "go.etcd.io": the standard library has no dot here */

	if (begins(name, "main.") || (own && begins(name, near->module) && strchr("./", name[own])))
		return 0;
	if (name[host] && memchr(name, '.', host))
		return 1;
	return begins(name, "runtime.") || begins(name, "runtime/") || begins(name, "internal/")
		       ? 3
		       : 2;
}

static void insert(struct nearest *near, const char *name, unsigned rank)
{
	size_t at = near->count;

	for (size_t i = 0; i < near->count; i++)
		if (!strcmp(near->names[i], name))
			return;
	while (at > 0 && near->ranks[at - 1] > rank)
		at--;
	if (at == NEAREST_MAX)
		return;
	if (near->count < NEAREST_MAX)
		near->count++;
	for (size_t i = near->count - 1; i > at; i--) {
		near->names[i] = near->names[i - 1];
		near->ranks[i] = near->ranks[i - 1];
	}
	near->names[at] = name;
	near->ranks[at] = rank;
}

/* By distance, then by owner. What has the typed word for its last part, letter case included, is
 * before all others. */
static void offer(struct nearest *near, const char *name)
{
	unsigned distance = pattern_distance(near->typed, name);

	if (near->last && pattern_match(near->last, name))
		insert(near, name, owner_of(near, name));
	else if (distance <= near->limit)
		insert(near, name, 4 * (1 + distance) + owner_of(near, name));
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

/* "*.f.func*" for "main.f.func1": where f is inlined, some releases of Go call such a function
 * main.g.f.func1, others (1.27) have one main.f.func1 for all places. NULL: it is none. */
static char *text_of_closure(const char *typed)
{
	const char *func = strstr(typed, ".func"), *next, *outer = typed;

	while (func && (next = strstr(func + 1, ".func")))
		func = next;
	if (!func || !isdigit((unsigned char)func[strlen(".func")]) || strchr(typed, '*'))
		return NULL;
	for (const char *at = typed; at < func; at++)
		if (*at == '.')
			outer = at + 1;
	return outer > typed ? mem_printf("*.%.*s.func*", (int)(func - outer), outer) : NULL;
}

/* "*.Put" for "Put" */
static char *text_of_last(const char *typed)
{
	if (!*typed || strpbrk(typed, ".*/()[]|+?\\^$ "))
		return text_of_closure(typed);
	return mem_printf("*.%s", typed);
}

static struct nearest search(const struct functab *tab, const char *module, const char *typed)
{
	struct nearest near = {.typed = typed, .module = module, .limit = 2 + strlen(typed) / 4};
	struct budget names = budget_new(functab_file_size(tab), BUDGET_NAMES);
	struct functab_func fn;

	near.last_text = text_of_last(typed);
	near.last = near.last_text ? pattern_new(near.last_text, false, NULL) : NULL;
	for (size_t i = 0; i < functab_count(tab); i++)
		if (functab_func(tab, i, &fn) && budget_take_name(&names, fn.name) &&
		    !is_made_method(&fn)) {
			near.matched += near.last && pattern_match(near.last, fn.name);
			offer(&near, fn.name);
		}
	inlining_each(tab, offer_copy, &near);
	pattern_free(near.last);
	near.last = NULL;
	return near;
}

/* Several functions have the typed word for their last part: names the pattern for all of them. */
static void hint_of_last(const struct nearest *near, struct errmsg *err)
{
	char list[400] = "";
	size_t len = 0, shown = near->matched < near->count ? near->matched : near->count;

	for (size_t i = 0; i < shown && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
				near->names[i]);
	errmsg_hint(err, "'%s' matches %s%s", near->last_text, list,
		    shown < near->matched ? ", ..." : "");
}

/* "server.go:42", as debuggers have it */
static bool is_line(const char *typed)
{
	const char *colon = strstr(typed, ".go:");

	return colon && colon[4] && strspn(colon + 4, "0123456789") == strlen(colon + 4);
}

void nearest_hint(const struct functab *tab, const char *module, const char *typed,
		  struct errmsg *err)
{
	/* such as one that was reduced to a constant: debug information lacks it, too */
	static const char folded[] = "; a function that was inlined may leave no code: ";
	const char *keep = functab_toolchain(tab)->keep_inlined;
	bool one = !strchr(typed, '*');
	const char *slash = strrchr(typed, '/'); /* paths change from version to version */
	struct nearest near = search(tab, module, typed);
	char list[400] = "";
	size_t len = 0;

	if (!near.count && slash) {
		free(near.last_text);
		near = search(tab, module, slash + 1);
	}
	if (near.matched > 1)
		hint_of_last(&near, err);
	free(near.last_text);
	if (near.matched > 1)
		return;
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

void nearest_hint_of(const struct program *prog, const char *typed, struct errmsg *err)
{
	if (is_line(typed)) {
		errmsg_hint(err, "gotrace '@%s' traces a line of a file", typed);
		return;
	}
	char *module = buildsettings_module(prog->img);

	nearest_hint(prog->tab, module, typed, err);
	free(module);
}
