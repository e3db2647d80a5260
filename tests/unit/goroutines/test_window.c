// SPDX-License-Identifier: Apache-2.0
/* Goroutines that are read together, from a program that runs on. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "files/process.h"
#include "files/process_stop.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "goroutines/memory.h"
#include "goroutines/memory_pages.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_window.h"
#include "frames/unwinder.h"
#include "machine/insn.h"
#include "goroutines/runtime_vars_internal.h"
#include "fakemem.h"
#include "unit.h"

enum {
	PAGE = 0x1000,
	BASE = FAKEMEM_BASE,
	ALLGS = BASE,
	LIST = BASE + 0x100,
	SUDOGS = BASE + PAGE
};
enum { COUNT = 100, G_SIZE = 0x200, G = BASE + 0x2000, STACKS = BASE + 0x20000, STACK_SIZE = PAGE };
enum { SIZE = STACKS - BASE + COUNT * STACK_SIZE, FRAME = 16 };
enum { MIDDLE = 0x1000, LEFT = 0x1010, RIGHT = 0x1020, TORN = 0x1030, FIRST = 0x2000 };
enum { CHAN = 3, COROUTINE = 4, SEQ = 189, M = BASE + 0x80 };
enum { STACK_MAX = 8 << 10 }; /* as in snapshot_window.c */
enum { LIST_READS = 3 };      /* before any goroutine */

static struct frame_rule fake_rule(void *ctx, uint64_t pc)
{
	(void)ctx;
	return (struct frame_rule){.sp_delta = FRAME,
				   .kind = pc == FIRST ? FRAME_FIRST : FRAME_PLAIN};
}

static uint64_t g_at(size_t i)
{
	return G + i * G_SIZE;
}

static uint64_t sp_at(size_t i)
{
	return STACKS + i * STACK_SIZE + STACK_SIZE / 2;
}

static void put_caller(size_t i, uint64_t caller)
{
	fakemem_put(sp_at(i) + FRAME, caller);
}

/* It runs, and waits again. */
static void put_run(size_t i)
{
	fakemem.bytes[g_at(i) + SEQ - BASE]++;
}

static void put_reason(size_t i, uint8_t reason)
{
	fakemem.bytes[g_at(i) + fakemem_layout.g_waitreason - BASE] = reason;
}

static int setup(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	fakemem_put(ALLGS, LIST);
	for (size_t i = 0; i < COUNT; i++) {
		fakemem_put(LIST + i * 8, g_at(i));
		fakemem_put(g_at(i), STACKS + i * STACK_SIZE);
		fakemem_put(g_at(i) + 8, STACKS + (i + 1) * STACK_SIZE);
		fakemem_put(g_at(i) + 56, sp_at(i));
		fakemem_put(g_at(i) + 64, MIDDLE);
		fakemem_put(g_at(i) + 144, GOROUTINE_WAITING);
		fakemem_put(g_at(i) + 152, i + 1);
		put_reason(i, CHAN);
		fakemem.bytes[g_at(i) + SEQ - BASE] = 255; /* the next one is 0 */
		put_caller(i, LEFT);
		fakemem_put(sp_at(i) + 2 * FRAME + 8, FIRST);
	}
	return 0;
}

static struct snapshot_source source(void)
{
	return (struct snapshot_source){.mem = &fakemem_memory,
					.rt = &fakemem_layout,
					.allgs = ALLGS,
					.rule = fake_rule,
					.g_tracking_seq = SEQ};
}

static void take_from(const struct snapshot_source *from, size_t count, struct snapshot *snap)
{
	struct errmsg err = {0};

	fakemem_put(ALLGS + 8, count);
	fakemem_put(ALLGS + 16, count);
	*snap = (struct snapshot){0};
	snap->reasons[CHAN] = mem_strdup("chan receive");
	snap->reasons[COROUTINE] = mem_strdup("coroutine");
	assert_int_equal(snapshot_take(from, snap, &err), 0);
	assert_int_equal(snap->count, count);
}

static struct snapshot take(size_t count)
{
	struct snapshot_source from = source();
	struct snapshot snap;

	take_from(&from, count, &snap);
	return snap;
}

static void assert_caller(const struct snapshot *snap, size_t i, uint64_t caller)
{
	size_t count;
	const uint64_t *frames = snapshot_stack(snap, snap->all[i].stack, &count);

	assert_int_equal(snap->all[i].stack_state, STACK_READ);
	assert_int_equal(count, 2);
	assert_int_equal(frames[0], MIDDLE);
	assert_int_equal(frames[1], caller);
}

static void test_together(void **state)
{
	(void)state;
	put_caller(70, RIGHT);
	struct snapshot snap = take(COUNT);

	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(snap.all[i].goid, i + 1);
		assert_caller(&snap, i, i == 70 ? RIGHT : LEFT);
	}
	/* two of each stack, and eight goroutines in a page */
	assert_true(fakemem.reads <= LIST_READS + COUNT * 2 + 3 * (COUNT / 8 + 3));
	snapshot_free(&snap);
}

/* What does not tell if it has run, or not of all of its waits, is read by itself: five times. */
static void test_untold(void **state)
{
	struct snapshot_source from = source();
	struct snapshot snap;

	(void)state;
	from.g_tracking_seq = 0;
	take_from(&from, COUNT, &snap);
	assert_true(fakemem.reads >= COUNT * 5);
	snapshot_free(&snap);
	fakemem.reads = 0;
	for (size_t i = 0; i < COUNT; i++)
		put_reason(i, COROUTINE);
	snap = take(COUNT);
	assert_true(fakemem.reads >= COUNT * 5);
	snapshot_free(&snap);
}

/* At both looks at the stack it is on its way from one function to the other. */
static void run_through(void)
{
	size_t step = fakemem.reads - LIST_READS;

	if (step == 2 || step == 4)
		put_caller(0, TORN);
	if (step == 3 || step == 5)
		put_run(0);
	if (step == 6)
		put_caller(0, RIGHT);
}

static void test_ran(void **state)
{
	(void)state;
	fakemem.before_read = run_through;
	struct snapshot snap = take(1);

	assert_caller(&snap, 0, RIGHT);
	snapshot_free(&snap);
}

/* It has run, so often that the number is the same again. */
static void run_round(void)
{
	put_caller(0, fakemem.reads - LIST_READS < 4 ? TORN : RIGHT);
}

static void test_ran_round(void **state)
{
	(void)state;
	fakemem.before_read = run_round;
	struct snapshot snap = take(1);

	assert_caller(&snap, 0, RIGHT);
	snapshot_free(&snap);
}

/* --- what it waits for --- */

static void put_sudog(size_t i, uint64_t channel)
{
	fakemem_put(g_at(i) + 320, SUDOGS + i * 0x80);
	fakemem_put(SUDOGS + i * 0x80, g_at(i));
	fakemem_put(SUDOGS + i * 0x80 + 80, channel);
}

/* While the sudogs are read */
static void run_at_last(void)
{
	if (fakemem.reads - LIST_READS == 9)
		put_sudog(1, 0x7000);
	if (fakemem.reads - LIST_READS == 10) {
		put_sudog(1, 0x9000);
		put_run(1);
	}
}

static void test_waits(void **state)
{
	static const uint64_t channels[] = {0x4000, 0x5000, 0x6000};
	struct wait_layout waits = wait_layout(ARCH_AMD64, &fakemem_layout, 25, true);
	struct snapshot_source from = source();
	struct snapshot snap;

	(void)state;
	from.waits = &waits;
	for (size_t i = 0; i < 3; i++)
		put_sudog(i, channels[i]);
	fakemem.before_read = run_at_last;
	take_from(&from, 3, &snap);
	assert_int_equal(snap.waits.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(snap.all[i].wait_count, 1);
		assert_int_equal(snap.waits.all[snap.all[i].waits].object,
				 i == 1 ? 0x9000 : channels[i]);
	}
	snapshot_free(&snap);
}

/* --- a process that does not run on --- */

static bool no_registers(const void *ctx, pid_t tid, struct process_registers *out)
{
	(void)ctx;
	(void)tid;
	*out = (struct process_registers){0};
	return false;
}

static void test_still(void **state)
{
	struct snapshot_source from = source();
	struct snapshot snap;

	(void)state;
	from.g_tracking_seq = 0;
	from.registers = no_registers;
	fakemem_put(g_at(3) + 144, GOROUTINE_RUNNABLE);
	fakemem_put(g_at(4) + 144, GOROUTINE_RUNNING);
	take_from(&from, 60, &snap);
	assert_caller(&snap, 3, LEFT);
	assert_int_equal(snap.all[4].stack_state, STACK_RUNNING);
	assert_true(fakemem.reads <= LIST_READS + 60 + 60 / 8 + 3);
	snapshot_free(&snap);
}

/* --- stacks of a snapshot --- */

static void run_while_searched(void)
{
	if (fakemem.reads == 2)
		put_run(1);
}

static void test_stacks(void **state)
{
	struct snapshot_window_stack stacks[4];
	struct snapshot_source from = source();

	(void)state;
	struct snapshot snap = take(4);
	struct snapshot_window *window = snapshot_window_new(&from, &snap);

	for (size_t i = 0; i < 4; i++)
		stacks[i].g = &snap.all[i];
	fakemem_put(g_at(2) + 64, RIGHT); /* as far as is compared, where it was */
	fakemem_put(g_at(3) + 56, sp_at(3) + FRAME);
	fakemem.reads = 0;
	fakemem.before_read = run_while_searched;
	snapshot_window_stacks(window, stacks, 4);
	assert_null(stacks[1].bytes);
	assert_null(stacks[3].bytes);
	for (size_t i = 0; i <= 2; i += 2) {
		assert_int_equal(stacks[i].len, STACK_SIZE / 2);
		assert_memory_equal(stacks[i].bytes, fakemem.bytes + (sp_at(i) - BASE),
				    STACK_SIZE / 2);
	}
	snapshot_window_free(window);
	snapshot_free(&snap);
}

/* The longest that is read with others, one that is longer, and one that is full */
static void test_stack_lengths(void **state)
{
	static const uint64_t lens[] = {STACK_MAX, STACK_MAX + 8, STACK_SIZE};
	struct snapshot_window_stack stacks[3];
	struct snapshot_source from = source();

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		fakemem_put(g_at(i), i == 2 ? sp_at(i) : 0);
		fakemem_put(g_at(i) + 8, sp_at(i) + lens[i]);
	}
	struct snapshot snap = take(3);
	struct snapshot_window *window = snapshot_window_new(&from, &snap);

	for (size_t i = 0; i < 3; i++)
		stacks[i].g = &snap.all[i];
	snapshot_window_stacks(window, stacks, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(stacks[i].len, lens[i]);
		assert_int_equal(stacks[i].bytes != NULL, i != 1);
	}
	snapshot_window_free(window);
	snapshot_free(&snap);
}

/* --- pages --- */

static void test_pages(void **state)
{
	struct memory_pages *pages = memory_pages_new(&fakemem_memory);
	const struct memory *cached = memory_pages_memory(pages);
	uint64_t words[2], end = BASE + SIZE;

	(void)state;
	fakemem_put(STACKS - 8, 1);
	fakemem_put(STACKS, 2);
	fakemem.reads = 0;
	assert_true(cached->read(cached->ctx, STACKS - 8, words, sizeof(words)));
	assert_int_equal(words[0], 1);
	assert_int_equal(words[1], 2);
	fakemem_put(STACKS, 3);
	assert_true(cached->read(cached->ctx, STACKS, words, 8));
	assert_int_equal(words[0], 2);
	assert_int_equal(fakemem.reads, 2);
	memory_pages_forget(pages);
	assert_true(cached->read(cached->ctx, STACKS, words, 8));
	assert_int_equal(words[0], 3);
	assert_false(cached->read(cached->ctx, end - 8, words, sizeof(words)));
	assert_false(cached->read(cached->ctx, UINT64_MAX - 7, words, sizeof(words)));
	assert_false(memory_u64(cached, BASE - 8, words));
	memory_pages_free(pages);
}

/* Each word is its own address. */
static bool read_far(void *ctx, uint64_t addr, void *out, size_t len)
{
	(void)ctx;
	for (size_t at = 0; at < len; at += 8, addr += 8)
		memcpy((uint8_t *)out + at, &addr, 8);
	return true;
}

/* More of them than are remembered */
static void test_pages_far(void **state)
{
	const struct memory far = {read_far, NULL};
	struct memory_pages *pages = memory_pages_new(&far);
	uint64_t word;

	(void)state;
	for (uint64_t at = 8; at < (uint64_t)PAGE << 12; at += PAGE) {
		assert_true(memory_u64(memory_pages_memory(pages), at, &word));
		assert_int_equal(word, at);
	}
	memory_pages_free(pages);
}

/* Of the last page only a part is there. */
static bool read_part(void *ctx, uint64_t addr, void *out, size_t len)
{
	return addr + len <= STACKS + 24 && fakemem_memory.read(ctx, addr, out, len);
}

static void test_pages_in_part(void **state)
{
	const struct memory part = {read_part, NULL};
	struct memory_pages *pages = memory_pages_new(&part);
	const struct memory *cached = memory_pages_memory(pages);
	uint64_t words[2];

	(void)state;
	fakemem_put(STACKS + 8, 5);
	assert_true(cached->read(cached->ctx, STACKS + 8, words, sizeof(words)));
	assert_int_equal(words[0], 5);
	assert_false(cached->read(cached->ctx, STACKS + 16, words, sizeof(words)));
	memory_pages_free(pages);
}

/* --- pages of a process, all at once --- */

static struct {
	size_t reads; /* but for those that are done at once */
	bool is_gone;
} own;

static bool read_own(void *ctx, uint64_t addr, void *out, size_t len)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	bool good = !own.is_gone && memory_read_fd(&fd, addr, out, len);

	(void)ctx;
	own.reads++;
	close(fd);
	return good;
}

static const struct memory own_memory = {read_own, NULL};

/* How many reads it took, if it is this */
static size_t reads_of(struct memory_pages *pages, const uint64_t *word, uint64_t wanted)
{
	uint64_t read = 0;

	own.reads = 0;
	assert_true(memory_u64(memory_pages_memory(pages), (uintptr_t)word, &read));
	assert_int_equal(read, wanted);
	return own.reads;
}

enum { WORDS = PAGE / 8, MIDST = WORDS / 2 };

static uint64_t *map_pages(size_t count)
{
	void *at = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	assert_true(at != MAP_FAILED);
	return at;
}

/* Only what has been used is read, and once: what is changed then is not seen. */
static void test_pages_again(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	struct memory_pages *pages = memory_pages_new(&own_memory);
	uint64_t *at = map_pages(2);

	(void)state;
	at[0] = 1;
	at[MIDST] = 2;
	at[WORDS] = 3;
	assert_int_equal(reads_of(pages, at + MIDST, 2), 1);
	assert_int_equal(reads_of(pages, at + WORDS, 3), 1);
	at[MIDST] = 4;
	own.reads = 0;
	memory_pages_again(pages, self);
	assert_int_equal(own.reads, 1); /* whether it is the same memory still */
	at[MIDST] = 5;
	assert_int_equal(reads_of(pages, at + MIDST, 4), 0);
	/* the second page is not used, and so not read the next time */
	memory_pages_again(pages, self);
	assert_int_equal(reads_of(pages, at + MIDST, 5), 0);
	assert_int_equal(reads_of(pages, at, 1), 1);
	at[WORDS] = 6;
	memory_pages_again(pages, self);
	assert_int_equal(reads_of(pages, at + WORDS, 6), 1);
	assert_int_equal(reads_of(pages, at, 1) + reads_of(pages, at + MIDST, 5), 0);
	memory_pages_again(pages, NULL);
	assert_int_equal(reads_of(pages, at, 1), 1);
	munmap(at, 2 * PAGE);
	memory_pages_free(pages);
	process_close(self);
}

/* The first that is not there any more ends what is read at once. */
static void test_pages_again_some(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	struct memory_pages *pages = memory_pages_new(&own_memory);
	uint64_t *at = map_pages(3), word;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(reads_of(pages, at + i * WORDS, 0), 1);
	at[0] = 1;
	at[2 * WORDS] = 2;
	munmap(at + WORDS, PAGE);
	memory_pages_again(pages, self);
	assert_int_equal(reads_of(pages, at, 1), 0);
	assert_false(memory_u64(memory_pages_memory(pages), (uintptr_t)(at + WORDS), &word));
	assert_int_equal(reads_of(pages, at + 2 * WORDS, 2), 1);
	munmap(at, PAGE);
	munmap(at + 2 * WORDS, PAGE);
	memory_pages_free(pages);
	process_close(self);
}

/* The process has executed another program: it has memory at these places, but another one. */
static void test_pages_again_executed(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	struct memory_pages *pages = memory_pages_new(&own_memory);
	uint64_t *at = map_pages(1), word;

	(void)state;
	assert_int_equal(reads_of(pages, at, 0), 1);
	own.is_gone = true;
	memory_pages_again(pages, self);
	assert_false(memory_u64(memory_pages_memory(pages), (uintptr_t)at, &word));
	own.is_gone = false;
	munmap(at, PAGE);
	memory_pages_free(pages);
	process_close(self);
}

/* --- the number, by code --- */

static void test_tracking_seq(void **state)
{
	static const uint8_t good[] = "\xc6\x87\xbc\x00\x00\x00\x01"  /* mov byte [rdi+0xbc], 1 */
				      "\x0f\xb6\x97\xbd\x00\x00\x00"  /* movzx edx, [rdi+0xbd] */
				      "\xff\xc2"                      /* inc edx */
				      "\x88\x97\xbd\x00\x00\x00\xc3"; /* mov [rdi+0xbd], dl */
	uint8_t other[sizeof(good)];
	struct insn_code code = {good, sizeof(good) - 1, 0x401000};

	(void)state;
	assert_int_equal(runtime_vars_parse_tracking_seq(ARCH_AMD64, &code, &fakemem_layout), 0xbd);
	code.bytes = other;
	for (size_t at = 0; at < sizeof(good); at++) {
		memcpy(other, good, sizeof(good));
		other[at] ^= 8;
		uint32_t off = runtime_vars_parse_tracking_seq(ARCH_AMD64, &code, &fakemem_layout);

		assert_true(at >= 7 && at < 14 ? off == 0 : off == 0 || off == 0xbd);
	}
	code = (struct insn_code){good, 7, 0x401000};
	assert_int_equal(runtime_vars_parse_tracking_seq(ARCH_AMD64, &code, &fakemem_layout), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_together, setup),
		cmocka_unit_test_setup(test_untold, setup),
		cmocka_unit_test_setup(test_ran, setup),
		cmocka_unit_test_setup(test_ran_round, setup),
		cmocka_unit_test_setup(test_waits, setup),
		cmocka_unit_test_setup(test_still, setup),
		cmocka_unit_test_setup(test_stacks, setup),
		cmocka_unit_test_setup(test_stack_lengths, setup),
		cmocka_unit_test_setup(test_pages, setup),
		cmocka_unit_test_setup(test_pages_far, setup),
		cmocka_unit_test_setup(test_pages_in_part, setup),
		cmocka_unit_test(test_pages_again),
		cmocka_unit_test(test_pages_again_some),
		cmocka_unit_test(test_pages_again_executed),
		cmocka_unit_test_setup(test_tracking_seq, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
