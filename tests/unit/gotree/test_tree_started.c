// SPDX-License-Identifier: Apache-2.0
/* gotree's kernel side, run on this side: goroutines that calls of ROOT start, and processes that
 * end. */
#include "fakegoroutine.h"
#include "unit.h"

#define TREES 4
#define ROOT_ROWS 2
#define SLOWER_NS 20
#define RING_PAGES 1
#define FOLLOW
#define CALLER_SECOND

#include "bpf-src/gotree.bpf.c" /* NOLINT(bugprone-suspicious-include) */
#include "treeprogram.h"
#include "treetext.h"

enum { NEWPROC = 0x5000, FN = FAKEGOROUTINE_FREE };

static void runtime_hit(u64 ax, u64 bx, enum cookie_kind kind, u32 copy)
{
	regs.ip = NEWPROC;
	regs.ax = ax;
	regs.bx = bx;
	fakekernel.cookie = cookie_make(9, kind, 0, copy);
	assert_int_equal(on_probe_1(&regs), 0);
}

/* Goroutine `by` starts `n`. */
static void start(unsigned by, unsigned n)
{
	fakemem_put(FN, NEWPROC + 1600);
	runtime_hit(FN, fakegoroutine_g(by), COOKIE_CALL, FOLLOW_START);
	runtime_hit(fakegoroutine_g(n), 0, COOKIE_RETURN, FOLLOW_START);
}

static void end(unsigned n)
{
	runtime_hit(fakegoroutine_g(n), 0, COOKIE_CALL, FOLLOW_END);
}

/* The trees that there are, by goid: goroutines' that were started */
static void expect_trees(const char *wanted)
{
	const struct goroutine_key *key;
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; (key = fakemap_key(&trees_map, i)); i++) {
		const struct tree *tree = trees.lookup(key);
		const struct tree_head *h = &tree->head;

		at += snprintf(text + at, TEXT_MAX - at,
			       "%c%llu by %llu newest %llu before %llu of %llu@%llu p%u end %llu "
			       "cut %u:",
			       key->id & GOROUTINE_STARTED ? 's' : 'g', h->who.id, h->by, h->newest,
			       h->before, h->request.who.id, h->request.start_ns, h->pid, h->end_ns,
			       h->cut_started);
		at = print_calls(at, tree->calls, h->count);
	}
	assert_string_equal(text, wanted);
}

static void test_started(void **state)
{
	const struct tree_request *request;
	const struct tree_followed *followed;

	(void)state;
	start(1, 2); /* below no ROOT */
	call(1, 64, 0);
	start(1, 2);
	call(1, 128, 3);
	start(1, 3);
	call(2, 64, 5);
	start(2, 4);
	ret(2, 64, 5);
	end(2);
	expect_trees("g1 by 0 newest 3 before 0 of 1@1030 p77 end 0 cut 0: 0@8^-1G1030+0 "
		     "-1@0^0S1050+1600 3@16^0G1070+0 -1@0^2S1090+1600\n"
		     "s2 by 1 newest 4 before 0 of 1@1030 p77 end 1150 cut 0: -1@0^-1R1050+100 "
		     "5@8^0R1110+30 -1@0^1S1130+1600\n"
		     "s3 by 1 newest 0 before 2 of 1@1030 p77 end 0 cut 0: -1@0^-1G1090+0\n"
		     "s4 by 2 newest 0 before 0 of 1@1030 p77 end 0 cut 0: -1@0^-1G1130+0\n");
	expect_losses(0, 0, 0, 0, 0, 0);
	ret(1, 64, 0);
	request = fakemap_key(&requests_map, 0);
	followed = requests.lookup(request);
	assert_int_equal(followed->count, 3);
	assert_int_equal(followed->newest, 3);
	assert_int_equal(followed->end_ns, 1030 + 130);
}

/* A goroutine that ends in calls has not been seen to leave them; it itself has returned. */
static void test_ended_within(void **state)
{
	(void)state;
	call(1, 64, 0);
	start(1, 2);
	call(2, 64, 5);
	call(2, 128, 6);
	end(2);
	expect_trees("g1 by 0 newest 2 before 0 of 1@1010 p77 end 0 cut 0: 0@8^-1G1010+0 "
		     "-1@0^0S1030+1600\n"
		     "s2 by 1 newest 0 before 0 of 1@1010 p77 end 1080 cut 0: -1@0^-1R1030+50 "
		     "5@8^0U1050+30 6@16^1U1070+10\n");
}

/* What a goroutine does is none of ROOT's call once that has ended; the tool deletes its request,
 * and then the goroutine itself its tree. */
static void test_over(void **state)
{
	const struct tree_event *e = (void *)fakekernel.events[0].data;
	struct goroutine_key key;

	(void)state;
	call(1, 64, 0);
	start(1, 2);
	call(2, 64, 5);
	ret(1, 64, 0);
	assert_int_equal(fakekernel.event_count, 1);
	assert_int_equal(e->head.request.start_ns, 1010);
	key = *(const struct goroutine_key *)fakemap_key(&trees_map, 0);
	assert_int_equal(key.id, 2 | GOROUTINE_STARTED);
	call(2, 128, 6);
	ret(2, 64, 5);
	start(2, 3);
	expect_trees("s2 by 1 newest 0 before 0 of 1@1010 p77 end 0 cut 0: -1@0^-1G1030+0 "
		     "5@8^0R1050+30\n");
	requests.delete(&e->head.request);
	look(2, 64);
	assert_int_equal(trees_map.count, 0);
	/* one that has a tree of its own as ROOT's */
	call(1, 64, 0);
	start(1, 2);
	look(1, 128);
	ret(1, 64, 0);
	call(2, 64, 1);
	look(2, 128);
	ret(2, 64, 1);
	assert_int_equal(fakekernel.event_count, 3);
	expect_losses(0, 0, 0, 0, 0, 0);
}

/* ROOT's call was too short to be shown: the tool is told that what was started is to be forgotten.
 */
static void test_dropped(void **state)
{
	const struct tree_event *e = (void *)fakekernel.events[0].data;

	(void)state;
	fakekernel.ns_step = 1;
	call(1, 64, 0);
	start(1, 2);
	ret(1, 64, 0);
	assert_int_equal(fakekernel.event_count, 1);
	assert_int_equal(e->head.count, 0);
	assert_int_equal(e->head.request.who.id, 1);
	assert_int_equal(e->head.request.start_ns, 1001);
	assert_int_equal(e->time_ns, 1004);
	assert_int_equal(e->first, 0);
	assert_int_equal(e->zero, 0);
	assert_int_equal(fakekernel.events[0].flags, 0);
	assert_int_equal(trees_map.count, 1);
	expect_losses(1, 0, 0, 0, 0, 0);
	call(3, 64, 0);
	start(3, 4);
	fakekernel.ring_room = 0;
	ret(3, 64, 0);
	assert_int_equal(fakekernel.event_count, 1);
}

static void test_newborn_lost(void **state)
{
	(void)state;
	call(1, 64, 0);
	runtime_hit(FN, 0x10, COOKIE_CALL, FOLLOW_START); /* who starts it cannot be read */
	assert_int_equal(loss(TREE_NEWBORN), 1);
	runtime_hit(0x10, fakegoroutine_g(1), COOKIE_CALL, FOLLOW_START); /* the function */
	assert_int_equal(loss(TREE_NEWBORN), 2);
	runtime_hit(fakegoroutine_g(2), 0, COOKIE_RETURN, FOLLOW_START); /* no start was seen */
	assert_int_equal(trees_map.count, 1);
	runtime_hit(FN, fakegoroutine_g(1), COOKIE_CALL, FOLLOW_START);
	runtime_hit(0x10, 0, COOKIE_RETURN, FOLLOW_START); /* the new one */
	assert_int_equal(loss(TREE_NEWBORN), 3);
	runtime_hit(0x10, 0, COOKIE_CALL, FOLLOW_END);
	assert_int_equal(loss(TREE_NEWBORN), 4);
	assert_int_equal(starting_map.count, 0);
	start(1, 2);
	start(1, 3);
	start(1, 4);
	assert_int_equal(loss(TREE_FOLLOWED), 0);
	start(1, 5);
	assert_int_equal(loss(TREE_FOLLOWED), 1);
	assert_int_equal(trees_map.count, TREES);
}

/* So many are followed of one call of ROOT, and no more; of go statements that are not kept there
 * is a number. */
static void test_many_started(void **state)
{
	const struct tree_event *e = (void *)fakekernel.events[0].data;

	(void)state;
	call(1, 64, 0);
	for (u32 i = 0; i < TREE_CALLS + 1; i++) {
		start(1, 2);
		requests.lookup(fakemap_key(&requests_map, 0));
		end(2);
	}
	assert_int_equal(loss(TREE_FOLLOWED), TREE_CALLS - 1 - TREE_GOROUTINES);
	ret(1, 64, 0);
	assert_int_equal(e->head.cut_started, 2);
	assert_int_equal(e->head.count, TREE_CALLS);
	assert_int_equal(e->head.cut, 0);
	begin(state);
	fakekernel.refuses = "requests";
	call(1, 64, 0);
	start(1, 2);
	assert_int_equal(loss(TREE_FOLLOWED), 1);
}

/* Each thread makes one goroutine at a time. */
static void test_threads(void **state)
{
	const u64 ids = fakekernel.ids;
	struct goroutine_key key = {.id = 3 | GOROUTINE_STARTED};

	(void)state;
	call(1, 64, 0);
	call(2, 64, 0);
	fakemem_put(FN, NEWPROC);
	runtime_hit(FN, fakegoroutine_g(1), COOKIE_CALL, FOLLOW_START);
	fakekernel.ids++;
	runtime_hit(FN, fakegoroutine_g(2), COOKIE_CALL, FOLLOW_START);
	runtime_hit(fakegoroutine_g(3), 0, COOKIE_RETURN, FOLLOW_START);
	fakekernel.ids = ids;
	goroutine_process(&key);
	assert_int_equal(trees.lookup(&key)->head.by, 2);
	assert_int_equal(trees.lookup(&key)->head.request.who.id, 2);
	runtime_hit(fakegoroutine_g(4), 0, COOKIE_RETURN, FOLLOW_START);
	key.id = 4 | GOROUTINE_STARTED;
	assert_int_equal(trees.lookup(&key)->head.by, 1);
}

/* goids of 64 bits, and functions at lower addresses than the probe */
static void test_large(void **state)
{
	struct goroutine_key key = {.id = 1};
	const struct tree_call *c;

	(void)state;
	fakemem_put(fakegoroutine_g(2) + GOID_OFF, 0x1234567890);
	call(1, 64, 0);
	fakemem_put(FN, NEWPROC - 0x100);
	runtime_hit(FN, fakegoroutine_g(1), COOKIE_CALL, FOLLOW_START);
	runtime_hit(fakegoroutine_g(2), 0, COOKIE_RETURN, FOLLOW_START);
	goroutine_process(&key);
	c = &trees.lookup(&key)->calls[1];
	assert_int_equal(tree_started_goid(c), 0x1234567890);
	assert_int_equal(tree_started_func(c), -0x100);
	*active.lookup(&(u32){0}) = 0;
	end(2);
	*active.lookup(&(u32){0}) = 1;
	key.id = 0x1234567890 | GOROUTINE_STARTED;
	assert_int_equal(trees.lookup(&key)->head.end_ns, 0);
	end(2);
	assert_int_equal(trees.lookup(&key)->head.end_ns, 1050);
}

/* A process that ends, or executes another program, takes its calls with it: the tool is told. */
static void test_processes(void **state)
{
	struct process_key key = {.tgid = FAKEGOROUTINE_PID, .start_ns = 5000, .exec = 3};

	(void)state;
	call(1, 64, 0);
	on_process_exit(NULL); /* a thread, while others live */
	assert_int_equal(gone_map.count, 0);
	fake_signal.flags = 4; /* all are to end: this is the first one */
	on_process_exit(NULL);
	fakekernel.ns = 9000;
	fake_signal.live = 0;
	on_process_exit(NULL);
	assert_int_equal(gone_map.count, 1);
	assert_int_equal(*gone.lookup(&key), 1020);
	assert_int_equal(processes_map.count, 0);
	on_process_exit(NULL);
	assert_int_equal(gone_map.count, 1);
	fake_task.exec = 4; /* of the same ID */
	call(1, 64, 0);
	call(2, 64, 0);
	assert_int_equal(processes_map.count, 1);
	on_process_exec(NULL);
	key.exec = 4;
	assert_int_equal(gone_map.count, 2);
	assert_int_equal(*gone.lookup(&key), 9040);
	on_process_exec(NULL);
	assert_int_equal(gone_map.count, 2);
	fake_leader.start_ns = 6000; /* an ID that is used again */
	call(1, 128, 0);
	fakekernel.refuses = "gone";
	on_process_exec(NULL);
	assert_int_equal(processes_map.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_started, begin),
		cmocka_unit_test_setup(test_ended_within, begin),
		cmocka_unit_test_setup(test_over, begin),
		cmocka_unit_test_setup(test_dropped, begin),
		cmocka_unit_test_setup(test_newborn_lost, begin),
		cmocka_unit_test_setup(test_many_started, begin),
		cmocka_unit_test_setup(test_threads, begin),
		cmocka_unit_test_setup(test_large, begin),
		cmocka_unit_test_setup(test_processes, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
