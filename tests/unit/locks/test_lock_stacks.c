// SPDX-License-Identifier: Apache-2.0
/* Stacks that wait for locks: what they wait for, who calls package sync, and what the code calls
 * the lock. Stacks are made up, of function names. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "blocked/stacks.h"
#include "frames/frames.h"
#include "locks/lock_stacks_internal.h"
#include "waits/wait_code.h"

enum { BIAS = 0x1000, FRAMES = 6, ADDRESSES = 3 };
enum {
	MUTEX,
	NEW_MUTEX,
	READ,
	WRITE,
	WRITER,
	GROUP,
	ALONE,
	WRAPPED,
	WRAPPED_ALONE,
	UNKNOWN,
};

static const char *const all[][FRAMES] = {
	[MUTEX] = {"sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.work", "main.main"},
	[NEW_MUTEX] = {"internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "main.work",
		       "sync.(*Once).Do", "main.main"},
	[READ] = {"sync.(*RWMutex).RLock", "main.work"},
	[WRITE] = {"sync.(*RWMutex).Lock", "main.work"},
	[WRITER] = {"sync.(*Mutex).lockSlow", "sync.(*RWMutex).Lock", "main.work"},
	[GROUP] = {"sync.(*WaitGroup).Wait", "main.work"},
	[ALONE] = {"sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock"},
	[WRAPPED] = {"sync.(*Mutex).Lock", "main.(*S).Lock", "main.(*T).RUnlock", "main.work",
		     "main.x.Unlock"},
	[WRAPPED_ALONE] = {"main.(*S).RLock", "main.Unlock"},
	[UNKNOWN] = {NULL},
};

static struct lock_stacks *locks;
static struct stacks *const kept = (struct stacks *)&locks;
static unsigned asked;

/* --- in place of what the kernel side keeps, and of the program's code --- */

bool stacks_each(const struct stacks *stacks, uint64_t hash, uint64_t bias, bool every,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	assert_ptr_equal(stacks, kept);
	assert_int_equal(bias, BIAS);
	asked++;
	for (size_t i = 0; i < FRAMES && all[hash][i]; i++)
		fn(ctx, &(struct frame){.func = all[hash][i], .line = every ? 1 : 2});
	return all[hash][0];
}

size_t stacks_addresses(const struct stacks *stacks, uint64_t hash, uint64_t *out, size_t max)
{
	assert_ptr_equal(stacks, kept);
	assert_true(max > ADDRESSES);
	for (size_t i = 0; i < ADDRESSES; i++)
		out[i] = hash * 16 + i;
	return ADDRESSES;
}

struct frames stacks_frames(const struct stacks *stacks, uint64_t bias)
{
	assert_ptr_equal(stacks, kept);
	return (struct frames){.bias = bias + 7};
}

static unsigned named;

char *wait_code_of(const struct frames *frames, struct lock_fields *fields, const uint64_t *addrs,
		   size_t count, enum wait_kind kind, bool in_sync)
{
	assert_int_equal(frames->bias, BIAS);
	assert_int_equal(frames->release, 27);
	assert_null(fields);
	assert_int_equal(count, ADDRESSES);
	named++;
	return addrs[0] == 16 * UNKNOWN ? NULL
					: mem_printf("%d of kind %d%s", (int)addrs[2], kind,
						     in_sync ? " in sync" : "");
}

static int begin(void **state)
{
	(void)state;
	locks = lock_stacks_new(kept);
	asked = named = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	lock_stacks_free(locks);
	lock_stacks_free(NULL);
	return 0;
}

static struct lock_stack stack_of(uint64_t hash)
{
	return (struct lock_stack){hash, BIAS};
}

/* `want`: its frames, the wrappers in brackets */
static void expect(uint64_t hash, const char *want)
{
	char got[512] = "[";
	const struct lock_trace *trace = lock_stacks_find(locks, stack_of(hash));

	for (size_t i = 0; i <= trace->count; i++) {
		if (i == trace->wrappers)
			strcat(got, "]");
		if (i < trace->count)
			strcat(strcat(got, " "), trace->frames[i].func);
	}
	assert_string_equal(got, want);
	for (size_t i = 0; i < trace->count; i++)
		assert_int_equal(trace->frames[i].line, 2);
}

static void test_frames(void **state)
{
	(void)state;
	expect(MUTEX, "[] main.work main.main");
	assert_int_equal(asked, 2);
	expect(NEW_MUTEX, "[] main.work sync.(*Once).Do main.main");
	expect(READ, "[] main.work");
	expect(ALONE, "[] sync.(*Mutex).Lock");
	expect(WRAPPED, "[ main.(*S).Lock main.(*T).RUnlock] main.work main.x.Unlock");
	expect(WRAPPED_ALONE, "[] main.(*S).RLock main.Unlock");
	expect(UNKNOWN, "[]");
	asked = 0;
	expect(WRAPPED, "[ main.(*S).Lock main.(*T).RUnlock] main.work main.x.Unlock");
	expect(MUTEX, "[] main.work main.main");
	assert_int_equal(asked, 0); /* each once */
}

static void expect_owner(uint64_t hash, bool is_mutex, bool known, enum lock_op op, uint32_t before)
{
	const struct lock_event event = {.stack = hash, .probe = BIAS, .is_mutex = is_mutex};
	struct lock_owner owner = {0};

	assert_int_equal(lock_stacks_owner(locks, &event, &owner), known);
	assert_int_equal(owner.op, op);
	assert_int_equal(owner.before, before);
}

static void test_owners(void **state)
{
	(void)state;
	expect_owner(MUTEX, true, true, LOCK_OP_MUTEX, 4);
	expect_owner(NEW_MUTEX, true, true, LOCK_OP_MUTEX, 4);
	expect_owner(READ, false, true, LOCK_OP_READ, 12);
	expect_owner(WRITE, false, true, LOCK_OP_WRITE, 8);
	expect_owner(WRITER, true, true, LOCK_OP_WRITER, 4);
	expect_owner(UNKNOWN, true, true, LOCK_OP_MUTEX, 4);
	expect_owner(UNKNOWN, false, false, LOCK_OP_MUTEX, 4);
	expect_owner(GROUP, false, false, LOCK_OP_MUTEX, 4);
}

static void expect_name(uint64_t hash, bool in_sync, const char *want)
{
	const struct frames frames = {.release = 27, .bias = 99};
	const char *got = lock_stacks_name(locks, &frames, NULL, stack_of(hash), in_sync);

	assert_string_equal(got ? got : "none", want);
}

static void test_names(void **state)
{
	char want[64];

	(void)state;
	snprintf(want, sizeof(want), "%d of kind %d", MUTEX * 16 + 2, WAIT_MUTEX);
	expect_name(MUTEX, false, want);
	expect_name(MUTEX, false, want);
	assert_int_equal(named, 1);
	strcat(want, " in sync");
	expect_name(MUTEX, true, want);
	snprintf(want, sizeof(want), "%d of kind %d", READ * 16 + 2, WAIT_RWMUTEX);
	expect_name(READ, false, want);
	expect_name(UNKNOWN, false, "none");
	named = 0;
	expect_name(UNKNOWN, false, "none");
	assert_int_equal(named, 0);
	assert_int_equal(lock_stacks_frames(locks, BIAS).bias, BIAS + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_frames, begin, end),
		cmocka_unit_test_setup_teardown(test_owners, begin, end),
		cmocka_unit_test_setup_teardown(test_names, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
