// SPDX-License-Identifier: Apache-2.0
/* Who was given a lock that goroutines wait for, by the stack of who waits: which function, and its
 * callers. Functions and the program's types are the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frames/frames.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "program/functab.h"
#include "waits/lock_fields_internal.h"
#include "waits/semaphore_owner.h"
#include "waits/wait_code_internal.h"

enum { BIAS = 0x1000, DEEP = 70, FIELDS = 5 };

/* each of 0x100 bytes from 0x100 on; the last one stands alone */
static const char *const names[] = {
	NULL,
	"runtime.gopark",
	"sync.runtime_SemacquireMutex",
	"sync.(*Mutex).lockSlow",
	"sync.(*Mutex).Lock",
	"main.work",
	"main.main",
	"internal/sync.(*Mutex).lockSlow",
	"sync.(*RWMutex).RLock",
	"sync.runtime_SemacquireRWMutexR",
	"sync.(*WaitGroup).Wait",
	"sync.(*Cond).Wait",
	"sync.(*Once).doSlow",
	"sync.runtime_notifyListWait",
};
enum { PARK = 1, SEMA, SLOW, LOCK, WORK, MAIN, NEW_SLOW, RLOCK, SEMA_R, GROUP, COND, ONCE, NOTIFY };
enum { NAMES = sizeof(names) / sizeof(*names) };

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *fn)
{
	size_t i = addr / 0x100;

	(void)tab;
	*fn = (struct functab_func){.name = "nothing"};
	if (i >= NAMES || !names[i])
		return false;
	*fn = (struct functab_func){.name = names[i], .addr = 0x100 * i, .end = 0x100 * (i + 1)};
	return true;
}

static char asked[256]; /* what was asked of the types */
static unsigned questions;

static void note(const uint64_t *stack, size_t count, const struct lock_callee *callee)
{
	questions++;
	sprintf(asked, "%s", names[callee->addr / 0x100]);
	if (callee->before)
		sprintf(asked + strlen(asked), "-%u", callee->before);
	if (callee->in_sync)
		strcat(asked, "+sync");
	for (size_t i = 0; i < count && i < 4; i++)
		sprintf(asked + strlen(asked), " %#x", (unsigned)stack[i]);
	if (count > 4)
		sprintf(asked + strlen(asked), " of %zu", count);
}

char *lock_fields_called(struct lock_fields *fields, const uint64_t *stack, size_t count,
			 const struct lock_callee *callee)
{
	assert_ptr_equal(fields, asked);
	note(stack, count, callee);
	return mem_printf("name %u", callee->kind);
}

size_t lock_fields_offsets(struct lock_fields *fields, const uint64_t *stack, size_t count,
			   const struct lock_callee *callee, uint64_t *out, size_t max)
{
	assert_ptr_equal(fields, asked);
	note(stack, count, callee);
	for (size_t i = 0; i < max; i++)
		out[i] = 8 * i;
	return max;
}

bool lock_fields_in_sync(const char *func)
{
	return !strncmp(func, "sync.", 5) || !strncmp(func, "internal/sync.", 14);
}

static const struct frames frames = {.bias = BIAS};

/* Numbers of functions, in whose calls the frames stand, the innermost first */
static size_t put(uint64_t *stack, const char *functions)
{
	size_t count = 0;

	for (char *end; *functions; functions = *end ? end + 1 : end)
		stack[count++] = BIAS + 0x100 * strtoul(functions, &end, 10) + 0x20;
	return count;
}

static void expect(const char *functions, enum wait_kind kind, bool in_sync, const char *want)
{
	uint64_t stack[DEEP], offsets[3] = {99};
	size_t count = put(stack, functions);

	*asked = '\0';
	char *name =
		wait_code_of(&frames, (struct lock_fields *)asked, stack, count, kind, in_sync);

	assert_string_equal(asked, want);
	assert_int_equal(name != NULL, *want != '\0');
	if (name) {
		char text[16];

		snprintf(text, sizeof(text), "name %u", kind);
		assert_string_equal(name, text);
	}
	free(name);
	if (in_sync)
		return;
	*asked = '\0';
	assert_int_equal(wait_code_offsets(&frames, (struct lock_fields *)asked, stack, count, kind,
					   offsets, 3),
			 *want ? 3 : 0);
	assert_string_equal(asked, want);
	assert_int_equal(offsets[2], *want ? 16 : 0);
}

static void test_given(void **state)
{
	(void)state;
	expect("1 2 3 4 5 6", WAIT_MUTEX, false, "sync.(*Mutex).lockSlow 0x420 0x520 0x620");
	expect("1 2 3 4 5 6", WAIT_MUTEX, true, "sync.(*Mutex).lockSlow+sync 0x420 0x520 0x620");
	expect("1 2 7 4 5", WAIT_MUTEX, false, "internal/sync.(*Mutex).lockSlow 0x420 0x520");
	expect("3 5", WAIT_MUTEX, false, "sync.(*Mutex).lockSlow 0x520");
	expect("4 5", WAIT_MUTEX, false, "sync.(*Mutex).Lock 0x520");
	expect("1 9 8 5", WAIT_RWMUTEX, false, "sync.(*RWMutex).RLock 0x520");
	expect("1 10 5", WAIT_WAITGROUP, false, "sync.(*WaitGroup).Wait 0x520");
	expect("1 13 11 5", WAIT_COND, false, "sync.(*Cond).Wait 0x520");
	expect("1 2 3", WAIT_MUTEX, false, "sync.(*Mutex).lockSlow"); /* go mu.Lock() */
	/* RLock is inlined: the runtime's function is given the semaphore of an RWMutex */
	expect("1 9 5 6", WAIT_RWMUTEX, false, "sync.runtime_SemacquireRWMutexR-12 0x520 0x620");
}

/* Nobody is known to have it. */
static void test_not_given(void **state)
{
	(void)state;
	expect("1 9 5 6", WAIT_MUTEX, false, "");
	expect("1 9 12 5", WAIT_RWMUTEX, false, "");
	expect("1 9 99 5", WAIT_RWMUTEX, false, "");
	expect("1 5 6", WAIT_MUTEX, false, "");
	expect("1 99 3 4 5", WAIT_MUTEX, false, "");
	expect("1 3", WAIT_MUTEX, false, "");
	expect("", WAIT_MUTEX, false, "");
	expect("1 2 3 4 5 6", WAIT_SEMAPHORE, false, "");
	expect("1 12 5", WAIT_MUTEX, false, "");
}

/* Of a deep stack, the innermost frames */
static void test_deep(void **state)
{
	char deep[4 * DEEP] = "3";

	(void)state;
	for (int i = 0; i < DEEP - 1; i++)
		strcat(deep, " 5");
	expect(deep, WAIT_MUTEX, false, "sync.(*Mutex).lockSlow 0x520 0x520 0x520 0x520 of 63");
}

/* By the number of a stack; each is asked for once, for each kind, in sync and not. */
static void test_snapshot(void **state)
{
	struct snapshot snap = {.stacks = snapshot_stacks_new()};
	struct wait_code *code = wait_code_new(&snap, &frames, (struct lock_fields *)asked);
	uint64_t stack[DEEP];
	uint32_t numbers[2];

	(void)state;
	assert_true(snapshot_stacks_add(snap.stacks, stack, put(stack, "3 5"), &numbers[0]));
	assert_true(snapshot_stacks_add(snap.stacks, stack, put(stack, "5 6"), &numbers[1]));
	questions = 0;
	for (int again = 0; again < 2; again++) {
		assert_string_equal(wait_code_name(code, numbers[0], WAIT_MUTEX, false), "name 5");
		assert_string_equal(wait_code_name(code, numbers[0], WAIT_RWMUTEX, false),
				    "name 6");
		assert_string_equal(wait_code_name(code, numbers[0], WAIT_MUTEX, true), "name 5");
		assert_null(wait_code_name(code, numbers[1], WAIT_MUTEX, false));
		assert_int_equal(questions, 3);
	}
	assert_string_equal(asked, "sync.(*Mutex).lockSlow+sync 0x520");
	wait_code_free(code);
	wait_code_free(NULL);
	snapshot_stacks_free(snap.stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_not_given),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_snapshot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
