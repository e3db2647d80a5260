// SPDX-License-Identifier: Apache-2.0
/* What may be spent, and who has spent it: with a clock, maps and prices of this test's own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cost.h"
#include "bpf-src/shared/trace.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/hitcost.h"
#include "tracing/spending_internal.h"
#include "tracing/tracer_state_internal.h"
#include "printed.h"
#include "unit.h"

#define NS_PER_S 1000000000ull

enum { LIMITS = 1, SUMS, CPUS, ROWS, ROW_MAX = 16, PERCENT = 10, PROGRAM = 7 };

static uint64_t now_ns;
static struct cost_limit limit;
static struct cost_sum sum;
static struct cost_row rows[ROW_MAX];

uint64_t clock_ns(void)
{
	return now_ns;
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	static const char *const names[] = {
		[LIMITS] = "cost_limits",
		[SUMS] = "cost_sums",
		[CPUS] = "cost_cpus",
		[ROWS] = "cost_rows",
	};
	int map = LIMITS;

	(void)prog;
	while (strcmp(names[map], name) != 0)
		map++;
	return map;
}

int bpfmap_lookup(int fd, const void *key, void *value)
{
	uint32_t index = *(const uint32_t *)key;

	if (fd == SUMS)
		memcpy(value, &sum, sizeof(sum));
	else if (fd == ROWS && index < ROW_MAX)
		memcpy(value, &rows[index], sizeof(*rows));
	else
		return -1;
	return 0;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	uint32_t index = *(const uint32_t *)key;

	if (fd == LIMITS)
		memcpy(&limit, value, sizeof(limit));
	else if (fd == ROWS && index < ROW_MAX)
		memcpy(&rows[index], value, sizeof(*rows));
	return 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_int_equal(fd, CPUS);
	memset(out, 0, entries * words * sizeof(*out));
	return 0;
}

struct hitcost_trial *hitcost_start(void)
{
	return mem_zalloc(1, 1);
}

struct hitcost hitcost_end(struct hitcost_trial *trial)
{
	free(trial);
	return (struct hitcost){.emulated = 600, .stepped = 6000};
}

static uint64_t program_runs, program_ns;
static unsigned samples;

int hitcost_watch_programs(void)
{
	samples++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int hitcost_program(int prog_fd, uint64_t *runs, uint64_t *ns)
{
	(void)prog_fd;
	*runs = program_runs;
	*ns = program_ns;
	return 0;
}

struct subject {
	struct selection_row names[5];
	struct selection_item items[5];
	struct selection sel;
	struct tracer tracer;
	struct spending *spending;
};

static void begin(struct subject *s)
{
	static const char *const names[] = {"main.a", "main.b", "main.c", "main.d", "main.e"};
	struct errmsg err = {0};

	memset(s, 0, sizeof(*s));
	memset(rows, 0, sizeof(rows));
	memset(&sum, 0, sizeof(sum));
	now_ns = 1000 * NS_PER_S;
	for (uint32_t i = 0; i < 5; i++) {
		s->names[i].name = names[i];
		s->items[i] = (struct selection_item){.row = i};
		s->items[i].sites.entry.emulated = i != 1;
	}
	s->sel = (struct selection){
		.rows = s->names, .row_count = 5, .items = s->items, .item_count = 5};
	s->tracer = (struct tracer){.sel = &s->sel, .emulator = -1};
	s->spending = spending_new(&s->tracer, PERCENT);
	assert_int_equal(spending_prepare(s->spending, PROGRAM, &err), 0);
	spending_begin(s->spending);
}

static void end(struct subject *s)
{
	spending_free(s->spending);
}

/* The kernel side's prices, by kind of site; and which rows are single-stepped at their entry. */
static void test_prices(void **state)
{
	struct subject s;

	(void)state;
	begin(&s);
	assert_int_equal(limit.entry, 600);
	assert_int_equal(limit.stepped, 6000);
	assert_int_equal(limit.end, 6000);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(rows[i].stepped, i == 1);
	end(&s);
}

static void test_said_prices(void **state)
{
	struct subject s;

	(void)state;
	begin(&s);
	printed_begin();
	spending_print_prices(s.spending, stdout, "gotool");
	printed_expect("gotool: a hit costs 0.6 us here, or 6.0 us where the kernel single-steps "
		       "the instruction\n");
	end(&s);
}

/* Of functions of the runtime the number is the group's; of places, the place's. */
static void test_rows(void **state)
{
	struct trace_place places[3] = {{.item = 1}, {.item = 0}, {.item = 1}};
	struct subject s;

	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		char said[ROW_MAX + 1] = "";

		begin(&s);
		memset(rows, 0, sizeof(rows));
		for (uint32_t i = 0; i < 5; i++)
			s.items[i].group = i + 7;
		s.sel.want.runtime = way == 1;
		s.sel.want.places = way == 2;
		s.tracer.places = places;
		s.tracer.place_count = 3;
		spending_begin(s.spending);
		for (unsigned i = 0; i < ROW_MAX; i++)
			said[i] = rows[i].stepped ? 's' : '-';
		assert_string_equal(said, way == 0   ? "-s--------------"
					  : way == 1 ? "--------s-------"
						     : "s-s-------------");
		end(&s);
	}
}

/* ... for which the kernel side has room. */
static void test_room(void **state)
{
	struct selection sel = {.row_count = 2};
	const struct tracer tracer = {.sel = &sel, .place_max = 100};

	(void)state;
	assert_int_equal(spending_rows(&tracer), 16);
	sel.row_count = 16;
	assert_int_equal(spending_rows(&tracer), 16);
	sel.row_count = 17;
	assert_int_equal(spending_rows(&tracer), 17);
	sel.want.places = true;
	assert_int_equal(spending_rows(&tracer), 100);
}

/* A second's worth may be spent at once, however long nothing was. */
static void test_budget(void **state)
{
	const uint64_t second = NS_PER_S / 100 * PERCENT;
	struct errmsg err = {0};
	struct subject s;

	(void)state;
	begin(&s);
	assert_int_equal(limit.spent, second);
	sum.spent = second / 2;
	assert_false(spending_passed(s.spending, &err));
	assert_int_equal(limit.spent, second);
	now_ns += NS_PER_S / 4;
	assert_false(spending_passed(s.spending, &err));
	assert_int_equal(limit.spent, second + second / 4);
	now_ns += 3600 * NS_PER_S;
	assert_false(spending_passed(s.spending, &err));
	assert_int_equal(limit.spent, sum.spent + second);
	end(&s);
}

/* Those that took most are named, most first, in whatever order they come. */
static void test_names(void **state)
{
	static const struct {
		uint64_t spent[5];
		const char *names;
	} cases[] = {
		{{10, 20, 30, 40, 0}, "main.d (40%), main.c (30%), main.b (20%)"},
		{{40, 30, 20, 10, 0}, "main.a (40%), main.b (30%), main.c (20%)"},
		{{20, 40, 10, 30, 0}, "main.b (40%), main.d (30%), main.a (20%)"},
		{{0, 0, 970, 29, 1}, "main.c (97%), main.d (2%)"},
	};

	(void)state;
	for (size_t n = 0; n < sizeof(cases) / sizeof(*cases); n++) {
		struct errmsg err = {0};
		struct subject s;
		char text[200];

		begin(&s);
		for (unsigned i = 0; i < 5; i++)
			rows[i].spent = cases[n].spent[i];
		sum = (struct cost_sum){.spent = 100, .over = 1};
		assert_true(spending_passed(s.spending, &err));
		snprintf(text, sizeof(text),
			 "stopped: probes took more than 10%% of a processor (--max-cost): %s",
			 cases[n].names);
		assert_string_equal(err.text, text);
		end(&s);
	}
}

/* How long the program runs is sampled as soon as it has run often enough, and then seldom. */
static void test_program(void **state)
{
	struct errmsg err = {0};
	struct subject s;

	(void)state;
	begin(&s);
	samples = 0;
	for (unsigned tick = 0; tick < 6; tick++) {
		assert_false(spending_passed(s.spending, &err));
		assert_int_equal(limit.entry, 600);
		program_runs += 50;
		program_ns += 50 * 1500;
	}
	assert_int_equal(samples, 3);
	assert_false(spending_passed(s.spending, &err));
	program_runs += 150;
	program_ns += 150 * 1500;
	for (unsigned tick = 0; tick < 19; tick++) {
		assert_false(spending_passed(s.spending, &err));
		assert_int_equal(limit.entry, 600 + 1500);
		assert_int_equal(limit.stepped, 6000 + 1500);
	}
	assert_int_equal(samples, 4);
	spending_passed(s.spending, &err);
	spending_passed(s.spending, &err);
	assert_int_equal(samples, 5);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prices),  cmocka_unit_test(test_said_prices),
		cmocka_unit_test(test_rows),    cmocka_unit_test(test_room),
		cmocka_unit_test(test_budget),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
