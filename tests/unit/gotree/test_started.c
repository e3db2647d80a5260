// SPDX-License-Identifier: Apache-2.0
/* Goroutines joined to ROOT's tree, and printed with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "gotree/calltree.h"
#include "gotree/calltree_print.h"
#include "gotree/started_internal.h"
#include "program/functab.h"
#include "selection_open.h"

enum { ROOT, STEP, ROOT_GOID = 18 };
enum { BEGIN = 5000, END = BEGIN + 1000, GRACE = 100 }; /* ns */

static struct selection_row rows[] = {{.name = "main.root"}, {.name = "main.step"}};
static struct selection sel = {.rows = rows, .row_count = 2};
static struct subject s;
static struct started *started;
static struct started_of of;
static struct tree root, other;
static struct calltree joined;
static char *text;

static int setup(void **state)
{
	struct functab_func fn;

	(void)state;
	subject_write(&s);
	subject_open(&s, &(struct selection_want){0});
	assert_true(functab_named(s.prog.tab, "main.a", &fn));
	of = (struct started_of){
		.tab = s.prog.tab, .probe = fn.addr, .end_ns = END, .grace_ns = GRACE};
	started = started_new();
	memset(&root, 0, sizeof(root));
	root.head.who.id = ROOT_GOID;
	root.head.pid = 4242;
	strcpy(root.head.comm, "app");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	started_free(started);
	subject_drop(&s);
	free(text);
	text = NULL;
	return 0;
}

static void call(struct tree *tree, unsigned row, unsigned parent, uint64_t start, uint64_t ns,
		 enum tree_how how)
{
	tree->calls[tree->head.count++] = (struct tree_call){.row = row,
							     .parent = parent,
							     .start_ns = BEGIN + start,
							     .latency_ns = ns,
							     .how = how};
}

/* The call `parent` starts a goroutine with main.a. */
static void start(struct tree *tree, unsigned parent, uint64_t at, uint64_t goid)
{
	call(tree, TREE_NO_ROW, parent, at, 0, TREE_STARTED);
	tree->calls[tree->head.count - 1].copy = goid;
	tree->calls[tree->head.count - 1].depth = goid >> 32;
}

/* `other` is a goroutine's tree. */
static void begin_other(uint64_t goid, uint64_t by, uint64_t at, uint64_t ns, enum tree_how how)
{
	memset(&other, 0, sizeof(other));
	other.head.who.id = goid;
	other.head.by = by;
	other.head.pid = 4242;
	if (how != TREE_RUNNING)
		other.head.end_ns = BEGIN + at + ns;
	call(&other, TREE_NO_ROW, TREE_NONE, at, ns, how);
}

static void join(void)
{
	joined = (struct calltree){
		.head = root.head, .calls = root.calls, .sel = &sel, .followed = true};
	started_join(started, &joined, &of);
}

/* root calls step, which starts a goroutine, which calls step and starts another, and step again */
static void make_two(void)
{
	call(&root, ROOT, TREE_NONE, 0, 1000, TREE_RETURNED);
	start(&root, 0, 10, 33);
	call(&root, STEP, 0, 20, 100, TREE_RETURNED);
	start(&root, 2, 30, 34);
	call(&root, STEP, 0, 200, 100, TREE_RETURNED);
	call(&root, STEP, 4, 210, 10, TREE_RETURNED);
	begin_other(34, ROOT_GOID, 30, 500, TREE_RETURNED);
	call(&other, STEP, 0, 40, 50, TREE_PANICKED);
	start(&other, 1, 50, UINT64_C(1) << 32 | 7);
	started_add(started, &other);
	begin_other(UINT64_C(1) << 32 | 7, 34, 50, 0, TREE_RUNNING);
	call(&other, STEP, 0, 60, 0, TREE_RUNNING);
	started_add(started, &other);
}

static void test_joined(void **state)
{
	(void)state;
	make_two();
	assert_true(started_running(started));
	join();
	assert_int_equal(joined.head.count, 4);
	assert_int_equal(joined.calls[2].start_ns, BEGIN + 200);
	assert_int_equal(joined.calls[2].parent, 0);
	assert_int_equal(joined.calls[3].parent, 2);
	assert_int_equal(joined.goroutine_count, 3);
	const struct calltree_goroutine *all = joined.goroutines;

	assert_int_equal(all[0].tree.head.who.id, 33);
	assert_int_equal(all[0].tree.head.by, ROOT_GOID);
	assert_int_equal(all[0].tree.calls[0].how, TREE_STARTED);
	assert_int_equal(all[1].tree.head.who.id, 34);
	assert_string_equal(all[1].func, "main.a");
	assert_int_equal(all[1].starter, 0);
	assert_int_equal(all[1].caller, 1);
	assert_int_equal(all[1].tree.head.count, 2);
	assert_int_equal(all[2].starter, 2);
	assert_int_equal(all[2].caller, 1);
	assert_int_equal(all[2].tree.head.who.id, UINT64_C(1) << 32 | 7);
	assert_int_equal(all[2].tree.calls[1].latency_ns, 940);
}

/* Goroutine 7 received a value that this call of that tree's has sent. */
static void begin_given(unsigned n, uint64_t from, uint64_t by, unsigned in, uint64_t at)
{
	begin_other(7, by, at, 0, TREE_RUNNING);
	other.head.given = tree_given_id(3, n);
	other.head.from = from;
	other.head.call = in;
}

/* What began with values stands below the calls that have sent these, and took until its last call
 * ended. */
static void make_given(void)
{
	call(&root, ROOT, TREE_NONE, 0, 1000, TREE_RETURNED);
	start(&root, 0, 10, 34);
	call(&root, STEP, 0, 20, 100, TREE_RETURNED);
	begin_other(34, ROOT_GOID, 10, 500, TREE_RETURNED);
	call(&other, STEP, 0, 40, 50, TREE_RETURNED);
	started_add(started, &other);
	begin_given(1, 34 | GOROUTINE_STARTED, 34, 1, 45);
	call(&other, STEP, 0, 50, 20, TREE_RETURNED);
	call(&other, STEP, 1, 55, 10, TREE_RETURNED);
	other.head.last = 0;
	started_add(started, &other);
	begin_given(2, ROOT_GOID, ROOT_GOID, 2, 100);
	call(&other, STEP, 0, 110, 0, TREE_RUNNING); /* until it received the next one */
	other.head.last = 1;
	other.head.end_ns = BEGIN + 140;
	started_add(started, &other);
	assert_false(started_running(started)); /* who waits for the next value does not count */
	begin_given(3, tree_given_id(3, 1), 7, 2, 200);
	call(&other, STEP, 0, 210, 0, TREE_RUNNING);
	other.head.last = 1;
	started_add(started, &other);
	begin_given(4, ROOT_GOID, ROOT_GOID, 2, 300); /* nothing until ROOT's call ended */
	call(&other, STEP, 0, 1001, 5, TREE_RETURNED);
	other.head.last = 0;
	started_add(started, &other);
	begin_given(5, 4444, 4444, 0, 300); /* of a sender that is not there */
	call(&other, STEP, 0, 310, 5, TREE_RETURNED);
	other.head.last = 0;
	started_add(started, &other);
}

static void expect_given(size_t n, uint64_t by, size_t starter, uint32_t caller, enum tree_how how,
			 uint64_t latency_ns)
{
	const struct calltree_goroutine *it = &joined.goroutines[n];

	assert_null(it->func);
	assert_int_equal(it->tree.head.who.id, 7);
	assert_int_equal(it->tree.head.by, by);
	assert_int_equal(it->starter, starter);
	assert_int_equal(it->caller, caller);
	assert_int_equal(it->tree.calls[0].how, how);
	assert_int_equal(it->tree.calls[0].latency_ns, latency_ns);
}

static void test_given(void **state)
{
	(void)state;
	make_given();
	assert_true(started_running(started));
	join();
	assert_int_equal(joined.goroutine_count, 4);
	assert_string_equal(joined.goroutines[0].func, "main.a");
	expect_given(1, ROOT_GOID, 0, 1, TREE_RUNNING, 40);
	expect_given(2, 34, 1, 1, TREE_RETURNED, 25);
	expect_given(3, 7, 3, 2, TREE_RUNNING, 800);
	assert_int_equal(joined.goroutines[1].tree.calls[1].latency_ns, 30);
	assert_int_equal(joined.goroutines[3].tree.calls[1].latency_ns, 790);
}

static void test_given_text(void **state)
{
	size_t len;

	(void)state;
	make_given();
	join();
	FILE *out = open_memstream(&text, &len);

	calltree_print(out, &joined);
	fclose(out);
	assert_string_equal(
		text, "main.root took 1.00us: goroutine 18 of app, PID 4242\n"
		      "    TOTAL      SELF  SHARE  FUNC\n"
		      "   1.00us     900ns   100%  main.root\n"
		      "    100ns     100ns    10%    main.step\n"
		      "     40ns      10ns     4%      received [goroutine 7] (goes on)\n"
		      "     30ns      30ns     3%        main.step (running)\n"
		      "    500ns     450ns    50%    go main.a [goroutine 34]\n"
		      "     50ns      50ns     5%      main.step\n"
		      "     25ns       5ns     2%        received [goroutine 7]\n"
		      "     20ns      10ns     2%          main.step\n"
		      "     10ns      10ns     1%            main.step\n"
		      "    800ns      10ns    80%              received [goroutine 7] (goes on)\n"
		      "    790ns     790ns    79%                main.step (running)\n"
		      "2 goroutines go on after main.root has ended\n");
}

/* What begins after ROOT's call is none of it; what ends soon after it has ended. */
static void test_after_root(void **state)
{
	(void)state;
	call(&root, ROOT, TREE_NONE, 0, 1000, TREE_RETURNED);
	start(&root, 0, 10, 34);
	begin_other(34, ROOT_GOID, 10, 1000 - 10 + GRACE + 1, TREE_RETURNED);
	call(&other, STEP, 0, 20, 1000 - 20 + GRACE, TREE_RETURNED);
	call(&other, STEP, 1, 30, 1000 - 30 + GRACE + 1, TREE_RETURNED);
	call(&other, STEP, 1, 1001, 1, TREE_RETURNED);
	started_add(started, &other);
	assert_false(started_running(started));
	join();
	const struct calltree *tree = &joined.goroutines[0].tree;

	assert_int_equal(tree->head.count, 3);
	assert_int_equal(tree->calls[0].how, TREE_RUNNING);
	assert_int_equal(tree->calls[0].latency_ns, 990);
	assert_int_equal(tree->calls[1].how, TREE_RETURNED);
	assert_int_equal(tree->calls[1].latency_ns, 980 + GRACE);
	assert_int_equal(tree->calls[2].how, TREE_RUNNING);
	assert_int_equal(tree->calls[2].latency_ns, 970);
}

static void test_cleared(void **state)
{
	(void)state;
	make_two();
	join();
	started_clear(started);
	root.head.count = 1;
	join();
	assert_int_equal(started_count(started), 0);
	assert_int_equal(joined.goroutine_count, 0);
}

static void test_text(void **state)
{
	size_t len;

	(void)state;
	make_two();
	join();
	FILE *out = open_memstream(&text, &len);

	calltree_print(out, &joined);
	fclose(out);
	assert_string_equal(
		text, "main.root took 1.00us: goroutine 18 of app, PID 4242\n"
		      "    TOTAL      SELF  SHARE  FUNC\n"
		      "   1.00us     800ns   100%  main.root\n"
		      "    200ns     190ns    20%    main.step x2, avg 100ns, max 100ns\n"
		      "     10ns      10ns     1%      main.step\n"
		      "    500ns     450ns    50%      go main.a [goroutine 34]\n"
		      "     50ns      50ns     5%        main.step (panicked)\n"
		      "    950ns      10ns    95%          go main.a [goroutine 4294967303] "
		      "(goes on)\n"
		      "    940ns     940ns    94%            main.step (running)\n"
		      "      0ns       0ns     0%    go main.a [goroutine 33] (not followed)\n"
		      "1 goroutine goes on after main.root has ended\n");
}

static void test_json(void **state)
{
	struct json json;
	size_t len;

	(void)state;
	make_two();
	join();
	FILE *out = open_memstream(&text, &len);

	json_init(&json, out);
	json_object(&json);
	calltree_json(&json, &joined);
	json_object_end(&json);
	fclose(out);
	assert_non_null(strstr(
		text,
		"],\"cut\":0,\"cut_funcs\":[],\"cut_goroutines\":0,"
		"\"goroutines\":[{\"goid\":33,\"func\":\"main.a\",\"by\":18,"
		"\"parent\":0,\"call\":0,\"start\":10,\"latency\":0,\"how\":\"unfollowed\","));
	assert_non_null(strstr(text,
			       "{\"goid\":34,\"func\":\"main.a\",\"by\":18,\"parent\":0,\"call\":1,"
			       "\"start\":30,\"latency\":500,\"how\":\"return\",\"calls\":["
			       "{\"func\":\"main.step\",\"depth\":1,\"start\":40,"
			       "\"latency\":50,\"how\":\"panic\"}],\"cut\":0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_joined), TEST(test_after_root), TEST(test_cleared),   TEST(test_text),
		TEST(test_json),   TEST(test_given),      TEST(test_given_text)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
