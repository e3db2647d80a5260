// SPDX-License-Identifier: Apache-2.0
/* What is hot, and when that is said: with a clock and a program of this test's own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kernel/hitcost.h"
#include "tracing/heat_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

#define NS_PER_S 1000000000ull

enum { EMULATED_NS = 600, STEPPED_NS = 6000, LOOK_MS = 100, MS = 1000000 };

static uint64_t now_ns, program_runs, program_ns;
static bool watched;

uint64_t clock_ns(void)
{
	return now_ns;
}

struct hitcost_trial *hitcost_start(void)
{
	return mem_zalloc(1, 1);
}

struct hitcost hitcost_end(struct hitcost_trial *trial)
{
	free(trial);
	return (struct hitcost){EMULATED_NS, STEPPED_NS};
}

int hitcost_watch_programs(void)
{
	watched = true;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int hitcost_program(int prog_fd, uint64_t *runs, uint64_t *ns)
{
	assert_int_equal(prog_fd, 7);
	*runs = program_runs;
	*ns = program_ns;
	return 0;
}

struct look { /* 0.1 s in which a program that takes 400 ns runs so often */
	unsigned runs;
	const char *says; /* of one look more: NULL, nothing */
};

struct heat_case {
	bool returns; /* half of the hits are returns, which the kernel single-steps */
	struct look looks[4];
	unsigned count; /* of them */
};

#define HOT(hits, us, percent)                                                                     \
	"tool: " hits " hits a second of " us " us each take some " percent                        \
	"% of a processor from what is traced\n"                                                   \
	"hint: trace fewer functions ('gofunccount -d 1' tells which are called most), or set a "  \
	"limit, as with --max-cost 20\n"

static const struct heat_case cases[] = {
	{false, {{30000, HOT("300000", "1.0", "30")}}, 1},
	{false, {{24000, NULL}, {24000, NULL}, {26000, HOT("260000", "1.0", "26")}}, 3},
	{false, {{24900, NULL}, {25000, HOT("250000", "1.0", "25")}}, 2},
	{false, {{1000, NULL}, {90000, HOT("900000", "1.0", "90")}}, 2},
	{true, {{6000, NULL}, {7000, HOT("70000", "3.7", "26")}}, 2},
	/* dear, but few */
	{true, {{1900, NULL}, {1999, NULL}, {1, NULL}, {1, NULL}}, 4},
};

static char *said(struct heat *heat, const struct tracer *tracer)
{
	FILE *before = stderr;
	char *text = NULL;
	size_t len;

	stderr = open_memstream(&text, &len);
	heat_look(heat, tracer, "tool");
	fclose(stderr);
	stderr = before;
	return text;
}

static void check(const struct heat_case *c)
{
	const struct tracer_config config = {.want.returns = c->returns};
	const struct tracer tracer = {.config = &config, .hit_prog = 7, .emulator = -1};
	struct heat heat = {0};

	now_ns = NS_PER_S;
	program_runs = program_ns = 0;
	heat_look(&heat, &tracer, "tool");
	for (size_t i = 0; i < 4; i++) {
		/* the first look is after 1 s, each other after 10 more */
		watched = false;
		now_ns += (i ? 10 : 1) * NS_PER_S - 1;
		heat_look(&heat, &tracer, "tool");
		assert_false(watched);
		now_ns += 1;
		heat_look(&heat, &tracer, "tool");
		assert_int_equal(watched, i < c->count);
		if (!watched)
			break; /* it was said before */
		now_ns += LOOK_MS * MS;
		program_runs += c->looks[i].runs;
		program_ns += c->looks[i].runs * 400ull;
		char *text = said(&heat, &tracer);

		assert_string_equal(text, c->looks[i].says ? c->looks[i].says : "");
		free(text);
		if (c->looks[i].says)
			assert_int_equal(heat.state, HEAT_DONE);
	}
	heat_end(&heat);
}

static void test_looks(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
