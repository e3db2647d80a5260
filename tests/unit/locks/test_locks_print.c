// SPDX-License-Identifier: Apache-2.0
/* golocks' lines and JSON, of accounts and stacks that are made up. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames/frames.h"
#include "locks/lock_stacks_internal.h"
#include "locks/locks_internal.h"
#include "locks/locks_show_internal.h"
#include "printed.h"
#include "profile/profile_internal.h"
#include "profile/profile_show.h"

enum { NOBODY = 0x7fffffff, NOW = 1000000000, STACKS = 16, UNKEPT = 99, LOCKS = 3 };

static struct lock accounts[LOCKS];
static size_t lock_count;
static struct locks_show show;

/* --- in place of locks/locks.c and locks/lock_stacks.c --- */

void locks_each(struct locks *locks, void (*fn)(void *ctx, const struct lock *lock), void *ctx)
{
	(void)locks;
	for (size_t i = 0; i < lock_count; i++)
		fn(ctx, &accounts[i]);
}

/* Stack n is of line n of main.a, called by main.main; the same is shown of 10 + n. */
const struct lock_trace *lock_stacks_find(struct lock_stacks *stacks, struct lock_stack stack)
{
	static struct frame kept[UNKEPT + 1][3];
	static struct lock_trace trace;
	struct frame *frames = kept[stack.hash];

	(void)stacks;
	frames[0] = (struct frame){.func = "main.(*T).Lock", .file = "/a.go", .line = 1};
	frames[1] = (struct frame){
		.func = "main.a", .file = "/a.go", .line = (int)(stack.hash % 10) + 100};
	frames[2] = (struct frame){.func = "main.main", .file = "/m.go", .line = 5};
	trace = (struct lock_trace){.frames = frames, .count = 3, .wrappers = 1};
	if (stack.hash == UNKEPT)
		trace.count = trace.wrappers = 0;
	for (size_t i = 0; i < 3; i++)
		frames[i].number = i;
	return &trace;
}

struct frames lock_stacks_frames(const struct lock_stacks *stacks, uint64_t bias)
{
	(void)stacks;
	return (struct frames){.bias = bias};
}

/* ... and of profile/profile_mapping.c */
uint64_t profile_mapping(struct profile *profile, const struct frames *frames, uint64_t addr)
{
	(void)profile;
	(void)frames;
	return addr;
}

static const char *name_of(void *ctx, const struct lock *lock)
{
	(void)ctx;
	return lock->addr == 0xc0 ? "main.mu\x1b" : NULL;
}

/* --- one lock --- */

static struct lock_waiter waiters[STACKS];
static struct lock_held held[STACKS];
static struct lock_wait waiting[STACKS];

static struct lock_waiter waiter_of(uint64_t hash, enum lock_op op, uint64_t waits, uint64_t ns,
				    uint64_t max_ns)
{
	return (struct lock_waiter){.stack = {hash, 0},
				    .op = op,
				    .waits = waits,
				    .total_ns = ns,
				    .max_ns = max_ns,
				    .sleeps = waits + 1};
}

static struct lock_held held_of(uint64_t hash, enum lock_holder how, uint64_t ns, uint64_t readers)
{
	return (struct lock_held){.stack = {hash, 0}, .how = how, .ns = ns, .readers = readers};
}

static int begin(void **state)
{
	(void)state;
	show = (struct locks_show){.now_ns = NOW, .frames = 1, .locks_max = 8, .name = name_of};
	memset(accounts, 0, sizeof(accounts));
	memset(waiting, 0, sizeof(waiting));
	lock_count = 1;
	accounts[0] = (struct lock){.addr = 0xc0,
				    .pid = NOBODY,
				    .waits = 6,
				    .total_ns = 20000,
				    .max_ns = 9996,
				    .sleeps = 7,
				    .waiters = waiters,
				    .held = held};
	return 0;
}

static void expect(const char *want)
{
	printed_begin();
	locks_print(&show, NULL);
	printed_expect(want);
}

#define HEAD "  WAITED    WAITS  LONGEST  LOCK\n"
#define LOCK HEAD "\n  20.0us        6   10.0us  main.mu\\x1b sync.Mutex 0xc0\n"
#define SUMS "\n1 lock, 6 waits, 20.0us\n"

/* Of whom the same is shown, are one: the sum, and the longest of all. Writers and who waits for
 * readers are the same, readers are not. */
static void test_waiters(void **state)
{
	(void)state;
	waiters[0] = waiter_of(1, LOCK_OP_MUTEX, 1, 1500, 1500);
	waiters[1] = waiter_of(2, LOCK_OP_WRITE, 2, 5000, 4999);
	waiters[2] = waiter_of(12, LOCK_OP_WRITER, 1, 3000, 3000);
	waiters[3] = waiter_of(2, LOCK_OP_READ, 2, 8500, 999);
	waiters[4] = waiter_of(UNKEPT, LOCK_OP_MUTEX, 1, 2000, 2000);
	accounts[0].waiter_count = 5;
	expect(LOCK "  8.50us        2    999ns    RLock    main.a a.go:102\n"
		    "  8.00us        3   5.00us    Lock     main.a a.go:102\n"
		    "  2.00us        1   2.00us    Lock     [lost]\n"
		    "  1.50us        1   1.50us    Lock     main.a a.go:101\n" SUMS);
	show.frames = 2;
	accounts[0].waiter_count = 1;
	expect(LOCK "  1.50us        1   1.50us    Lock     main.a a.go:101\n"
		    "                                      main.main m.go:5\n" SUMS);
	show.frames = SIZE_MAX; /* all, wrappers too */
	expect(LOCK "  1.50us        1   1.50us    Lock     main.(*T).Lock a.go:1\n"
		    "                                      main.a a.go:101\n"
		    "                                      main.main m.go:5\n" SUMS);
}

static void test_holders(void **state)
{
	(void)state;
	held[0] = held_of(1, LOCK_HELD, 4000, 0);
	held[1] = held_of(2, LOCK_READERS, 5000, 3);
	held[2] = held_of(12, LOCK_READERS, 1000, 4);
	held[3] = held_of(0, LOCK_FREE, 8000, 0);
	held[4] = held_of(0, LOCK_UNKNOWN, 2000, 0);
	held[5] = held_of(3, LOCK_HELD, 0, 0);
	accounts[0].held_count = 6;
	expect(LOCK "  8.00us    40.0%             free     until the waiter had it\n"
		    "  6.00us    30.0%             readers  7, not told apart; last main.a "
		    "a.go:102\n"
		    "  4.00us    20.0%             held by  main.a a.go:101\n"
		    "  2.00us    10.0%             unknown  because events were lost\n" SUMS);
}

/* What is not shown is summed up. */
static void test_many_stacks(void **state)
{
	(void)state;
	for (size_t i = 0; i < 10; i++) {
		waiters[i] = waiter_of(i, LOCK_OP_MUTEX, 1, 1000 - i, 1000 - i);
		held[i] = held_of(i, LOCK_HELD, 100 - i, 0);
	}
	accounts[0].waiter_count = 8;
	printed_begin();
	locks_print(&show, NULL);
	char *text = printed_end();

	assert_null(strstr(text, "other stacks"));
	assert_non_null(strstr(text, "main.a a.go:107"));
	free(text);
	accounts[0].waiter_count = accounts[0].held_count = 10;
	printed_begin();
	locks_print(&show, NULL);
	text = printed_end();
	assert_non_null(strstr(text, "\n  1.98us                      2 other stacks\n"));
	assert_non_null(strstr(text, "\n   183ns                      held by  2 other stacks\n"));
	free(text);
}

static void add_waiting(size_t n, uint64_t hash, uint64_t goid, uint64_t since_ns)
{
	waiting[n] = (struct lock_wait){.who = {.id = goid},
					.stack = {hash, 0},
					.op = n ? LOCK_OP_MUTEX : LOCK_OP_READ,
					.since_ns = since_ns};
	if (n)
		waiting[n - 1].next = &waiting[n];
	accounts[0].waiting = waiting;
}

/* Waits that go on, and who has it meanwhile */
static void test_going_on(void **state)
{
	(void)state;
	add_waiting(0, 1, 7, NOW - 5000);
	expect(LOCK
	       "  5.00us        1   5.00us    RLock    main.a a.go:101 [still waits: goroutine "
	       "7]\n"
	       "                              held by  who got it without a wait: not known\n" SUMS
	       "1 wait has not ended\n");
	add_waiting(1, 2, 8, NOW - 1000);
	add_waiting(2, 2, 9, NOW - 3000);
	add_waiting(3, 12, 10, NOW + 5);
	accounts[0].holder = 21;
	accounts[0].holder_ns = NOW - 6000;
	accounts[0].is_certain = true;
#define BOTH                                                                                       \
	LOCK "  5.00us        1   5.00us    RLock    main.a a.go:101 [still waits: goroutine 7]\n" \
	     "  4.00us        3   3.00us    Lock     main.a a.go:102 [still waits: goroutine 9 "   \
	     "and others]\n"
	expect(BOTH "  6.00us                      held by goroutine 21, which got it without a "
		    "wait\n" SUMS "4 waits have not ended\n");
	accounts[0].is_certain = false;
	accounts[0].holder_waited = true;
	accounts[0].holder_stack.hash = 5;
	expect(BOTH "  6.00us                      last got by goroutine 21, main.a a.go:105\n" SUMS
		    "4 waits have not ended\n");
	/* the process has ended */
	waiting[0].next = NULL;
	waiting[0].ended_ns = NOW - 4000;
	expect(LOCK
	       "  1.00us        1   1.00us    RLock    main.a a.go:101 [waited to the end of the "
	       "process: goroutine 7]\n"
	       "  2.00us                      last got by goroutine 21, main.a a.go:105\n" SUMS
	       "1 wait has not ended\n");
}

/* Locks that nobody waited for are summed up; of the others the last are shown. */
static void test_sums(void **state)
{
	(void)state;
	lock_count = LOCKS;
	accounts[1] = (struct lock){.addr = 0xd0,
				    .is_rw = true,
				    .pid = NOBODY,
				    .waits = 1,
				    .total_ns = 2000000,
				    .max_ns = 2000000,
				    .spun = {3, 400},
				    .found_free = {4, 50}};
	accounts[2] = (struct lock){.addr = 0xe0, .spun = {5, 600}, .found_free = {6, 70}};
	show.locks_max = 1;
	show.processes = true;
	expect(HEAD "\n  2.00ms        1   2.00ms  sync.RWMutex 0xd0 of - (2147483647)\n"
		    "   400ns        3             got without a wait, taken at first\n"
		    "    50ns        4             got without a wait, free at once\n"
		    "\n2 locks, 7 waits, 2.02ms\n"
		    "1 other, got without a wait 11 times, 670ns\n");
	lock_count = 0;
	expect(HEAD "\n0 locks, 0 waits, 0ns\n");
	lock_count = 1;
	accounts[0] = (struct lock){.spun = {1, 999500000}};
	expect(HEAD "\n0 locks, 0 waits, 0ns\n"
		    "1 other, got without a wait 1 time, 1.00s\n");
	lock_count = 2;
	accounts[1] = (struct lock){.found_free = {1, 99500000}};
	expect(HEAD "\n0 locks, 0 waits, 0ns\n"
		    "2 others, got without a wait 2 times, 1.10s\n");
}

#define STACK "\"stack\":[{\"func\":\"main.a\",\"file\":\"/a.go\",\"line\":101}]"

static void test_json(void **state)
{
	char *text;

	(void)state;
	waiters[0] = waiter_of(1, LOCK_OP_READ, 2, 300, 200);
	held[0] = held_of(1, LOCK_READERS, 40, 5);
	held[1] = held_of(UNKEPT, LOCK_FREE, 30, 5);
	accounts[0].waiter_count = 1;
	accounts[0].held_count = 2;
	accounts[0].spun = (struct lock_unwaited){8, 80};
	accounts[0].found_free = (struct lock_unwaited){9, 90};
	printed_begin();
	locks_json(&show, NULL);
	printed_expect(
		"{\"type\":\"lock\",\"pid\":2147483647,\"comm\":\"-\",\"kind\":\"mutex\","
		"\"addr\":\"0xc0\",\"name\":\"main.mu\\u001b\",\"waits\":6,\"total_ns\":20000,"
		"\"max_ns\":9996,\"sleeps\":7,\"spins\":8,\"spin_ns\":80,\"found_free\":9,"
		"\"found_free_ns\":90,\"waiters\":[{\"op\":\"RLock\",\"waits\":2,"
		"\"total_ns\":300,\"max_ns\":200,\"sleeps\":3," STACK "}],"
		"\"holders\":[{\"held_by\":\"readers\",\"readers\":5,\"ns\":40," STACK "},"
		"{\"held_by\":\"nobody\",\"ns\":30,\"stack\":[]}],"
		"\"waiting\":[],\"holder\":null}\n");
	add_waiting(0, 1, 7, NOW - 5000);
	accounts[0].is_rw = true;
	accounts[0].addr = 0xd0;
	accounts[0].waiter_count = accounts[0].held_count = 0;
	accounts[0].holder = 21;
	accounts[0].holder_ns = NOW - 6000;
	accounts[0].holder_stack.hash = 1;
	accounts[0].is_certain = true;
	show.timestamp = true;
	printed_begin();
	locks_json(&show, NULL);
	text = printed_end();
	assert_non_null(strstr(text, "{\"type\":\"lock\",\"time\":\""));
	assert_non_null(strstr(text, "\"kind\":\"rwmutex\",\"addr\":\"0xd0\",\"name\":null,"));
	assert_non_null(strstr(
		text, "\"waiters\":[],\"holders\":[],\"waiting\":[{\"goid\":7,\"op\":\"RLock\","
		      "\"since_ns\":5000,\"ended\":false," STACK "}],\"holder\":{\"goid\":21,"
		      "\"certain\":true,\"since_ns\":6000," STACK "}}\n"));
	free(text);
}

/* Of whom the time was, and of who waited for it, all frames */
static void test_profile(void **state)
{
	const struct profile_style style = {.type = "lock", .json = true};
	struct profile *profile = profile_new(&locks_profile_spec);

	(void)state;
	waiters[0] = waiter_of(1, LOCK_OP_READ, 2, 300, 200);
	held[0] = held_of(UNKEPT, LOCK_UNKNOWN, 40, 0);
	held[1] = held_of(2, LOCK_READERS, 30, 5);
	accounts[0].waiter_count = 1;
	accounts[0].held_count = 2;
	lock_count = 2;
	accounts[1] = (struct lock){.addr = 0xd0,
				    .pid = NOBODY,
				    .is_rw = true,
				    .waiters = &waiters[1],
				    .waiter_count = 1};
	waiters[1] = waiter_of(UNKEPT, LOCK_OP_WRITE, 1, 500, 500);
	locks_profile(&show, NULL, profile);
	printed_begin();
	profile_show(stdout, profile, &style);
#define FRAMES(line)                                                                               \
	",\"stack\":[{\"func\":\"main.(*T).Lock\",\"file\":\"/a.go\",\"line\":1},"                 \
	"{\"func\":\"main.a\",\"file\":\"/a.go\",\"line\":" #line                                  \
	"},{\"func\":\"main.main\",\"file\":\"/m.go\",\"line\":5}]}\n"
#define WORD(word) ",\"stack\":[{\"func\":\"" word "\",\"file\":null,\"line\":null}]}\n"
#define OF(name, addr, kind)                                                                       \
	"{\"type\":\"lock\",\"lock\":\"" name "\",\"addr\":\"" addr "\",\"kind\":\"" kind          \
	"\",\"pid\":2147483647,\"comm\":\"-\","
#define NAMED OF("main.mu\\u001b", "0xc0", "mutex")
	printed_expect(
		NAMED
		"\"held_by\":\"unknown\",\"waits\":0,\"delay\":0,\"held\":40" WORD("[unknown]")
			NAMED "\"held_by\":\"readers\",\"waits\":0,\"delay\":0,"
			      "\"held\":30" FRAMES(102) NAMED
		"\"op\":\"RLock\",\"waits\":2,\"delay\":300,\"held\":0" FRAMES(101)
			OF("0xd0", "0xd0", "rwmutex") "\"op\":\"Lock\",\"waits\":1,\"delay\":500,"
						      "\"held\":0" WORD("[lost]"));
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_waiters, begin),
		cmocka_unit_test_setup(test_holders, begin),
		cmocka_unit_test_setup(test_many_stacks, begin),
		cmocka_unit_test_setup(test_going_on, begin),
		cmocka_unit_test_setup(test_sums, begin),
		cmocka_unit_test_setup(test_json, begin),
		cmocka_unit_test_setup(test_profile, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
