// SPDX-License-Identifier: Apache-2.0
#include "gotree/calltree_print.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "golang/funcname.h"
#include "gotree/calltree_internal.h"

/* Lines of calls that are deeper have the depth as a number: a recursion goes on for hundreds. */
enum { INDENT_MAX = 16 };
enum { DURATION_TEXT = 32 };
#define NO_GROUP UINT32_MAX

enum group_kind { CALLS, GOROUTINES, RECEIVERS };

struct group { /* calls of one function by the same caller, or goroutines: a line */
	enum group_kind kind;
	const struct tree_call *first;
	const char *go; /* the function that these goroutines begin with */
	uint64_t goid;  /* of the first one */
	uint32_t calls, depth;
	uint32_t child, last_child, next; /* NO_GROUP: none */
	uint64_t total_ns, self_ns, max_ns;
	uint32_t hows[TREE_HOWS];
};

struct groups {
	struct group *items;
	uint32_t count;
};

/* Three digits and a unit, as "12.3ms" */
static const char *duration(char out[DURATION_TEXT], uint64_t ns)
{
	static const char *const units[] = {"us", "ms", "s"};
	double value = ns / 1e3;
	size_t unit = 0;

	if (ns < 1000) {
		snprintf(out, DURATION_TEXT, "%" PRIu64 "ns", ns);
		return out;
	}
	for (; value >= 999.5 && unit < 2; unit++)
		value /= 1e3;
	snprintf(out, DURATION_TEXT, "%.*f%s",
		 value < 9.995   ? 2
		 : value < 99.95 ? 1
				 : 0,
		 value, units[unit]);
	return out;
}

/* Are these calls of one function, or goroutines that begin with the same one? */
static bool is_same(const struct group *a, const struct group *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == CALLS)
		return a->first->row == b->first->row;
	return a->kind == RECEIVERS || !strcmp(a->go, b->go);
}

/* The caller's group that this is of, or else itself. */
static uint32_t find_group(struct groups *groups, uint32_t caller, const struct group *of)
{
	bool outermost = caller == NO_GROUP;
	uint32_t n = outermost ? NO_GROUP : groups->items[caller].child;

	for (; n != NO_GROUP; n = groups->items[n].next)
		if (is_same(&groups->items[n], of))
			return n;
	n = groups->count++;
	groups->items[n] = *of;
	groups->items[n].depth = outermost ? 0 : groups->items[caller].depth + 1;
	groups->items[n].child = groups->items[n].last_child = groups->items[n].next = NO_GROUP;
	if (outermost)
		return n;
	struct group *in = &groups->items[caller];

	if (in->child == NO_GROUP)
		in->child = n;
	else
		groups->items[in->last_child].next = n;
	in->last_child = n;
	return n;
}

static void add_call(struct group *group, const struct tree_call *call, uint64_t below_ns)
{
	group->calls++;
	group->total_ns += call->latency_ns;
	if (call->latency_ns > group->max_ns)
		group->max_ns = call->latency_ns;
	if (call->latency_ns > below_ns)
		group->self_ns += call->latency_ns - below_ns;
	group->hows[call->how < TREE_HOWS ? call->how : TREE_UNSEEN]++;
}

/* Groups of a goroutine's calls: of[n] of call n. `caller`: the group that it was started in, or
 * sent a value, of this kind, CALLS: it is ROOT's; with the function `go`. */
static void add_calls(struct groups *groups, const struct calltree *tree, uint32_t caller,
		      enum group_kind kind, const char *go, uint32_t *of)
{
	uint32_t count = tree->head.count;
	uint64_t *below_ns = mem_zalloc(count, sizeof(*below_ns));

	for (uint32_t i = 1; i < count; i++)
		below_ns[tree->calls[i].parent] += tree->calls[i].latency_ns;
	for (uint32_t i = 0; i < count; i++) {
		const struct tree_call *call = &tree->calls[i];
		struct group group = {.first = call};

		if (!i) {
			group.kind = kind;
			group.go = go;
			group.goid = tree->head.who.id;
		}
		of[i] = find_group(groups, i ? of[call->parent] : caller, &group);
		add_call(&groups->items[of[i]], call, below_ns[i]);
	}
	free(below_ns);
}

static void make_groups(struct groups *groups, const struct calltree *tree)
{
	size_t total = tree->head.count, goroutines = tree->goroutine_count;
	uint32_t **starts = mem_zalloc(goroutines + 1, sizeof(*starts));

	for (size_t i = 0; i < goroutines; i++)
		total += tree->goroutines[i].tree.head.count;
	uint32_t *of = mem_zalloc(total, sizeof(*of));

	groups->items = mem_zalloc(total, sizeof(*groups->items));
	starts[0] = of;
	add_calls(groups, tree, NO_GROUP, CALLS, NULL, of);
	of += tree->head.count;
	for (size_t i = 0; i < goroutines; i++) {
		const struct calltree_goroutine *it = &tree->goroutines[i];

		starts[i + 1] = of;
		add_calls(groups, &it->tree, starts[it->starter][it->caller],
			  it->func ? GOROUTINES : RECEIVERS, it->func, of);
		of += it->tree.head.count;
	}
	free(starts[0]);
	free(starts);
}

/* What did not return, as " (panicked)", or of several " (3 panicked)" */
static void print_hows(FILE *out, const struct group *group)
{
	static const char *const words[TREE_HOWS] = {
		[TREE_RUNNING] = "running",     [TREE_PANICKED] = "panicked",
		[TREE_EXITED] = "Goexit",       [TREE_JUMPED] = "jumped",
		[TREE_UNSEEN] = "end not seen", [TREE_STARTED] = "not followed",
	};
	const char *between = " (";

	for (unsigned how = 0; how < TREE_HOWS; how++) {
		if (!words[how] || !group->hows[how])
			continue;
		fputs(between, out);
		if (group->calls > 1)
			fprintf(out, "%" PRIu32 " ", group->hows[how]);
		if (how == TREE_RUNNING && group->kind != CALLS)
			fputs(group->calls > 1 ? "go on" : "goes on", out);
		else
			fputs(words[how], out);
		between = ", ";
	}
	if (between[0] == ',')
		fputc(')', out);
}

static void print_share(FILE *out, uint64_t part, uint64_t whole)
{
	double percent = whole ? 100.0 * part / whole : 0;

	if (percent > 0 && percent < 0.5)
		fputs("    <1%", out);
	else
		fprintf(out, "  %4.0f%%", percent);
}

static void print_several(FILE *out, const struct group *group)
{
	uint32_t timed = group->calls - group->hows[TREE_STARTED];
	char text[DURATION_TEXT];

	if (group->calls < 2)
		return;
	fprintf(out, " x%" PRIu32, group->calls);
	fprintf(out, ", avg %s", duration(text, timed ? group->total_ns / timed : 0));
	fprintf(out, ", max %s", duration(text, group->max_ns));
}

static void print_what(FILE *out, const struct calltree *tree, const struct group *group)
{
	if (group->kind == RECEIVERS) {
		fputs("received", out);
		return;
	}
	if (group->kind == GOROUTINES)
		fputs("go ", out);
	escape_print(out, funcname_without_path(group->go ? group->go
							  : calltree_func(tree, group->first)));
}

static void print_group(FILE *out, const struct calltree *tree, const struct group *group)
{
	char text[DURATION_TEXT];

	fprintf(out, "%9s", duration(text, group->total_ns));
	fprintf(out, " %9s", duration(text, group->self_ns));
	print_share(out, group->total_ns, tree->calls[0].latency_ns);
	if (group->depth <= INDENT_MAX)
		fprintf(out, "  %*s", 2 * (int)group->depth, "");
	else
		fprintf(out, "  %*s+%" PRIu32 " ", 2 * INDENT_MAX, "", group->depth - INDENT_MAX);
	print_what(out, tree, group);
	if (group->kind != CALLS && group->calls == 1)
		fprintf(out, " [goroutine %" PRIu64 "]", group->goid);
	print_several(out, group);
	print_hows(out, group);
	fputc('\n', out);
}

/* Callers before what they call, without recursion: trees may be 2048 calls deep. */
static void print_groups(FILE *out, const struct calltree *tree, const struct groups *groups)
{
	uint32_t *later = mem_zalloc(groups->count, sizeof(*later)), waiting = 0, n = 0;

	while (n != NO_GROUP) {
		const struct group *group = &groups->items[n];

		print_group(out, tree, group);
		if (group->next != NO_GROUP)
			later[waiting++] = group->next;
		n = group->child;
		if (n == NO_GROUP && waiting)
			n = later[--waiting];
	}
	free(later);
}

/* Of ROOT's goroutine, or of one that was started below. */
static void print_cut(FILE *out, const struct calltree *tree)
{
	const struct tree_head *head = &tree->head;
	uint64_t told = 0;

	fputs("cut: ", out);
	if (head->by)
		fprintf(out, "goroutine %llu: ", head->who.id);
	fprintf(out, "%llu calls that began after the first %" PRIu32 ":", head->cut, head->count);
	for (size_t i = 0; i < TREE_CUT_FUNCS && head->cut_funcs[i].calls; i++) {
		struct tree_call call = {.row = head->cut_funcs[i].row};

		fputs(i ? ", " : " ", out);
		escape_print(out, funcname_without_path(calltree_func(tree, &call)));
		fprintf(out, " %u", head->cut_funcs[i].calls);
		told += head->cut_funcs[i].calls;
	}
	if (head->cut > told)
		fprintf(out, ", others %llu", head->cut - told);
	fputs("\n     (their time is self time of their callers here)\n", out);
}

static void print_cuts(FILE *out, const struct calltree *tree)
{
	if (tree->head.cut)
		print_cut(out, tree);
	if (tree->head.cut_started)
		fprintf(out, "cut: goroutine %llu: %u go statements that came later still\n",
			tree->head.who.id, tree->head.cut_started);
}

/* "2 goroutines go on after main.root has ended" */
static void print_going_on(FILE *out, const struct calltree *tree)
{
	size_t count = 0;

	for (size_t i = 0; i < tree->goroutine_count; i++)
		count += tree->goroutines[i].tree.calls[0].how == TREE_RUNNING;
	if (!count || tree->calls[0].how == TREE_RUNNING)
		return;
	fprintf(out, "%zu goroutine%s on after ", count, count == 1 ? " goes" : "s go");
	escape_print(out, funcname_without_path(calltree_func(tree, &tree->calls[0])));
	fputs(" has ended\n", out);
}

void calltree_print(FILE *out, const struct calltree *tree)
{
	const struct tree_call *root = &tree->calls[0];
	struct groups groups = {0};
	char text[DURATION_TEXT];

	escape_print(out, funcname_without_path(calltree_func(tree, root)));
	fprintf(out, root->how == TREE_RUNNING ? " is running, for %s so far" : " took %s",
		duration(text, root->latency_ns));
	fprintf(out, ": goroutine %llu of ", tree->head.who.id);
	escape_write(out, tree->head.comm, strnlen(tree->head.comm, sizeof(tree->head.comm)));
	fprintf(out, ", PID %u\n    TOTAL      SELF  SHARE  FUNC\n", tree->head.pid);
	make_groups(&groups, tree);
	print_groups(out, tree, &groups);
	free(groups.items);
	print_cuts(out, tree);
	for (size_t i = 0; i < tree->goroutine_count; i++)
		print_cuts(out, &tree->goroutines[i].tree);
	print_going_on(out, tree);
}
