// SPDX-License-Identifier: Apache-2.0
/* How much goroutines had to help the collector, from a map that is the test's. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/gc.h"
#include "collections/assists.h"
#include "collections/collections_print.h"
#include "kernel/bpfmap.h"
#include "printed.h"
#include "unit.h"

enum { MAP = 5 };

static const uint64_t entries[GC_FUNCS] = {[GC_FUNC_ASSIST] = 0x7000, [GC_FUNC_SWEEP] = 0x8f00};

static const struct gc_assist_key keys[] = {{1, 0x8000, 77, GC_FUNC_ASSIST},
					    {2, 0x9000, 78, GC_FUNC_ASSIST},
					    {3, 0x9000, 78, GC_FUNC_ASSIST},
					    {4, 0x9000, 79, GC_FUNC_SWEEP},
					    {5, 0x9100, 79, GC_FUNC_SWEEP}};
static const struct gc_assist_sum sums[] = {
	{1, 1500, 1500}, {20, 3000000000, 2000000}, {3, 70, 30}, {8, 90, 20}, {9, 100, 40}};
static size_t count;
static bool fails;

/* --- in place of kernel/ and blocked/ --- */

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_int_equal(fd, MAP);
	assert_int_equal(key_size, sizeof(*keys));
	assert_int_equal(value_size, sizeof(*sums));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(fn(&keys[i], &sums[i], arg), 0);
	errno = ENOMEM;
	return fails ? -1 : 0;
}

void stacks_print(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	assert_null(stacks);
	fprintf(out, "    stack %ju at %jx\n", (uintmax_t)hash, (uintmax_t)bias);
}

void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json)
{
	assert_null(stacks);
	json_array(json);
	json_u64(json, hash);
	json_u64(json, bias);
	json_array_end(json);
}

static void put_time(struct json *json)
{
	json_member_string(json, "time", "12:00:00");
}

static void test_text(void **state)
{
	const struct collections_view view = {0};
	struct errmsg err = {0};

	(void)state;
	count = 5;
	printed_begin();
	assert_int_equal(assists_print(&view, MAP, entries, &err), 0);
	printed_expect("\n    PID  ASSISTS    TOTAL      MAX\n"
		       "     78       20     3.0s    2.0ms\n"
		       "    stack 2 at 2000\n"
		       "     77        1    1.5us    1.5us\n"
		       "    stack 1 at 1000\n"
		       "     78        3     70ns     30ns\n"
		       "    stack 3 at 2000\n"
		       "\n    PID    SPANS    TOTAL      MAX\n"
		       "     79        9    100ns     40ns\n"
		       "    stack 5 at 200\n"
		       "     79        8     90ns     20ns\n"
		       "    stack 4 at 100\n");
	count = 0;
	printed_begin();
	assert_int_equal(assists_print(&view, MAP, entries, &err), 0);
	printed_expect("\n    PID  ASSISTS    TOTAL      MAX\n"
		       "\n    PID    SPANS    TOTAL      MAX\n");
}

static void test_json(void **state)
{
	const struct collections_view view = {.time = put_time}, timeless = {0};
	struct errmsg err = {0};

	(void)state;
	count = 4;
	printed_begin();
	assert_int_equal(assists_json(&view, MAP, entries, &err), 0);
	printed_expect("{\"type\":\"assist\",\"time\":\"12:00:00\",\"pid\":78,\"assists\":20,"
		       "\"total_ns\":3000000000,\"max_ns\":2000000,\"stack\":[2,8192]}\n"
		       "{\"type\":\"assist\",\"time\":\"12:00:00\",\"pid\":77,\"assists\":1,"
		       "\"total_ns\":1500,\"max_ns\":1500,\"stack\":[1,4096]}\n"
		       "{\"type\":\"assist\",\"time\":\"12:00:00\",\"pid\":78,\"assists\":3,"
		       "\"total_ns\":70,\"max_ns\":30,\"stack\":[3,8192]}\n"
		       "{\"type\":\"sweep_assist\",\"time\":\"12:00:00\",\"pid\":79,\"spans\":8,"
		       "\"total_ns\":90,\"max_ns\":20,\"stack\":[4,256]}\n");
	count = 1;
	printed_begin();
	assert_int_equal(assists_json(&timeless, MAP, entries, &err), 0);
	printed_expect("{\"type\":\"assist\",\"pid\":77,\"assists\":1,\"total_ns\":1500,"
		       "\"max_ns\":1500,\"stack\":[1,4096]}\n");
}

static void test_unreadable(void **state)
{
	const struct collections_view view = {0};
	struct errmsg err = {0};

	(void)state;
	fails = true;
	printed_begin();
	assert_int_equal(assists_print(&view, MAP, entries, &err), -1);
	assert_int_equal(assists_json(&view, MAP, entries, NULL), -1);
	printed_expect("");
	assert_string_equal(err.text, "cannot read the assists: Cannot allocate memory");
	fails = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
