// SPDX-License-Identifier: Apache-2.0
/* What a lock is called, by a variable, by the code of those who wait for it, and by what they and
 * those who may hold it have as arguments: from stacks that are made up. Code, types and maps are
 * the test's. */
#include "fakemem.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frames/frame_args.h"
#include "frames/frame_args_internal.h"
#include "frames/frames.h"
#include "frames/unwinder.h"
#include "golang/gotype.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "waits/lock_fields.h"
#include "waits/lock_path_internal.h"
#include "waits/wait_code_internal.h"
#include "waits/wait_names_internal.h"
#include "waits/wait_objects.h"

enum {
	BIAS = 0x100,
	GS = 6,
	G = FAKEMEM_BASE,
	G_SIZE = 0x200,
	STACKS = FAKEMEM_BASE + 0x2000,
	STACK_SIZE = 0x100,
	SUDOGS = FAKEMEM_BASE + 0x4000,
	HEAP = FAKEMEM_BASE + 0x5000,
	FRAME = 16, /* bytes up to the return address */
	ARGS_0 = FRAME + 8,
	ARGS_1 = 2 * FRAME + 16,
	HIGH = ARGS_1 + 8 * 17, /* more words than are looked at */
	OBJECT = 0x1000c000,    /* a struct with the lock in it */
	LOCK = OBJECT + 0x20,
	SEMAPHORE = LOCK + 4,
};
/* addresses that calls return to, without the load bias */
enum { FIRST = 0x10, CALLER = 0x20, LOCKER = 0x30, IN_SYNC = 0x40, OTHER = 0x50, INLINED = 0x60 };

static struct goroutine all[GS];
static struct wait list[GS];
static struct snapshot its_snap;
static struct wait_layout layout;
static const struct frames its_frames = {.bias = BIAS};
static struct wait_lock its_lock;
static struct wait_names *names;

/* --- in place of the program --- */

static const char *variable, *its_code, *code_in_sync; /* NULL: not known */
static uint64_t typed_at;                              /* whose arguments have types */
static uint32_t typed_off;
static bool are_pointers; /* by the maps of arguments */
static unsigned asked;
static struct gotype its_type = {.kind = GOTYPE_STRUCT, .size = 0x30};

struct wait_code *wait_code_new(const struct snapshot *snap, const struct frames *frames,
				struct lock_fields *fields)
{
	assert_ptr_equal(snap, &its_snap);
	assert_ptr_equal(frames, &its_frames);
	assert_ptr_equal(fields, list);
	return (struct wait_code *)all;
}

void wait_code_free(struct wait_code *code)
{
	assert_ptr_equal(code, all);
}

/* That of goroutine 2 is known. */
const char *wait_code_name(struct wait_code *code, uint32_t stack, enum wait_kind kind,
			   bool in_sync)
{
	assert_ptr_equal(code, all);
	assert_int_equal(kind, WAIT_MUTEX);
	asked++;
	if (stack != all[2].stack)
		return NULL;
	return in_sync ? code_in_sync : its_code;
}

char *lock_fields_variable(struct lock_fields *fields, uint64_t addr)
{
	assert_ptr_equal(fields, list);
	assert_int_equal(addr, LOCK - BIAS);
	return variable ? mem_strdup(variable) : NULL;
}

const struct gotype *lock_fields_param(struct lock_fields *fields, uint64_t at, uint32_t off)
{
	assert_ptr_equal(fields, list);
	return at == typed_at - 1 && off == typed_off ? &its_type : NULL;
}

bool lock_fields_in_sync(const char *func)
{
	return !strncmp(func, "sync.", 5);
}

bool frame_args_points(const struct frames *frames, uint64_t addr, uint32_t off)
{
	(void)off;
	assert_ptr_equal(frames, &its_frames);
	assert_true(addr < FIRST + 0x100);
	return are_pointers;
}

/* of the unwinder's own rules, which are not asked */
uint16_t frame_args_size(const struct frames *frames, const struct functab_func *fn)
{
	(void)frames;
	(void)fn;
	return 0;
}

void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	assert_ptr_equal(frames, &its_frames);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = addrs[i] - BIAS;

		fn(ctx, &(struct frame){.func = at == IN_SYNC ? "sync.f" : "main.f",
					.number = i,
					.inlined = at == INLINED,
					.at = at - 1});
	}
}

char *lock_path(const struct gotype *type, uint64_t off, enum wait_kind kind, bool points)
{
	assert_ptr_equal(type, &its_type);
	assert_int_equal(kind, WAIT_MUTEX);
	assert_false(points);
	return off == LOCK - OBJECT ? mem_strdup("field") : NULL;
}

char *lock_path_behind(const struct gotype *type, const void *bytes, size_t len, uint64_t lock,
		       enum wait_kind kind)
{
	uint64_t word;

	assert_ptr_equal(type, &its_type);
	assert_int_equal(len, its_type.size);
	assert_int_equal(lock, LOCK);
	assert_int_equal(kind, WAIT_MUTEX);
	memcpy(&word, bytes, sizeof(word));
	return word == 77 ? mem_strdup("behind") : NULL;
}

char *lock_path_along(const struct gotype *type, const struct origin *origin, enum wait_kind kind)
{
	(void)type;
	(void)origin;
	(void)kind;
	return NULL;
}

static struct frame_rule rule(void *ctx, uint64_t pc)
{
	(void)ctx;
	return (struct frame_rule){.sp_delta = FRAME,
				   .kind = pc == FIRST ? FRAME_FIRST : FRAME_PLAIN};
}

static const struct snapshot_source from = {
	.mem = &fakemem_memory, .rt = &fakemem_layout, .rule = rule, .waits = &layout};

/* --- goroutines that wait, and those that may hold the lock --- */

static uint64_t stack_at(size_t i)
{
	return STACKS + i * STACK_SIZE;
}

static void put(size_t i, unsigned at, uint64_t value)
{
	fakemem_put(stack_at(i) + at, value);
}

/* Goroutine i stands in a call of one of these addresses, called from another. */
static void stand(size_t i, uint64_t pc, uint64_t caller)
{
	const uint64_t stack[] = {pc + BIAS, caller + BIAS};

	assert_true(snapshot_stacks_add(its_snap.stacks, stack, 2, &all[i].stack));
	put(i, FRAME, caller + BIAS);
	put(i, ARGS_0 + FRAME, FIRST);
}

static void make(size_t i)
{
	uint64_t g = G + i * G_SIZE;

	all[i] = (struct goroutine){.goid = 1 + i,
				    .addr = g,
				    .status = GOROUTINE_WAITING,
				    .sp = stack_at(i),
				    .stack_hi = stack_at(i) + HIGH,
				    .waits = i,
				    .wait_count = 1};
	fakemem_put(g + fakemem_layout.g_sched_sp, all[i].sp);
	fakemem_put(g + fakemem_layout.g_status, GOROUTINE_WAITING);
	fakemem_put(g + fakemem_layout.g_goid, 1 + i);
	list[i] = (struct wait){.kind = WAIT_MUTEX,
				.object = LOCK,
				.semaphore = SEMAPHORE,
				.sudog = SUDOGS + i * 64};
	fakemem_put(list[i].sudog, g);
	fakemem_put(list[i].sudog + 24, SEMAPHORE);
	stand(i, OTHER + i, CALLER);
}

static int begin(void **state)
{
	(void)state;
	fakemem_begin(0x8000);
	its_snap = (struct snapshot){.all = all, .count = GS, .waits = {.all = list}};
	its_snap.stacks = snapshot_stacks_new();
	layout = (struct wait_layout){.known = true, .sudog_elem = 24, .semaphores = true};
	for (size_t i = 0; i < GS; i++)
		make(i);
	its_lock = (struct wait_lock){.addr = LOCK, .waiters = 2};
	variable = its_code = code_in_sync = NULL;
	typed_at = LOCKER;
	typed_off = 8;
	are_pointers = true;
	names = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	wait_names_free(names);
	snapshot_stacks_free(its_snap.stacks);
	return 0;
}

/* Goroutines 1 and 2 wait for it. */
static const char *find(void)
{
	const char *name, *again;

	wait_names_free(names);
	asked = 0;
	names = wait_names_new(&from, &its_snap, &its_frames, (struct lock_fields *)list, &its_lock,
			       1);
	wait_names_waits(names, 0, 1);
	wait_names_waits(names, 0, 2);
	wait_names_look(names);
	name = wait_names_find(names, 0, WAIT_MUTEX);
	unsigned questions = asked;

	again = wait_names_find(names, 0, WAIT_MUTEX);
	assert_int_equal(asked, questions); /* it is sought once */
	assert_ptr_equal(again, name);
	return name ? name : "none";
}

static void expect(const char *want)
{
	assert_string_equal(find(), want);
}

/* --- what tells it, the best first --- */

static void argument_of_waiter(size_t i)
{
	stand(i, LOCKER, CALLER);
	put(i, ARGS_0 + typed_off, OBJECT);
}

static void test_order(void **state)
{
	(void)state;
	expect("none");
	variable = "main.cache+0x20";
	expect("main.cache+0x20");
	code_in_sync = "in sync";
	expect("in sync");
	argument_of_waiter(1);
	expect("field");
	its_code = "code";
	expect("code");
	variable = "main.mu";
	expect("main.mu");
	variable = NULL;
	expect("code");
	its_code = NULL;
	expect("field");
	wait_names_free(names);
	wait_names_free(NULL);
	names = NULL;
}

/* --- arguments --- */

static void test_arguments(void **state)
{
	(void)state;
	argument_of_waiter(2);
	expect("field");
	are_pointers = false; /* it is out of use */
	expect("none");
	are_pointers = true;
	typed_off = 0;
	expect("none");
	put(2, ARGS_0, OBJECT);
	expect("field");
	put(2, ARGS_0, OBJECT + 8); /* there the struct has no lock */
	expect("none");
	put(2, ARGS_0, LOCK + 8);
	expect("none");
	put(2, ARGS_0, OBJECT);
	stand(2, INLINED, CALLER);
	typed_at = INLINED;
	expect("none");
	stand(2, IN_SYNC, CALLER);
	typed_at = IN_SYNC;
	expect("field"); /* as a last resort */
	code_in_sync = "in sync";
	expect("in sync");
	/* the caller's, up to the last that is looked at */
	stand(2, LOCKER, CALLER);
	typed_at = CALLER;
	for (typed_off = 0; typed_off <= 8 * 16; typed_off += 8) {
		put(2, ARGS_1 + typed_off, OBJECT);
		expect(typed_off < 8 * 16 ? "field" : "in sync");
		put(2, ARGS_1 + typed_off, 0);
	}
}

/* Where it is interrupted, its innermost frame's arguments do not count. */
static void test_interrupted(void **state)
{
	(void)state;
	argument_of_waiter(1);
	all[1].interrupted = true;
	expect("none");
	typed_at = CALLER;
	put(1, ARGS_1 + 8, OBJECT);
	expect("field");
}

/* Of who waits no more, or for another lock, or has gone on, nothing counts. */
static void test_gone(void **state)
{
	const uint64_t g = G + G_SIZE;

	(void)state;
	argument_of_waiter(1);
	expect("field");
	fakemem_put(list[1].sudog, g + 8);
	expect("none");
	fakemem_put(list[1].sudog, g);
	fakemem_put(list[1].sudog + 24, SEMAPHORE + 8);
	expect("none");
	fakemem_put(list[1].sudog + 24, SEMAPHORE);
	fakemem_put(g + fakemem_layout.g_sched_sp, all[1].sp + 8);
	expect("none");
	fakemem_put(g + fakemem_layout.g_sched_sp, all[1].sp);
	put(1, FRAME, CALLER + BIAS + 1); /* another caller than in the snapshot */
	expect("none");
	put(1, FRAME, CALLER + BIAS);
	expect("field");
	all[1].stack_state = STACK_UNKNOWN;
	expect("none");
	all[1].stack_state = STACK_CUT;
	expect("field");
	list[1].sudog = 0x100;
	expect("none");
}

/* Before Go 1.26, only the code of those who are confirmed to wait counts; from then on any. */
static void test_code_of_waiters(void **state)
{
	(void)state;
	its_code = "code";
	fakemem_put(list[2].sudog, 0);
	expect("code");
	layout.semaphores = false;
	expect("none");
	fakemem_put(list[2].sudog, all[2].addr);
	expect("code");
}

/* --- those who may hold it --- */

static void test_holders(void **state)
{
	(void)state;
	typed_off = 8;
	argument_of_waiter(4);
	expect("none");
	its_lock.holders[0] = 9; /* there is none of this number */
	its_lock.holders[1] = 5;
	its_lock.holder_count = 2;
	expect("field");
	its_lock.holder_count = 1;
	expect("none");
	for (int i = 0; i < 5; i++)
		its_lock.holders[i] = 4;
	its_lock.holders[4] = 5;
	its_lock.holder_count = 5;
	expect("none"); /* no more than four are looked at */
	its_lock.holders[3] = 5;
	expect("field");
	/* who waits comes first */
	stand(4, IN_SYNC, CALLER);
	typed_at = IN_SYNC;
	expect("none");
}

/* Of many that wait, four */
static void test_many(void **state)
{
	(void)state;
	its_code = "code";
	for (unsigned last = 3; last < 6; last++) {
		wait_names_free(names);
		names = wait_names_new(&from, &its_snap, &its_frames, (struct lock_fields *)list,
				       &its_lock, 1);
		for (unsigned i = 0; i < last; i++)
			wait_names_waits(names, 0, 1);
		wait_names_waits(names, 0, 2);
		wait_names_look(names);
		const char *name = wait_names_find(names, 0, WAIT_MUTEX);

		assert_string_equal(name ? name : "none", last < 4 ? "code" : "none");
	}
}

/* --- one step further --- */

static void put_pointer(uint64_t to)
{
	stand(1, LOCKER, CALLER);
	put(1, ARGS_0 + typed_off, to);
}

static void move_when_read(void)
{
	if (fakemem.addr == HEAP)
		fakemem_put(G + G_SIZE + fakemem_layout.g_sched_sp, all[1].sp + 8);
}

static void test_behind(void **state)
{
	(void)state;
	fakemem_put(HEAP, 77);
	put_pointer(HEAP);
	expect("behind");
	code_in_sync = "in sync";
	expect("behind");
	fakemem_put(HEAP, 78);
	expect("in sync");
	code_in_sync = NULL;
	fakemem_put(HEAP, 77);
	put_pointer(FAKEMEM_BASE + 0x8000); /* not there */
	expect("none");
	put_pointer(HEAP);
	are_pointers = false;
	expect("none");
	are_pointers = true;
	stand(1, IN_SYNC, CALLER);
	typed_at = IN_SYNC;
	expect("none");
	stand(1, INLINED, CALLER);
	typed_at = INLINED;
	expect("none");
	put_pointer(HEAP);
	typed_at = LOCKER;
	expect("behind");
	fakemem.before_read = move_when_read; /* it goes on meanwhile */
	expect("none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_order, begin, end),
		cmocka_unit_test_setup_teardown(test_arguments, begin, end),
		cmocka_unit_test_setup_teardown(test_interrupted, begin, end),
		cmocka_unit_test_setup_teardown(test_gone, begin, end),
		cmocka_unit_test_setup_teardown(test_code_of_waiters, begin, end),
		cmocka_unit_test_setup_teardown(test_holders, begin, end),
		cmocka_unit_test_setup_teardown(test_many, begin, end),
		cmocka_unit_test_setup_teardown(test_behind, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
