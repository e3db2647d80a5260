// SPDX-License-Identifier: Apache-2.0
/* Entries about processes that have ended, in maps that are the test's; and what counts have grown
 * by since they were read last. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfdelta.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/processes.h"

enum { GONE = 3, CALLS = 4, COUNTS = 5, MOST = 8 };

static int gone_map, links[2];
static struct {
	struct process_key key;
	uint64_t end_ns;
	bool deleted;
} gone[MOST];
static struct {
	struct goroutine_key key;
	uint64_t value;
	bool deleted;
} calls[MOST];
static size_t gone_count, call_count, count_key_size;
static struct {
	char key[12];
	uint64_t count;
} counts[MOST];
static size_t count_count;

static uint64_t now_ns;

/* --- in place of the kernel --- */

uint64_t clock_ns(void)
{
	return now_ns;
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	assert_null(prog);
	assert_string_equal(name, "gone");
	return gone_map;
}

int bpfprog_at_tracepoint(struct bpfprog *prog, const char *name, const char *tracepoint,
			  struct errmsg *err)
{
	assert_null(prog);
	assert_null(err);
	if (!strcmp(name, "on_process_exit")) {
		assert_string_equal(tracepoint, "sched_process_exit");
		return links[0];
	}
	assert_string_equal(name, "on_process_exec");
	assert_string_equal(tracepoint, "sched_process_exec");
	return links[1];
}

int bpfmap_sizes(int fd, size_t *key, size_t *value)
{
	*key = fd == CALLS ? sizeof(struct goroutine_key) : count_key_size;
	*value = sizeof(uint64_t);
	return fd < 0 ? -1 : 0;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_int_equal(value_size, sizeof(uint64_t));
	for (size_t i = 0; fd == GONE && i < gone_count; i++) {
		assert_int_equal(key_size, sizeof(struct process_key));
		if (!gone[i].deleted)
			assert_int_equal(fn(&gone[i].key, &gone[i].end_ns, arg), 0);
	}
	for (size_t i = 0; fd == CALLS && i < call_count; i++) {
		assert_int_equal(key_size, sizeof(struct goroutine_key));
		assert_int_equal(fn(&calls[i].key, &calls[i].value, arg), 0);
	}
	for (size_t i = 0; fd == COUNTS && i < count_count; i++) {
		assert_int_equal(key_size, count_key_size);
		assert_int_equal(fn(counts[i].key, &counts[i].count, arg), 0);
	}
	return fd == CALLS ? 7 : 0;
}

int bpfmap_delete(int fd, const void *key)
{
	for (size_t i = 0; fd == GONE && i < gone_count; i++)
		if (!memcmp(key, &gone[i].key, sizeof(gone[i].key)))
			gone[i].deleted = true;
	for (size_t i = 0; fd == CALLS && i < call_count; i++)
		if (!memcmp(key, &calls[i].key, sizeof(calls[i].key)))
			calls[i].deleted = true;
	return 0;
}

/* --- processes --- */

static struct process_key process(unsigned tgid, unsigned exec)
{
	return (struct process_key){.start_ns = 5000, .tgid = tgid, .exec = exec};
}

static int begin(void **state)
{
	(void)state;
	if (fcntl(STDIN_FILENO, F_GETFD) < 0)
		assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
	gone_map = GONE;
	links[0] = links[1] = -1;
	memset(gone, 0, sizeof(gone));
	memset(calls, 0, sizeof(calls));
	gone_count = call_count = count_count = 0;
	return 0;
}

static void add_gone(struct process_key key, uint64_t end_ns)
{
	gone[gone_count].key = key;
	gone[gone_count++].end_ns = end_ns;
}

static void add_call(uint64_t id, struct process_key key)
{
	calls[call_count].key = (struct goroutine_key){id, key};
	calls[call_count].value = 100 + call_count;
	call_count++;
}

static int keep_second(const void *key, const void *value, void *arg)
{
	const struct goroutine_key *who = key;
	uint64_t number;

	memcpy(&number, value, sizeof(number));
	*(uint64_t *)arg += number;
	return who->id == 2;
}

static void expect_deleted(const char *want)
{
	char got[MOST + 1] = "";

	for (size_t i = 0; i < call_count; i++)
		got[i] = calls[i].deleted ? 'x' : '.';
	assert_string_equal(got, want);
}

/* In whatever order they have ended; a process that executes another program is gone as what it
 * was. */
static void test_sweep(void **state)
{
	struct processes *procs = processes_new(NULL);
	struct process_key first = process(30, 1), second = process(20, 2), other = process(20, 3);
	uint64_t sum = 0;

	(void)state;
	assert_false(processes_look(procs));
	assert_int_equal(processes_ended(procs, &first), 0);
	add_gone(first, 111);
	add_gone(second, 222);
	add_gone(process(40, 0), 333);
	add_call(1, first);
	add_call(2, second);
	add_call(3, other);
	add_call(4, second);
	assert_true(processes_look(procs));
	assert_int_equal(processes_ended(procs, &first), 111);
	assert_int_equal(processes_ended(procs, &second), 222);
	assert_int_equal(processes_ended(procs, &other), 0);
	assert_int_equal(processes_sweep(procs, CALLS, keep_second, &sum), 7);
	assert_int_equal(sum, 100 + 101 + 103);
	expect_deleted("x..x");
	assert_int_equal(processes_sweep(procs, CALLS, NULL, NULL), 7);
	expect_deleted("xx.x");
	assert_int_equal(processes_sweep(procs, -1, NULL, NULL), -1);
	processes_forget(procs);
	for (size_t i = 0; i < gone_count; i++)
		assert_true(gone[i].deleted);
	assert_int_equal(processes_ended(procs, &first), 0);
	assert_false(processes_look(procs));
	processes_free(procs);
	assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1); /* is none of its descriptors */
}

/* Ten times as long passes before the next one as the last one took. */
static void test_due(void **state)
{
	struct processes *procs = processes_new(NULL);

	(void)state;
	now_ns = 1000;
	assert_true(processes_due(procs));
	processes_look(procs);
	now_ns = 1007;
	processes_forget(procs);
	now_ns = 1076;
	assert_false(processes_due(procs));
	now_ns = 1077;
	assert_true(processes_due(procs));
	processes_free(procs);
}

static bool is_open(int fd)
{
	char byte;

	return read(fd, &byte, 0) == 0;
}

/* Where the kernel has no such thing, or one of the tracepoints cannot be had */
static void test_not_followed(void **state)
{
	int pipes[2];

	(void)state;
	gone_map = -1;
	add_gone(process(30, 1), 111);
	struct processes *procs = processes_new(NULL);

	assert_false(processes_due(procs));
	assert_false(processes_look(procs));
	processes_free(procs);
	processes_free(NULL);
	assert_int_equal(pipe(pipes), 0);
	gone_map = GONE;
	links[1] = pipes[0];
	procs = processes_new(NULL);
	assert_true(is_open(pipes[0]));
	processes_free(procs);
	assert_false(is_open(pipes[0]));
	close(pipes[1]);
}

/* --- counts --- */

static void set_count(size_t i, const char *key, uint64_t count)
{
	memset(counts[i].key, 0, sizeof(counts[i].key));
	memcpy(counts[i].key, key, strnlen(key, sizeof(counts[i].key)));
	counts[i].count = count;
	if (count_count <= i)
		count_count = i + 1;
}

static void tell(void *ctx, const void *key, uint64_t more)
{
	sprintf((char *)ctx + strlen(ctx), "%.12s+%d ", (const char *)key, (int)more);
}

static void expect_more(struct bpfdelta *delta, const char *want)
{
	char got[256] = "";

	assert_int_equal(bpfdelta_each(delta, tell, got), 0);
	assert_string_equal(got, want);
}

/* Keys that differ in their last byte, or in their first */
static void test_delta(void **state)
{
	struct bpfdelta *delta = bpfdelta_new(COUNTS);

	(void)state;
	count_key_size = sizeof(counts[0].key);
	expect_more(delta, "");
	set_count(0, "abcdefghijka", 5);
	set_count(1, "abcdefghijkb", 7);
	set_count(2, "xbcdefghijkb", 0);
	expect_more(delta, "abcdefghijka+5 abcdefghijkb+7 ");
	expect_more(delta, "");
	counts[1].count = 9;
	counts[2].count = 1;
	expect_more(delta, "abcdefghijkb+2 xbcdefghijkb+1 ");
	set_count(0, "new", 4); /* in another order */
	set_count(1, "abcdefghijka", 6);
	expect_more(delta, "new+4 abcdefghijka+1 ");
	counts[0].count = 10;
	assert_int_equal(bpfdelta_each(delta, NULL, NULL), 0);
	counts[0].count = 11;
	expect_more(delta, "new+1 ");
	counts[0].count = 3; /* it was deleted, and came again */
	expect_more(delta, "");
	counts[0].count = 5;
	expect_more(delta, "new+2 ");
	bpfdelta_free(delta);
	delta = bpfdelta_new(-1);
	assert_int_equal(bpfdelta_each(delta, tell, NULL), -1);
	bpfdelta_free(delta);
	bpfdelta_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sweep, begin),
		cmocka_unit_test_setup(test_due, begin),
		cmocka_unit_test_setup(test_not_followed, begin),
		cmocka_unit_test_setup(test_delta, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
