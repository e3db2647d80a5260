// SPDX-License-Identifier: Apache-2.0
/* Trees of calls: put together from pieces, and printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "gotree/calltree.h"
#include "gotree/calltree_print.h"
#include "gotree/calltree_print_internal.h"
#include "selection/selection.h"
#include "unit.h"

enum { ROOT, STEP, QUERY };

static struct selection_row rows[] = {{.name = "main.root"},
				      {.name = "example.com/app/work.(*Job).step\x1b"},
				      {.name = "main.query"}};
static struct selection sel = {.rows = rows, .row_count = 3};
static struct tree tree;
static struct calltree_pieces *pieces;
static char *text;

static int setup(void **state)
{
	(void)state;
	memset(&tree, 0, sizeof(tree));
	tree.head.who = (struct goroutine_key){.id = 18, .process.tgid = 7};
	tree.head.pid = 4242;
	strcpy(tree.head.comm, "app");
	pieces = calltree_pieces_new(&sel);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	calltree_pieces_free(pieces);
	free(text);
	text = NULL;
	return 0;
}

static void call(unsigned row, unsigned parent, uint64_t start_us, uint64_t us, enum tree_how how)
{
	tree.calls[tree.head.count++] = (struct tree_call){.row = row,
							   .parent = parent,
							   .start_ns = 5000 + start_us * 1000,
							   .latency_ns = us * 1000,
							   .how = how};
}

/* root calls step, query, and step again, which calls query and panics */
static void make_small(void)
{
	call(ROOT, TREE_NONE, 0, 12300, TREE_RETURNED);
	call(STEP, 0, 1, 1000, TREE_RETURNED);
	call(QUERY, 0, 1002, 1, TREE_EXITED);
	call(STEP, 0, 1100, 9000, TREE_PANICKED);
	call(QUERY, 3, 1200, 8000, TREE_PANICKED);
}

static struct tree_event piece(uint32_t first)
{
	struct tree_event event = {.head = tree.head, .first = first};

	memcpy(event.calls, &tree.calls[first], sizeof(event.calls));
	return event;
}

/* The answer for the piece that begins with this call. */
static const struct calltree *add(uint32_t first)
{
	struct tree_event event = piece(first);

	return calltree_pieces_add(pieces, &event);
}

static void grow_to(uint32_t count)
{
	call(ROOT, TREE_NONE, 0, 1000, TREE_RETURNED);
	while (tree.head.count < count)
		call(STEP, 0, tree.head.count, 1, TREE_RETURNED);
}

static void test_pieces(void **state)
{
	(void)state;
	grow_to(2 * TREE_PIECE + 1);
	assert_null(add(0));
	assert_null(add(TREE_PIECE));
	const struct calltree *whole = add(2 * TREE_PIECE);

	assert_non_null(whole);
	assert_int_equal(whole->head.count, 2 * TREE_PIECE + 1);
	assert_memory_equal(whole->calls, tree.calls, whole->head.count * sizeof(*tree.calls));
	/* the same goroutine's next one begins anew */
	assert_null(add(2 * TREE_PIECE));
	assert_null(add(0));
}

static void test_pieces_lost(void **state)
{
	(void)state;
	grow_to(2 * TREE_PIECE + 1);
	assert_null(add(TREE_PIECE));
	assert_null(add(0));
	assert_null(add(2 * TREE_PIECE));
	assert_null(add(TREE_PIECE));
	/* the next tree of that goroutine takes the place of what is there */
	assert_null(add(0));
	assert_null(add(TREE_PIECE));
	assert_non_null(add(2 * TREE_PIECE));
}

static void test_pieces_mixed(void **state)
{
	struct tree_event first, other;

	(void)state;
	grow_to(TREE_PIECE + 1);
	first = piece(TREE_PIECE);
	assert_null(add(0));
	tree.head.who.process.exec = 1; /* the process executes another program */
	other = piece(TREE_PIECE);
	assert_null(add(0));
	assert_int_equal(calltree_pieces_add(pieces, &first)->head.who.process.exec, 0);
	assert_int_equal(calltree_pieces_add(pieces, &other)->head.who.process.exec, 1);
}

static void test_no_tree(void **state)
{
	(void)state;
	assert_null(calltree_pieces_whole(pieces, &tree));
	make_small();
	assert_non_null(calltree_pieces_whole(pieces, &tree));
	tree.calls[2].parent = 2;
	assert_null(calltree_pieces_whole(pieces, &tree));
	tree.calls[2].parent = 0;
	tree.calls[0].parent = 0;
	assert_null(calltree_pieces_whole(pieces, &tree));
	tree.calls[0].parent = TREE_NONE;
	tree.head.count = TREE_CALLS + 1;
	assert_null(calltree_pieces_whole(pieces, &tree));
	assert_null(add(0));
}

/* What the function prints of the tree, into `text`. */
static void print(void (*print_tree)(FILE *, const struct calltree *))
{
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print_tree(out, calltree_pieces_whole(pieces, &tree));
	fclose(out);
}

static void check_printed(void (*print_tree)(FILE *, const struct calltree *), const char *expected)
{
	print(print_tree);
	assert_string_equal(text, expected);
}

static void test_text(void **state)
{
	(void)state;
	make_small();
	check_printed(calltree_print,
		      "main.root took 12.3ms: goroutine 18 of app, PID 4242\n"
		      "    TOTAL      SELF  SHARE  FUNC\n"
		      "   12.3ms    2.30ms   100%  main.root\n"
		      "   10.0ms    2.00ms    81%    work.(*Job).step\\x1b x2, avg 5.00ms, "
		      "max 9.00ms (1 panicked)\n"
		      "   8.00ms    8.00ms    65%      main.query (panicked)\n"
		      "   1.00us    1.00us    <1%    main.query (Goexit)\n");
}

static void test_text_running(void **state)
{
	(void)state;
	call(ROOT, TREE_NONE, 0, 0, TREE_RUNNING);
	call(QUERY, 0, 1000, 0, TREE_RUNNING);
	calltree_running(&tree, 5000 + 65 * UINT64_C(1000000000));
	check_printed(calltree_print,
		      "main.root is running, for 65.0s so far: goroutine 18 of app, PID 4242\n"
		      "    TOTAL      SELF  SHARE  FUNC\n"
		      "    65.0s    1.00ms   100%  main.root (running)\n"
		      "    65.0s     65.0s   100%    main.query (running)\n");
}

static void test_text_cut(void **state)
{
	(void)state;
	call(ROOT, TREE_NONE, 0, 1, TREE_RETURNED);
	tree.head.cut = 12;
	tree.head.cut_funcs[0] = (struct tree_cut){.row = STEP, .calls = 9};
	tree.head.cut_funcs[1] = (struct tree_cut){.row = QUERY, .calls = 2};
	print(calltree_print);

	assert_non_null(strstr(text, "\ncut: 12 calls that began after the first 1: "
				     "work.(*Job).step\\x1b 9, main.query 2, others 1\n"));
}

/* As deep as there can be: recursion has lines of a bounded length. */
static void test_text_deep(void **state)
{
	(void)state;
	call(ROOT, TREE_NONE, 0, 5000, TREE_RETURNED);
	while (tree.head.count < TREE_CALLS)
		call(ROOT, tree.head.count - 1, tree.head.count, 5000 - tree.head.count,
		     TREE_RETURNED);
	print(calltree_print);
	const char *line = strrchr(text, '+');

	assert_string_equal(line, "+2031 main.root\n");
	assert_true(strrchr(text, '\n') - line < 80);
}

static void print_json(FILE *out, const struct calltree *whole)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	calltree_json(&json, whole);
	json_object_end(&json);
}

static void test_json(void **state)
{
	(void)state;
	make_small();
	tree.head.count = 3;
	tree.head.cut = 1;
	tree.head.cut_funcs[0] = (struct tree_cut){.row = QUERY, .calls = 1};
	check_printed(print_json,
		      "{\"pid\":4242,\"goid\":18,\"comm\":\"app\",\"func\":\"main.root\","
		      "\"latency\":12300000,\"how\":\"return\",\"calls\":["
		      "{\"func\":\"example.com/app/work.(*Job).step\\u001b\",\"depth\":1,"
		      "\"start\":1000,\"latency\":1000000,\"how\":\"return\"},"
		      "{\"func\":\"main.query\",\"depth\":1,\"start\":1002000,\"latency\":1000,"
		      "\"how\":\"exit\"}],\"cut\":1,"
		      "\"cut_funcs\":[{\"func\":\"main.query\",\"calls\":1}]}\n");
}

static void print_trace(FILE *out, const struct calltree *whole)
{
	calltree_trace(out, whole, false);
}

static void test_trace(void **state)
{
	(void)state;
	call(ROOT, TREE_NONE, 0, 3, TREE_RETURNED);
	check_printed(print_trace,
		      "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":4242,\"tid\":18,"
		      "\"args\":{\"name\":\"app\"}}\n"
		      ",{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":4242,\"tid\":18,"
		      "\"args\":{\"name\":\"goroutine 18\"}}\n"
		      ",{\"name\":\"main.root\",\"ph\":\"X\",\"pid\":4242,\"tid\":18,"
		      "\"ts\":5.000,\"dur\":3.000,\"args\":{\"how\":\"return\"}}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pieces),   TEST(test_pieces_lost), TEST(test_pieces_mixed),
		TEST(test_no_tree),  TEST(test_text),        TEST(test_text_running),
		TEST(test_text_cut), TEST(test_text_deep),   TEST(test_json),
		TEST(test_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
