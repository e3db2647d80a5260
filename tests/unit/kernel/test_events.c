// SPDX-License-Identifier: Apache-2.0
/* A real ring buffer, written to by a small BPF program that is run on request: needs the
 * privileges to trace, and Linux 5.14. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/events.h"
#include "unit.h"

struct record {
	uint64_t time_ns;
	uint32_t number, unused; /* what is written ends before: no length that the ring likes */
};

enum { RING_SIZE = 1 << 16, OLD_NS = 1000 * 1000 * 1000, PROG_SYSCALL = 31 };
enum {
	RECORD_LEN = offsetof(struct record, unused),
	FUNC_RINGBUF_OUTPUT = 130,
	NO_WAKEUP = 1,
	FORCE_WAKEUP = 2,
	SEEN_MAX = 4096
};

struct fixture {
	int ring, quiet, loud; /* programs that write a record without and with a wake-up */
	struct events *events;
	uint64_t seen[SEEN_MAX];
	size_t seen_count, enough, len;
};

static int bpf_call(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int make_ring(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_RINGBUF;
	attr.max_entries = RING_SIZE;
	return bpf_call(BPF_MAP_CREATE, &attr);
}

/* Its context, a struct record, goes to the ring: r0 = bpf_ringbuf_output(ring, copy, ...) */
static int make_writer(int ring, int flags)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 2, .src_reg = 1},
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 3, .src_reg = 1, .off = 8},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 10, .src_reg = 2, .off = -16},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 10, .src_reg = 3, .off = -8},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10},
		{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -16},
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = 1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = ring},
		{.code = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = RECORD_LEN},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 4, .imm = flags},
		{.code = BPF_JMP | BPF_CALL, .imm = FUNC_RINGBUF_OUTPUT},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = PROG_SYSCALL;
	attr.prog_flags = BPF_F_SLEEPABLE;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(insns[0]);
	attr.license = (uintptr_t) "GPL";
	return bpf_call(BPF_PROG_LOAD, &attr);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* false: the ring is full */
static bool write_record(int writer, uint64_t time_ns, uint32_t number)
{
	struct record record = {time_ns, number, 0};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = writer;
	attr.test.ctx_in = (uintptr_t)&record;
	attr.test.ctx_size_in = sizeof(record);
	assert_int_equal(bpf_call(BPF_PROG_TEST_RUN, &attr), 0);
	return attr.test.retval == 0;
}

static bool on_event(const void *data, size_t len, void *ctx)
{
	const struct record *record = data;
	struct fixture *f = ctx;

	assert_int_equal((uintptr_t)data % 8, 0);
	assert_int_equal(len, RECORD_LEN);
	assert_true(f->seen_count < SEEN_MAX);
	f->seen[f->seen_count++] = record->number;
	return f->seen_count != f->enough;
}

static int setup(void **state)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	struct errmsg err = {0};

	*state = f;
	f->ring = make_ring();
	f->quiet = make_writer(f->ring, NO_WAKEUP);
	f->loud = make_writer(f->ring, FORCE_WAKEUP);
	if (f->loud >= 0)
		f->events = events_new(f->ring, on_event, f, &err);
	assert_string_equal(err.text, "");
	return 0;
}

static struct fixture *fixture_of(void **state)
{
	struct fixture *f = *state;

	if (!f->events)
		skip();
	return f;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	events_free(f->events);
	for (int *fd = &f->ring; fd <= &f->loud; fd++)
		if (*fd >= 0)
			close(*fd);
	free(f);
	return 0;
}

static void expect_seen(struct fixture *f, const uint64_t *numbers, size_t count)
{
	assert_int_equal(f->seen_count, count);
	assert_memory_equal(f->seen, numbers, count * sizeof(*numbers));
	f->seen_count = 0;
}

/* by time, and what has the same time as it came */
static void test_order(void **state)
{
	static const struct record written[] = {
		{30, 1, 0}, {10, 2, 0}, {30, 3, 0}, {20, 4, 0}, {10, 5, 0}};
	static const uint64_t expected[] = {2, 5, 4, 1, 3};
	struct fixture *f = fixture_of(state);

	for (size_t i = 0; i < 5; i++)
		assert_true(write_record(f->quiet, written[i].time_ns, written[i].number));
	assert_true(events_read(f->events, false));
	expect_seen(f, expected, 5);
	assert_true(events_read(f->events, true));
	expect_seen(f, expected, 0);
}

/* a young event waits for an older one that comes late */
static void test_young(void **state)
{
	struct fixture *f = fixture_of(state);
	uint64_t later = now_ns() + OLD_NS;

	write_record(f->quiet, later, 2);
	write_record(f->quiet, 5, 0);
	assert_true(events_read(f->events, false));
	expect_seen(f, (uint64_t[]){0}, 1);
	write_record(f->quiet, later, 3);
	write_record(f->quiet, later - 1, 1);
	assert_true(events_read(f->events, false));
	expect_seen(f, NULL, 0);
	assert_true(events_read(f->events, true));
	expect_seen(f, (uint64_t[]){1, 2, 3}, 3);
}

/* however many go through, and wherever the ring wraps around */
static void test_many(void **state)
{
	struct fixture *f = fixture_of(state);
	uint64_t number = 0;

	for (int round = 0; round < 20; round++) {
		uint64_t first = number;

		while (write_record(f->quiet, number, number))
			number++;
		assert_true(number - first > RING_SIZE / 32);
		assert_true(events_read(f->events, round % 2));
		assert_int_equal(f->seen_count, number - first);
		for (size_t i = 0; i < f->seen_count; i++)
			assert_int_equal(f->seen[i], first + i);
		f->seen_count = 0;
	}
}

static void test_enough(void **state)
{
	struct fixture *f = fixture_of(state);

	f->enough = 2;
	for (int i = 0; i < 5; i++)
		write_record(f->quiet, i, i);
	assert_false(events_read(f->events, false));
	assert_false(events_read(f->events, true));
	expect_seen(f, (uint64_t[]){0, 1}, 2);
}

static bool readable(const struct events *events)
{
	struct pollfd fd = {events_fd(events), POLLIN, 0};

	return poll(&fd, 1, 0) == 1;
}

/* only when the kernel side says so, and no longer once it was read */
static void test_wakeup(void **state)
{
	struct fixture *f = fixture_of(state);

	events_read(f->events, true);
	assert_false(readable(f->events));
	write_record(f->quiet, 1, 1);
	assert_false(readable(f->events));
	write_record(f->loud, 2, 2);
	for (int i = 0; i < 100 && !readable(f->events); i++)
		usleep(1000); /* the kernel wakes up from an interrupt */
	assert_true(readable(f->events));
	events_read(f->events, true);
	write_record(f->quiet, 3, 3);
	assert_false(readable(f->events));
	expect_seen(f, (uint64_t[]){1, 2}, 2);
}

static void test_no_ring(void **state)
{
	struct errmsg err = {0};

	(void)state;
	assert_null(events_new(-1, on_event, NULL, &err));
	assert_non_null(strstr(err.text, "cannot read the kernel's ring buffer: "));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_young, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wakeup, setup, teardown),
		cmocka_unit_test(test_no_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
