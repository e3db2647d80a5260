// SPDX-License-Identifier: Apache-2.0
/* gogc's lines and JSON, and why the world is stopped. What stands in stacks is made up. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "blocked/stacks.h"
#include "collections/collections.h"
#include "collections/collections_print.h"
#include "printed.h"

/* Stack n is funcs[n], its innermost frame first; with `all` that of the runtime before it, too. */
enum { FRAMES = 4, NONE = 0, CALLS_GC, RUNTIMES, OWN, HELPER, ALLOCATES, ASKS, HEAP_DUMP, STACKS };

static const char *const funcs[STACKS][FRAMES] = {
	[CALLS_GC] = {"runtime.gcStart", "runtime.GC", "runtime/debug.FreeOSMemory", "main.work"},
	[RUNTIMES] = {"runtime.gcStart.func1", "runtime/debug.x"},
	[OWN] = {"runtimes.Get", "main.own"},
	[HELPER] = {"runtime.gcStart", "runtime.forcegchelper"},
	[ALLOCATES] = {"runtime.gcStart", "runtime.mallocgc", "main.make"},
	[ASKS] = {"runtime.stopTheWorldGC", "runtime.systemstack_switch", "main.asks", "main.b"},
	[HEAP_DUMP] = {"runtime.stopTheWorld", "runtime/debug.WriteHeapDump", "main.b"},
};

/* of blocked/stacks.c */
bool stacks_each(const struct stacks *stacks, uint64_t hash, uint64_t bias, bool all,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	(void)stacks;
	(void)all;
	assert_int_equal(bias, 0x1000);
	for (unsigned i = 0; i < FRAMES && funcs[hash][i]; i++) {
		const struct frame frame = {
			.func = funcs[hash][i], .file = "/a.go", .line = 10 + (int)i};

		fn(ctx, &frame);
	}
	return hash;
}

void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json)
{
	(void)stacks;
	assert_int_equal(bias, 0x1000);
	json_u64(json, hash);
}

static struct stop stop_of(const char *words, uint64_t ns, uint64_t stack)
{
	return (struct stop){.reason = {.words = words},
			     .ns = ns,
			     .stopping_ns = ns / 2,
			     .goid = 6,
			     .stack = stack,
			     .bias = 0x1000,
			     .pid = 12};
}

static struct collection collection_of(enum gc_trigger trigger, uint64_t stack)
{
	return (struct collection){
		.pid = 12,
		.begun = true,
		.trigger = trigger,
		.stops = {stop_of("GC sweep termination", 30000, stack),
			  stop_of("GC mark termination", 50000, RUNTIMES)},
		.stop_count = 2,
		.ns = 2500000,
		.mark_ns = 2300000,
		.numbers = {.heap0 = 4 << 20,
			    .heap1 = 5 << 20,
			    .heap2 = 3 << 20,
			    .goal = 8 << 20,
			    .assist_ns = 40000,
			    .cycle = 17},
	};
}

static const struct collections_view view = {0};

static void test_head(void **state)
{
	const struct collections_view timed = {.timestamp = true};

	(void)state;
	printed_begin();
	collections_print_head(&view);
	collections_print_head(&timed);
	printed_expect(
		"    PID     GC WHY           TOTAL STOPPED    MARK  ASSIST BEFORE  AFTER   GOAL\n"
		"TIME         PID     GC WHY           TOTAL STOPPED    MARK  ASSIST BEFORE  AFTER"
		"   GOAL\n");
}

static void expect_lines(const struct collection *collection, const char *want)
{
	printed_begin();
	collections_print(&view, collection);
	printed_expect(want);
}

static void test_lines(void **state)
{
	struct collection collection = collection_of(GC_TRIGGER_HEAP, ALLOCATES);

	(void)state;
	expect_lines(
		&collection,
		"     12     17 heap         2.5ms    80us   2.3ms    40us   4.0M   3.0M   8.0M\n"
		"                  30us  GC sweep termination, 15us until all had stopped\n"
		"                  50us  GC mark termination, 25us until all had stopped\n");
	collection = collection_of(GC_TRIGGER_TIME, HELPER);
	collection.numbers = (struct gc_numbers){.heap2 = 1, .assist_ns = 5};
	collection.stop_count = 1;
	collection.stops[0].reason.words = NULL;
	expect_lines(
		&collection,
		"     12      0 time         2.5ms    30us   2.3ms       -      -      -      -"
		"\n"
		"                  30us  unknown, 15us until all had stopped\n");
	collection.trigger = GC_TRIGGER_UNKNOWN;
	collection.numbers = (struct gc_numbers){.heap0 = 1, .goal = 2};
	collection.stop_count = 0;
	expect_lines(
		&collection,
		"     12      0 -            2.5ms     0ns   2.3ms     0ns      1      0      2"
		"\n");
}

/* Who has called runtime.GC is said, and who stopped last where it is known. */
static void test_who(void **state)
{
	struct collection collection = collection_of(GC_TRIGGER_CALL, CALLS_GC);

	(void)state;
	collection.stops[1].last_goid = 21;
	collection.stops[1].last_stack = OWN;
	expect_lines(
		&collection,
		"     12     17 runtime.GC   2.5ms    80us   2.3ms    40us   4.0M   3.0M   8.0M\n"
		"                  30us  GC sweep termination, 15us until all had stopped\n"
		"                        by main.work a.go:13\n"
		"                  50us  GC mark termination, 25us until all had stopped\n"
		"                        last to stop: goroutine 21 at runtimes.Get a.go:10\n");
	collection.stops[0].stack = RUNTIMES;
	collection.stop_count = 1;
	collection.stops[0].last_goid = 22;
	expect_lines(
		&collection,
		"     12     17 runtime.GC   2.5ms    30us   2.3ms    40us   4.0M   3.0M   8.0M\n"
		"                  30us  GC sweep termination, 15us until all had stopped\n"
		"                        by the runtime\n"
		"                        last to stop: goroutine 22 at [lost]\n");
}

static void test_stop(void **state)
{
	const struct stop stop = stop_of("GOMAXPROCS", 70000, OWN);
	const struct collections_view timed = {.timestamp = true};
	char *text;

	(void)state;
	printed_begin();
	collections_print_stop(&view, &stop);
	printed_expect("     12 stop      70us  GOMAXPROCS, 35us until all had stopped\n"
		       "                        by runtimes.Get a.go:10\n");
	printed_begin();
	collections_print_stop(&timed, &stop);
	text = printed_end();
	assert_true(text[2] == ':' && text[5] == ':');
	assert_string_equal(text + 8,
			    "      12 stop      70us  GOMAXPROCS, 35us until all had stopped\n"
			    "                                 by runtimes.Get a.go:10\n");
	free(text);
}

static void add_time(struct json *json)
{
	json_member_string(json, "time", "now");
}

static void test_json(void **state)
{
	const struct collections_view timed = {.time = add_time};
	struct collection collection = collection_of(GC_TRIGGER_HEAP, ALLOCATES);

	(void)state;
	collection.stops[1].last_goid = 21;
	collection.stops[1].last_stack = OWN;
	printed_begin();
	collections_json(&timed, &collection);
	printed_expect("{\"type\":\"gc\",\"time\":\"now\",\"pid\":12,\"cycle\":17,"
		       "\"trigger\":\"heap\",\"stw\":["
		       "{\"reason\":\"GC sweep termination\",\"ns\":30000,\"stopping_ns\":15000},"
		       "{\"reason\":\"GC mark termination\",\"ns\":50000,\"stopping_ns\":25000}],"
		       "\"mark_ns\":2300000,\"assist_ns\":40000,\"heap_before\":4194304,"
		       "\"heap_after\":3145728,\"heap_goal\":8388608,\"heap_end\":5242880,"
		       "\"total_ns\":2500000,\"goid\":6,\"stack\":5,"
		       "\"stopped_last\":[null,{\"goid\":21,\"stack\":3}]}\n");
	/* begun before tracing; nothing could be read of the process */
	collection = collection_of(GC_TRIGGER_UNKNOWN, ALLOCATES);
	collection.begun = false;
	collection.stop_count = 1;
	collection.numbers = (struct gc_numbers){.heap1 = 1, .heap2 = 1, .assist_ns = 1};
	printed_begin();
	collections_json(&view, &collection);
	printed_expect("{\"type\":\"gc\",\"pid\":12,\"cycle\":null,\"trigger\":null,\"stw\":["
		       "{\"reason\":\"GC sweep termination\",\"ns\":30000,\"stopping_ns\":15000}],"
		       "\"mark_ns\":2300000,\"assist_ns\":null,\"heap_before\":null,"
		       "\"heap_after\":null,\"heap_goal\":null,\"heap_end\":null,"
		       "\"total_ns\":2500000,\"goid\":null,\"stack\":null,"
		       "\"stopped_last\":[null]}\n");
}

static void test_stop_json(void **state)
{
	struct stop stop = stop_of(NULL, 70000, OWN);

	(void)state;
	stop.last_goid = 9;
	stop.last_stack = HELPER;
	printed_begin();
	collections_json_stop(&view, &stop);
	printed_expect("{\"type\":\"stw\",\"pid\":12,\"reason\":\"unknown\",\"ns\":70000,"
		       "\"stopping_ns\":35000,\"goid\":6,\"stack\":3,"
		       "\"stopped_last\":{\"goid\":9,\"stack\":4}}\n");
}

/* --- reasons --- */

static void test_triggers(void **state)
{
	(void)state;
	assert_int_equal(stop_reason_trigger(NULL, CALLS_GC, 0x1000), GC_TRIGGER_CALL);
	assert_int_equal(stop_reason_trigger(NULL, HELPER, 0x1000), GC_TRIGGER_TIME);
	assert_int_equal(stop_reason_trigger(NULL, ALLOCATES, 0x1000), GC_TRIGGER_HEAP);
	assert_int_equal(stop_reason_trigger(NULL, OWN, 0x1000), GC_TRIGGER_UNKNOWN);
	assert_int_equal(stop_reason_trigger(NULL, NONE, 0x1000), GC_TRIGGER_UNKNOWN);
}

static void expect_reason(struct stop_reason reason, const char *words, enum stop_gc gc)
{
	if (words)
		assert_string_equal(reason.words, words);
	else
		assert_null(reason.words);
	assert_int_equal(reason.gc, gc);
}

/* Numbers as src/runtime/proc.go has them */
static void test_numbers(void **state)
{
	(void)state;
	expect_reason(stop_reason_number(0), "unknown", STOP_NO_GC);
	expect_reason(stop_reason_number(1), "GC mark termination", STOP_MARK_TERMINATION);
	expect_reason(stop_reason_number(2), "GC sweep termination", STOP_SWEEP_TERMINATION);
	expect_reason(stop_reason_number(7), "read mem stats", STOP_NO_GC);
	expect_reason(stop_reason_number(9), "GOMAXPROCS", STOP_NO_GC);
	expect_reason(stop_reason_number(16), "ResetDebugLog (test)", STOP_NO_GC);
	expect_reason(stop_reason_number(17), NULL, STOP_NO_GC);
}

/* Before there were numbers */
static void test_askers(void **state)
{
	(void)state;
	expect_reason(stop_reason_asker(NULL, ALLOCATES, 0x1000), "GC sweep termination",
		      STOP_SWEEP_TERMINATION);
	expect_reason(stop_reason_asker(NULL, ASKS, 0x1000), "main.asks", STOP_NO_GC);
	expect_reason(stop_reason_asker(NULL, HEAP_DUMP, 0x1000), "write heap dump", STOP_NO_GC);
	expect_reason(stop_reason_asker(NULL, NONE, 0x1000), NULL, STOP_NO_GC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),     cmocka_unit_test(test_lines),
		cmocka_unit_test(test_who),      cmocka_unit_test(test_stop),
		cmocka_unit_test(test_json),     cmocka_unit_test(test_stop_json),
		cmocka_unit_test(test_triggers), cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_askers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
