// SPDX-License-Identifier: Apache-2.0
/* What the tool computes from an event is what the kernel side would compute. */
#include <stdint.h>
#include <stdio.h>

#include "base/errmsg.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/eventexpr_internal.h"
#include "probespec/probespec.h"
#include "unit.h"

static const struct trace_event event = {
	.latency_ns = 7000001, .goid = 18, .parent_goid = 3, .tgid = 321, .tid = 322, .cpu = 5};

static void parse(const char *expr, struct probespec *spec)
{
	char probe[200];
	struct errmsg err = {0};

	snprintf(probe, sizeof(probe), "r:main.f \"%%d\", %s", expr);
	if (probespec_parse(probe, false, spec, &err))
		fail_msg("%s: %s", probe, err.text);
}

static void test_values(void **state)
{
	static const struct {
		const char *expr;
		int64_t value;
	} rows[] = {
		{"$latency / 1000000 + 0", 7},
		{"$latency / 1000 % 1000", 0},
		{"$latency % 1000", 1},
		{"$pid * 10", 3210},
		{"$tid - $pid", 1},
		{"$pid - $tid", -1},
		{"$goid + $parent_goid", 21},
		{"$cpu << 2", 20},
		{"$cpu << 63", INT64_MIN},
		{"$cpu << 64", 0},
		{"-$cpu >> 1", -3},
		{"-$cpu >> 64", -1},
		{"$cpu >> 64", 0},
		{"-$cpu / 2", -2},
		{"$cpu / -2", -2},
		{"-$cpu / -2", 2},
		{"-$cpu % 3", -2},
		{"$cpu % -3", 2},
		{"-$cpu % -3", -2},
		{"~$cpu", -6},
		{"!$cpu", 0},
		{"!0", 1},
		{"-$cpu < 4", 1},
		{"$cpu < 5", 0},
		{"$cpu <= 5", 1},
		{"$cpu > 5", 0},
		{"$cpu >= 5", 1},
		{"$cpu == 5", 1},
		{"$cpu != 5", 0},
		{"$cpu & 4", 4},
		{"$cpu | 2", 7},
		{"$cpu ^ 1", 4},
		{"$cpu && 2", 1},
		{"$cpu && 0", 0},
		{"0 && 1 / 0", 0},
		{"$cpu || 1 / 0", 1},
		{"0 || $cpu", 1},
		{"0 || 0", 0},
		{"true == true", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probespec spec;
		uint64_t value = 0;

		parse(rows[i].expr, &spec);
		if (!eventexpr_is(spec.args[0]))
			fail_msg("%s is not computed", rows[i].expr);
		assert_true(eventexpr_compute(spec.args[0], &event, &value));
		if ((int64_t)value != rows[i].value)
			fail_msg("%s is %lld", rows[i].expr, (long long)value);
		probespec_free(&spec);
	}
}

static void test_no_value(void **state)
{
	static const char *const exprs[] = {"$cpu / 0",   "1 % ($cpu - 5)", "0 || 1 / 0",
					    "1 && 1 % 0", "-(1 / 0)",       "1 / 0 + 1",
					    "1 + 1 / 0"};

	(void)state;
	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		struct probespec spec;
		uint64_t value = 0;

		parse(exprs[i], &spec);
		assert_true(eventexpr_is(spec.args[0]));
		if (eventexpr_compute(spec.args[0], &event, &value))
			fail_msg("%s is %lld", exprs[i], (long long)value);
		probespec_free(&spec);
	}
}

/* Arguments, texts and what the kernel side alone knows. */
static void test_others(void **state)
{
	static const char *const exprs[] = {
		"goarg1 + 1", "$comm",      "$func",   "$running / 2",   "len(goarg1)",
		"\"text\"",   "1 + goret1", "!goarg1", "$cpu == goarg1", "nil == goarg1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		struct probespec spec;

		parse(exprs[i], &spec);
		if (eventexpr_is(spec.args[0]))
			fail_msg("%s is computed", exprs[i]);
		probespec_free(&spec);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_no_value),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
