// SPDX-License-Identifier: Apache-2.0
/* What gotrace says that it has lost, of maps that are made up. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/latency.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/tracelosses.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/processes.h"
#include "latency/states.h"
#include "selection/selection.h"

enum { COUNTERS = 1, GOROUTINES, DEEP_CALLS, UNTESTED, CLOCKS, STATE_LOST, MEMBERS, PAIRS = 16 };

static uint64_t counters[TRACE_COUNTERS];
static bool is_readable, has_returns, follows, ended, is_due;
static struct {
	uint64_t key, value;
} untested[PAIRS];
static size_t untested_count;
static uint64_t waiting[2]; /* calls of two goroutines */
static unsigned sweeps;
static bool swept[MEMBERS + 1]; /* by map */

/* --- in place of kernel/ and latency/ --- */

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	static const char *const names[] = {
		[COUNTERS] = "counters",     [GOROUTINES] = "goroutines",
		[DEEP_CALLS] = "deep_calls", [UNTESTED] = "untested",
		[CLOCKS] = "clocks",         [STATE_LOST] = "state_losses",
		[MEMBERS] = "root_members"};

	(void)prog;
	for (int i = COUNTERS; i <= MEMBERS; i++)
		if (!strcmp(names[i], name))
			return i == COUNTERS || (i == MEMBERS ? follows : has_returns) ? i : -1;
	fail();
	return -1;
}

/* The calls of the second goroutine: at which depth each began, and of which item. */
static const struct call deep[] = {{.depth = 64, .row = 1}, {.depth = 64, .row = 5},
				   {.depth = 96, .row = 1}, {.depth = 96, .row = 2},
				   {.depth = 96, .row = 2}, {.depth = 128, .row = 2}};
static bool knows_sizes;

int bpfmap_sizes(int fd, size_t *key_size, size_t *value_size)
{
	assert_int_equal(fd, DEEP_CALLS);
	*key_size = sizeof(struct deep_key);
	*value_size = sizeof(struct call) + 40;
	return knows_sizes ? 0 : -1;
}

int bpfmap_lookup(int fd, const void *key, void *value)
{
	const struct deep_key *at = key;

	assert_int_equal(fd, DEEP_CALLS);
	if (at->who.id != 1 || at->index >= sizeof(deep) / sizeof(deep[0]))
		return -1;
	memcpy(value, &deep[at->index], sizeof(deep[0]));
	return 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_int_equal(words, 1);
	if (!is_readable) {
		errno = EPERM;
		return -1;
	}
	memset(out, 0, entries * sizeof(*out));
	if (fd == COUNTERS)
		memcpy(out, counters, sizeof(counters));
	else
		out[STATE_LOSS_UNSEEN] = 4;
	return 0;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_true(fd > 0); /* only maps that there are */
	assert_int_equal(value_size, sizeof(uint64_t));
	assert_int_equal(key_size, fd == UNTESTED ? 8 : sizeof(struct goroutine_key));
	for (size_t i = 0; fd == UNTESTED && i < untested_count; i++)
		assert_int_equal(fn(&untested[i].key, &untested[i].value, arg), 0);
	for (size_t i = 0; fd == GOROUTINES && i < 2; i++) {
		struct goroutine_key who = {.id = i};

		assert_int_equal(fn(&who, &waiting[i], arg), 0);
	}
	return 0;
}

struct processes *processes_new(struct bpfprog *bpf)
{
	(void)bpf;
	return NULL;
}

void processes_free(struct processes *procs)
{
	(void)procs;
}

bool processes_look(struct processes *procs)
{
	(void)procs;
	sweeps++;
	return ended;
}

int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	const struct goroutine_key who = {.id = 1};
	const uint64_t calls = 3;

	(void)procs;
	assert_in_range(fd, COUNTERS, MEMBERS);
	swept[fd] = true;
	if (fd == GOROUTINES)
		fn(&who, &calls, arg);
	return 0;
}

void processes_forget(struct processes *procs)
{
	(void)procs;
	ended = false;
}

bool processes_due(struct processes *procs)
{
	(void)procs;
	return is_due;
}

void states_say_lost(const char *tool, const uint64_t lost[STATE_LOSSES])
{
	fprintf(stderr, "%s: states %d\n", tool, (int)lost[STATE_LOSS_UNSEEN]);
}

/* --- */

static const struct tracelosses_words words = {
	.tool = "gotrace", .done = "printed", .results = "results"};
static struct selection_row rows[] = {{.name = "main.a"},
				      {.name = "main.b"},
				      {.name = "main.c"},
				      {.name = "main.d"},
				      {.name = "main.e\x1b"}};
static struct selection_item items[] = {{.row = 0, .func = 10}, {.row = 1, .func = 11},
					{.row = 2, .func = 12}, {.row = 3, .func = 13},
					{.row = 4, .func = 14}, {.row = 1, .func = 11}};
static const struct selection sel = {.rows = rows, .items = items, .item_count = 6};
static struct tracelosses *losses;

static int begin(void **state)
{
	(void)state;
	memset(counters, 0, sizeof(counters));
	memset(waiting, 0, sizeof(waiting));
	is_readable = has_returns = true;
	ended = is_due = false;
	untested_count = 0;
	losses = tracelosses_new(NULL, &sel, &words);
	return 0;
}

static int begin_knowing(void **state)
{
	knows_sizes = true;
	int ret = begin(state);

	knows_sizes = false;
	return ret;
}

static int end(void **state)
{
	(void)state;
	tracelosses_free(losses);
	return 0;
}

/* What is said on stderr */
static void expect_said(const char *when, const char *want)
{
	FILE *theirs = stderr;
	char *text;
	size_t len;

	stderr = open_memstream(&text, &len);
	if (when)
		tracelosses_say_all(losses, when);
	else
		tracelosses_say(losses);
	fclose(stderr);
	stderr = theirs;
	assert_string_equal(text, want);
	free(text);
}

/* Each time what has come since, and what has not is not said. */
static void test_since(void **state)
{
	(void)state;
	expect_said(NULL, "");
	counters[TRACE_LOST] = 1;
	counters[TRACE_SENT] = 12345; /* no loss */
	expect_said(NULL, "gotrace: 1 event lost: events came faster than they could be printed, "
			  "and the ring buffer was full\n");
	expect_said(NULL, "");
	counters[TRACE_LOST] = 3;
	counters[TRACE_UNTRACKED] = 1;
	expect_said(
		NULL,
		"gotrace: 2 events lost: events came faster than they could be printed, "
		"and the ring buffer was full\n"
		"gotrace: 1 call not tracked: the map of calls that have not returned is full\n");
}

static void test_kinds(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < TRACE_COUNTERS; i++)
		counters[i] = i + 10;
	has_returns = false;
	tracelosses_free(losses);
	losses = tracelosses_new(NULL, &sel, &words);
	expect_said("in total ",
		    "gotrace: in total 10 events lost: events came faster than they could be "
		    "printed, and the ring buffer was full\n"
		    "gotrace: in total 12 calls not tracked: the map of calls that have not "
		    "returned is full\n"
		    "gotrace: in total 13 calls not tracked: the kernel had no memory\n"
		    "gotrace: in total 14 calls not tracked: memory of the goroutine could not be "
		    "read\n"
		    "gotrace: in total 15 calls printed without GOID: memory of the goroutine "
		    "could not be read\n"
		    "gotrace: in total 11 calls not printed: the predicate has no value: memory "
		    "could not be read, or an index or a time is out of range\n"
		    "gotrace: in total 17 calls not printed: a panic or Goexit ended too many at "
		    "once\n"
		    "gotrace: in total 19 calls not printed: the map of values is full, these were "
		    "new ones\n"
		    "gotrace: in total 20 calls not printed: the kernel had no memory for another "
		    "value\n"
		    "gotrace: in total 21 calls not printed: made by too many threads\n"
		    "gotrace: in total 16 calls not printed: did not return, so without results\n");
}

static void test_unreadable(void **state)
{
	(void)state;
	is_readable = false;
	expect_said(NULL, "gotrace: cannot read what was lost: Operation not permitted\n");
	expect_said("", "gotrace: cannot read what was lost: Operation not permitted\n");
}

static void put_untested(unsigned item, enum trace_how how, uint64_t calls)
{
	untested[untested_count].key = trace_untested(item, how);
	untested[untested_count++].value = calls;
	counters[TRACE_UNTESTED] += calls;
}

#define STATES_LOST "gotrace: states 4\n"

/* By how they ended, and by function: those with the most calls by name, of several PROBEs at once;
 * what was not noted by function is a number alone. */
static void test_untested(void **state)
{
	(void)state;
	put_untested(0, TRACE_EXITED, 1);
	expect_said("", "gotrace: 1 call not printed: ended by runtime.Goexit, so without results: "
			"1 of main.a\n" STATES_LOST);
	put_untested(1, TRACE_PANICKED, 10);
	put_untested(5, TRACE_PANICKED, 20);
	put_untested(0, TRACE_PANICKED, 7);
	put_untested(2, TRACE_PANICKED, 7);
	put_untested(4, TRACE_PANICKED, 5);
	put_untested(2, TRACE_LEFT, 2);
	put_untested(4, TRACE_JUMPED, 3);
	put_untested(3, TRACE_UNSEEN, 4);
	counters[TRACE_UNTESTED] += 9;
#define REST                                                                                       \
	"gotrace: 1 call not printed: ended by runtime.Goexit, so without results: "               \
	"1 of main.a\n"                                                                            \
	"gotrace: 2 calls not printed: left on a system stack, so without results: "               \
	"2 of main.c\n"                                                                            \
	"gotrace: 3 calls not printed: left by a jump to another function, so without results: "   \
	"3 of main.e\\x1b\n"                                                                       \
	"gotrace: 4 calls not printed: their end was not seen, so without results: "               \
	"4 of main.d\n"                                                                            \
	"gotrace: 9 calls not printed: did not return, so without results\n" STATES_LOST
	expect_said("", "gotrace: 49 calls not printed: ended by a panic, so without results: "
			"30 of main.b, 7 of main.a, 7 of main.c, 5 of 1 other\n" REST);
	put_untested(3, TRACE_PANICKED, 1);
	counters[TRACE_UNTESTED] -= 10; /* read at another time: fewer than by function */
	expect_said("in total ",
		    "gotrace: in total 50 calls not printed: ended by a panic, so without results: "
		    "30 of main.b, 7 of main.a, 7 of main.c, 6 of 2 others\n"
		    "gotrace: in total 1 call not printed: ended by runtime.Goexit, so without "
		    "results: 1 of main.a\n"
		    "gotrace: in total 2 calls not printed: left on a system stack, so without "
		    "results: 2 of main.c\n"
		    "gotrace: in total 3 calls not printed: left by a jump to another function, so "
		    "without results: 3 of main.e\\x1b\n"
		    "gotrace: in total 4 calls not printed: their end was not seen, so without "
		    "results: 4 of main.d\n" STATES_LOST);
}

/* Calls that had not returned when tracing, or their process, ended */
static void test_not_returned(void **state)
{
	(void)state;
	waiting[0] = 2;
	waiting[1] = 5;
	expect_said("", STATES_LOST "gotrace: 7 calls had not returned when tracing ended\n");
	sweeps = 0;
	ended = true;
	tracelosses_sweep(losses); /* not yet */
	assert_int_equal(sweeps, 0);
	is_due = true;
	tracelosses_sweep(losses);
	assert_int_equal(sweeps, 1);
	assert_true(swept[GOROUTINES] && swept[DEEP_CALLS] && swept[CLOCKS]);
	assert_int_equal(swept[MEMBERS], follows);
	waiting[0] = waiting[1] = 0;
	expect_said("", STATES_LOST "gotrace: 3 calls had not returned when their process ended\n");
	ended = true;
	expect_said("", STATES_LOST "gotrace: 6 calls had not returned when their process ended\n");
}

/* Several PROBEs of a function wait for one call. */
static void test_not_returned_once(void **state)
{
	(void)state;
	waiting[1] = sizeof(deep) / sizeof(deep[0]);
	expect_said("", STATES_LOST "gotrace: 4 calls had not returned when tracing ended\n");
	waiting[1] = 8; /* two of them are not there */
	expect_said("", STATES_LOST "gotrace: 6 calls had not returned when tracing ended\n");
	waiting[1] = 0;
	ended = is_due = true;
	tracelosses_sweep(losses);
	expect_said("", STATES_LOST "gotrace: 2 calls had not returned when their process ended\n");
}

/* Of --follow there is one more map, of goroutines that may not be there any more. */
static void test_followed(void **state)
{
	test_not_returned(state);
}

static int begin_followed(void **state)
{
	follows = true;
	return begin(state);
}

static int end_followed(void **state)
{
	follows = false;
	return end(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_since, begin, end),
		cmocka_unit_test_setup_teardown(test_kinds, begin, end),
		cmocka_unit_test_setup_teardown(test_unreadable, begin, end),
		cmocka_unit_test_setup_teardown(test_untested, begin, end),
		cmocka_unit_test_setup_teardown(test_not_returned, begin, end),
		cmocka_unit_test_setup_teardown(test_not_returned_once, begin_knowing, end),
		cmocka_unit_test_setup_teardown(test_followed, begin_followed, end_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
