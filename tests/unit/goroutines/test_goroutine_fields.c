// SPDX-License-Identifier: Apache-2.0
/* What is read of a struct g, and what it tells of whether a goroutine has moved. */
#include <string.h>

#include "fakemem.h"
#include "goroutines/goroutine_fields_internal.h"
#include "goroutines/snapshot.h"
#include "unit.h"

enum { G = FAKEMEM_BASE + 0x100, SIZE = 0x1000 };

static struct goruntime rt;
static struct wait_layout waits;
static struct snapshot_source from;

/* Each word of the g is its byte offset. */
static int begin(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	for (uint64_t at = 0; at < 512; at += 8)
		fakemem_put(G + at, at);
	rt = fakemem_layout;
	rt.g_lockedm = 240;
	waits = (struct wait_layout){.g_waiting = 320, .g_timer = 328, .g_sleep_when = 336};
	from = (struct snapshot_source){.rt = &rt,
					.waits = &waits,
					.g_bubble = 400,
					.g_labels = 344,
					.g_tracking_seq = 248};
	return 0;
}

static struct goroutine_fields read_g(void)
{
	struct goroutine_fields g;

	assert_true(goroutine_fields_read(&from, &fakemem_memory, G, &g));
	return g;
}

static void test_all(void **state)
{
	struct goroutine_fields g = read_g();

	(void)state;
	assert_int_equal(g.stack_lo, rt.g_stack_hi - 8);
	assert_int_equal(g.stack_hi, rt.g_stack_hi);
	assert_int_equal(g.sp, rt.g_sched_sp);
	assert_int_equal(g.pc, rt.g_sched_sp + 8);
	assert_int_equal(g.syscall_sp, rt.g_syscall_sp);
	assert_int_equal(g.syscall_pc, rt.g_syscall_sp + 8);
	assert_int_equal(g.goid, rt.g_goid);
	assert_int_equal(g.waitsince, rt.g_waitsince);
	assert_int_equal(g.parent, rt.g_parent_goid);
	assert_int_equal(g.created_by, rt.g_gopc);
	assert_int_equal(g.start, rt.g_gopc + 16);
	assert_int_equal(g.status, rt.g_status);
	assert_int_equal(g.reason, rt.g_waitreason);
	assert_int_equal(g.tracking_seq, 248);
	assert_true(g.locked);
	assert_int_equal(g.waiting, 320);
	assert_int_equal(g.timer, 328);
	assert_int_equal(g.sleep_when, 336);
	assert_int_equal(g.m, rt.g_m);
	assert_int_equal(g.bubble, 400);
	assert_int_equal(g.labels, 344);
	fakemem_put(G + rt.g_status, 0x1004); /* scanned */
	fakemem_put(G + rt.g_waitreason, 0x1ff);
	fakemem_put(G + rt.g_lockedm, 0);
	g = read_g();
	assert_int_equal(g.status, GOROUTINE_WAITING);
	assert_int_equal(g.reason, 0xff);
	assert_false(g.locked);
}

/* What the program's release does not have is 0, though there is something at the g's beginning. */
static void test_unknown(void **state)
{
	struct goroutine_fields g;

	(void)state;
	fakemem_put(G, 77);
	from.waits = NULL;
	from.g_bubble = from.g_labels = from.g_tracking_seq = 0;
	rt.g_parent_goid = rt.g_gopc = rt.g_lockedm = 0;
	g = read_g();
	assert_int_equal(g.parent | g.created_by | g.waiting | g.timer | g.sleep_when | g.bubble |
				 g.labels | g.tracking_seq | g.locked,
			 0);
	/* without gopc, so much is read; what is beyond is 0 */
	rt.g_waitreason = 176;
	rt.g_goid = 192;
	assert_int_equal(read_g().goid, 0);
	rt.g_goid = 184;
	assert_int_equal(read_g().goid, 184);
	waits.g_sleep_when = 0;
	from.waits = &waits;
	waits.g_waiting = waits.g_timer = 16;
	assert_int_equal(read_g().sleep_when, 0);
	assert_int_equal(read_g().waiting, 16);
	assert_int_equal(read_g().timer, 16);
}

static void test_refused(void **state)
{
	struct goroutine_fields g;

	(void)state;
	assert_false(goroutine_fields_read(&from, &fakemem_memory, G + 4, &g));
	assert_false(goroutine_fields_read(&from, &fakemem_memory, FAKEMEM_BASE + SIZE, &g));
	fakemem.reads = 0;
	assert_false(goroutine_fields_read(&from, &fakemem_memory, 4088, &g));
	assert_int_equal(fakemem.reads, 0);
	assert_false(goroutine_fields_read(&from, &fakemem_memory, 4096, &g));
	assert_int_equal(fakemem.reads, 1);
	from.g_bubble = 504; /* up to the last byte that is read */
	assert_int_equal(read_g().bubble, 504);
	from.g_bubble = 512;
	assert_false(goroutine_fields_read(&from, &fakemem_memory, G, &g));
	from.g_bubble = 0;
	rt.g_gopc = 424;
	assert_int_equal(read_g().created_by, 424);
	rt.g_gopc = 432;
	assert_false(goroutine_fields_read(&from, &fakemem_memory, G, &g));
}

/* Each field whose change shows that it has run, alone */
static void test_same(void **state)
{
	struct goroutine_fields a = read_g(), b = a;

	(void)state;
	assert_true(goroutine_fields_same(&a, &b));
#define CHANGES(field, same)                                                                       \
	do {                                                                                       \
		b.field++;                                                                         \
		assert_int_equal(goroutine_fields_same(&a, &b), same);                             \
		b = a;                                                                             \
	} while (0)
	CHANGES(goid, false);
	CHANGES(status, false);
	CHANGES(reason, false);
	CHANGES(sp, false);
	CHANGES(pc, false);
	CHANGES(syscall_sp, false);
	CHANGES(syscall_pc, false);
	CHANGES(stack_lo, false);
	CHANGES(stack_hi, false);
	CHANGES(created_by, false);
	CHANGES(waiting, false);
	CHANGES(waitsince, true);
	CHANGES(m, true);
	CHANGES(labels, true);
}

static void test_match(void **state)
{
	struct goroutine_fields now = read_g();
	const struct goroutine all = {.goid = now.goid,
				      .status = (uint8_t)now.status,
				      .reason = now.reason,
				      .sp = now.sp};
	struct goroutine before = all;

	(void)state;
	assert_true(goroutine_fields_match(&now, &before));
#define DIFFERS(field)                                                                             \
	do {                                                                                       \
		before.field++;                                                                    \
		assert_false(goroutine_fields_match(&now, &before));                               \
		before = all;                                                                      \
	} while (0)
	DIFFERS(goid);
	DIFFERS(status);
	DIFFERS(reason);
	DIFFERS(sp);
	before.stack_hi++;
	assert_true(goroutine_fields_match(&now, &before));
}

static void test_states(void **state)
{
	/* by status: has a stack that stays, is dead, can be none */
	static const char words[] = "d" /* idle */
				    "s"
				    "-"
				    "s"
				    "s"
				    "-"
				    "d"
				    "-"
				    "-"
				    "s"
				    "s"
				    "d"
				    "w"
				    "w";

	(void)state;
	for (uint32_t status = 0; status < sizeof(words) - 1; status++) {
		struct goroutine_fields g = {
			.status = status, .sp = 1, .syscall_sp = 2, .stack_lo = 5, .stack_hi = 5};

		assert_int_equal(goroutine_fields_has_stack(&g), words[status] == 's');
		assert_int_equal(goroutine_fields_dead(&g), words[status] == 'd');
		assert_int_equal(goroutine_fields_wild(&g), words[status] == 'w');
		assert_int_equal(goroutine_fields_sp(&g), status == GOROUTINE_SYSCALL ? 2 : 1);
		g.stack_lo++;
		assert_true(goroutine_fields_wild(&g));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all, begin),
		cmocka_unit_test_setup(test_unknown, begin),
		cmocka_unit_test_setup(test_refused, begin),
		cmocka_unit_test_setup(test_same, begin),
		cmocka_unit_test_setup(test_match, begin),
		cmocka_unit_test_setup(test_states, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
