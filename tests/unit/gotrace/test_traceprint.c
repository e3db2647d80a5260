// SPDX-License-Identifier: Apache-2.0
/* Events, made of bytes, as lines: of PROBEs of the program of gofile.h. */
#include "event_subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "quiet.h"

enum { BOB = 'b' | 'o' << 8 | 'b' << 16 };

static void expect(struct event_subject *s, const char *text)
{
	bool more;
	char *got = event_print(s, &more);

	assert_string_equal(got, text);
	assert_true(more);
	free(got);
}

struct row {
	const char *probe;
	enum trace_how how;
	uint64_t words[WORDS];
	const char *message, *json;
};

#define TWO "main.a(n int, m int)"
#define ENDED "r:main.a(n int) (m int)"

/* of a value its state, then its words; of a string then the state of its text, and that */
static const struct row rows[] = {
	{TWO,
	 TRACE_ENTRY,
	 {8, 3, 8, -4},
	 "n=3 m=-4",
	 "\"args\":[{\"name\":\"n\",\"value\":3},{\"name\":\"m\",\"value\":-4}]"},
	{TWO,
	 TRACE_ENTRY,
	 {TRACE_FAULT, 0, 8, -4},
	 "n=<fault> m=-4",
	 "\"args\":[{\"name\":\"n\",\"value\":\"<fault>\"},{\"name\":\"m\",\"value\":-4}]"},
	{"main.a(s string)",
	 TRACE_ENTRY,
	 {16, 0x1000, 3, 3, BOB},
	 "s=\"bob\"",
	 "\"value\":\"bob\""},
	{"main.a(s string)",
	 TRACE_ENTRY,
	 {16, 0x1000, 3, TRACE_FAULT},
	 "s=<fault>",
	 "\"<fault>\"}]"},
	{ENDED, TRACE_RETURNED, {8, 3, 8, 5}, "n=3 -> m=5", "\"how\":\"return\",\"latency_ns\":7"},
	{ENDED, TRACE_PANICKED, {8, 3}, "n=3 -> <panicked>", "\"results\":\"<panicked>\""},
	{ENDED, TRACE_EXITED, {8, 3}, "n=3 -> <exited>", "\"how\":\"exit\""},
	{ENDED, TRACE_LEFT, {8, 3}, "n=3 -> <left>", "\"how\":\"left\""},
	{"main.a(n int) \"%d %s %d %s %d\", n, $func, $parent_goid, $comm, $cpu",
	 TRACE_ENTRY,
	 {8, 3},
	 "3 main.a ? functions 2",
	 "\"values\":[3,\"main.a\",\"?\",\"functions\",2]"},
	{"r:main.a(n int) (m int) \"%d %d\", n, m",
	 TRACE_PANICKED,
	 {8, 3},
	 "3 <panicked> (panicked)",
	 "\"values\":[3,\"<panicked>\"]"},
	{"main.a(n int) \"%d\", n + 1", TRACE_ENTRY, {4, 0}, "4", "\"values\":[4]"},
	{"main.a(n int) \"%d %{n:%3d} %{who:%s/%s} %{all[]:%d %s}\", $tid, n, $func, $comm, n, "
	 "$func",
	 TRACE_ENTRY,
	 {8, 3, 8, 3},
	 "16063   3 main.a/functions 3 main.a",
	 "\"n\":3,\"who\":\"main.a/functions\",\"all\":[{\"name\":\"n\",\"value\":3},"
	 "{\"name\":\"$func\",\"value\":\"main.a\"}]}"},
	{"main.a(n open.Flags) \"%{n:%-9v}|\", n",
	 TRACE_ENTRY,
	 {8, 2},
	 "O_RDWR   |",
	 "\"n\":2,\"n_text\":\"O_RDWR\"}"},
	{"main.a(n int) \"%d\", n + 1", TRACE_ENTRY, {4, TRACE_NIL}, "<nil pointer>", NULL},
	{"main.a(n int) \"%d\", n / n", TRACE_ENTRY, {4, TRACE_BOUNDS}, "<out of range>", NULL},
	{"main.a(b bool) \"%v\", !b", TRACE_ENTRY, {1, 0}, "true", "\"values\":[true]"},
};

static void check_row(const struct row *row, bool json)
{
	const struct traceprint_config config = {.json = json};
	struct event_subject s;
	bool more;

	event_make(&s, row->probe, &config);
	s.event.head.how = row->how;
	memcpy(s.event.words, row->words, sizeof(row->words));
	if (row->how >= TRACE_PANICKED)
		s.len = sizeof(s.event.head) + traceplan_item(s.plan, 0)->saved_size;
	char *got = event_print(&s, &more);
	char *line = mem_printf("16061   16063   1       functions       main.a           %s\n",
				row->message);

	if (json && row->json && !strstr(got, row->json))
		fail_msg("%s: %s lacks %s", row->probe, got, row->json);
	if (!json)
		assert_string_equal(got, line);
	assert_true(more);
	free(got);
	free(line);
	event_drop(&s);
}

static void test_messages(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		check_row(&rows[i], false);
		check_row(&rows[i], true);
	}
}

static void test_columns(void **state)
{
	const struct traceprint_config config = {.cpu = true, .timestamp = true, .unix_time = true};
	struct event_subject s;
	bool more;

	(void)state;
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	memcpy(s.event.head.comm, "\x1b[2J", 5);
	s.event.words[0] = 8;
	char *got = event_print(&s, &more), *after = strchr(got, ' ');

	assert_int_equal(after - got, 17);
	assert_string_equal(after,
			    " 2   16061   16063   1       \\x1b[2J         main.a           0\n");
	free(got);
	event_drop(&s);
}

/* Below which call it is, where that is traced */
static void test_root(void **state)
{
	const struct traceprint_config config = {.json = true};
	struct event_subject s;
	bool more;

	(void)state;
	event_make(&s, "main.a(n int)", &config);
	for (uint64_t root = 0; root < 2; root++) {
		s.event.head.root = root;
		char *got = event_print(&s, &more);

		assert_non_null(strstr(got, root ? "\"goid\":1,\"root\":1,\"cpu\":2,"
						 : "\"goid\":1,\"cpu\":2,"));
		free(got);
	}
	event_drop(&s);
}

/* In a list, what has no name may be said with its type. */
static void test_typed(void **state)
{
	const struct traceprint_config config = {0};
	struct event_subject s;

	(void)state;
	event_make(&s, "main.a(int)", &config);
	s.event.words[0] = 8;
	s.event.words[1] = 5;
	expect(&s, "16061   16063   1       functions       main.a           5\n");
	((struct tracegen_arg *)traceplan_item(s.plan, 0)->args[0].items)[0].typed = true;
	expect(&s, "16061   16063   1       functions       main.a           (int)(5)\n");
	event_drop(&s);
}

/* what does not fit together is none of ours; what is cut is said to be */
static void test_malformed(void **state)
{
	const struct traceprint_config config = {.user_stack = true};
	struct event_subject s;

	(void)state;
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	s.event.words[0] = 8;
	s.len = sizeof(s.event.head) - 1;
	expect(&s, "");
	s.len = sizeof(s.event.head) + WORDS * sizeof(uint64_t);
	s.event.head.item = 1;
	expect(&s, "");
	s.event.head.item = 0;
	s.event.head.user_frames = WORDS;
	expect(&s, "");
	s.event.head.user_frames = TRACE_FRAMES + 1;
	expect(&s, "");
	s.event.head.user_frames = 0;
	s.event.head.kernel_frames = ~0U;
	expect(&s, "");
	s.event.head.kernel_frames = 0;
	s.len = sizeof(s.event.head) + 8;
	expect(&s, "16061   16063   1       functions       main.a           ...\n");
	s.len = sizeof(s.event.head);
	expect(&s, "16061   16063   1       functions       main.a           <fault>\n");
	event_drop(&s);
}

/* -n, -f, and what they leave out does not count for -M */
static void test_filters(void **state)
{
	const struct traceprint_config config = {.comm = "func", .message = "3", .max = 2};
	struct event_subject s;
	bool more;

	(void)state;
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	s.event.words[0] = 8;
	s.event.words[1] = 4;
	expect(&s, "");
	s.event.words[1] = 131;
	expect(&s, "16061   16063   1       functions       main.a           131\n");
	memcpy(s.event.head.comm, "other", 6);
	expect(&s, "");
	memcpy(s.event.head.comm, "functions", 10);
	free(event_print(&s, &more));
	assert_false(more);
	event_drop(&s);
}

static void test_aggregate(void **state)
{
	const struct traceprint_config config = {.aggregate = true};
	struct event_subject s;

	(void)state;
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	s.event.words[0] = 8;
	for (unsigned i = 0; i < 5; i++) {
		s.event.head.tid = i; /* of other threads and goroutines all the same */
		s.event.head.goid = i;
		s.event.words[1] = i / 3;
		expect(&s, "");
	}
	struct quiet *quiet = quiet_begin();

	traceprint_aggregated(s.print);
	traceprint_aggregated(s.print);
	char *got = quiet_end(quiet);

	assert_non_null(strstr(got, "main.a           0\n-->COUNT 3\n"));
	assert_non_null(strstr(got, "main.a           1\n-->COUNT 2\n"));
	/* what was told once is not told again */
	assert_int_equal(strlen(got), 2 * strlen("16061   functions       main.a           0\n"
						 "-->COUNT 3\n\n"));
	free(got);
	event_drop(&s);
}

/* In columns, one word says why there are no results; what the event tells is there anyway. */
static void test_columns_of_panic(void **state)
{
	const struct traceprint_config config = {.header = "N"};
	struct event_subject s;

	(void)state;
	event_make(&s, "r:main.a(n int) (m int) \"%d %-4d %d.%03d %3d\", n, m, $latency / 4, m, m",
		   &config);
	s.event.head.how = TRACE_PANICKED;
	s.event.words[0] = 8;
	s.event.words[1] = 3;
	s.len = sizeof(s.event.head) + traceplan_item(s.plan, 0)->saved_size;
	expect(&s, "3 <panicked> 1.  -   - (panicked)\n");
	event_drop(&s);
}

/* A function that has several lines is named before them, with their sum. */
static void test_by_func(void **state)
{
	const struct traceprint_config config = {.aggregate = true, .by_func = true, .header = "N"};
	struct event_subject s;

	(void)state;
	event_make(&s, "main.a(n int) \"%d\", n", &config);
	s.event.words[0] = 8;
	for (unsigned i = 0; i < 5; i++) {
		s.event.words[1] = i / 3;
		expect(&s, "");
	}
	struct quiet *quiet = quiet_begin();

	traceprint_aggregated(s.print);
	expect(&s, "");
	traceprint_aggregated(s.print);
	char *got = quiet_end(quiet);

	assert_string_equal(got, "COUNT    N\n         main.a: 5, in 2 lines:\n2        1\n"
				 "3        0\nCOUNT    N\n1        1\n");
	free(got);
	event_drop(&s);
}

/* The most frequent lines, of which numbers are folded; an error that is passed on is one. */
static void test_origins(void **state)
{
	const struct traceprint_config config = {.aggregate = true,
						 .by_func = true,
						 .fold_numbers = true,
						 .origins = true,
						 .top = 1,
						 .header = "N"};
	struct event_subject s;

	(void)state;
	event_make(&s, "main.a(n int) \"%s: key %d\", $func, n", &config);
	s.event.words[0] = 8;
	s.event.head.latency_ns = 1;
	for (unsigned i = 0; i < 3; i++) {
		s.event.head.time_ns = 100 + 10 * i;
		s.event.words[1] = i;
		expect(&s, "");
	}
	s.event.head.time_ns = 200;
	s.event.head.latency_ns = 150; /* has called them all, and passes on the last */
	expect(&s, "");
	s.event.head.goid = 0; /* whose calls are not known */
	expect(&s, "");
	struct quiet *quiet = quiet_begin();

	traceprint_aggregated(s.print);
	char *got = quiet_end(quiet);

	assert_string_equal(got, "COUNT    N\n4        main.a: key N\n"
				 "         passed on by main.a (1)\n");
	free(got);
	event_drop(&s);
}

/* A state, and what stands behind it, of an argument or of what it points to */
static void put(struct event_subject *s, const struct tracegen_arg *arg, int64_t state,
		const uint64_t *words, size_t count)
{
	s->event.words[arg->at / 8] = (uint64_t)state;
	memcpy(&s->event.words[arg->at / 8 + 1], words, count * sizeof(*words));
}

/* The line has `text` between the function and the result, and JSON has this of the parameter. */
static void expect_args(struct event_subject *s, const char *text, const char *json)
{
	bool more;
	char *got = event_print(s, &more);
	char *wanted = json ? mem_printf("\"args\":[{%s}],", json)
			    : mem_printf(" main.a           %s\n", text);

	if (!strstr(got, wanted))
		fail_msg("%s lacks %s", got, wanted);
	free(wanted);
	free(got);
}

struct after {
	enum trace_how how;
	int64_t before, after; /* states */
	uint64_t was, is;
	const char *text, *json;
};

static void check_after(const struct after *row, bool json)
{
	const struct traceprint_config config = {.json = json};
	const uint64_t pointer = 0x1000;
	struct event_subject s;

	event_make(&s, "r:main.a(p *int) (m int)", &config);
	const struct tracegen_arg *p = traceplan_item(s.plan, 0)->args[0].items;

	s.event.head.how = row->how;
	put(&s, p, 8, &pointer, 1);
	put(&s, p->before, row->before, &row->was, 1);
	put(&s, p->after, row->after, &row->is, 1);
	expect_args(&s, row->text, json ? row->json : NULL);
	event_drop(&s);
}

#define AS_BEFORE "p=0x1000 -> m=0", "\"name\":\"p\",\"value\":\"0x1000\""
#define AFTER(text, json)                                                                          \
	"p=0x1000 after(*p)=" text " -> m=0", "\"name\":\"p\",\"value\":\"0x1000\","               \
					      "\"after\":" json

/* What a parameter points to is told again at the end if the call has changed it. */
static void test_after(void **state)
{
	static const struct after all[] = {
		{TRACE_RETURNED, 8, 8, 5, 5, AS_BEFORE},
		{TRACE_RETURNED, 8, 8, 5, 6, AFTER("6", "6")},
		{TRACE_RETURNED, 0, 0, 5, 6, AFTER("6", "6")},
		{TRACE_RETURNED, TRACE_NIL, TRACE_NIL, 5, 6, AS_BEFORE},
		{TRACE_RETURNED, TRACE_NIL, TRACE_FAULT, 5, 5, AFTER("<fault>", "\"<fault>\"")},
		{TRACE_RETURNED, TRACE_NIL, 8, 5, 5, AFTER("5", "5")},
		{TRACE_RETURNED, 8, TRACE_FAULT, 5, 5, AFTER("<fault>", "\"<fault>\"")},
		{TRACE_RETURNED, TRACE_NIL, 0, 5, 5, AFTER("5", "5")},
		{TRACE_PANICKED, 8, 8, 5, 6, "p=0x1000 -> <panicked>",
		 "\"name\":\"p\",\"value\":\"0x1000\""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		check_after(&all[i], false);
		check_after(&all[i], true);
	}
}

/* Of bytes what is there at the end, up to the length then, in place of what was there before. */
static void test_after_of_slice(void **state)
{
	static const struct {
		uint64_t len, bytes;
		const char *text;
	} rows[] = {
		{2, 'a' | 'b' << 8, "s=[]byte(\"ab\") -> m=0"},
		{2, 'a' | 'c' << 8, "after(s)=[]byte(\"ac\") -> m=0"},
		{3, 'a' | 'b' << 8, "after(s)=[]byte(\"ab\\x00\") -> m=0"},
		{0, 'a' | 'b' << 8, "after(s)=[]byte(\"\") -> m=0"},
	};
	const struct traceprint_config config = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t was[] = {0x1000, 2, 4, 2, 'a' | 'b' << 8};
		uint64_t is[] = {0x1000, rows[i].len, 4, rows[i].len, rows[i].bytes};
		struct event_subject s;

		event_make_sized(&s, 32, "r:main.a(s []byte) (m int)", &config);
		const struct tracegen_arg *arg = traceplan_item(s.plan, 0)->args[0].items;

		s.event.head.how = TRACE_RETURNED;
		put(&s, arg, 24, was, 5);
		put(&s, arg->after, 24, is, 5);
		expect_args(&s, rows[i].text, NULL);
		event_drop(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),  cmocka_unit_test(test_columns),
		cmocka_unit_test(test_root),      cmocka_unit_test(test_typed),
		cmocka_unit_test(test_malformed), cmocka_unit_test(test_filters),
		cmocka_unit_test(test_aggregate), cmocka_unit_test(test_columns_of_panic),
		cmocka_unit_test(test_by_func),   cmocka_unit_test(test_origins),
		cmocka_unit_test(test_after),     cmocka_unit_test(test_after_of_slice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
