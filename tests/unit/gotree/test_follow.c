// SPDX-License-Identifier: Apache-2.0
/* Trees of goroutines that were started below a call of ROOT: which the tool reads and deletes, and
 * when. Maps, the clock and the tracer are the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "gotree/calltree_internal.h"
#include "gotree/follow.h"
#include "gotree/started_internal.h"
#include "kernel/bpfmap.h"
#include "kernel/processes.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

enum {
	TREES = 3,
	REQUESTS = 4,
	RECEIVED = 5,
	VALUES = 6,
	MOST = 400,
	MS = 1000000,
	PROBE = 0x401234
};

static char told[1024];
static uint64_t now_ns;
static struct program app = {.path = "/bin/app"};
static struct selection_row rows[] = {{.name = "main.root"}, {.name = "runtime.newproc1"}};
static struct selection_item items[4];
static struct selection selection;
static const char *missing;

/* --- in place of the tracer, and of time --- */

uint64_t clock_ns(void)
{
	return now_ns;
}

int nanosleep(const struct timespec *time, struct timespec *__remaining) /* NOLINT */
{
	(void)__remaining; /* NOLINT */
	now_ns += time->tv_nsec;
	return 0;
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &selection;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &app;
}

size_t tracer_program_count(const struct tracer *tracer)
{
	(void)tracer;
	return 1;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	(void)tracer;
	return !strcmp(name, "trees")      ? TREES
	       : !strcmp(name, "requests") ? REQUESTS
	       : !strcmp(name, "received") ? RECEIVED
					   : VALUES;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	sprintf(told + strlen(told), "%s=%d ", name, (int)value);
}

void tracer_set_plans(struct tracer *tracer, const struct tracer_plan *plans)
{
	(void)tracer;
	strcat(told, "parts ");
	for (size_t i = 0; i < selection.item_count; i++)
		sprintf(told + strlen(told), "%u", plans[i].part);
	strcat(told, " ");
}

void tracer_set_parts(struct tracer *tracer, uint32_t count)
{
	(void)tracer;
	sprintf(told + strlen(told), "of %u ", count);
}

void selection_group(struct selection *sel, uint32_t group, bool returns)
{
	assert_ptr_equal(sel, &selection);
	sel->group = group;
	sel->returns = returns;
}

int runtime_func_add(struct selection *sel, const struct program *prog,
		     const struct runtime_func *func, struct errmsg *err)
{
	assert_ptr_equal(prog, &app);
	if (missing && !strcmp(missing, func->names[0]))
		return errmsg_set(err, "no %s", missing);
	sprintf(told + strlen(told), "%s|%s:%u/%u%s ", func->names[0],
		func->names[1] ? func->names[1] : "", sel->runtime, sel->group,
		sel->returns ? "+returns" : "");
	return 0;
}

int channels_plan(struct tracer *tracer, struct errmsg *why)
{
	(void)tracer;
	if (missing && !strcmp(missing, "channels"))
		return errmsg_set(why, "no channels");
	items[3] = (struct selection_item){.row = 1, .runtime = FOLLOW_START};
	selection.item_count = 4;
	return 0;
}

/* --- in place of maps: trees by their ids --- */

static struct {
	uint64_t id;
	struct tree tree;
	bool deleted;
} * trees;
static size_t tree_count, lookups;
static struct tree_request request;
static struct tree_followed followed;
static bool has_request, request_deleted;
static unsigned ends_at_lookup; /* the first tree's goroutine ends */

int bpfmap_lookup(int fd, const void *key, void *value)
{
	struct goroutine_key who;

	if (fd == REQUESTS) {
		assert_memory_equal(key, &request, sizeof(request));
		memcpy(value, &followed, sizeof(followed));
		return has_request ? 0 : -1;
	}
	assert_int_equal(fd, TREES);
	memcpy(&who, key, sizeof(who));
	assert_true(who.id & (GOROUTINE_STARTED | GOROUTINE_GIVEN));
	assert_int_equal(who.process.tgid, 77);
	if (++lookups == ends_at_lookup)
		trees[0].tree.head.end_ns = now_ns;
	for (size_t i = 0; i < tree_count; i++)
		if (trees[i].id == who.id && !trees[i].deleted) {
			memcpy(value, &trees[i].tree, sizeof(trees[i].tree));
			return 0;
		}
	return -1;
}

int bpfmap_delete(int fd, const void *key)
{
	struct goroutine_key who;

	if (fd == REQUESTS) {
		assert_memory_equal(key, &request, sizeof(request));
		request_deleted = true;
		return 0;
	}
	assert_int_equal(fd, TREES);
	memcpy(&who, key, sizeof(who));
	assert_int_equal(who.process.tgid, 77);
	for (size_t i = 0; i < tree_count; i++)
		trees[i].deleted |= trees[i].id == who.id;
	return 0;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_int_equal(fd, REQUESTS);
	assert_int_equal(key_size, sizeof(request));
	assert_int_equal(value_size, sizeof(followed));
	return has_request ? fn(&request, &followed, arg) : 0;
}

int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_null(procs);
	assert_null(fn);
	assert_null(arg);
	sprintf(told + strlen(told), "sweep %d ", fd);
	return 0;
}

/* --- in place of what joins them --- */

static struct tree_head added[MOST];
static size_t added_count;
static struct started_of joined;
static bool was_joined;

struct started *started_new(void)
{
	return NULL;
}

void started_free(struct started *started)
{
	(void)started;
}

void started_clear(struct started *started)
{
	(void)started;
	added_count = 0;
}

void started_add(struct started *started, const struct tree *tree)
{
	(void)started;
	added[added_count++] = tree->head;
}

size_t started_count(const struct started *started)
{
	(void)started;
	return added_count;
}

const struct tree_head *started_head(const struct started *started, size_t n)
{
	(void)started;
	return &added[n];
}

bool started_running(const struct started *started)
{
	(void)started;
	for (size_t i = 0; i < added_count; i++)
		if (!added[i].end_ns)
			return true;
	return false;
}

void started_join(struct started *started, struct calltree *root, const struct started_of *of)
{
	(void)started;
	assert_true(root->followed);
	joined = *of;
	was_joined = true;
}

/* --- what is traced --- */

static struct follow *follow;
static struct errmsg err;

static int begin(void **state)
{
	(void)state;
	*told = '\0';
	app.release = 27;
	app.release_told = true;
	memset(items, 0, sizeof(items));
	items[1] = (struct selection_item){.row = 1, .runtime = FOLLOW_START};
	items[1].sites.entry.addr = PROBE;
	items[2] = (struct selection_item){.row = 1, .runtime = FOLLOW_END};
	items[2].sites.entry.addr = PROBE + 0x1000;
	selection = (struct selection){.rows = rows, .items = items, .item_count = 3, .group = 4};
	missing = NULL;
	trees = calloc(MOST, sizeof(*trees));
	tree_count = lookups = added_count = 0;
	ends_at_lookup = 0;
	has_request = request_deleted = was_joined = false;
	now_ns = 1000 * (uint64_t)MS;
	request = (struct tree_request){.who = {.id = 5, .process.tgid = 77}, .start_ns = 900};
	follow = follow_new();
	assert_int_equal(follow_plan(follow, NULL, &err), 0);
	assert_int_equal(follow_begin(follow, NULL, &err), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	follow_free(follow);
	follow_free(NULL);
	free(trees);
	return 0;
}

static void expect_plan(const char *want, const char *why)
{
	struct follow *other = follow_new();

	*told = '\0';
	selection.group = 4;
	err.text[0] = '\0';
	assert_int_equal(follow_plan(other, NULL, &err), why ? -1 : 0);
	assert_string_equal(err.text, why ? why : "");
	assert_string_equal(told, want);
	follow_free(other);
}

#define STARTS "runtime.newproc1|:1/5+returns "
#define ENDS "runtime.gdestroy|runtime.goexit0:2/6 "
#define PARTS "parts 011 of 2 FOLLOW=1 "
#define CHANNEL_PARTS "parts 0112 of 3 FOLLOW=1 "

static void test_plan_channels(void **state)
{
	struct follow *other = follow_new();

	(void)state;
	follow_channels(other);
	*told = '\0';
	selection.group = 4;
	assert_int_equal(follow_plan(other, NULL, &err), 0);
	assert_string_equal(told, STARTS ENDS "CALLER_SECOND=1 " CHANNEL_PARTS);
	assert_true(follow_has_channels(other) && !follow_has_channels(follow));
	assert_int_equal(follow_begin(other, NULL, &err), 0);
	*told = '\0';
	follow_sweep_gone(other, NULL);
	assert_string_equal(told, "sweep 3 sweep 4 sweep 5 sweep 6 ");
	missing = "channels";
	assert_int_equal(follow_plan(other, NULL, &err), -1);
	assert_string_equal(err.text, "no channels");
	follow_free(other);
}

static void test_plan(void **state)
{
	(void)state;
	expect_plan(STARTS ENDS "CALLER_SECOND=1 " PARTS, NULL);
	app.release = 18;
	expect_plan(STARTS ENDS "CALLER_SECOND=1 " PARTS, NULL);
	app.release = 17;
	expect_plan(STARTS ENDS PARTS, NULL);
	missing = "runtime.gdestroy";
	expect_plan(STARTS, "no runtime.gdestroy");
	app.release_told = false;
	expect_plan("", "\"/bin/app\": --follow needs to know the release of Go that built it");
	items[0].skipped = "has no end"; /* is not the runtime's */
	assert_int_equal(follow_begin(follow, NULL, &err), 0);
	items[1].skipped = "too short";
	assert_int_equal(follow_begin(follow, NULL, &err), -1);
	assert_string_equal(err.text, "--follow: runtime.newproc1 cannot be traced: too short");
}

/* --- what was started --- */

static struct tree *add(uint64_t goid, uint64_t newest, uint64_t before, uint64_t end_ns)
{
	struct tree *tree = &trees[tree_count].tree;

	trees[tree_count++].id = goid | GOROUTINE_STARTED;
	tree->head = (struct tree_head){.who = {.id = goid, .process.tgid = 77},
					.request = request,
					.by = 5,
					.newest = newest,
					.before = before,
					.end_ns = end_ns,
					.count = 1};
	tree->calls[0].parent = TREE_NONE;
	return tree;
}

static struct tree_call root_call;
static struct calltree root;

static void gather(uint64_t newest, enum tree_how how)
{
	root_call = (struct tree_call){.start_ns = now_ns - 7, .latency_ns = 7, .how = how};
	root = (struct calltree){.calls = &root_call};
	root.head.request = request;
	root.head.newest = newest;
	root.head.who = request.who;
	lookups = 0;
	was_joined = false;
	follow_gather(follow, &root);
	assert_true(root.followed);
}

/* Goids of those that were read, in their order; with `x` those that are deleted */
static void expect_trees(const char *want)
{
	char got[256] = "";

	for (size_t i = 0; i < added_count; i++)
		for (size_t k = 0; k < tree_count; k++)
			if (trees[k].id == tree_id(&added[i]))
				sprintf(got + strlen(got), "%d%s ", (int)added[i].who.id,
					trees[k].deleted ? "x" : "");
	assert_string_equal(got, want);
}

static void test_gather(void **state)
{
	(void)state;
	add(10, 11, 20, now_ns);
	add(11, 0, 12, now_ns);
	add(12, 0, 0, now_ns);
	add(20, 0, 0, now_ns);
	add(30, 0, 0, now_ns);
	gather(10, TREE_RETURNED);
	expect_trees("10x 11x 12x 20x ");
	assert_false(trees[4].deleted);
	assert_true(request_deleted);
	assert_int_equal(joined.probe, PROBE);
	assert_int_equal(joined.end_ns, now_ns);
	assert_int_equal(joined.grace_ns, 5 * MS);
	assert_ptr_equal(joined.tab, app.tab);
	assert_int_equal(lookups, 4);
}

/* What is another call's, or no tree, is not read, nor what is below it. */
static void test_others(void **state)
{
	(void)state;
	add(10, 11, 20, now_ns)->head.request.start_ns++;
	add(11, 0, 0, now_ns);
	gather(10, TREE_RETURNED);
	expect_trees("");
	trees[0].tree.head.request.start_ns--;
	trees[1].tree.calls[0].parent = 0;
	gather(10, TREE_RETURNED);
	expect_trees("10x ");
	root.head.request.start_ns = 0;
	was_joined = false;
	follow_gather(follow, &root);
	assert_false(was_joined); /* none has been started */
}

/* ROOT's call goes on: nothing is deleted, and nothing is waited for. */
static void test_goes_on(void **state)
{
	uint64_t was = now_ns;

	(void)state;
	add(10, 0, 0, 0);
	gather(10, TREE_RUNNING);
	expect_trees("10 ");
	assert_false(request_deleted);
	assert_int_equal(now_ns, was);
	assert_int_equal(joined.grace_ns, 0);
	follow_sweep(follow);
	now_ns += 3000 * (uint64_t)MS;
	follow_sweep(follow);
	expect_trees("10 ");
}

/* A goroutine that ends soon after is waited for. */
static void test_grace(void **state)
{
	uint64_t was = now_ns;

	(void)state;
	add(10, 0, 0, 0);
	ends_at_lookup = 3;
	gather(10, TREE_RETURNED);
	expect_trees("10x ");
	assert_int_equal(now_ns, was + 2 * MS);
}

/* One that goes on is not, and its tree is deleted when nobody writes to it any more. */
static void test_left(void **state)
{
	uint64_t was = now_ns;

	(void)state;
	add(10, 0, 11, 0);
	add(11, 0, 0, 0);
	gather(10, TREE_PANICKED);
	expect_trees("10 11 ");
	assert_int_equal(now_ns, was + 5 * MS);
	assert_true(request_deleted);
	now_ns = was + 5 * MS + 2000 * (uint64_t)MS;
	follow_sweep(follow);
	expect_trees("10 11 ");
	now_ns++;
	follow_sweep(follow);
	expect_trees("10x 11x ");
	trees[0].deleted = false;
	follow_sweep(follow); /* once */
	expect_trees("10 11x ");
}

/* A circle, and more than are followed */
static void test_many(void **state)
{
	enum { READ = TREE_GOROUTINES + 64 };

	(void)state;
	for (uint64_t i = 0; i < READ + 10; i++)
		add(100 + i, 101 + i, 0, now_ns);
	gather(100, TREE_RETURNED);
	assert_int_equal(added_count, READ);
	for (size_t i = 0; i < tree_count; i++)
		assert_int_equal(trees[i].deleted, i < READ);
	tree_count = 0;
	memset(trees, 0, MOST * sizeof(*trees));
	add(10, 10, 0, now_ns);
	gather(10, TREE_RETURNED);
	assert_int_equal(added_count, READ);
}

/* --- what is not shown, or was lost --- */

static void test_forget(void **state)
{
	struct tree_head head = {.request = request, .newest = 10};

	(void)state;
	add(10, 0, 0, now_ns);
	follow_forget(follow, &head);
	assert_true(trees[0].deleted);
	assert_true(request_deleted);
	trees[0].deleted = request_deleted = false;
	head.request.start_ns = 0;
	follow_forget(follow, &head);
	assert_false(trees[0].deleted || request_deleted);
}

static void test_lost(void **state)
{
	(void)state;
	add(10, 0, 0, now_ns);
	has_request = true;
	followed = (struct tree_followed){.newest = 10};
	now_ns += 20000 * (uint64_t)MS;
	follow_sweep(follow); /* it goes on */
	assert_false(request_deleted);
	followed.end_ns = now_ns - 10000 * (uint64_t)MS;
	follow_sweep(follow);
	assert_false(request_deleted);
	now_ns++;
	follow_sweep(follow);
	assert_true(request_deleted);
	assert_true(trees[0].deleted);
	*told = '\0';
	follow_sweep_gone(follow, NULL);
	assert_string_equal(told, "sweep 3 sweep 4 ");
}

/* Trees of goroutines that received values, and of those that these have started */
static void test_given(void **state)
{
	(void)state;
	follow_channels(follow);
	has_request = true;
	followed = (struct tree_followed){.number = 7, .count = 3};
	add(10, 0, 0, now_ns);
	for (unsigned n = 1; n <= 4; n++) { /* one is more than are followed */
		struct tree *tree = add(3, n == 2 ? 12 : 0, 0, n == 3 ? 0 : now_ns);

		tree->head.given = trees[tree_count - 1].id = GOROUTINE_GIVEN | 7 << 16 | n;
	}
	add(12, 0, 0, now_ns);
	trees[1].deleted = true; /* it did nothing */
	gather(10, TREE_RETURNED);
	assert_int_equal(added_count, 4);
	assert_int_equal(added[0].who.id, 10);
	assert_int_equal(added[1].given, trees[2].id);
	assert_int_equal(added[2].who.id, 12);
	assert_int_equal(added[3].given, trees[3].id);
	assert_true(trees[2].deleted && trees[5].deleted && !trees[3].deleted);
	now_ns += 2001 * (uint64_t)MS;
	has_request = false;
	follow_sweep(follow);
	assert_true(trees[3].deleted && !trees[4].deleted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plan, begin, end),
		cmocka_unit_test_setup_teardown(test_plan_channels, begin, end),
		cmocka_unit_test_setup_teardown(test_gather, begin, end),
		cmocka_unit_test_setup_teardown(test_given, begin, end),
		cmocka_unit_test_setup_teardown(test_others, begin, end),
		cmocka_unit_test_setup_teardown(test_goes_on, begin, end),
		cmocka_unit_test_setup_teardown(test_grace, begin, end),
		cmocka_unit_test_setup_teardown(test_left, begin, end),
		cmocka_unit_test_setup_teardown(test_many, begin, end),
		cmocka_unit_test_setup_teardown(test_forget, begin, end),
		cmocka_unit_test_setup_teardown(test_lost, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
