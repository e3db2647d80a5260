// SPDX-License-Identifier: Apache-2.0
/* Which functions of the scheduler are probed for the states of goroutines, by release, and what
 * the kernel side is told. The tracer is the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elffile.h"
#include "latency/states_internal.h"
#include "latency/threadwatch_internal.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/runtime_func.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/tracer.h"

enum { PROGRAMS = 2, ITEMS = 3 };

static struct elffile *files[PROGRAMS];
static struct program programs[PROGRAMS];
static size_t program_count;
static struct goruntime runtime_of;
static struct selection_item items[ITEMS];
static struct selection selection;
static const char *missing; /* no such function */
static const char *words[PROGRAMS][4];
static char told[2048];
static bool threads_fail;

static void tell(const char *what, const char *of, unsigned long long number)
{
	sprintf(told + strlen(told), "%s%s=%llu ", what, of, number);
}

/* --- in place of the tracer --- */

size_t tracer_program_count(const struct tracer *tracer)
{
	(void)tracer;
	return program_count;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_true(n < program_count);
	return &programs[n];
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &runtime_of;
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &selection;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	tell("", name, value);
}

void tracer_reverse_parts(struct tracer *tracer)
{
	(void)tracer;
	strcat(told, "reversed ");
}

void tracer_set_plans(struct tracer *tracer, const struct tracer_plan *plans)
{
	(void)tracer;
	for (size_t i = 0; i < ITEMS; i++)
		tell("part", "", plans[i].part);
}

void tracer_set_parts(struct tracer *tracer, uint32_t count)
{
	(void)tracer;
	tell("parts", "", count);
}

void selection_group(struct selection *sel, uint32_t group, bool returns)
{
	assert_ptr_equal(sel, &selection);
	assert_false(returns);
	sel->group = group;
}

int runtime_func_add(struct selection *sel, const struct program *prog,
		     const struct runtime_func *func, struct errmsg *err)
{
	assert_ptr_equal(sel, &selection);
	if (missing && !strcmp(func->names[0], missing))
		return errmsg_set(err, "no %s", missing);
	sprintf(told + strlen(told), "%s%s%s%s:%u/%u ", prog == programs ? "" : "2.",
		func->names[0] + strlen("runtime."), func->optional ? "?" : "",
		func->callee ? func->callee : "", sel->runtime, sel->group);
	return 0;
}

bool runtime_vars_wait_reasons_of(const struct program *prog, char *reasons[WAIT_REASONS])
{
	const char *const *mine = words[prog - programs];

	if (!mine[0])
		return false;
	for (size_t i = 0; i < 4; i++)
		if (mine[i])
			reasons[2 * i + 1] = mem_strdup(mine[i]);
	return true;
}

int threadwatch_plan(struct tracer *tracer, struct errmsg *err)
{
	(void)tracer;
	strcat(told, "threads ");
	return threads_fail ? errmsg_set(err, "not told") : 0;
}

struct threadwatch *threadwatch_begin(struct bpfprog *bpf, struct errmsg *err)
{
	(void)bpf;
	(void)err;
	return NULL;
}

void threadwatch_end(struct threadwatch *watch)
{
	(void)watch;
}

void threadwatch_free(struct threadwatch *watch)
{
	assert_null(watch);
}

void threadwatch_say(const struct threadwatch *watch, const char *tool)
{
	(void)watch;
	(void)tool;
}

/* --- programs --- */

static void open_program(size_t n, unsigned machine)
{
	struct errmsg err;

	files[n] = elffile_new(machine);
	programs[n].img = elffile_open(files[n], &err);
	assert_non_null(programs[n].img);
}

static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < PROGRAMS; i++) {
		programs[i] = (struct program){
			.release = 27, .toolchain = &toolchain_gc, .path = i ? "/two" : "/one"};
		open_program(i, EM_X86_64);
		words[i][0] = "stopping the world";
		words[i][1] = "GC assist marking";
		words[i][2] = "garbage collection";
		words[i][3] = "garbage collection scan";
	}
	program_count = 1;
	runtime_of = (struct goruntime){.g_status = 144, .g_waitreason = 176};
	memset(items, 0, sizeof(items));
	items[1].runtime = 5;
	selection = (struct selection){.items = items, .item_count = ITEMS, .group = 2};
	missing = NULL;
	threads_fail = false;
	*told = '\0';
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < PROGRAMS; i++) {
		image_close(programs[i].img);
		elffile_free(files[i]);
	}
	return 0;
}

static void plan(bool threads, const char *want, const char *why, const char *hint)
{
	struct states *states = states_new();
	struct errmsg err = {0};

	*told = '\0';
	selection.group = 2;
	if (threads)
		states_watch_threads(states);
	assert_int_equal(states_plan(states, NULL, &err), why ? -1 : 0);
	assert_string_equal(err.text, why ? why : "");
	assert_string_equal(err.hint, hint ? hint : "");
	if (want)
		assert_string_equal(told, want);
	states_free(states);
}

#define NEVER_MISSING                                                                              \
	"casgstatus:1/3 preemptPark:2/4 coroswitch_m?:2/5 coroswitch_m?runtime.gogo:3/6 "
#define CALLS "reentersyscall:4/7 exitsyscall:5/8 "
#define DEFINED                                                                                    \
	"STATES_WANTED=1 G_STATUS=144 reversed part=0 part=1 part=0 parts=2 NESTED=1048576 "       \
	"G_WAITREASON=176 "

static void test_releases(void **state)
{
	(void)state;
	plan(false, NEVER_MISSING CALLS DEFINED, NULL, NULL);
	programs[0].release = 26;
	plan(true, NEVER_MISSING CALLS DEFINED "threads ", NULL, NULL);
	programs[0].release = 25;
	plan(false, NEVER_MISSING DEFINED, NULL, NULL);
	/* what the runtime does is not said: numbers 3, 5 and 7 are, all the same */
	words[0][0] = "chan receive";
	plan(false,
	     NEVER_MISSING "stopTheWorldWithSema:6/9 forEachP:7/10 mdump?:8/11 " DEFINED
			   "LATE_REASONS=168 ",
	     NULL, NULL);
	words[0][2] = "garbage";
	plan(false,
	     NEVER_MISSING "stopTheWorldWithSema:6/9 forEachP:7/10 mdump?:8/11 " DEFINED
			   "LATE_REASONS=136 ",
	     NULL, NULL);
	states_free(NULL);
}

/* Of several, those of each; they must agree in what goroutines wait for. */
static void test_several(void **state)
{
	static const char differ[] = "\"/one\" and \"/two\" cannot be traced together with "
				     "--states: their Go versions differ too much";
	static const char hint[] = "trace them in two commands";

	(void)state;
	program_count = 2;
	programs[1].release = 25;
	plan(false,
	     "casgstatus:1/3 2.casgstatus:1/3 preemptPark:2/4 2.preemptPark:2/4 "
	     "coroswitch_m?:2/5 2.coroswitch_m?:2/5 coroswitch_m?runtime.gogo:3/6 "
	     "2.coroswitch_m?runtime.gogo:3/6 reentersyscall:4/7 exitsyscall:5/8 " DEFINED,
	     NULL, NULL);
	words[1][3] = "garbage collection";
	plan(false, "", differ, hint);
	words[1][3] = NULL;
	plan(false, "", differ, hint);
	words[0][3] = NULL;
	plan(false, NULL, NULL, NULL);
	words[1][3] = "x";
	plan(false, "", differ, hint);
}

static void test_refused(void **state)
{
	(void)state;
	missing = "runtime.exitsyscall";
	plan(false, NULL, "no runtime.exitsyscall", NULL);
	missing = NULL;
	threads_fail = true;
	plan(true, NULL, "not told", NULL);
	words[0][0] = NULL;
	plan(false, "",
	     "\"/one\": what goroutines wait for is not found in the code of "
	     "runtime.waitReason.String",
	     NULL);
	programs[0].toolchain = &toolchain_gccgo;
	plan(false, "", "\"/one\" is built by gccgo: --states is for Go's gc compiler only", NULL);
}

/* Code of arm64 is no other case. */
static void test_arm64(void **state)
{
	char first[sizeof(told)];

	(void)state;
	plan(false, NULL, NULL, NULL);
	strcpy(first, told);
	image_close(programs[0].img);
	elffile_free(files[0]);
	open_program(0, EM_AARCH64);
	plan(false, first, NULL, NULL);
}

static void test_brief(void **state)
{
	struct errmsg err;

	(void)state;
	program_count = 2;
	words[0][0] = "chan receive";
	assert_int_equal(states_plan_brief(NULL, "--exact", &err), 0);
	assert_string_equal(told, "WAITS_AS_ONE=1 casgstatus:1/3 2.casgstatus:1/3 preemptPark:2/4 "
				  "2.preemptPark:2/4 coroswitch_m?:2/5 2.coroswitch_m?:2/5 "
				  "coroswitch_m?runtime.gogo:3/6 2.coroswitch_m?runtime.gogo:3/6 "
				  "reentersyscall:4/7 2.reentersyscall:4/7 exitsyscall:5/8 "
				  "2.exitsyscall:5/8 STATES_WANTED=1 G_STATUS=144 reversed ");
	programs[1].toolchain = &toolchain_gccgo;
	assert_int_equal(states_plan_brief(NULL, "--exact", &err), -1);
	assert_string_equal(err.text, "\"/two\" is built by gccgo: --exact is for Go's gc compiler "
				      "only");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_releases, begin, end),
		cmocka_unit_test_setup_teardown(test_several, begin, end),
		cmocka_unit_test_setup_teardown(test_refused, begin, end),
		cmocka_unit_test_setup_teardown(test_arm64, begin, end),
		cmocka_unit_test_setup_teardown(test_brief, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
