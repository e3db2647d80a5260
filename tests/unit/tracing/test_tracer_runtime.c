// SPDX-License-Identifier: Apache-2.0
/* Which programs a traced opens beside those that are asked for, and what it has of their runtimes;
 * whose probes they are. All other modules are the test's, and write down what they are asked. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "elf/dynlink.h"
#include "files/process.h"
#include "kernel/attach_trial.h"
#include "kernel/execwatch.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/target.h"
#include "steps.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

enum { PROGRAMS = 4, PID = 181 };

static int anything; /* its address stands for what only others look into */
#define SOME ((void *)&anything)

/* In their images' place: the path, by which all is told. */
static struct program app = {.path = "app", .toolchain = &toolchain_gccgo};
static struct program lib = {.path = "lib", .toolchain = &toolchain_gccgo};
static struct program gc = {.path = "gc", .toolchain = &toolchain_gc};
static struct program *programs[PROGRAMS];
static struct program *executed; /* by the process or the command; NULL: it cannot be opened */
static struct tracer_config config;
static struct tracer traced;
static bool has_library, layouts_differ, executes, runs_on, only_one, wanted;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const char *path_of(const struct image *img)
{
	return ((const struct program *)(const void *)img)->path;
}

const char *dynlink_needs(const struct image *img, const char *prefix)
{
	assert_string_equal(prefix, toolchain_gccgo.libgo);
	return has_library && !strcmp(path_of(img), "app") ? "libgo.so.21" : NULL;
}

struct heldfile *target_library(const char *soname, const struct process *proc)
{
	steps_are("library %s%s", soname, proc ? " of -p" : "");
	return (struct heldfile *)&lib;
}

struct program *tracer_open(struct tracer *tracer, struct heldfile *file, struct errmsg *err)
{
	struct program *prog = (struct program *)file;

	assert_ptr_equal(tracer, &traced);
	assert_null(err);
	steps_are("open %s", prog ? prog->path : "-");
	if (!prog)
		return NULL;
	for (size_t i = 0; i < traced.program_count; i++)
		if (programs[i] == prog)
			return prog;
	programs[traced.program_count++] = prog;
	return prog;
}

struct program *program_open(struct heldfile *file, struct errmsg *err)
{
	struct program *prog = (struct program *)file;

	steps_are("read %s", prog ? prog->path : "-");
	return prog;
}

void program_close(struct program *prog)
{
	steps_are("close %s", prog ? prog->path : "-");
}

struct heldfile *command_open(struct command *cmd, struct errmsg *err)
{
	steps_are("command's");
	return (struct heldfile *)executed;
}

struct heldfile *process_exe(const struct process *proc, struct errmsg *err)
{
	steps_are("process's");
	return (struct heldfile *)executed;
}

struct site_finder *selection_finder(const struct selection *sel, const struct program *prog)
{
	assert_ptr_equal(sel, SOME);
	return (struct site_finder *)prog;
}

int goruntime_read(const struct program *prog, struct site_finder *finder, struct goruntime *out,
		   struct errmsg *err)
{
	assert_ptr_equal(finder, prog);
	out->is_library = prog == &lib;
	return steps_answer(err, "runtime %s", prog->path);
}

void goruntime_link_gccgo(const struct image *img, const struct image *library,
			  const struct goruntime *library_rt, struct goruntime *out)
{
	assert_true(library_rt->is_library);
	steps_are("link %s %s %d", path_of(img), path_of(library), (int)(out - traced.runtimes));
}

bool goruntime_same_layout(const struct goruntime *a, const struct goruntime *b)
{
	steps_are("layout %d %d", (int)(a - traced.runtimes), (int)(b - traced.runtimes));
	return !layouts_differ;
}

bool functab_named(const struct functab *tab, const char *name, struct functab_func *out)
{
	assert_string_equal(name, "syscall.Exec");
	return executes;
}

bool descendants_wanted(struct command *cmd, const struct heldfile *file)
{
	steps_are("wanted %s", ((const struct program *)(const void *)file)->path);
	return wanted && file == (struct heldfile *)&gc;
}

int descendants_layout(struct descendants_layout *out, struct errmsg *err)
{
	*out = (struct descendants_layout){.tgid = 3, .signal = 4, .live = 5};
	return steps_answer(err, "tasks");
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	assert_ptr_equal(tracer, &traced);
	steps_are("%s=%d", name, (int)value);
}

bool attach_trial_end(struct attach_trial *trial)
{
	assert_ptr_equal(trial, SOME);
	steps_are("trial");
	return only_one;
}

bool process_first_runs(const struct process *proc)
{
	steps_are("first thread");
	return runs_on;
}

struct execwatch *execwatch_new(pid_t pid)
{
	steps_are("watch %d", pid);
	return SOME;
}

/* NOLINTEND(misc-unused-parameters) */

static struct program *all[] = {&app, &lib, &gc};

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		all[i]->img = (struct image *)all[i];
		all[i]->file = (struct heldfile *)all[i];
	}
	config = (struct tracer_config){0};
	traced = (struct tracer){
		.config = &config, .programs = programs, .program_count = 1, .sel = SOME};
	programs[0] = &app;
	executed = NULL;
	steps = (struct steps){0};
	has_library = runs_on = only_one = true;
	layouts_differ = executes = wanted = false;
	return 0;
}

/* --- runtimes --- */

static void expect_runtimes(const char *fails, const char *did)
{
	struct errmsg err = {0};

	int ret = tracer_read_runtimes(&traced, &err);

	assert_int_equal(ret, fails ? -1 : 0);
	if (fails)
		assert_string_equal(err.text, fails);
	if (traced.executed)
		steps_are("executed %s", traced.executed->path);
	if (*err.hint)
		steps_are("hint %s", err.hint);
	steps_are("%zu programs", traced.program_count);
	steps_expect(did);
	free(traced.runtimes);
	setup(NULL);
}

static void test_libraries(void **state)
{
	(void)state;
	expect_runtimes(NULL,
			"library libgo.so.21; open lib; runtime app; runtime lib; link app lib "
			"0; layout 1 0; 2 programs; ");
	has_library = false; /* linked statically */
	expect_runtimes(NULL, "runtime app; 1 programs; ");
	traced.process = SOME; /* which executes what is asked for */
	executed = &app;
	expect_runtimes(NULL, "process's; open app; library libgo.so.21 of -p; open lib; runtime "
			      "app; runtime lib; link app lib 0; layout 1 0; executed app; 2 "
			      "programs; ");
	traced.process = SOME; /* the library is asked for */
	programs[0] = &lib;
	executed = &app;
	expect_runtimes(NULL, "process's; open app; library libgo.so.21 of -p; open lib; runtime "
			      "lib; runtime app; link app lib 1; layout 1 0; executed app; 2 "
			      "programs; ");
	traced.command = SOME;
	programs[0] = &lib;
	executed = &gc; /* has no types that the library's events tell */
	expect_runtimes(NULL, "command's; open gc; close gc; runtime lib; 1 programs; ");
	traced.command = SOME;
	expect_runtimes(NULL, "command's; open -; library libgo.so.21; open lib; runtime app; "
			      "runtime lib; link app lib 0; layout 1 0; 2 programs; ");
	traced.command = SOME;
	traced.executed = &app; /* it is known */
	expect_runtimes(NULL,
			"library libgo.so.21; open lib; runtime app; runtime lib; link app lib "
			"0; layout 1 0; executed app; 2 programs; ");
	traced.command = SOME;
	programs[0] = executed = &gc;
	expect_runtimes(NULL, "runtime gc; 1 programs; ");
	traced.command = SOME;
	traced.program_count = 2;
	programs[1] = executed = &gc;
	expect_runtimes(NULL, "command's; open gc; library libgo.so.21; open lib; runtime app; "
			      "runtime gc; runtime lib; link app lib 0; layout 1 0; layout 2 0; "
			      "executed gc; 3 programs; ");
}

static void test_layouts(void **state)
{
	(void)state;
	traced.program_count = 2;
	programs[1] = &gc;
	layouts_differ = true;
	expect_runtimes("\"app\" and \"gc\" cannot be traced together: their Go versions differ "
			"too much",
			"library libgo.so.21; open lib; runtime app; runtime gc; runtime lib; "
			"link app lib 0; layout 1 0; hint trace them in two commands; 3 "
			"programs; ");
	traced.program_count = 2;
	traced.running = 2;
	programs[1] = &gc;
	layouts_differ = true;
	expect_runtimes("\"app\" and \"gc\" cannot be traced together: their Go versions differ "
			"too much",
			"library libgo.so.21; open lib; runtime app; runtime gc; runtime lib; "
			"link app lib 0; layout 1 0; hint trace one of them: with -p PID, or "
			"more of its name; 3 programs; ");
	steps.fails = "runtime";
	expect_runtimes("no runtime", "library libgo.so.21; open lib; runtime app; 2 programs; ");
}

/* --- whose probes they are --- */

static void expect_alone(bool alone, const char *did)
{
	traced.pid = PID;
	traced.trial = SOME;
	tracer_decide_alone(&traced);
	assert_null(traced.trial);
	assert_ptr_equal(traced.execs, alone ? SOME : NULL);
	steps_expect(did);
	setup(NULL);
}

static void test_alone(void **state)
{
	(void)state;
	tracer_decide_alone(&traced); /* there is no trial */
	steps_expect("");
	traced.process = SOME;
	executed = &gc;
	expect_alone(true, "trial; first thread; process's; read gc; close gc; watch 181; ");
	traced.command = SOME;
	executed = &gc;
	expect_alone(true, "trial; command's; read gc; close gc; watch 181; ");
	traced.command = SOME; /* no Go program */
	expect_alone(true, "trial; command's; read -; close -; watch 181; ");
	traced.command = SOME;
	executed = &gc;
	executes = true;
	expect_alone(false, "trial; command's; read gc; close gc; ");
	traced.executed = &gc;
	expect_alone(true, "trial; watch 181; ");
	traced.executed = &app; /* which may have it from its library */
	expect_alone(false, "trial; ");
	traced.executed = &gc;
	only_one = false;
	expect_alone(false, "trial; ");
	traced.executed = &gc;
	traced.follows = true;
	expect_alone(false, "trial; ");
	traced.process = SOME;
	runs_on = false;
	expect_alone(false, "trial; first thread; ");
}

static void expect_descendants(bool follows, const char *why, const char *did)
{
	tracer_decide_descendants(&traced);
	assert_int_equal(traced.follows, follows);
	assert_string_equal(traced.alone_why.text, why);
	steps_expect(did);
	setup(NULL);
	traced.command = SOME;
	traced.program_count = 2;
	programs[1] = &gc;
	wanted = true;
}

static void test_descendants(void **state)
{
	(void)state;
	expect_descendants(false, "", "");
	expect_descendants(true, "",
			   "wanted app; wanted gc; tasks; CHILD_TGID=3; TASK_SIGNAL=4; "
			   "SIGNAL_LIVE=5; ");
	config.goroutines = true;
	expect_descendants(true, "", "wanted app; wanted gc; tasks; CHILD_TGID=3; ");
	wanted = false;
	expect_descendants(false, "", "wanted app; wanted gc; ");
	steps.fails = "tasks";
	expect_descendants(false, "no tasks", "wanted app; wanted gc; tasks; ");
	programs[0] = &gc; /* the first is enough */
	programs[1] = &app;
	expect_descendants(true, "",
			   "wanted gc; wanted app; tasks; CHILD_TGID=3; TASK_SIGNAL=4; "
			   "SIGNAL_LIVE=5; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_libraries, setup),
		cmocka_unit_test_setup(test_layouts, setup),
		cmocka_unit_test_setup(test_alone, setup),
		cmocka_unit_test_setup(test_descendants, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
