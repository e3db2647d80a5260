// SPDX-License-Identifier: Apache-2.0
/* The kernel side of gotrace, on goroutines that are made up. Needs the privileges to trace. */
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "bpf-src/shared/trace.h"
#include "machine/arch.h"
#include "fakeg.h"
#include "genprobe.h"
#include "gotrace/traceplan_text_internal.h"
#include "kernel/attach.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/events.h"
#include "unit.h"

enum { PROBES = 3, RING_PAGES = 16, RING_BYTES = RING_PAGES * 4096, CALLS = 8, SEEN_MAX = 1024 };

/* The first is printed at its entry; the others, of one function, at its return. */
static const char *const probes[PROBES] = {
	"main.f() \"%d\", $goid",
	"r:main.g() \"%d\", $latency",
	"r:main.g() ($goid == 7) \"%d\", $goid",
};

struct fixture {
	struct bpfprog *prog;
	struct attach *attached;
	struct events *events;
	struct {
		uint32_t item, how;
	} seen[SEEN_MAX];
	size_t count, bytes;
};

static bool take(const void *data, size_t len, void *ctx)
{
	const struct trace_event *event = data;
	struct fixture *f = ctx;

	assert_true(f->count < SEEN_MAX);
	f->seen[f->count].item = event->item;
	f->seen[f->count++].how = event->how;
	f->bytes += len;
	return true;
}

static void add_plans(struct traceplan_text *text, uint32_t *plans)
{
	struct genprobe_how how = {
		.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .string_max = 80};
	struct errmsg err = {0};

	for (unsigned i = 0; i < PROBES; i++) {
		struct genprobe gp;

		if (genprobe_make(&gp, probes[i], &how, &err))
			fail_msg("%s: %s", probes[i], err.text);
		plans[i] = traceplan_text_add(text, &gp.plan, gp.spec.at_return);
		genprobe_free(&gp);
	}
}

static struct bpfprog *compile(uint32_t *plans, struct errmsg *err)
{
	struct traceplan_text *text = traceplan_text_new();
	struct bpfprog_define defs[FAKEG_DEFINES + 16] = {
		{"STRING_MAX", 80},    {"SAVED_MAX", 64},    {"RING_PAGES", RING_PAGES},
		{"CALLS", CALLS},      {"PLACES", 16},       {"ROWS", 1},
		{"USER_FRAMES", 0},    {"KERNEL_FRAMES", 0}, {"RETURNS", 1},
		{"IDENTITY_FIRST", 1},
	};
	size_t count = 10 + fakeg_define(defs + 10);

	add_plans(text, plans);
	traceplan_text_serve(text, false);
	char *bodies = traceplan_text_plans(text), *programs = traceplan_text_programs(text);
	const struct bpfprog_insert inserts[] = {{"plans", bodies}, {"programs", programs}};
	struct bpfprog *prog = bpfprog_compile("gotrace.bpf.c", defs, count, inserts, 2, err);

	free(bodies);
	free(programs);
	traceplan_text_free(text);
	return prog;
}

/* Place 0 is main.f's entry, place 1 main.g's, and place 2 where that returns. */
static struct attach *attach_places(const struct fixture *f, int fd, const uint32_t *plans,
				    struct errmsg *err)
{
	struct fakeg_probe sites[2 * PROBES - 1];

	for (uint32_t i = 0; i < 2 * PROBES - 1; i++) {
		uint32_t item = (i + 1) / 2;
		bool returns = i && i % 2 == 0;
		unsigned where = i ? 2 - i % 2 : 0;
		struct trace_place place = {
			.addr = fakeg_addr(where), .item = item, .plan = plans[item], .frame = -1};

		bpfmap_update(bpfprog_map(f->prog, "places"), &i, &place);
		sites[i] = (struct fakeg_probe){
			where, cookie_make(i, returns ? COOKIE_RETURN : COOKIE_CALL, 0, 0)};
	}
	return fakeg_attach(fd, sites, 2 * PROBES - 1, err);
}

/* Wake-ups are for what one CPU has sent. */
static void stay_on_a_cpu(void)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0, kept = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set) && kept++)
			CPU_CLR(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static struct fixture *begin(void **state)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	uint32_t plans[PROBES];
	struct errmsg err = {0};
	int fd = -1;

	*state = f;
	if (geteuid() || attach_how() == ATTACH_PERF_STUB)
		skip();
	stay_on_a_cpu();
	f->prog = compile(plans, &err);
	if (f->prog)
		fd = bpfprog_load(f->prog, "on_probe", attach_prog_type(attach_how()), &err);
	if (fd >= 0)
		f->attached = attach_places(f, fd, plans, &err);
	if (f->attached)
		f->events = events_new(bpfprog_map(f->prog, "events"), take, f, &err);
	assert_string_equal(err.text, "");
	return f;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->attached)
		attach_free(f->attached);
	events_free(f->events);
	bpfprog_free(f->prog);
	free(f);
	return 0;
}

static uint64_t counter(const struct fixture *f, unsigned which)
{
	uint64_t counts[TRACE_COUNTERS];

	assert_int_equal(
		bpfmap_sum_percpu(bpfprog_map(f->prog, "counters"), TRACE_COUNTERS, 1, counts), 0);
	return counts[which];
}

static void read_all(struct fixture *f)
{
	f->count = f->bytes = 0;
	assert_true(events_read(f->events, true));
}

static bool is_woken(const struct fixture *f)
{
	struct pollfd fd = {events_fd(f->events), POLLIN, 0};

	return poll(&fd, 1, 0) > 0;
}

/* How many events does it take until the reader is woken? */
static size_t until_woken(struct fixture *f)
{
	size_t hits = 0;

	while (!is_woken(f) && hits < SEEN_MAX) {
		fakeg_hit(7, 256, 0);
		hits++;
	}
	return hits;
}

/* The reader is not woken for each event, but before the ring is full, again and again. */
static void test_wakes(void **state)
{
	struct fixture *f = begin(state);

	for (unsigned round = 0; round < 5; round++) {
		size_t hits = until_woken(f);

		assert_true(hits > 1 && hits < SEEN_MAX);
		read_all(f);
		assert_int_equal(f->count, hits);
		assert_true(f->bytes > RING_BYTES / 16 && f->bytes < RING_BYTES / 4);
		assert_false(is_woken(f));
	}
	assert_int_equal(counter(f, TRACE_LOST), 0);
}

/* Two PROBEs at one function: the calls of both stand at one depth. */
static void test_probes_at_one_depth(void **state)
{
	static const struct {
		unsigned goid, events;
	} rounds[] = {{7, 2}, {8, 1}, {7, 2}};
	struct fixture *f = begin(state);

	for (unsigned round = 0; round < 3; round++) {
		fakeg_hit(rounds[round].goid, 256, 1);
		fakeg_hit(rounds[round].goid, 256, 2);
		read_all(f);
		assert_int_equal(f->count, rounds[round].events);
		for (unsigned i = 0; i < f->count; i++)
			assert_int_equal(f->seen[i].how, TRACE_RETURNED);
		assert_int_equal(f->seen[0].item + (f->count > 1 ? f->seen[1].item : 2), 3);
	}
}

/* Calls at a depth that is used anew have ended, nobody knows how: a call of either PROBE */
static void test_ended_otherwise(void **state)
{
	struct fixture *f = begin(state);

	fakeg_hit(7, 512, 1);
	fakeg_hit(7, 512, 1);
	fakeg_hit(7, 256, 1);
	fakeg_hit(7, 256, 2);
	read_all(f);
	assert_int_equal(f->count, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(f->seen[i].how, i < 4 ? TRACE_UNSEEN : TRACE_RETURNED);
}

/* Calls that there is no room to wait for are counted, and the room of others is used again. */
static void test_untracked_goroutines(void **state)
{
	struct fixture *f = begin(state);

	for (unsigned goid = 101; goid <= 100 + CALLS + 5; goid++)
		fakeg_hit(goid, 256, 1);
	for (unsigned goid = 101; goid <= 100 + CALLS + 5; goid++)
		fakeg_hit(goid, 256, 2);
	read_all(f);
	assert_int_equal(f->count, CALLS);
	assert_int_equal(counter(f, TRACE_UNTRACKED), 5);
	fakeg_hit(199, 256, 1);
	fakeg_hit(199, 256, 2);
	read_all(f);
	assert_int_equal(f->count, 1);
}

static void test_untracked_depth(void **state)
{
	struct fixture *f = begin(state);

	for (unsigned depth = 1; depth <= CALLS + 5; depth++)
		fakeg_hit(101, 256 * depth, 1);
	for (unsigned depth = CALLS + 5; depth; depth--)
		fakeg_hit(101, 256 * depth, 2);
	read_all(f);
	assert_int_equal(f->count, CALLS);
	for (unsigned i = 0; i < CALLS; i++)
		assert_int_equal(f->seen[i].how, TRACE_RETURNED);
	assert_int_equal(counter(f, TRACE_UNTRACKED), 5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_wakes, teardown),
		cmocka_unit_test_teardown(test_probes_at_one_depth, teardown),
		cmocka_unit_test_teardown(test_ended_otherwise, teardown),
		cmocka_unit_test_teardown(test_untracked_goroutines, teardown),
		cmocka_unit_test_teardown(test_untracked_depth, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
