// SPDX-License-Identifier: Apache-2.0
/* What a traced notes of its probes: where they take memory, and, in shared libraries, where g is;
 * and what others ask of it. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "bpf-src/shared/tls_word.h"
#include "bpf-src/shared/trace.h"
#include "files/heldfile.h"
#include "kernel/bpfmap.h"
#include "program/program.h"
#include "selection/selection_print.h"
#include "selection/target.h"
#include "steps.h"
#include "tracing/filewatch_internal.h"
#include "tracing/probes_internal.h"
#include "tracing/session_internal.h"
#include "tracing/textcost_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

enum { PID = 181, MAP = 9, PROGRAMS = 2, PARTS = 2, SPARE = 65536 };

static int anything; /* its address stands for what only others look into */
#define SOME ((void *)&anything)

static struct program all[PROGRAMS] = {{.path = "/a"}, {.path = "/b"}};
static struct program *programs[PROGRAMS] = {&all[0], &all[1]};
static struct goruntime runtimes[PROGRAMS];
static const struct tracer_plan plans[1];
static struct tracer_config config;
static struct selection selected;
static struct tracer traced;
static struct heldfile *resolved;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct probes *probes_new(const struct probes_want *want)
{
	static struct attach_probe items[2];
	static struct probes made = {.items = items, .count = 2};

	assert_ptr_equal(want->sel, &selected);
	assert_ptr_equal(want->plans, plans);
	steps_are("probes of %s part %u leader %u%s", want->prog->path, want->part, want->leader,
		  !want->rt                                          ? ""
		  : want->rt == &runtimes[want->prog == programs[1]] ? " hooks"
								     : " other's hooks");
	items[0].off = want->part * 16;
	items[1].off = want->part * 16 + 1;
	return &made;
}

void probes_free(struct probes *probes)
{
	steps_are("freed");
}

struct textcost *textcost_new(void)
{
	return SOME;
}

void textcost_file(struct textcost *cost, const struct heldfile *held, uint64_t *offs, size_t count)
{
	char text[64] = "";

	assert_ptr_equal(cost, SOME);
	for (size_t i = 0; i < count; i++)
		sprintf(text + strlen(text), " %d", (int)offs[i]);
	steps_are("file %s%s", ((const struct program *)(const void *)held)->path, text);
}

void textcost_processes(struct textcost *cost, pid_t pid)
{
	steps_are("processes %d", pid);
}

int textcost_check(const struct textcost *cost, struct errmsg *err)
{
	return steps_answer(err, "check");
}

void filewatch_note_openings(struct filewatch *watch)
{
	steps_are("openings");
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	steps_are("%s=%d", name, (int)value);
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	assert_ptr_equal(prog, SOME);
	steps_are("map %s", name);
	return MAP;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	const struct tls_word *word = value;

	assert_int_equal(fd, MAP);
	errno = ENOSPC;
	return steps_are("word %u: cookie %d addr %d word %d", *(const uint32_t *)key,
			 (int)word->cookie, (int)word->addr, (int)word->word)
		       ? -1
		       : 0;
}

struct heldfile *target_resolve(const char *binary, const struct process *proc, struct errmsg *err)
{
	return steps_answer(err, "resolve %s%s", binary, proc ? " of -p" : "") ? NULL : resolved;
}

const struct stat *heldfile_then(const struct heldfile *file)
{
	return (const void *)file;
}

bool heldfile_is(const struct heldfile *file, const struct stat *st)
{
	return file == (const void *)st;
}

void heldfile_close(struct heldfile *file)
{
	assert_ptr_equal(file, resolved);
	steps_are("close");
}

size_t selection_traced(const struct selection *sel)
{
	assert_ptr_equal(sel, &selected);
	return 3;
}

void session_print_start(FILE *out, size_t functions, char *const patterns[], size_t count)
{
	assert_ptr_equal(out, stdout);
	steps_are("start %zu %s of %zu", functions, patterns[0], count);
}

/* NOLINTEND(misc-unused-parameters) */

static char *patterns[] = {"main.*"};

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < PROGRAMS; i++)
		all[i].file = (struct heldfile *)&all[i];
	memset(runtimes, 0, sizeof(runtimes));
	config = (struct tracer_config){.pattern_count = 1};
	selected = (struct selection){.item_count = 3};
	traced = (struct tracer){.config = &config,
				 .programs = programs,
				 .program_count = PROGRAMS,
				 .sel = &selected,
				 .plans = plans,
				 .patterns = patterns,
				 .part_count = PARTS,
				 .leader = 1,
				 .bpf = SOME,
				 .emulator = -1};
	steps = (struct steps){0};
	return 0;
}

/* --- memory --- */

static void expect_cost(int ret, const char *did)
{
	struct errmsg err = {0};

	assert_int_equal(tracer_check_memory(&traced, &err), ret);
	tracer_hint_memory(&traced, &err);
	steps_are("err %s hint %s", err.text, err.hint);
	steps_expect(did);
	setup(NULL);
}

static void test_memory(void **state)
{
	(void)state;
	expect_cost(0, "probes of /a part 0 leader 1; freed; probes of /a part 1 leader 1; "
		       "freed; file /a 0 1 16 17; probes of /b part 0 leader 1; freed; probes "
		       "of /b part 1 leader 1; freed; file /b 0 1 16 17; openings; processes "
		       "0; check; err  hint ; ");
	traced.pid = PID;
	traced.runtimes = runtimes;
	traced.program_count = 1;
	expect_cost(0, "probes of /a part 0 leader 1 hooks; freed; probes of /a part 1 leader "
		       "1 hooks; freed; file /a 0 1 16 17; processes 0; check; err  hint ; ");
	traced.pid = PID;
	traced.execs = SOME;
	traced.follows = true;
	traced.program_count = 1;
	traced.part_count = 1;
	steps.fails = "check";
	expect_cost(-1, "probes of /a part 0 leader 1; freed; file /a 0 1; processes 181; "
			"processes 181; check; err no check hint ; ");
	config.force = true;
	traced.program_count = 1;
	traced.part_count = 1;
	steps.fails = "check";
	expect_cost(0, "probes of /a part 0 leader 1; freed; file /a 0 1; openings; processes "
		       "0; check; err  hint no check; ");
	config.force = true;
	traced.program_count = 1;
	traced.part_count = 1;
	expect_cost(0, "probes of /a part 0 leader 1; freed; file /a 0 1; openings; processes "
		       "0; check; err  hint ; ");
}

/* --- where g is --- */

static void note(const struct goruntime *rt, size_t count, const char *fails)
{
	struct attach_probe items[] = {{.addr = 5, .cookie = 50}, {.addr = 6, .cookie = 60}};
	struct probes probes = {.items = items, .count = count};
	struct errmsg err = {0};

	assert_int_equal(tracer_note_tls(&traced, rt, &probes, &err), fails ? -1 : 0);
	assert_string_equal(err.text, fails ? fails : "");
	if (!fails)
		steps_are("cookies %d %d", (int)items[0].cookie, (int)items[1].cookie);
}

static void test_tls(void **state)
{
	static const struct probes two = {.count = 2};
	struct errmsg err = {0};

	(void)state;
	traced.runtimes = runtimes;
	tracer_define_tls(&traced);
	note(&runtimes[0], 2, NULL); /* as they were */
	tracer_forget_tls(&traced, &two);
	assert_int_equal(tracer_fill_tls(&traced, &err), 0);
	tracer_free_tls(&traced);
	steps_expect("cookies 50 60; ");
	runtimes[1].tls_word = 77;
	runtimes[1].split_stack = true; /* finds g otherwise */
	tracer_define_tls(&traced);
	steps_expect("");
	runtimes[1].split_stack = false;
	tracer_define_tls(&traced);
	note(&runtimes[0], 2, NULL);
	note(&runtimes[1], 2, NULL);
	tracer_forget_tls(&traced, &two);
	note(&runtimes[1], 1, NULL);
	assert_int_equal(tracer_fill_tls(&traced, &err), 0);
	steps_expect("TLS_WORDS=65560; cookies 0 1; cookies 2 3; cookies 2 60; map "
		     "tls_words; word 0: cookie 50 addr 5 word 0; word 1: cookie 60 addr 6 "
		     "word 0; word 2: cookie 50 addr 5 word 77; ");
	steps.fails = "word";
	steps.times = 1;
	assert_int_equal(tracer_fill_tls(&traced, &err), -1);
	assert_string_equal(err.text, "cannot pass 3 probes to the BPF program: No space left on "
				      "device");
	note(&runtimes[1], SPARE + 22, "more than 65560 places to probe: trace fewer functions");
	tracer_free_tls(&traced);
	steps.len = 0;
}

/* --- what others ask --- */

static void other(void *ctx, struct tracer *to, const struct errmsg *why)
{
	(void)ctx;
	(void)to;
	(void)why;
}

static void test_access(void **state)
{
	static struct trace_place places[3];

	(void)state;
	traced.places = places;
	traced.runtimes = runtimes;
	traced.pid = PID;
	traced.executed = &all[1];
	assert_int_equal(tracer_program_count(&traced), 2);
	assert_ptr_equal(tracer_program(&traced, 1), &all[1]);
	assert_ptr_equal(tracer_runtime(&traced, 1), &runtimes[1]);
	assert_ptr_equal(tracer_selection(&traced), &selected);
	assert_int_equal(tracer_pid(&traced), PID);
	assert_ptr_equal(tracer_executed(&traced), &all[1]);
	assert_ptr_equal(tracer_place(&traced, 2), &places[2]);
	assert_ptr_equal(tracer_bpf(&traced), SOME);
	assert_ptr_equal(tracer_plans(&traced), plans);
	assert_int_equal(tracer_parts(&traced), PARTS);
	assert_false(tracer_follows(&traced) || tracer_carries_out_returns(&traced) ||
		     tracer_begins_at_once(&traced));
	traced.follows = true;
	traced.emulator = 0;
	traced.gate = SOME;
	assert_true(tracer_follows(&traced) && tracer_carries_out_returns(&traced) &&
		    tracer_begins_at_once(&traced));
	tracer_set_plans(&traced, NULL);
	assert_null(tracer_plans(&traced));
	tracer_set_parts(&traced, 5);
	tracer_reverse_parts(&traced);
	tracer_lead(&traced);
	tracer_set_otherwise(&traced, other, &selected);
	assert_true(traced.part_count == 5 && traced.parts_reversed && traced.leader == 4 &&
		    traced.otherwise == other && traced.otherwise_ctx == &selected);
	assert_int_equal(tracer_map(&traced, "counts"), MAP);
	tracer_print_start(&traced, stdout);
	steps_expect("map counts; start 3 main.* of 1; ");
}

static void test_named(void **state)
{
	struct errmsg err;

	(void)state;
	resolved = all[1].file;
	assert_ptr_equal(tracer_named(&traced, "b", &err), &all[1]);
	traced.process = SOME;
	resolved = SOME;
	assert_null(tracer_named(&traced, "c", &err));
	assert_string_equal(err.text, "\"c\" is not what is traced");
	steps.fails = "resolve";
	assert_null(tracer_named(&traced, "d", &err));
	assert_string_equal(err.text, "no resolve");
	steps_expect("resolve b; close; resolve c of -p; close; resolve d of -p; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_memory, setup),
		cmocka_unit_test_setup(test_tls, setup),
		cmocka_unit_test_setup(test_access, setup),
		cmocka_unit_test_setup(test_named, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
