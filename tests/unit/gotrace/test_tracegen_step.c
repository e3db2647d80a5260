// SPDX-License-Identifier: Apache-2.0
/* The steps that stand for code that reads arguments and results, and which code has some. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf-src/shared/trace_step.h"
#include "genprobe.h"
#include "unit.h"

static const struct genprobe_how registers = {
	.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .string_max = 16};
static const struct genprobe_how arm64 = {.arch = ARCH_ARM64, .convention = ABI_REGISTERS};
static const struct genprobe_how stack = {
	.arch = ARCH_AMD64, .convention = ABI_STACK, .string_max = 16};

static const struct genprobe_how gccgo = {.arch = ARCH_AMD64, .convention = ABI_SYSV};

static void make(struct genprobe *gp, const char *probe, const struct genprobe_how *how)
{
	struct errmsg err = {0};

	if (genprobe_make(gp, probe, how, &err))
		fail_msg("%s: %s", probe, err.text);
}

static void check(const char *probe, const struct genprobe_how *how, const struct trace_step *steps,
		  size_t count)
{
	struct genprobe gp;

	make(&gp, probe, how);
	assert_true(gp.plan.tabular);
	assert_int_equal(gp.plan.step_count, count);
	for (size_t i = 0; i < count; i++)
		if (memcmp(&gp.plan.steps[i], &steps[i], sizeof(steps[i])))
			fail_msg("%s: step %zu is another one", probe, i);
	genprobe_free(&gp);
}

#define CHECK(probe, how, steps) check(probe, how, steps, sizeof(steps) / sizeof((steps)[0]))

static void test_numbers(void **state)
{
	static const struct trace_step ints[] = {
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 8, .max = 8},
		{.what = TRACE_STEP_STATE, .at = 0, .n = 8},
		{.what = TRACE_STEP_REGISTER, .how = 3, .at = 24, .max = 1},
		{.what = TRACE_STEP_STATE, .at = 16, .n = 1},
	};
	static const struct trace_step second[] = {
		{.what = TRACE_STEP_REGISTER, .how = 1, .at = 8, .max = 1},
		{.what = TRACE_STEP_STATE, .at = 0, .n = 1},
	};
	static const struct trace_step above[] = {
		{.what = TRACE_STEP_STACK, .at = 8, .max = 4, .n = 8},
		{.what = TRACE_STEP_STATE, .at = 0, .n = 4},
	};
	static const struct trace_step three[] = {
		{.what = TRACE_STEP_REGISTER, .how = 7, .at = 8, .max = 2},
		{.what = TRACE_STEP_REGISTER, .how = 7, .at = 10, .max = 1, .n = 16},
		{.what = TRACE_STEP_STATE, .at = 0, .n = 3},
	};

	(void)state;
	CHECK("main.f(x [3]uint8) \"%v\", x", &gccgo, three);
	CHECK("main.add(x int, y int8) \"%d %d\", goarg1, y", &registers, ints);
	CHECK("main.add(x int, y int8) \"%d\", goarg2", &arm64, second);
	CHECK("main.add(x int32, y int8) (y < -1) \"%d\", x", &stack, above);
}

/* What a pointer leads to is read if its own bytes are there; else all of it is marked. */
static void test_pointers(void **state)
{
	struct genprobe gp;
	size_t tests = 0, ends = 0;

	(void)state;
	make(&gp, "main.f(d *main.Deep) \"%+v\", d", &registers);
	assert_true(gp.plan.tabular);
	for (size_t i = 0; i < gp.plan.step_count; i++) {
		const struct trace_step *step = &gp.plan.steps[i];

		tests += step->what == TRACE_STEP_IF;
		ends += step->what == TRACE_STEP_SKIP;
		assert_true(i + 1 + step->skip <= gp.plan.step_count);
		if (step->what == TRACE_STEP_IF) {
			assert_int_equal(step[step->skip].what, TRACE_STEP_SKIP);
			assert_int_equal(step[step->skip + 1].what, TRACE_STEP_SET);
		}
	}
	assert_true(tests && tests == ends);
	genprobe_free(&gp);
}

static bool is_tabular(const char *probe, const struct genprobe_how *how)
{
	struct genprobe gp;

	make(&gp, probe, how);
	bool is = gp.plan.tabular;

	genprobe_free(&gp);
	return is;
}

static void test_tabular(void **state)
{
	(void)state;
	assert_true(is_tabular("main.f(s string)", &registers));
	assert_true(is_tabular("main.f(s string, e error) (s == \"x\" && e != nil)", &registers));
	assert_true(is_tabular("main.f(t main.T, m map[string]int, l []string)", &stack));
	/* of these code computes something */
	assert_false(is_tabular("main.f(x int) \"%d\", x + 1", &registers));
	assert_false(is_tabular("main.f(s string) \"%d\", len(s)", &registers));
	assert_false(is_tabular("main.f(s string) \"%s\", s[1:3]", &registers));
	assert_false(is_tabular("main.f(t *main.T) \"%d\", t.a", &registers));
	assert_true(is_tabular("r:main.f(s string) (n int, e error)", &registers));
	assert_true(is_tabular("r:main.f(b []byte, s *string) (n int)", &stack));
	assert_true(is_tabular("r:main.f(x int) (n int) (n > 5) \"%d %d\", x, n", &registers));
	assert_true(is_tabular("r:main.f(x int) (n int) (x > 5) \"%d %d\", x, n", &registers));
	assert_false(is_tabular("r:main.f(x int) (n int) (x > n) \"%d %d\", x, n", &registers));
	assert_true(is_tabular("r:main.f(x int) \"%d %d\", $latency / 1000 % 1000, x", &registers));
	assert_false(is_tabular("r:main.f(x int) (n int) \"%d\", x + n", &registers));
	assert_false(is_tabular("r:main.f(x int) \"%d %d\", x, $running", &registers));
}

/* What is read at entry, then what is read at return; a parameter that the call may fill in both.
 */
static void test_at_return(void **state)
{
	static const struct trace_step results[] = {
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 8, .max = 8},
		{.what = TRACE_STEP_STATE, .at = 0, .n = 8},
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 24, .max = 8},
		{.what = TRACE_STEP_STATE, .at = 16, .n = 8},
	};
	static const struct trace_step target[] = {
		{.what = TRACE_STEP_REGISTER, .how = 0, .at = 8, .max = 8},
		{.what = TRACE_STEP_STATE, .at = 0, .n = 8},
		{.what = TRACE_STEP_SP, .at = 16},
		{.what = TRACE_STEP_OBJECT, .own = 8, .at = 32, .state = 24, .max = 8},
		{.what = TRACE_STEP_MOVED, .own = 8, .at = 40, .state = 16},
		{.what = TRACE_STEP_OBJECT, .own = 40, .at = 56, .state = 48, .max = 8},
	};
	struct genprobe gp;

	(void)state;
	CHECK("r:main.f(x int) (n int) \"%d %d\", x, n", &registers, results);
	CHECK("r:main.f(x *int)", &registers, target);
	make(&gp, "r:main.f(x *int)", &registers);
	assert_int_equal(gp.plan.save_step_count, 4);
	assert_int_equal(gp.plan.saved_size, 40);
	assert_int_equal(gp.plan.record_size, 64);
	assert_int_equal(gp.plan.args[0].items[0].before->at, 24);
	assert_int_equal(gp.plan.args[0].items[0].after->at, 48);
	genprobe_free(&gp);
}

/* The kernel side has room for so many interfaces. */
static void test_interfaces(void **state)
{
	char *most = mem_printf("main.f(a [8]error, b [%d]error) \"%%v %%v\", a, b",
				TRACE_STEP_DYNAMICS - 8);
	char *more = mem_printf("main.f(a [8]error, b [%d]error) \"%%v %%v\", a, b",
				TRACE_STEP_DYNAMICS - 7);

	(void)state;
	assert_true(is_tabular(most, &stack));
	assert_false(is_tabular(more, &stack));
	free(more);
	free(most);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),    cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_at_return),  cmocka_unit_test(test_tabular),
		cmocka_unit_test(test_interfaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
