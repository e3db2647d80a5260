// SPDX-License-Identifier: Apache-2.0
#include "selection/selection_line_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "program/functab.h"
#include "program/inltree.h"
#include "program/program.h"
#include "selection/selection.h"
#include "selection/selection_item_internal.h"
#include "sites/line_site.h"

enum {
	NEAR = 8,  /* lines before and after one without a place that are tried instead */
	SHOWN = 3, /* of them, and of files */
	PLACES_MAX = 4096,
	RUN_MAX = 1 << 16, /* bytes of code of one line in a row that are looked at */
	FILES_MAX = 64,
};

struct place {
	uint32_t func;
	struct line_place at;
};

struct search {
	const struct program *prog;
	char *file;                    /* as typed */
	int line, from, to;            /* the one that is sought, and those near it */
	const struct functab_func *fn; /* that is looked at */
	struct inltree tree;
	struct place *places; /* of all these lines */
	size_t count, cap;
	bool too_many;                /* the line has more of them, which were not looked at */
	const char *files[FILES_MAX]; /* that match */
	size_t file_count;
};

static bool split(const char *pattern, char **file, int *line)
{
	const char *colon = strrchr(pattern, ':');
	uint64_t n;

	if (*pattern != '@' || !colon || colon == pattern + 1 ||
	    !number_parse(colon + 1, INT32_MAX - NEAR, &n) || !n)
		return false;
	*file = mem_strndup(pattern + 1, colon - pattern - 1);
	*line = n;
	return true;
}

bool selection_is_line(const char *pattern)
{
	return *pattern == '@';
}

/* Is `typed` the file's path, or the end of it that begins with a whole name? */
static bool is_file(const char *path, const char *typed)
{
	size_t len = strlen(path), end = strlen(typed);

	if (end > len || strcmp(path + len - end, typed) != 0)
		return false;
	return end == len || path[len - end - 1] == '/';
}

static bool knows_file(struct search *search, const char *file)
{
	for (size_t i = 0; i < search->file_count; i++)
		if (search->files[i] == file || !strcmp(search->files[i], file))
			return true;
	if (!is_file(file, search->file) || search->file_count == FILES_MAX)
		return false;
	search->files[search->file_count++] = file;
	return true;
}

static void add_place(struct search *search, const struct line_place *at)
{
	for (size_t i = search->count; i-- > 0 && search->places[i].func == search->fn->index;)
		if (search->places[i].at.line == at->line &&
		    search->places[i].at.node == at->node &&
		    !strcmp(search->places[i].at.file, at->file))
			return;
	if (search->count >= PLACES_MAX) {
		search->too_many |= at->line == search->line;
		return;
	}
	search->places =
		mem_grow(search->places, search->count, &search->cap, sizeof(*search->places));
	search->places[search->count++] = (struct place){search->fn->index, *at};
}

static bool is_in_file(struct search *search, uint64_t addr)
{
	const char *file;
	int line;

	return functab_line(search->prog->tab, search->fn, addr, &file, &line) &&
	       knows_file(search, file);
}

static void look_at(struct search *search, uint64_t addr, int32_t node)
{
	struct line_place at = {.node = node};

	if (functab_line(search->prog->tab, search->fn, addr, &at.file, &at.line) &&
	    at.line >= search->from && at.line <= search->to && knows_file(search, at.file))
		add_place(search, &at);
}

/* A run of one line may hold code of several copies. */
static bool on_line(uint64_t from, uint64_t to, int32_t line, void *ctx)
{
	struct search *search = ctx;
	int32_t node, last = INT32_MIN;

	if (line < search->from || line > search->to)
		return true;
	if (to - from > RUN_MAX) {
		search->too_many |= line == search->line && is_in_file(search, from);
		to = from + RUN_MAX;
	}
	for (uint64_t addr = from; addr < to; addr++) {
		node = functab_node_at(search->prog->tab, search->fn, addr);
		if (node != last)
			look_at(search, addr, node);
		last = node;
	}
	return true;
}

/* Lines of which nothing is left but a call that was inlined. */
static void find_calls(struct search *search)
{
	const struct functab *tab = search->prog->tab;

	inltree_load(&search->tree, tab, search->fn);
	for (int32_t n = 0; n < search->tree.count; n++)
		if (search->tree.nodes[n].parent_pc)
			look_at(search, search->tree.nodes[n].parent_pc,
				inltree_parent(&search->tree, n));
	inltree_free(&search->tree);
}

static void find_places(struct search *search)
{
	const struct functab *tab = search->prog->tab;
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(tab); i++) {
		size_t before = search->count;

		/* what calls the function of a go or defer statement has that statement's line */
		if (!functab_func(tab, i, &fn) || fn.is_asm || fn.is_wrapper)
			continue;
		search->fn = &fn;
		functab_each_line(tab, &fn, on_line, search);
		if (search->count > before)
			find_calls(search);
	}
}

static const char *site_of(struct selection *sel, const struct search *search,
			   const struct place *place, struct site *out)
{
	struct functab_func fn;
	const char *reason;

	if (!functab_func(search->prog->tab, place->func, &fn))
		return "the entry in the function table is malformed";
	return line_site(selection_finder(sel, search->prog), &fn, &place->at, out, &reason)
		       ? reason
		       : NULL;
}

static const char *name_of(const struct search *search, const struct place *place)
{
	struct functab_inlined node;
	struct functab_func fn;

	if (!functab_func(search->prog->tab, place->func, &fn))
		return "?";
	if (place->at.node >= 0 && functab_inlined(search->prog->tab, &fn, place->at.node, &node) &&
	    node.name)
		return node.name;
	return fn.name;
}

/* How many places a line has; *reason: why one of them is not certain. */
static size_t check_line(struct selection *sel, const struct search *search, int line,
			 const struct place **bad, const char **reason)
{
	struct site site;
	size_t count = 0;

	*reason = NULL;
	for (size_t i = 0; i < search->count && !*reason; i++) {
		if (search->places[i].at.line != line)
			continue;
		count++;
		*bad = &search->places[i];
		*reason = site_of(sel, search, *bad, &site);
	}
	return count;
}

static void hint_near(struct selection *sel, const struct search *search, struct errmsg *err)
{
	char text[64] = "";
	const struct place *bad;
	const char *reason;
	size_t shown = 0, len = 0;

	for (int off = 1; off <= NEAR && shown < SHOWN; off++)
		for (int side = -1; side <= 1 && shown < SHOWN; side += 2) {
			int line = search->line + side * off;

			if (line < 1 || !check_line(sel, search, line, &bad, &reason) || reason)
				continue;
			len += snprintf(text + len, sizeof(text) - len, "%s%d", shown++ ? ", " : "",
					line);
		}
	if (shown)
		errmsg_hint(err, "line%s near by that can be probed: %s", shown > 1 ? "s" : "",
			    text);
	else
		errmsg_hint(err, "no line near by can be probed either");
}

static int several_files(const struct search *search, struct errmsg *err)
{
	char text[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < search->file_count && i < SHOWN && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i ? ", " : "",
				search->files[i]);
	errmsg_set(err, "\"%s\" is %zu files", search->file, search->file_count);
	errmsg_hint(err, "write more of the path: %s%s", text,
		    search->file_count > SHOWN ? ", ..." : "");
	return -1;
}

static bool has_file(const struct search *search)
{
	const struct functab *tab = search->prog->tab;
	struct functab_func fn;
	const char *file;
	int line;

	for (size_t i = 0; i < functab_count(tab); i++)
		if (functab_func(tab, i, &fn) && functab_line(tab, &fn, fn.addr, &file, &line) &&
		    is_file(file, search->file))
			return true;
	return false;
}

static int no_line(struct selection *sel, const struct search *search, struct errmsg *err)
{
	if (!search->count && !has_file(search)) {
		errmsg_set(err, "%s: no code is of a file \"%s\"", search->prog->path,
			   search->file);
		errmsg_hint(err, "write the end of its path, as in '@server.go:%d'", search->line);
		return SELECTION_NONE;
	}
	errmsg_set(err, "%s: there is no code at line %d of \"%s\"", search->prog->path,
		   search->line, search->file);
	hint_near(sel, search, err);
	return SELECTION_NONE;
}

static void add_item(struct selection *sel, const struct search *search, const struct place *place)
{
	struct selection_item *item = selection_add_item(sel, search->prog, name_of(search, place));

	item->func = place->func;
	item->returns = false;
	item->file = place->at.file;
	item->line = place->at.line;
	item->skipped = site_of(sel, search, place, &item->sites.entry);
	item->sites.known = true;
	sel->rows[item->row].funcs++;
}

static int add_all(struct selection *sel, const struct search *search, struct errmsg *err)
{
	const struct place *bad = NULL;
	const char *reason;

	if (search->file_count > 1)
		return several_files(search, err);
	if (search->too_many)
		return errmsg_set(err,
				  "line %d of \"%s\" cannot be counted: it has too many places",
				  search->line, search->file);
	if (!check_line(sel, search, search->line, &bad, &reason))
		return no_line(sel, search, err);
	if (reason) {
		errmsg_set(err, "line %d of \"%s\" in %s cannot be counted: %s", search->line,
			   search->file, name_of(search, bad), reason);
		hint_near(sel, search, err);
		return -1;
	}
	for (size_t i = 0; i < search->count; i++)
		if (search->places[i].at.line == search->line)
			add_item(sel, search, &search->places[i]);
	return 0;
}

int selection_add_line(struct selection *sel, const struct program *prog, const char *pattern,
		       struct errmsg *err)
{
	struct search search = {.prog = prog};
	int ret;

	if (!split(pattern, &search.file, &search.line)) {
		errmsg_set(err, "\"%s\" is not @FILE:LINE", pattern);
		errmsg_hint(err, "as in '@server.go:42'");
		return -1;
	}
	if (sel->returns && !sel->want.may_miss) {
		free(search.file);
		return errmsg_set(err, "\"%s\": a line has no return", pattern);
	}
	search.from = search.line - NEAR;
	search.to = search.line + NEAR;
	find_places(&search);
	ret = add_all(sel, &search, err);
	free(search.places);
	free(search.file);
	return ret;
}
