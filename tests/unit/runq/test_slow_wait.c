// SPDX-License-Identifier: Apache-2.0
/* gorunqlat --slower: who ran while a goroutine waited, added up and printed. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "printed.h"
#include "runq/slow_wait_internal.h"

enum { BEGIN = 1000000, END = 2000000, F = 0x10, G = 0x20, H = 0x30, UNNAMED = 0x40 };

/* A wait of a millisecond */
static struct runq_slow event_of(const struct runq_turn *turns, unsigned count)
{
	struct runq_slow event = {.time_ns = END,
				  .wait_ns = END - BEGIN,
				  .goid = 7,
				  .start = F,
				  .pid = 12,
				  .tid = 13,
				  .cpu = 3,
				  .count = count,
				  .comm = "app"};

	memcpy(event.turns, turns, (count < RUNQ_TURNS ? count : RUNQ_TURNS) * sizeof(*turns));
	return event;
}

static struct slow_wait wait_of(const struct runq_turn *turns, unsigned count)
{
	const struct runq_slow event = event_of(turns, count);
	struct slow_wait wait;

	slow_wait_read(&event, &wait);
	return wait;
}

static void expect_ran(const struct slow_ran *ran, uint64_t goid, uint64_t start, uint64_t ns)
{
	assert_int_equal(ran->goid, goid);
	assert_int_equal(ran->start, start);
	assert_int_equal(ran->ns, ns);
}

/* Turns of one goroutine are one, most time first, of equal ones by number; of a turn that reaches
 * out of the wait the part within counts, of one that goes on all until the end. */
static void test_added_up(void **state)
{
	const struct runq_turn turns[] = {
		{.goid = 3, .start = G, .from_ns = BEGIN + 600000, .to_ns = 0},
		{.goid = 2, .start = F, .from_ns = BEGIN - 500, .to_ns = BEGIN + 100000},
		{.goid = 2, .start = F, .from_ns = BEGIN + 100000, .to_ns = BEGIN + 200000},
		{.goid = 5, .start = H, .from_ns = BEGIN + 200000, .to_ns = BEGIN + 400000},
		{.goid = 4, .start = H, .from_ns = BEGIN + 400000, .to_ns = BEGIN + 600000},
		{.goid = 9, .start = H, .from_ns = BEGIN - 900, .to_ns = BEGIN}, /* over before */
		{.goid = 8, .start = H, .from_ns = END, .to_ns = END + 50},      /* begins after */
	};
	struct slow_wait wait = wait_of(turns, 7);

	(void)state;
	assert_int_equal(wait.count, 4);
	expect_ran(&wait.ran[0], 3, G, 400000);
	expect_ran(&wait.ran[1], 2, F, 200000);
	expect_ran(&wait.ran[2], 4, H, 200000);
	expect_ran(&wait.ran[3], 5, H, 200000);
	assert_int_equal(wait.cut_ns, 0);
}

/* Goroutines whose numbers are not known are told apart by their functions. */
static void test_unknown_apart(void **state)
{
	const struct runq_turn turns[] = {
		{.goid = 0, .start = G, .from_ns = BEGIN, .to_ns = BEGIN + 300},
		{.goid = 0, .start = H, .from_ns = BEGIN + 300, .to_ns = END},
	};
	struct slow_wait wait = wait_of(turns, 2);

	(void)state;
	assert_int_equal(wait.count, 2);
	expect_ran(&wait.ran[0], 0, H, 999700);
	expect_ran(&wait.ran[1], 0, G, 300);
}

/* What was before the oldest turn is not known. */
static void test_cut(void **state)
{
	const struct runq_turn late = {.goid = 2, .from_ns = BEGIN + 400000, .to_ns = END},
			       later = {.goid = 2, .from_ns = END + 100, .to_ns = END + 200},
			       whole = {.goid = 2, .from_ns = BEGIN, .to_ns = END};

	(void)state;
	assert_int_equal(wait_of(&late, 1).cut_ns, 400000);
	assert_int_equal(wait_of(&late, 1).ran[0].ns, 600000);
	assert_int_equal(wait_of(&later, 1).cut_ns, END - BEGIN);
	assert_int_equal(wait_of(&later, 1).count, 0);
	assert_int_equal(wait_of(&whole, 1).cut_ns, 0);
	assert_int_equal(wait_of(&whole, 0).cut_ns, END - BEGIN);
}

/* A count that is not true */
static void test_many_turns(void **state)
{
	struct runq_turn turns[RUNQ_TURNS];
	struct slow_wait wait;

	(void)state;
	for (unsigned i = 0; i < RUNQ_TURNS; i++)
		turns[i] = (struct runq_turn){.goid = i + 1,
					      .from_ns = BEGIN + i * 1000,
					      .to_ns = BEGIN + (i + 1) * 1000};
	wait = wait_of(turns, UINT32_MAX);
	assert_int_equal(wait.count, RUNQ_TURNS);
	expect_ran(&wait.ran[RUNQ_TURNS - 1], RUNQ_TURNS, 0, 1000);
}

static const char *name_of(void *ctx, uint64_t addr)
{
	static const char *const names[] = {[F] = "main.f", [G] = "main.g\x1b", [H] = "main.h"};

	assert_string_equal(ctx, "names");
	return addr < sizeof(names) / sizeof(*names) ? names[addr] : NULL;
}

/* The line, without the time of day before it */
static void expect_line(const struct runq_turn *turns, unsigned count, const char *want)
{
	struct runq_slow event = event_of(turns, count);
	struct slow_wait wait;
	char *text;

	slow_wait_read(&event, &wait);
	printed_begin();
	slow_wait_print(&event, &wait, name_of, "names");
	text = printed_end();
	assert_true(strlen(text) > 9 && text[2] == ':' && text[5] == ':' && text[8] == ' ');
	assert_string_equal(text + 9, want);
	free(text);
}

#define LINE "app              12      7            1000 main.f:"

static void test_line(void **state)
{
	const struct runq_turn turns[] = {
		{.goid = 1, .start = F, .from_ns = BEGIN + 100000, .to_ns = BEGIN + 500999},
		{.goid = 2, .start = G, .from_ns = BEGIN + 500999, .to_ns = BEGIN + 800999},
		{.goid = 3, .start = UNNAMED, .from_ns = BEGIN + 800999, .to_ns = BEGIN + 950999},
		{.goid = 4, .start = H, .from_ns = BEGIN + 950999, .to_ns = BEGIN + 980999},
		{.goid = 5, .start = H, .from_ns = BEGIN + 980999, .to_ns = END},
	};

	(void)state;
	printed_begin();
	slow_wait_print_head();
	printed_expect("TIME     COMM             PID     GOID     WAIT(us) FUNC: RAN(us)\n");
	expect_line(turns, 5,
		    LINE
		    " main.f[1] 400, main.g\\x1b[2] 300, ?[3] 150, 2 others 49, not known 100\n");
	expect_line(turns, 4,
		    LINE
		    " main.f[1] 400, main.g\\x1b[2] 300, ?[3] 150, 1 other 30, not known 100\n");
	expect_line(turns, 3, LINE " main.f[1] 400, main.g\\x1b[2] 300, ?[3] 150, not known 100\n");
	expect_line(turns, 0, LINE " not known 1000\n");
}

static void test_nobody(void **state)
{
	const struct runq_turn before = {.goid = 2, .from_ns = BEGIN - 5, .to_ns = BEGIN};

	(void)state;
	expect_line(&before, 1, LINE " nobody\n");
}

/* When the wait ended, not when it is printed */
static void test_time_of_day(void **state)
{
	struct runq_slow event = {.time_ns = clock_ns() - 7200 * UINT64_C(1000000000)};
	struct slow_wait wait = {.count = 0};
	char then[16], now[16];

	(void)state;
	for (int i = 0; i < 2; i++) { /* a second may pass meanwhile */
		time_t at = time(NULL) - 7200;

		strftime(now, sizeof(now), "%H:%M:%S", localtime(&at));
		printed_begin();
		slow_wait_print(&event, &wait, name_of, "names");
		char *text = printed_end();

		memcpy(then, text, 8);
		then[8] = '\0';
		free(text);
		if (!strcmp(then, now))
			return;
		event.time_ns = clock_ns() - 7200 * UINT64_C(1000000000);
	}
	assert_string_equal(then, now);
}

static void test_json(void **state)
{
	const struct runq_turn turns[] = {
		{.goid = 2, .start = G, .from_ns = BEGIN + 1, .to_ns = BEGIN + 5},
		{.goid = 3, .start = UNNAMED, .from_ns = BEGIN + 5, .to_ns = END},
	};
	struct runq_slow event = event_of(turns, 2);
	struct slow_wait wait;

	(void)state;
	slow_wait_read(&event, &wait);
	printed_begin();
	slow_wait_json(&event, &wait, false, name_of, "names");
	printed_expect("{\"type\":\"runqslower\",\"goid\":7,\"func\":\"main.f\",\"ns\":1000000,"
		       "\"ran\":[{\"goid\":3,\"func\":null,\"ns\":999995},"
		       "{\"goid\":2,\"func\":\"main.g\\u001b\",\"ns\":4}],"
		       "\"cut_ns\":1,\"pid\":12,\"tid\":13,\"cpu\":3,\"comm\":\"app\"}\n");
	memset(event.comm, 'x', sizeof(event.comm));
	printed_begin();
	slow_wait_json(&event, &wait, true, name_of, "names");
	char *text = printed_end();

	assert_non_null(strstr(text, "\"comm\":\"xxxxxxxxxxxxxxxx\"}"));
	assert_non_null(strstr(text, "\"type\":\"runqslower\",\"time\":\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_added_up),    cmocka_unit_test(test_unknown_apart),
		cmocka_unit_test(test_cut),         cmocka_unit_test(test_many_turns),
		cmocka_unit_test(test_line),        cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_time_of_day), cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
