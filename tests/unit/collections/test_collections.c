// SPDX-License-Identifier: Apache-2.0
/* Collections and stops, put together from events; and from events of a program that lies. */
#include <stdlib.h>
#include <string.h>

#include "collections/collections.h"
#include "unit.h"

enum { MANY = 1100, LIES = 20000 };

static struct collection collection;
static struct stop stopped;
static size_t collection_count, stop_count;
static struct collections *all;
static uint64_t first_ns, last_ns; /* of the events of a lying program */

static void take_collection(void *ctx, const struct collection *got)
{
	(void)ctx;
	collection = *got;
	collection_count++;
}

static void take_stop(void *ctx, const struct stop *got)
{
	(void)ctx;
	stopped = *got;
	stop_count++;
}

static int begin(void **state)
{
	static const struct collections_report report = {take_collection, take_stop, NULL};

	(void)state;
	collection_count = stop_count = 0;
	all = collections_new(&report);
	return 0;
}

static int end(void **state)
{
	(void)state;
	collections_free(all);
	return 0;
}

static const struct stop sweep = {.reason = {"GC sweep termination", STOP_SWEEP_TERMINATION},
				  .trigger = GC_TRIGGER_TIME},
			 mark = {.reason = {"GC mark termination", STOP_MARK_TERMINATION}},
			 other = {.reason = {"GOMAXPROCS", STOP_NO_GC}};

static void pass(uint32_t pid, uint64_t ns, enum gc_kind kind, const struct stop *known)
{
	struct gc_event event = {.time_ns = ns, .process.tgid = pid, .pid = pid, .kind = kind};

	collections_event(all, &event, known);
}

static void stop_world(const struct stop *known, uint64_t ns)
{
	pass(1, ns, GC_STOP, known);
	pass(1, ns + 10, GC_STOPPED, known);
	pass(1, ns + 20, GC_START, known);
}

static void start_world(uint64_t ns, const struct gc_numbers *numbers)
{
	struct gc_event event = {.time_ns = ns,
				 .process.tgid = 1,
				 .pid = 1,
				 .kind = GC_STARTED,
				 .numbers = *numbers};

	collections_event(all, &event, &other);
}

static const struct gc_numbers none;

static void test_own_times(void **state)
{
	(void)state;
	stop_world(&sweep, 1000);
	start_world(1030, &none);
	assert_int_equal(collection_count, 0);
	stop_world(&mark, 2000);
	start_world(2050, &none);
	assert_int_equal(collection_count, 1);
	assert_int_equal(collection.trigger, GC_TRIGGER_TIME);
	assert_int_equal(collection.stop_count, 2);
	assert_int_equal(collection.stops[0].ns, 30);
	assert_int_equal(collection.stops[0].stopping_ns, 10);
	assert_int_equal(collection.mark_ns, 970);
	assert_int_equal(collection.ns, 1050);
}

/* As before Go 1.22: what the runtime notes of a collection is of its stops, too. */
static void test_noted_times(void **state)
{
	const struct gc_numbers numbers = {.sweep_term_ns = 995,
					   .mark_ns = 1028,
					   .mark_term_ns = 1990,
					   .end_ns = 2040,
					   .cycle = 7};

	(void)state;
	stop_world(&sweep, 1000);
	start_world(1030, &none);
	stop_world(&mark, 2000);
	start_world(2050, &numbers);
	assert_int_equal(collection.stops[0].ns, 33);
	assert_int_equal(collection.stops[0].stopping_ns, 15);
	assert_int_equal(collection.stops[1].ns, 50);
	assert_int_equal(collection.mark_ns, 1990 - 1028);
	assert_int_equal(collection.ns, 2040 - 995);
	assert_int_equal(collection.numbers.cycle, 7);
}

/* Since Go 1.22 it tells of each stop. */
static void test_told_times(void **state)
{
	struct gc_event event = {
		.time_ns = 120, .process.tgid = 1, .kind = GC_START, .told = {103, 111}};

	(void)state;
	pass(1, 100, GC_STOP, &other);
	collections_event(all, &event, &other);
	event.kind = GC_STARTED;
	event.time_ns = 140;
	event.told[0] = 133;
	collections_event(all, &event, &other);
	assert_int_equal(stop_count, 1);
	assert_int_equal(stopped.begin_ns, 103);
	assert_int_equal(stopped.stopping_ns, 8);
	assert_int_equal(stopped.ns, 30);
}

static void told_stop(const struct stop *known, uint64_t ns, const struct gc_numbers *numbers)
{
	struct gc_event event = {
		.time_ns = ns + 20, .process.tgid = 1, .kind = GC_START, .told = {ns + 1, ns + 8}};

	pass(1, ns, GC_STOP, known);
	collections_event(all, &event, known);
	event = (struct gc_event){.time_ns = ns + 40,
				  .process.tgid = 1,
				  .kind = GC_STARTED,
				  .told = {ns + 30},
				  .numbers = *numbers};
	collections_event(all, &event, known);
}

/* Then what is noted of the collection is of itself, and not of its stops. */
static void test_told_collection(void **state)
{
	const struct gc_numbers numbers = {.sweep_term_ns = 995,
					   .mark_ns = 1028,
					   .mark_term_ns = 1990,
					   .end_ns = 2029,
					   .cycle = 7};

	(void)state;
	told_stop(&sweep, 1000, &none);
	told_stop(&mark, 2000, &numbers);
	assert_int_equal(collection_count, 1);
	assert_int_equal(collection.stop_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(collection.stops[i].ns, 29);
		assert_int_equal(collection.stops[i].stopping_ns, 7);
	}
	assert_int_equal(collection.ns, 2029 - 995);
	assert_int_equal(collection.mark_ns, 1990 - 1028);
}

/* Something is to be marked yet: mark termination begins anew. */
static void test_begun_anew(void **state)
{
	const struct gc_numbers before = {.end_ns = 900}, after = {.end_ns = 3040};

	(void)state;
	stop_world(&sweep, 1000);
	start_world(1030, &before);
	stop_world(&mark, 2000);
	start_world(2050, &before);
	assert_int_equal(collection_count, 0);
	stop_world(&mark, 3000);
	start_world(3050, &after);
	assert_int_equal(collection_count, 1);
	assert_int_equal(collection.stop_count, 3);
}

static void test_begun_before(void **state)
{
	(void)state;
	stop_world(&mark, 2000);
	start_world(2050, &none);
	assert_int_equal(collection_count, 1);
	assert_false(collection.begun);
	assert_int_equal(collection.trigger, GC_TRIGGER_UNKNOWN);
	assert_int_equal(collection.stop_count, 1);
}

/* A stop of another kind belongs to no collection, even between its stops. */
static void test_between(void **state)
{
	(void)state;
	stop_world(&sweep, 1000);
	start_world(1030, &none);
	stop_world(&other, 1100);
	start_world(1140, &none);
	assert_int_equal(stop_count, 1);
	assert_int_equal(stopped.ns, 40);
	stop_world(&mark, 2000);
	start_world(2050, &none);
	assert_int_equal(collection.stop_count, 2);
}

/* Of a stop whose beginning was lost nothing is said. */
static void test_lost(void **state)
{
	(void)state;
	start_world(1030, &none);
	pass(1, 1040, GC_STOP, &other);
	pass(1, 1050, GC_STOP, &other);
	start_world(1070, &none);
	assert_int_equal(stop_count, 1);
	assert_int_equal(stopped.ns, 20);
}

static void test_many_processes(void **state)
{
	(void)state;
	for (uint32_t pid = 1; pid <= MANY; pid++)
		pass(pid, pid, GC_STOP, &other);
	pass(MANY, MANY + 10, GC_STARTED, &other);
	assert_int_equal(stop_count, 1);
	assert_int_equal(stopped.ns, 10);
	assert_int_equal(stopped.pid, MANY);
	pass(1, MANY + 20, GC_STARTED, &other); /* had to make room */
	assert_int_equal(stop_count, 1);
}

static void test_many_stops(void **state)
{
	const struct gc_numbers before = {.end_ns = 1};

	(void)state;
	for (size_t i = 0; i < 20; i++) {
		stop_world(&mark, 1000 + i * 100);
		start_world(1030 + i * 100, i < 19 ? &before : &none);
	}
	assert_int_equal(collection_count, 1);
	assert_int_equal(collection.stop_count, COLLECTION_STOPS);
	assert_int_equal(collection.stops_left_out, 20 - COLLECTION_STOPS);
}

static uint64_t lie(void)
{
	switch (rand() % 6) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - (uint64_t)rand() % 3;
	case 2:
		return (uint64_t)rand() << 33;
	default: /* near the truth */
		return last_ns + (uint64_t)(rand() % 400) - 200;
	}
}

/* No time is longer than what has passed, but for the time before the first stop. */
static void check(const struct collection *got)
{
	assert_true(got->stop_count <= COLLECTION_STOPS);
	for (size_t i = 0; i < got->stop_count; i++) {
		assert_true(got->stops[i].ns <= last_ns - first_ns + 1000000000);
		assert_true(got->stops[i].stopping_ns <= got->stops[i].ns);
	}
	assert_true(got->ns <= last_ns - first_ns + 1000000000);
	assert_true(got->mark_ns <= got->ns);
}

static void test_lies(void **state)
{
	static const struct stop *const known[] = {&sweep, &mark, &other};

	(void)state;
	srand(7);
	first_ns = last_ns = 1000000;
	for (size_t i = 0; i < LIES; i++) {
		struct gc_event event = {.process.tgid = 1, .kind = (unsigned)rand() % 6};
		uint64_t *words = (uint64_t *)&event.numbers;

		last_ns += (uint64_t)rand() % 100;
		event.time_ns = last_ns;
		event.told[0] = lie();
		event.told[1] = lie();
		for (size_t k = 0; k < sizeof(event.numbers) / sizeof(*words); k++)
			words[k] = lie();
		collections_event(all, &event, known[rand() % 3]);
		if (collection_count)
			check(&collection);
		assert_true(stopped.ns <= last_ns - first_ns && stopped.stopping_ns <= stopped.ns);
	}
	assert_true(collection_count && stop_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_times, begin, end),
		cmocka_unit_test_setup_teardown(test_noted_times, begin, end),
		cmocka_unit_test_setup_teardown(test_told_times, begin, end),
		cmocka_unit_test_setup_teardown(test_told_collection, begin, end),
		cmocka_unit_test_setup_teardown(test_begun_anew, begin, end),
		cmocka_unit_test_setup_teardown(test_begun_before, begin, end),
		cmocka_unit_test_setup_teardown(test_between, begin, end),
		cmocka_unit_test_setup_teardown(test_lost, begin, end),
		cmocka_unit_test_setup_teardown(test_many_processes, begin, end),
		cmocka_unit_test_setup_teardown(test_many_stops, begin, end),
		cmocka_unit_test_setup_teardown(test_lies, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
