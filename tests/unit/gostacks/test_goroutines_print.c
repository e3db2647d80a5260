// SPDX-License-Identifier: Apache-2.0
/* Lines that gostacks prints of goroutines, of snapshots that no program need be in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "goroutines/snapshot.h"
#include "gostacks/godebug_internal.h"
#include "gostacks/goroutines_print.h"
#include "gostacks/goroutines_print_internal.h"
#include "gostacks/groups_internal.h"
#include "unit.h"

#define MINUTE 60000000000ull

enum { NOW = 100, MAX = 16 }; /* minutes */

static struct goroutine all[MAX];
static unsigned char picked[MAX];
static struct snapshot snap = {.all = all, .when_ns = NOW * MINUTE};
static struct goroutines_view view = {
	.snap = &snap, .picked = picked, .pid = 7, .release = 27, .name = "prog"};

/* One more, which has waited for so many minutes; 0: since when is not noted */
static void add(unsigned char status, uint64_t minutes)
{
	picked[snap.count] = true;
	all[snap.count] = (struct goroutine){.goid = snap.count + 1,
					     .status = status,
					     .waitsince = minutes ? (NOW - minutes) * MINUTE : 0};
	snap.count++;
}

static int begin(void **state)
{
	(void)state;
	snap.count = 0;
	return 0;
}

static void assert_printed(void (*print)(FILE *out), const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	print(out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void print_title(FILE *out)
{
	goroutines_print_title(out, &view);
}

/* The state of the only group */
static void print_state(FILE *out)
{
	size_t count;
	struct group *groups = groups_make(&snap, NULL, &count);

	assert_int_equal(count, 1);
	goroutines_print_state(out, &view, &groups[0]);
	free(groups);
}

/* Its parts add up to the total, whatever states there are. */
static void test_title(void **state)
{
	static const unsigned char states[] = {
		GOROUTINE_RUNNABLE, GOROUTINE_RUNNING,   GOROUTINE_SYSCALL,   GOROUTINE_WAITING,
		GOROUTINE_WAITING,  GOROUTINE_COPYSTACK, GOROUTINE_PREEMPTED, GOROUTINE_LEAKED,
		GOROUTINE_LEAKED,   GOROUTINE_LEAKED,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(states); i++)
		add(states[i], 0);
	assert_printed(print_title, "7 prog (go1.27): 10 goroutines: 2 running, 2 runnable, "
				    "1 in system calls, 5 waiting\n");
	memset(picked, 0, sizeof(picked));
	picked[9] = true;
	assert_printed(print_title, "7 prog (go1.27): 1 goroutine: 1 waiting\n");
}

static void test_minutes(void **state)
{
	static const struct {
		unsigned char status;
		uint64_t minutes[3];
		const char *text;
	} rows[] = {
		{GOROUTINE_WAITING, {5, 7, 9}, "waiting, 5-9 minutes\n"},
		{GOROUTINE_WAITING, {9, 5, 7}, "waiting, 5-9 minutes\n"},
		{GOROUTINE_WAITING, {5, 5, 5}, "waiting, 5 minutes\n"},
		{GOROUTINE_WAITING, {5, 9, 0}, "waiting, 0-9 minutes\n"}, /* one is new */
		{GOROUTINE_WAITING, {0, 0, 0}, "waiting\n"},
		{GOROUTINE_SYSCALL, {3, 60, 0}, "syscall, 0-60 minutes\n"},
		{GOROUTINE_SYSCALL, {60, 60, 60}, "syscall, 60 minutes\n"},
		{GOROUTINE_RUNNABLE, {5, 7, 9}, "runnable\n"}, /* no more */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		for (size_t j = 0; j < 3; j++)
			add(rows[i].status, rows[i].minutes[j]);
		assert_printed(print_state, rows[i].text);
	}
}

static void print_stopped(FILE *out)
{
	goroutines_print_stopped(out, "gostacks", 4711, 12034567);
}

static void test_stopped(void **state)
{
	(void)state;
	assert_printed(print_stopped, "gostacks: process 4711 was stopped for 12.034 ms\n");
}

/* As strconv.ParseInt and the runtime have it, the last one that is a number counts. */
static void test_godebug(void **state)
{
	(void)state;
	assert_int_equal(godebug_set("", "x", 7), 7);
	assert_int_equal(godebug_set("x=1", "x", 7), 1);
	assert_int_equal(godebug_set("ax=1,xx=2,x,x=", "x", 7), 7);
	assert_int_equal(godebug_set("x=1,b=2,x=-3,x=y,x=1 ,x=2x,x=+", "x", 7), -3);
	assert_int_equal(godebug_set(",,x=+05,", "x", 7), 5);
	assert_int_equal(godebug_set("x=2147483648,x=99999999999999999999", "x", 7), 7);
	assert_int_equal(godebug_set("x=2147483647", "x", 7), INT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_title, begin),
		cmocka_unit_test_setup(test_minutes, begin),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_godebug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
