// SPDX-License-Identifier: Apache-2.0
/* Which goroutines are one group, how long they wait, and whether for the same thing. */
#include <stdlib.h>

#include "goroutines/wait.h"
#include "gostacks/groups_internal.h"
#include "steps.h"
#include "unit.h"

enum { MAX = 16, NOW = 1000 };

static struct goroutine all[MAX];
static struct wait waits[MAX];
static struct snapshot snap = {.when_ns = NOW, .all = all, .waits.all = waits};

/* One that waits since `since`, for `objects`: 0, nothing */
static struct goroutine *add(uint32_t stack, uint64_t created_by, uint64_t since,
			     enum wait_kind kind, uint64_t object)
{
	struct goroutine *g = &all[snap.count];

	waits[snap.count] = (struct wait){.kind = kind, .object = object};
	*g = (struct goroutine){.goid = 100 + snap.count,
				.stack = stack,
				.created_by = created_by,
				.waitsince = since,
				.status = GOROUTINE_WAITING,
				.waits = snap.count,
				.wait_count = object != 0};
	snap.count++;
	return g;
}

static void expect(const unsigned char *picked, const char *want)
{
	size_t count;
	struct group *groups = groups_make(&snap, picked, &count);

	for (size_t i = 0; i < count; i++) {
		const struct group *g = &groups[i];

		steps_are("g%d %zu times, %zu of %d-%d%s", (int)g->first->goid, g->count, g->noted,
			  (int)g->shortest, (int)g->longest, g->waits_alike ? " alike" : "");
	}
	free(groups);
	steps_expect(want);
}

static int begin(void **state)
{
	(void)state;
	snap.count = 0;
	return 0;
}

static void test_same(void **state)
{
	static const unsigned char picked[MAX] = {[1] = 1, [3] = 1, [6] = 1, [7] = 1};

	(void)state;
	add(1, 7, 0, WAIT_CHANNEL, 0);
	add(1, 7, 0, WAIT_CHANNEL, 0);
	add(2, 7, 0, WAIT_CHANNEL, 0);
	add(1, 8, 0, WAIT_CHANNEL, 0);
	add(1, 7, 0, WAIT_CHANNEL, 0)->status = GOROUTINE_RUNNABLE;
	add(1, 7, 0, WAIT_CHANNEL, 0)->reason = 3;
	add(1, 7, 0, WAIT_CHANNEL, 0)->stack_state = STACK_CUT;
	add(1, 7, 0, WAIT_CHANNEL, 0);
	add(1, 8, 0, WAIT_CHANNEL, 0);
	expect(NULL, "g100 3 times, 0 of 0-0; g103 2 times, 0 of 0-0; g102 1 times, 0 of "
		     "0-0; g104 1 times, 0 of 0-0; g105 1 times, 0 of 0-0; g106 1 times, 0 "
		     "of 0-0; ");
	expect(picked, "g101 2 times, 0 of 0-0; g103 1 times, 0 of 0-0; g106 1 times, 0 of "
		       "0-0; ");
	snap.count = 0;
	expect(NULL, "");
}

static void test_times(void **state)
{
	(void)state;
	add(1, 7, 600, WAIT_CHANNEL, 0);
	add(1, 7, 0, WAIT_CHANNEL, 0); /* not noted */
	add(1, 7, 900, WAIT_CHANNEL, 0);
	add(1, 7, 100, WAIT_CHANNEL, 0);
	add(1, 7, NOW + 1, WAIT_CHANNEL, 0);
	add(2, 7, NOW, WAIT_CHANNEL, 0);
	add(2, 7, 400, WAIT_CHANNEL, 0)->status = GOROUTINE_RUNNABLE;
	add(3, 7, 400, WAIT_CHANNEL, 0)->status = GOROUTINE_SYSCALL;
	expect(NULL, "g100 5 times, 3 of 100-900; g105 1 times, 1 of 0-0; g106 1 times, 0 "
		     "of 0-0; g107 1 times, 1 of 600-600; ");
}

static void test_alike(void **state)
{
	static const enum wait_kind alone[] = {WAIT_TIMER, WAIT_FD, WAIT_SYSCALL};

	(void)state;
	add(1, 7, 0, WAIT_CHANNEL, 0x10);
	add(1, 7, 0, WAIT_CHANNEL, 0x10);
	expect(NULL, "g100 2 times, 0 of 0-0 alike; ");
	add(1, 7, 0, WAIT_CHANNEL, 0x20);
	expect(NULL, "g100 3 times, 0 of 0-0; ");
	add(1, 7, 0, WAIT_CHANNEL, 0x10);
	expect(NULL, "g100 4 times, 0 of 0-0; ");
	snap.count = 0;
	add(1, 7, 0, WAIT_CHANNEL, 0x10);
	add(1, 7, 0, WAIT_MUTEX, 0x10);
	expect(NULL, "g100 2 times, 0 of 0-0; ");
	snap.count = 0;
	add(1, 7, 0, WAIT_CHANNEL, 0x10);
	add(1, 7, 0, WAIT_CHANNEL, 0x10)->wait_count = 2; /* a select */
	expect(NULL, "g100 2 times, 0 of 0-0; ");
	snap.count = 0;
	add(1, 7, 0, WAIT_CHANNEL, 0x10)->wait_count = 2;
	add(1, 7, 0, WAIT_CHANNEL, 0x10);
	expect(NULL, "g100 2 times, 0 of 0-0; ");
	for (size_t i = 0; i < sizeof(alone) / sizeof(*alone); i++) {
		snap.count = 0;
		add(1, 7, 0, alone[i], 0x10);
		expect(NULL, "g100 1 times, 0 of 0-0; ");
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_same, begin),
		cmocka_unit_test_setup(test_times, begin),
		cmocka_unit_test_setup(test_alike, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
