// SPDX-License-Identifier: Apache-2.0
/* Clocks of goroutines' states, turned by this very program, which acts as Go's do. Needs the
 * privileges to trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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
#include "tracing/latency.h"

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
		{"ROWS", ROWS},           {"UNIT", 1},
		{"GOROUTINES", 8},        {"PLACES", 1024},
		{"DEEP_CALLS", 256},      {"PER_ROW", 1},
		{"NESTED", 64},           {"STATES_WANTED", 1},
		{"G_STATUS", 24},         {"G_WAITREASON", 24},
		{"ARGS_IN_REGISTERS", 1},
	};

	size_t count = 11 + fakeg_define(defs + 11);

	return bpfprog_compile("latency.bpf.c", defs, count, NULL, 0, err);
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

static struct attach *attach_changes(int fd, struct errmsg *err)
{
	const struct fakeg_probe probes[] = {
		{ENTER, cookie_make(0, COOKIE_CALL, 0, CHANGE_SYSCALL)},
		{LEAVE, cookie_make(0, COOKIE_CALL, 0, CHANGE_RETURNED)},
	};

	return fakeg_attach(fd, probes, 2, err);
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
	f->changes = attach_changes(changes, &err);
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

static void wait_ms(unsigned ms)
{
	struct timespec ts = {.tv_nsec = ms * MS};

	nanosleep(&ts, NULL);
}

static void in_syscall(unsigned ms)
{
	hit(ENTER);
	wait_ms(ms);
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

static int count_entry(const void *key, const void *value, void *arg)
{
	size_t *count = arg;

	(void)key;
	(void)value;
	++*count;
	return 0;
}

static size_t entries(const struct fixture *f, const char *map)
{
	int fd = bpfprog_map(f->prog, map);
	size_t key_size, value_size, count = 0;

	assert_int_equal(bpfmap_sizes(fd, &key_size, &value_size), 0);
	assert_int_equal(bpfmap_each(fd, key_size, value_size, count_entry, &count), 0);
	return count;
}

static void expect_clean(const struct fixture *f)
{
	assert_int_equal(entries(f, "clocks"), 0);
	assert_int_equal(entries(f, "clocks_then"), 0);
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
	wait_ms(SHORT_MS);
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
	wait_ms(SHORT_MS);
	call(1);
	in_syscall(SHORT_MS);
	call(2);
	wait_ms(SHORT_MS);
	end(0);
	in_syscall(LONG_MS);
	end(1);
	wait_ms(SHORT_MS);
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
	wait_ms(LONG_MS);
	hit(LEAVE);
	wait_ms(SHORT_MS);
	end(0);
	assert_true(ns_of(f, 0, STATE_UNKNOWN) >= LONG_MS * MS);
	assert_in_range(ns_of(f, 0, STATE_RUNNING), SHORT_MS * MS, LONG_MS * MS);
	int fd = bpfprog_map(f->prog, "state_losses");

	assert_int_equal(bpfmap_sum_percpu(fd, STATE_LOSSES, 1, losses), 0);
	assert_int_equal(losses[STATE_LOSS_UNSEEN], 1);
	expect_clean(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nested, teardown),
		cmocka_unit_test_teardown(test_outer_ends_first, teardown),
		cmocka_unit_test_teardown(test_unseen, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
