// SPDX-License-Identifier: Apache-2.0
/* Clocks of goroutines' states, turned by this very program, which acts as Go's do. Needs the
 * privileges to trace. */
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "bpf-src/shared/latency.h"
#include "bpf-src/shared/states.h"
#include "fakeg.h"
#include "kernel/attach.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/kernelfeature.h"
#include "latency/latency.h"
#include "unit.h"

enum { ROWS = 3, SHORT_MS = 20, LONG_MS = 60, MS = 1000000 };
/* places: where copies of a row begin and end, and of what the scheduler does */
enum { ENTER = 2 * ROWS, LEAVE, PLACES };

struct fixture {
	struct bpfprog *prog;
	struct attach *calls, *changes;
	struct latency *lat;
};

static struct bpfprog *compile(struct errmsg *err)
{
	struct bpfprog_define defs[FAKEG_DEFINES + 11] = {
		{"ROWS", ROWS},       {"UNIT", 1},
		{"GOROUTINES", 8},    {"PLACES", 1024},
		{"STATE_SUMS", 1024}, {"DEEP_CALLS", 256},
		{"PER_ROW", 1},       {"NESTED", 64},
		{"STATES_WANTED", 1}, {"G_STATUS", FAKEG_STATUS},
		{"G_WAITREASON", 24}, {"ARGS_IN_REGISTERS", 1},
	};

	size_t count = 11 + fakeg_define(defs + 11);

	return bpfprog_compile("gofunclatency.bpf.c", defs, count, NULL, 0, err);
}

/* Copies, which share their depth on the stack, so that one may end before another inside it. */
static struct attach *attach_calls(int fd, struct errmsg *err)
{
	struct fakeg_probe probes[2 * ROWS];

	for (unsigned i = 0; i < 2 * ROWS; i++)
		probes[i] = (struct fakeg_probe){
			i, cookie_make(i / 2, i & 1 ? COOKIE_RETURN : COOKIE_CALL, 0, i / 2 + 1)};
	return fakeg_attach(fd, probes, 2 * ROWS, err);
}

static int load(const struct fixture *f, const char *name, struct errmsg *err)
{
	return bpfprog_load(f->prog, name, attach_prog_type(attach_how()), err);
}

static struct fixture *begin(void **state)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	struct errmsg err = {0};

	*state = f;
	if (geteuid() || attach_how() == ATTACH_PERF_STUB)
		skip();
	f->prog = compile(&err);
	assert_string_equal(err.text, "");
	int calls = load(f, "on_probe", &err), changes = load(f, "on_probe_1", &err);

	assert_string_equal(err.text, "");
	f->calls = attach_calls(calls, &err);
	f->changes = fakeg_attach_syscalls(changes, ENTER, LEAVE, &err);
	assert_string_equal(err.text, "");
	f->lat = latency_new(f->prog, ROWS, true, 1);
	assert_int_equal(latency_switch(f->lat, true), 0);
	return f;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->calls)
		attach_free(f->calls);
	if (f->changes)
		attach_free(f->changes);
	latency_free(f->lat);
	bpfprog_free(f->prog);
	free(f);
	return 0;
}

static void hit(unsigned place)
{
	fakeg_hit(7, 256, place);
}

static void call(unsigned row)
{
	hit(2 * row);
}

static void end(unsigned row)
{
	hit(2 * row + 1);
}

static void in_syscall(unsigned ms)
{
	hit(ENTER);
	fakeg_wait_ms(ms);
	hit(LEAVE);
}

static uint64_t ns_of(const struct fixture *f, unsigned row, enum state state)
{
	uint64_t key = latency_place(row, state);
	struct state_sum sum = {0};

	if (bpfmap_lookup(bpfprog_map(f->prog, "state_sums"), &key, &sum))
		return 0;
	assert_int_equal(sum.calls, 1);
	return sum.total_ns;
}

/* Was the row's call in these states for so long at least, and in no other? */
static void expect(struct fixture *f, unsigned row, unsigned running_ms, unsigned syscall_ms)
{
	struct latency_report *report = mem_zalloc(1, sizeof(*report));
	uint64_t running = ns_of(f, row, STATE_RUNNING), syscall = ns_of(f, row, STATE_SYSCALL);

	latency_row(f->lat, row, report);
	assert_int_equal(report->count, 1);
	assert_int_equal(running + syscall, report->total_ns);
	assert_true(running >= (uint64_t)running_ms * MS);
	assert_true(syscall >= (uint64_t)syscall_ms * MS);
	assert_true(!syscall == !syscall_ms);
	free(report);
}

static void expect_clean(const struct fixture *f)
{
	assert_int_equal(fakeg_entries(f->prog, "clocks"), 0);
	assert_int_equal(fakeg_entries(f->prog, "clocks_then"), 0);
}

/* Each call has the time that was spent while it went on. */
static void test_nested(void **state)
{
	struct fixture *f = begin(state);

	call(0);
	in_syscall(SHORT_MS);
	call(1);
	in_syscall(LONG_MS);
	call(2);
	fakeg_wait_ms(SHORT_MS);
	end(2);
	end(1);
	end(0);
	assert_int_equal(latency_read(f->lat, false), 0);
	expect(f, 2, SHORT_MS, 0);
	expect(f, 1, SHORT_MS, LONG_MS);
	expect(f, 0, SHORT_MS, SHORT_MS + LONG_MS);
	expect_clean(f);
}

/* Of copies in one frame the outer one may be seen to end first. */
static void test_outer_ends_first(void **state)
{
	struct fixture *f = begin(state);

	call(0);
	fakeg_wait_ms(SHORT_MS);
	call(1);
	in_syscall(SHORT_MS);
	call(2);
	fakeg_wait_ms(SHORT_MS);
	end(0);
	in_syscall(LONG_MS);
	end(1);
	fakeg_wait_ms(SHORT_MS);
	end(2);
	assert_int_equal(latency_read(f->lat, false), 0);
	expect(f, 0, 2 * SHORT_MS, SHORT_MS);
	expect(f, 1, SHORT_MS, SHORT_MS + LONG_MS);
	expect(f, 2, 2 * SHORT_MS, LONG_MS);
	expect_clean(f);
}

/* A change from a state that the goroutine is not in: one was not seen, and the time is unknown. */
static void test_unseen(void **state)
{
	struct fixture *f = begin(state);
	uint64_t losses[STATE_LOSSES];

	call(0);
	fakeg_wait_ms(LONG_MS);
	uint64_t left_ns = clock_ns(); /* on a busy machine what follows takes longer */

	hit(LEAVE);
	fakeg_wait_ms(SHORT_MS);
	end(0);
	assert_true(ns_of(f, 0, STATE_UNKNOWN) >= LONG_MS * MS);
	assert_in_range(ns_of(f, 0, STATE_RUNNING), SHORT_MS * MS, clock_ns() - left_ns);
	int fd = bpfprog_map(f->prog, "state_losses");

	assert_int_equal(bpfmap_sum_percpu(fd, STATE_LOSSES, 1, losses), 0);
	assert_int_equal(losses[STATE_LOSS_UNSEEN], 1);
	expect_clean(f);
}

static uint64_t total_of(const struct fixture *f, enum state state)
{
	uint64_t key = latency_place(0, state);
	struct state_sum sum = {0};

	return bpfmap_lookup(bpfprog_map(f->prog, "state_sums"), &key, &sum) ? 0 : sum.total_ns;
}

/* The status that a goroutine has when it calls (Go's src/runtime/runtime2.go): one whose stack is
 * being copied, above all, runs. Waits that begin nobody knows when are of no known reason. */
static void test_statuses(void **state)
{
	static const enum state of_status[] = {
		STATE_RUNNING, STATE_RUNNABLE, STATE_RUNNING, STATE_SYSCALL, STATE_UNKNOWN,
		STATE_RUNNING, STATE_RUNNING,  STATE_RUNNING, STATE_RUNNING, STATE_UNKNOWN,
		STATE_UNKNOWN, STATE_RUNNING,  STATE_RUNNING,
	};
	struct fixture *f = begin(state);

	for (uint32_t status = 0; status < sizeof(of_status) / sizeof(*of_status); status++) {
		uint64_t before[STATE_WAITING];

		for (unsigned i = 0; i < STATE_WAITING; i++)
			before[i] = total_of(f, i);
		fakeg_status(status);
		call(0);
		end(0);
		for (unsigned i = 0; i < STATE_WAITING; i++)
			assert_int_equal(total_of(f, i) > before[i], i == of_status[status]);
	}
	fakeg_status(0);
	expect_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nested, teardown),
		cmocka_unit_test_teardown(test_outer_ends_first, teardown),
		cmocka_unit_test_teardown(test_unseen, teardown),
		cmocka_unit_test_teardown(test_statuses, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
