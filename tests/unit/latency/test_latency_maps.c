// SPDX-License-Identifier: Apache-2.0
/* What is made of the kernel side's counters: intervals, readings for metrics, calls that did not
 * return. The maps are arrays of this test. */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/processes.h"
#include "latency/histogram_internal.h"
#include "latency/latency_internal.h"
#include "metrics/reading.h"

enum map { CONTROL, SUMS, COUNTED_LOSSES, EXTREMES, HISTOGRAM, PLACES, GOROUTINES, DEEP, MARKS };
enum { MAPS = MARKS + 1, ROWS = 3, ENTRIES = 4 };

static const char *const names[MAPS] = {"control",    "sums",       "losses",
					"extremes",   "histogram",  "places",
					"goroutines", "deep_calls", "marks"};
static struct call_sums sums[ROWS];
static uint64_t losses[LOSSES], slots[HISTOGRAM_SLOTS];
static struct call_extremes extremes[ROWS * 2];
static uint32_t control[2];
static struct timed {
	uint64_t key, count;
} places[ENTRIES];
static struct goroutine {
	struct goroutine_key who;
	struct calls calls;
} goroutines[ENTRIES];
static struct deep {
	struct deep_key key;
	struct call call;
} deep_calls[ENTRIES];
static struct marked {
	struct goroutine_key who;
	struct end_mark mark;
} marks[ENTRIES];
static size_t place_count, goroutine_count, deep_count, mark_count;
static bool gone;        /* a process has ended: all entries are of it */
static int failing = -1; /* the map that cannot be read */
static unsigned swept, forgotten;

/* --- of kernel/ --- */

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	(void)prog;
	for (int i = 0; i < MAPS; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static int fails(int fd)
{
	errno = EIO;
	return fd == failing ? -1 : 0;
}

static int find(const void *entries, size_t count, size_t key_size, size_t size, const void *key,
		void *value)
{
	for (size_t i = 0; i < count; i++) {
		const char *entry = (const char *)entries + i * size;

		if (!memcmp(entry, key, key_size)) {
			memcpy(value, entry + key_size, size - key_size);
			return 0;
		}
	}
	return -1;
}

int bpfmap_lookup(int fd, const void *key, void *value)
{
	if (fails(fd))
		return -1;
	if (fd == GOROUTINES)
		return find(goroutines, goroutine_count, sizeof(struct goroutine_key),
			    sizeof(struct goroutine), key, value);
	if (fd == MARKS)
		return find(marks, mark_count, sizeof(struct goroutine_key), sizeof(struct marked),
			    key, value);
	assert_int_equal(fd, EXTREMES);
	memcpy(value, &extremes[*(const uint32_t *)key], sizeof(*extremes));
	return 0;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	if (fails(fd))
		return -1;
	if (fd == CONTROL)
		memcpy(control, value, sizeof(control));
	else
		memcpy(&extremes[*(const uint32_t *)key], value, sizeof(*extremes));
	return 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	const void *from = fd == SUMS ? (void *)sums : fd == HISTOGRAM ? slots : losses;

	assert_true(fd == SUMS || fd == HISTOGRAM || fd == COUNTED_LOSSES);
	memcpy(out, from, entries * words * sizeof(*out));
	return fails(fd);
}

int bpfmap_sizes(int fd, size_t *key_size, size_t *value_size)
{
	*key_size = fd == DEEP ? sizeof(struct deep_key) : sizeof(struct goroutine_key);
	*value_size = fd == DEEP ? sizeof(struct call) : sizeof(struct calls);
	return fails(fd);
}

static int each(int fd, int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	if (fails(fd))
		return -1;
	for (size_t i = 0; fd == PLACES && i < place_count; i++)
		fn(&places[i].key, &places[i].count, arg);
	for (size_t i = 0; fd == DEEP && i < deep_count; i++)
		fn(&deep_calls[i].key, &deep_calls[i].call, arg);
	for (size_t i = 0; fd == GOROUTINES && i < goroutine_count; i++)
		fn(&goroutines[i].who, &goroutines[i].calls, arg);
	return 0;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_int_equal(key_size, fd == PLACES ? 8
				   : fd == DEEP ? sizeof(struct deep_key)
						: sizeof(struct goroutine_key));
	assert_int_equal(value_size, fd == PLACES ? 8
				     : fd == DEEP ? sizeof(struct call)
						  : sizeof(struct calls));
	return each(fd, fn, arg);
}

struct processes *processes_new(struct bpfprog *bpf)
{
	(void)bpf;
	return NULL;
}

void processes_free(struct processes *procs)
{
	(void)procs;
}

bool processes_look(struct processes *procs)
{
	(void)procs;
	return gone;
}

bool processes_due(struct processes *procs)
{
	(void)procs;
	return gone;
}

/* Deletes them, as all are of the process. */
int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	(void)procs;
	if (fn && each(fd, fn, arg))
		return -1;
	swept |= 1 << fd;
	if (fd == DEEP)
		deep_count = 0;
	if (fd == GOROUTINES)
		goroutine_count = 0;
	if (fd == MARKS)
		mark_count = 0;
	return fails(fd);
}

void processes_forget(struct processes *procs)
{
	(void)procs;
	gone = false;
	forgotten++;
}

/* --- */

static int setup(void **state)
{
	*state = NULL;
	memset(sums, 0, sizeof(sums));
	memset(losses, 0, sizeof(losses));
	memset(slots, 0, sizeof(slots));
	memset(extremes, 0, sizeof(extremes));
	place_count = goroutine_count = deep_count = mark_count = 0;
	swept = forgotten = 0;
	failing = -1;
	gone = false;
	return 0;
}

static void add_goroutine(uint64_t id, uint64_t ended, uint64_t count, const uint32_t *rows)
{
	struct goroutine *g = &goroutines[goroutine_count++];

	*g = (struct goroutine){.who = {.id = id}, .calls = {.count = count, .ended = ended}};
	for (size_t i = 0; i < count && i < CALLS_INLINE; i++)
		g->calls.call[i].row = rows[i];
}

static void add_deep(uint64_t id, uint64_t index, uint32_t row, uint64_t start_ns)
{
	deep_calls[deep_count++] = (struct deep){
		.key = {.who = {.id = id}, .index = index},
		.call = {.row = row, .start_ns = start_ns},
	};
}

static void add_mark(uint64_t id, uint64_t count, uint64_t at_ns, enum ending how)
{
	marks[mark_count++] = (struct marked){{.id = id}, {count, at_ns, how}};
}

static void expect_ends(const struct latency *lat, size_t row, const uint64_t wanted[6])
{
	struct latency_report report;

	latency_row(lat, row, &report);
	assert_int_equal(report.panicked, wanted[0]);
	assert_int_equal(report.exited, wanted[1]);
	assert_int_equal(report.switched, wanted[2]);
	assert_int_equal(report.lost, wanted[3]);
	assert_int_equal(report.process_ended, wanted[4]);
	assert_int_equal(report.running, wanted[5]);
}

#define EXPECT_ENDS(lat, row, ...) expect_ends(lat, row, (const uint64_t[6]){__VA_ARGS__})

/* Calls that are still in the maps: of goroutines that run, of segments that a hook has ended, and
 * deep ones that their goroutine counts, or no longer. */
static void fill_maps(void)
{
	uint32_t rows[CALLS_INLINE + 2] = {0, 1, 1, ROWS};

	add_goroutine(1, 0, 4, rows); /* one row is none of ours */
	add_goroutine(2, 1 + EXITED, 1, rows);
	add_goroutine(3, 0, CALLS_INLINE + 1, rows);
	add_deep(3, CALLS_INLINE, 2, 10);     /* is counted by its goroutine */
	add_deep(3, CALLS_INLINE + 1, 2, 10); /* is not, and nobody has said why */
	add_deep(4, CALLS_INLINE, 2, 10);     /* whose goroutine is no more */
	add_deep(3, CALLS_INLINE, ROWS, 10);
	add_mark(4, CALLS_INLINE + 1, 10, SWITCHED);
}

static void test_left(void **state)
{
	struct latency *lat = latency_new(NULL, ROWS, true, 1);
	uint64_t inlined = CALLS_INLINE - 4; /* of goroutine 3, beside the four that have a row */

	(void)state;
	fill_maps();
	assert_int_equal(latency_read(lat, false), 0);
	EXPECT_ENDS(lat, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(latency_read(lat, true), 0);
	EXPECT_ENDS(lat, 0, 0, 1, 0, 0, 0, 2 + inlined);
	EXPECT_ENDS(lat, 1, 0, 0, 0, 0, 0, 4);
	EXPECT_ENDS(lat, 2, 1, 0, 1, 0, 0, 1);
	assert_int_equal(swept, 0);
	latency_free(lat);
}

/* The same when their process has ended */
static void test_gone(void **state)
{
	struct latency *lat = latency_new(NULL, ROWS, true, 1);

	(void)state;
	fill_maps();
	assert_int_equal(latency_sweep(lat), 0); /* it is not time to */
	assert_int_equal(forgotten, 0);
	gone = true;
	assert_int_equal(latency_sweep(lat), 0);
	assert_int_equal(swept, 1 << DEEP | 1 << GOROUTINES | 1 << MARKS);
	assert_int_equal(forgotten, 1);
	assert_int_equal(latency_read(lat, true), 0);
	EXPECT_ENDS(lat, 0, 0, 1, 0, 0, CALLS_INLINE - 2, 0);
	EXPECT_ENDS(lat, 1, 0, 0, 0, 0, 4, 0);
	EXPECT_ENDS(lat, 2, 1, 0, 1, 0, 1, 0);
	/* of what runs from then on it is not said */
	add_goroutine(5, 0, 1, (uint32_t[]){2});
	assert_int_equal(latency_read(lat, true), 0);
	EXPECT_ENDS(lat, 2, 0, 0, 0, 0, 0, 1);
	latency_free(lat);
}

/* A mark is of calls up to an index and up to a moment. */
static void test_marks(void **state)
{
	struct latency *lat = latency_new(NULL, ROWS, true, 1);

	(void)state;
	add_mark(1, 20, 100, LOST);
	add_deep(1, 19, 0, 100);
	add_deep(1, 20, 1, 100);
	add_deep(1, 18, 2, 101);
	assert_int_equal(latency_read(lat, true), 0);
	EXPECT_ENDS(lat, 0, 0, 0, 0, 1, 0, 0);
	EXPECT_ENDS(lat, 1, 1, 0, 0, 0, 0, 0);
	EXPECT_ENDS(lat, 2, 1, 0, 0, 0, 0, 0);
	latency_free(lat);
}

static void count_calls(uint64_t n)
{
	for (size_t row = 0; row < ROWS; row++) {
		uint64_t a = n * (row + 1);

		sums[row] = (struct call_sums){a,     1000 * a, 2 * a, 3 * a, 4 * a, 5 * a,
					       6 * a, 7 * a,    8 * a, 9 * a, 10 * a};
	}
	for (uint64_t i = 0; i < LOSSES; i++)
		losses[i] = n * (i + 1);
}

static void add_times(uint64_t row, uint64_t value, uint64_t count)
{
	places[place_count++] = (struct timed){latency_place(row, histogram_index(value)), count};
}

static void expect_row(const struct latency *lat, size_t row, uint64_t n)
{
	struct latency_report report;
	uint64_t a = n * (row + 1);

	latency_row(lat, row, &report);
	assert_int_equal(latency_row_calls(lat, row), a);
	assert_int_equal(report.count, a);
	assert_int_equal(report.total_ns, 1000 * a);
	assert_int_equal(report.panicked, 2 * a);
	assert_int_equal(report.exited, 3 * a);
	assert_int_equal(report.switched, 4 * a);
	assert_int_equal(report.lost, 5 * a);
	assert_int_equal(report.jumped, 6 * a);
	assert_int_equal(report.errors, 7 * a);
	assert_int_equal(report.unread, 8 * a);
	assert_int_equal(report.probes_ns, 9 * a);
	assert_int_equal(report.unpriced, 10 * a);
}

/* Each interval has what was added in it, by row and in all, of both places for extremes. */
static void test_intervals(void **state)
{
	struct latency *lat = latency_new(NULL, ROWS, true, 1000);
	struct latency_report report;

	(void)state;
	assert_int_equal(latency_switch(lat, true), 0);
	assert_true(control[0] == 1 && control[1] == 0);
	count_calls(10);
	add_times(0, 3, 4);
	add_times(1, 90, 5);
	extremes[0] = (struct call_extremes){9000, ~UINT64_C(2000)};
	extremes[2] = (struct call_extremes){8000, ~UINT64_C(1000)};
	assert_int_equal(latency_read(lat, false), 0);
	assert_true(control[0] == 1 && control[1] == 1);
	assert_int_equal(extremes[0].max_ns | extremes[2].not_min_ns, 0);
	for (size_t row = 0; row < ROWS; row++)
		expect_row(lat, row, 10);
	latency_row(lat, 1, &report);
	assert_true(report.max_ns == 8000 && report.min_ns == 1000);
	assert_true(report.hist.max == 8 && report.hist.min == 1 && report.hist.total == 20);
	assert_true(report.hist.count == 5 && report.hist.slots[histogram_index(90)] == 5);
	latency_total(lat, &report);
	assert_true(report.max_ns == 9000 && report.min_ns == 1000 && report.count == 60);
	assert_true(report.hist.count == 9 && report.hist.slots[histogram_index(3)] == 4);

	count_calls(13);
	places[0].count += 2;
	extremes[3] = (struct call_extremes){7000, ~UINT64_C(6000)};
	assert_int_equal(latency_read(lat, false), 0);
	assert_true(control[0] == 1 && control[1] == 0);
	for (size_t row = 0; row < ROWS; row++)
		expect_row(lat, row, 3);
	for (unsigned i = 0; i < LOSSES; i++) {
		assert_int_equal(latency_lost(lat, i), 3 * (i + 1));
		assert_int_equal(latency_lost_in_all(lat, i), 13 * (i + 1));
	}
	latency_total(lat, &report);
	assert_true(report.max_ns == 7000 && report.min_ns == 6000 && report.hist.count == 2);
	latency_row(lat, 0, &report);
	assert_true(report.max_ns == 0 && report.min_ns == 0 && report.hist.count == 2);
	latency_free(lat);
}

/* Of all rows together there is one histogram. */
static void test_together(void **state)
{
	struct latency *lat = latency_new(NULL, ROWS, false, 1);
	struct latency_report report;

	(void)state;
	slots[3] = 4;
	assert_int_equal(latency_read(lat, false), 0);
	slots[3] = 6;
	slots[5] = 1;
	assert_int_equal(latency_read(lat, false), 0);
	latency_total(lat, &report);
	assert_true(report.hist.count == 3 && report.hist.slots[3] == 2);
	assert_int_equal(report.hist.slots[5], 1);
	latency_free(lat);
}

static void expect_reading(const struct latency *lat, size_t row, uint64_t n, uint64_t gone_calls,
			   uint64_t running)
{
	struct reading sum = {.calls = 1, .panicked = 1, .running = 1, .total_ns = 1};
	uint64_t a = n * (row + 1);

	latency_add_reading(lat, row, &sum);
	assert_int_equal(sum.total_ns, 1000 * a + 1);
	assert_int_equal(sum.panicked, 2 * a + 1);
	assert_int_equal(sum.exited, 3 * a);
	assert_int_equal(sum.process_ended, gone_calls);
	assert_int_equal(sum.running, running + 1);
	assert_int_equal(sum.calls, 1 + (row == 1 ? 12 : row));
	assert_int_equal(sum.buckets[2], row == 1 ? 5 : 0); /* 3 us */
	assert_int_equal(sum.buckets[7], row == 1 ? 7 : 0); /* 90 us */
	assert_int_equal(sum.buckets[0], row == 2 ? 2 : 0); /* less than 1 us */
}

static void expect_losses(const struct latency *lat, uint64_t n)
{
	static const char *const reasons[READING_LOSSES] = {
		"goroutines_full", "processes_full", "deep_calls_full", "no_memory", "unreadable",
		"histograms_full", "end_not_seen",   "system_stack",    "jump"};
	/* of all rows, 1 + 2 + 3 times */
	const uint64_t calls[READING_LOSSES] = {n,     2 * n,  3 * n,  4 * n, 5 * n,
						6 * n, 30 * n, 24 * n, 36 * n};
	struct reading_loss got[READING_LOSSES];

	assert_int_equal(latency_reading_losses(lat, got), READING_LOSSES);
	for (unsigned i = 0; i < READING_LOSSES; i++) {
		assert_string_equal(got[i].reason, reasons[i]);
		assert_int_equal(got[i].calls, calls[i]);
	}
}

/* Metrics are of all the time, and taking them is nothing to the intervals. */
static void test_readings(void **state)
{
	struct latency *lat = latency_new(NULL, ROWS, true, 1000);

	(void)state;
	add_goroutine(1, 0, 1, (uint32_t[]){0});
	gone = true;
	count_calls(10);
	assert_int_equal(latency_read(lat, false), 0);
	add_goroutine(2, 0, 3, (uint32_t[]){1, 1, 2});
	add_times(2, 0, 2);
	add_times(1, 90, 7);
	add_times(1, 3, 5);
	count_calls(12);
	for (unsigned again = 0; again < 2; again++) {
		assert_int_equal(latency_peek(lat, false), 0);
		expect_reading(lat, 0, 12, 1, 0);
		expect_reading(lat, 1, 12, 0, 2);
		expect_reading(lat, 2, 12, 0, 1);
		expect_losses(lat, 12);
		assert_int_equal(latency_row_calls(lat, 0), 10);
	}
	assert_int_equal(latency_read(lat, true), 0);
	expect_row(lat, 2, 2);
	count_calls(100);
	assert_int_equal(latency_peek(lat, true), 0); /* what was read */
	expect_reading(lat, 1, 12, 0, 2);
	expect_losses(lat, 12);
	latency_free(lat);
}

/* What cannot be read is said. */
static void test_failures(void **state)
{
	const int all[] = {CONTROL, SUMS, COUNTED_LOSSES, EXTREMES, PLACES, GOROUTINES, DEEP};
	const int peeked[] = {SUMS, COUNTED_LOSSES, PLACES, GOROUTINES, DEEP};
	struct latency *lat = latency_new(NULL, ROWS, true, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		failing = all[i];
		assert_int_equal(latency_read(lat, true), -1);
	}
	for (size_t i = 0; i < sizeof(peeked) / sizeof(*peeked); i++) {
		failing = peeked[i];
		assert_int_equal(latency_peek(lat, false), -1);
	}
	for (failing = GOROUTINES; failing < MAPS; failing++) {
		gone = true;
		assert_int_equal(latency_sweep(lat), -1);
		gone = true;
		assert_int_equal(latency_peek(lat, false), -1);
		gone = true;
		assert_int_equal(latency_read(lat, false), -1);
	}
	failing = CONTROL;
	assert_int_equal(latency_switch(lat, false), -1);
	latency_free(lat);
	lat = latency_new(NULL, ROWS, false, 1);
	failing = HISTOGRAM;
	assert_int_equal(latency_read(lat, true), -1);
	latency_free(lat);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_left, setup),
		cmocka_unit_test_setup(test_gone, setup),
		cmocka_unit_test_setup(test_marks, setup),
		cmocka_unit_test_setup(test_intervals, setup),
		cmocka_unit_test_setup(test_together, setup),
		cmocka_unit_test_setup(test_readings, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
