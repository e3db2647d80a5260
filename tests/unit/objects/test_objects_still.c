// SPDX-License-Identifier: Apache-2.0
/* What is copied of a process while it is stopped, and in which order: all other modules are of
 * this test's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image.h"
#include "files/process_stop.h"
#include "frames/frames.h"
#include "gostacks/goprocess.h"
#include "gostacks/goprocesses.h"
#include "objects/memory_copy_internal.h"
#include "objects/objects_still_internal.h"
#include "program/program.h"
#include "steps.h"
#include "unit.h"

enum { PLACE = 0x77, BIAS = 0x10000, RELEASE = 23 };
#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)

static int anything; /* its address stands for what only others look into */

static struct world {
	uint64_t now_ns, step_ns;
	struct span spans[6];
	size_t span_count;
	bool changes; /* the spans cannot be read while it runs */
	uint64_t unreadable;
} world;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

uint64_t clock_ns(void)
{
	world.now_ns += world.step_ns;
	return world.now_ns;
}

const struct frames *goprocess_frames(const struct goprocess *gp)
{
	static const struct frames frames = {.bias = BIAS};

	return &frames;
}

const struct program *goprocess_program(const struct goprocess *gp)
{
	static const struct program prog;

	return &prog;
}

static bool read_nothing(void *ctx, uint64_t addr, void *out, size_t len)
{
	return false;
}

const struct memory *goprocess_memory(const struct goprocess *gp)
{
	static const struct memory mem = {read_nothing, NULL};

	return &mem;
}

int goprocess_release(const struct goprocess *gp)
{
	return RELEASE;
}

const struct image_segment *image_segments(const struct image *img, size_t *count)
{
	static const struct image_segment segments[] = {
		{.addr = 0x400000, .memsz = 0x1000},
		{.addr = 0x500010, .memsz = 0x1000, .write = true},
		{.addr = 0x600000, .memsz = 0x1000, .write = true},
		{.addr = 0x700000, .memsz = GB, .write = true},
		{.addr = 0x800000, .memsz = GB - 1, .write = true},
	};

	*count = sizeof(segments) / sizeof(*segments);
	return segments;
}

int goprocess_snapshot(struct goprocess *gp, const struct goprocess_wanted *wanted,
		       struct snapshot *out, struct errmsg *err)
{
	static struct goroutine all[] = {
		{.sp = 0xc000100004, .stack_hi = 0xc000100100},
		{.sp = 0, .stack_hi = 0xc000100100},
		{.sp = 0xc000100100, .stack_hi = 0xc000100100},
		{.sp = 0xc000200000, .stack_hi = 0xc000200000 + GB},
		{.sp = 0xc000300000, .stack_hi = 0xc000300000 + GB - 8},
	};

	if (steps_answer(err, "snapshot%s", wanted->stop ? " of what stands still" : ""))
		return -1;
	*out = (struct snapshot){.all = all, .count = sizeof(all) / sizeof(*all)};
	return 0;
}

void snapshot_free(struct snapshot *snap)
{
	steps_are("snapshot_free");
}

void special_queues_read(const struct special_queues *queues, const struct memory *mem,
			 uint64_t bias, int release, struct specials *out)
{
	assert_true(queues && mem && out);
	assert_int_equal(bias, BIAS);
	assert_int_equal(release, RELEASE);
}

int spans_read(const struct memory *mem, uint64_t place, int release, uint64_t until_ns,
	       struct spans *out, struct errmsg *err)
{
	*out = (struct spans){.all = world.spans, .count = world.span_count};
	if (steps_answer(err, "spans_read %lx, Go 1.%d, %lu ms", place, release,
			 until_ns ? (until_ns - world.now_ns) / 1000000 : 0))
		return -1;
	if (!world.changes)
		return 0;
	world.changes = false;
	return -1;
}

void spans_free(struct spans *spans)
{
	steps_are("spans_free");
}

uint64_t spans_there(const struct spans *spans, const struct memory *mem)
{
	return 4711;
}

struct memory_copy *memory_copy_new(void)
{
	return (void *)&anything;
}

void memory_copy_free(struct memory_copy *copy)
{
	steps_are("memory_copy_free %d", copy != NULL);
}

void memory_copy_reserve(struct memory_copy *copy, size_t bytes)
{
	steps_are("reserve %zx", bytes);
}

bool memory_copy_add(struct memory_copy *copy, const struct memory *mem, uint64_t addr, size_t len)
{
	steps_are("copy %lx+%zx", addr, len);
	return addr != world.unreadable || len <= 2 * SPAN_PAGE;
}

bool memory_copy_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	return false;
}

struct process_stop *process_stop_new(const struct process *proc, struct errmsg *err)
{
	return steps_answer(err, "stop") ? NULL : (void *)&anything;
}

uint64_t process_stop_end(struct process_stop *stop)
{
	steps_are("go on");
	return 12;
}

void budget_watch_task(const char *whose, const char *task)
{
	steps_are("%s: %s", whose, task);
}

void budget_watch_allow(uint64_t ns, uint64_t bytes)
{
	steps_are("allow %lx ns, %lx bytes", ns, bytes);
}

/* NOLINTEND(misc-unused-parameters) */

static void take(bool is_core)
{
	struct goprocesses_one one = {.proc = is_core ? NULL : (void *)&anything,
				      .gp = (void *)&anything};
	static const struct objects_places places = {.spans = PLACE};
	struct objects_still still;
	struct errmsg err = {0};

	if (objects_still_take(&one, &places, &still, &err) == 0) {
		steps_are("taken: %zu of %zu roots are variables, %lu bytes, %lu ns, %s",
			  still.variables, still.root_count, still.scanned, still.stopped_ns,
			  still.mem.read == memory_copy_read ? "copied" : "where it is");
		for (size_t i = 0; i < still.root_count; i++)
			steps_are("%lx+%lx", still.roots[i].addr, still.roots[i].len);
	} else {
		steps_are("error: %s%s%s", err.text, *err.hint ? "; " : "", err.hint);
	}
	objects_still_free(&still);
}

static void begin(const char *fails)
{
	static const struct span spans[] = {
		{.base = 0xc000000000, .bytes = SPAN_PAGE},
		{.base = 0xc000002000, .bytes = 2 * SPAN_PAGE},
		{.base = 0xc000006000, .bytes = SPAN_PAGE, .noscan = true},
		{.base = 0xc000008000, .bytes = SPAN_PAGE},
		{.base = 0xc00000c000, .bytes = 16 * MB},
		{.base = 0xc00100c000, .bytes = SPAN_PAGE},
	};

	memset(&steps, 0, sizeof(steps));
	steps.fails = fails;
	world = (struct world){.now_ns = 1000000000, .span_count = 6};
	memcpy(world.spans, spans, sizeof(spans));
}

static void test_process(void **state)
{
	(void)state;
	begin(NULL);
	take(false);
	steps_expect(
		"snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go 1.23, "
		"5000 ms; spans_free; allow 14a6a400 ns, 210aa00 bytes; reserve 210aa00; stop; "
		"snapshot of what stands still; the process: a look at its heap; spans_read 77, Go "
		"1.23, 5000 ms; allow a064000 ns, 100a000 bytes; copy c000000000+6000; copy "
		"c000008000+2000; copy c00000c000+1000000; copy c00100c000+2000; copy 510000+2000; "
		"copy 610000+1000; copy 810000+40000000; copy c000100000+fc; copy "
		"c000300000+3ffffff8; go on; taken: 3 of 5 roots are variables, 16818176 bytes, 12 "
		"ns, copied; 510000+2000; 610000+1000; 810000+40000000; c000100000+fc; "
		"c000300000+3ffffff8; snapshot_free; spans_free; memory_copy_free 1; ");
	begin(NULL);
	world.changes = true;
	world.unreadable = 0xc000000000;
	take(false);
	steps_expect(
		"snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go 1.23, "
		"5000 ms; stop; snapshot of what stands still; the process: a look at its heap; "
		"spans_read 77, Go 1.23, 5000 ms; allow a064000 ns, 100a000 bytes; copy "
		"c000000000+6000; copy c000000000+2000; copy c000002000+4000; copy "
		"c000008000+2000; copy c00000c000+1000000; copy c00100c000+2000; copy 510000+2000; "
		"copy 610000+1000; copy 810000+40000000; copy c000100000+fc; copy "
		"c000300000+3ffffff8; go on; taken: 3 of 5 roots are variables, 16818176 bytes, 12 "
		"ns, copied; 510000+2000; 610000+1000; 810000+40000000; c000100000+fc; "
		"c000300000+3ffffff8; snapshot_free; spans_free; memory_copy_free 1; ");
}

static void test_core(void **state)
{
	(void)state;
	begin(NULL);
	take(true);
	steps_expect("snapshot; the core file: a look at its heap; spans_read 77, Go 1.23, 0 ms; "
		     "taken: 3 of 5 roots are variables, 4711 bytes, 0 ns, where it is; "
		     "510000+2000; 610000+1000; 810000+40000000; c000100000+fc; "
		     "c000300000+3ffffff8; snapshot_free; spans_free; memory_copy_free 0; ");
	begin("spans_read");
	take(true);
	steps_expect("snapshot; the core file: a look at its heap; spans_read 77, Go 1.23, 0 ms; "
		     "error: no spans_read; snapshot_free; spans_free; memory_copy_free 0; ");
}

static void test_failures(void **state)
{
	(void)state;
	begin("snapshot");
	take(false);
	steps_expect("snapshot; error: no snapshot; spans_free; memory_copy_free 1; ");
	begin("snapshot");
	steps.times = 1;
	take(false);
	steps_expect("snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go "
		     "1.23, 5000 ms; spans_free; allow 14a6a400 ns, 210aa00 bytes; reserve "
		     "210aa00; stop; snapshot of what stands still; go on; error: no snapshot; "
		     "spans_free; memory_copy_free 1; ");
	begin("stop");
	take(false);
	steps_expect("snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go "
		     "1.23, 5000 ms; spans_free; allow 14a6a400 ns, 210aa00 bytes; reserve "
		     "210aa00; stop; error: no stop; spans_free; memory_copy_free 1; ");
}

/* What is too large is not copied, and what takes too long is not waited for. */
static void test_limits(void **state)
{
	(void)state;
	begin(NULL);
	world.spans[1].bytes = 4 * GB;
	take(false);
	steps_expect("snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go "
		     "1.23, 5000 ms; spans_free; error: its objects with pointers take more than "
		     "the 4294967296 bytes that are copied while it is stopped; take a core file "
		     "with gcore(1), and read it with --core; spans_free; memory_copy_free 1; ");
	begin(NULL);
	world.changes = true;
	world.spans[1].bytes = 4 * GB - 16 * MB - 3 * SPAN_PAGE;
	take(false);
	steps_expect("snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go "
		     "1.23, 5000 ms; stop; snapshot of what stands still; the process: a look at "
		     "its heap; spans_read 77, Go 1.23, 5000 ms; allow a00000000 ns, 100000000 "
		     "bytes; copy c000000000+feffc000; copy c000008000+2000; copy "
		     "c00000c000+1000000; copy c00100c000+2000; go on; error: its objects with "
		     "pointers take more than the 4294967296 bytes that are copied while it is "
		     "stopped; take a core file with gcore(1), and read it with --core; "
		     "snapshot_free; spans_free; memory_copy_free 1; ");
	begin(NULL);
	world.spans[1].bytes = 4 * GB - 320 * MB;
	take(false);
	steps_expect("snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go "
		     "1.23, 5000 ms; spans_free; allow 9e023fc00 ns, fcd06600 bytes; reserve "
		     "fcd06600; stop; snapshot of what stands still; the process: a look at its "
		     "heap; spans_read 77, Go 1.23, 5000 ms; allow 94203c000 ns, ed006000 bytes; "
		     "copy c000000000+ec002000; copy c000008000+2000; copy c00000c000+1000000; "
		     "copy c00100c000+2000; copy 510000+2000; copy 610000+1000; go on; error: its "
		     "objects with pointers take more than the 4294967296 bytes that are copied "
		     "while it is stopped; take a core file with gcore(1), and read it with "
		     "--core; snapshot_free; spans_free; memory_copy_free 1; ");
	begin(NULL);
	world.step_ns = 3000000000;
	take(false);
	steps_expect(
		"snapshot; snapshot_free; the process: a look at its heap; spans_read 77, Go 1.23, "
		"5000 ms; spans_free; allow 14a6a400 ns, 210aa00 bytes; reserve 210aa00; stop; "
		"snapshot of what stands still; the process: a look at its heap; spans_read 77, Go "
		"1.23, 5000 ms; allow a064000 ns, 100a000 bytes; go on; error: to copy its objects "
		"takes too long; snapshot_free; spans_free; memory_copy_free 1; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_core),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
