// SPDX-License-Identifier: Apache-2.0
/* Which processes are opened, what their workers are asked, and what is said of those that are
 * none. Processes, files and programs are of this test's own; the workers are processes, as ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/corefile.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "gostacks/goprocess_internal.h"
#include "gostacks/goprocesses.h"
#include "program/program.h"
#include "selection/target.h"
#include "steps.h"
#include "unit.h"

enum { PROCESSES = 6, RESULT = 400 };

struct process {
	pid_t pid;
	const char *path; /* NULL: not known */
	bool is_gone, no_exe, has_ended, is_refused, is_not_go;
};

static struct process processes[PROCESSES];
static size_t process_count;
static char result[RESULT]; /* of a look, in the tool: what the worker did since the last one */

static int anything;
#define SOME ((void *)&anything)

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

pid_t *process_list(size_t *count)
{
	pid_t *pids = mem_zalloc(PROCESSES, sizeof(*pids));

	*count = process_count;
	for (size_t i = 0; i < process_count; i++)
		pids[i] = processes[i].pid;
	return pids;
}

struct process *process_hold(pid_t pid, struct errmsg *err)
{
	for (size_t i = 0; i < process_count; i++)
		if (processes[i].pid == pid && !processes[i].is_gone)
			return &processes[i];
	errmsg_set(err, "no process with PID %d", pid);
	return NULL;
}

void process_close(struct process *proc)
{
	if (proc)
		steps_are("close %d", proc->pid);
}

void process_find_root(struct process *proc)
{
	steps_are("find_root %d", proc->pid);
}

char *process_exe_path(const struct process *proc)
{
	return proc->path ? mem_strdup(proc->path) : NULL;
}

bool process_is_called(const struct process *proc, const char *part, bool or_file)
{
	return or_file && proc->path && strstr(proc->path, part);
}

bool process_runs(const struct process *proc)
{
	return !proc->has_ended;
}

struct heldfile *process_exe(const struct process *proc, struct errmsg *err)
{
	if (!proc->no_exe)
		return (struct heldfile *)proc;
	errmsg_set(err, "%d: no file", proc->pid);
	errmsg_hint(err, "be root");
	return NULL;
}

struct program *program_open(struct heldfile *file, struct errmsg *err)
{
	static struct program prog = {.path = "/bin/prog"};
	const struct process *proc = (const struct process *)file;

	if (!file || (file != SOME && proc->is_not_go) || steps_answer(err, "program_open"))
		return NULL;
	return &prog;
}

struct goprocess *goprocess_open(const struct process *proc, struct program *prog,
				 struct errmsg *err)
{
	if (!proc->is_refused)
		return SOME;
	errmsg_set(err, "%d: not permitted", proc->pid);
	return NULL;
}

struct goprocess *goprocess_open_core(struct corefile *file, struct program *prog,
				      struct errmsg *err)
{
	return steps_answer(err, "goprocess_open_core") ? NULL : SOME;
}

bool goprocess_core_is_told(const struct goprocess *gp)
{
	return steps_are("is_told");
}

void goprocess_close(struct goprocess *gp)
{
}

struct heldfile *heldfile_open(struct fileroot *root, const char *path, struct errmsg *err)
{
	return steps_answer(err, "heldfile_open %s", path) ? NULL : SOME;
}

struct heldfile *target_resolve(const char *binary, const struct process *proc, struct errmsg *err)
{
	return steps_answer(err, "target_resolve %s", binary) ? NULL : SOME;
}

struct corefile *corefile_open(struct heldfile *file, struct errmsg *err)
{
	return !file || steps_answer(err, "corefile_open") ? NULL : SOME;
}

void corefile_close(struct corefile *core)
{
	steps_are("corefile_close %d", core != NULL);
}

pid_t corefile_pid(const struct corefile *core)
{
	return 99;
}

uint64_t corefile_missing(const struct corefile *core, uint64_t *whole)
{
	*whole = 1000;
	return 300;
}

/* NOLINTEND(misc-unused-parameters) */

/* In the worker */
static int look(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		size_t len, uint64_t *count, struct errmsg *err)
{
	(void)ctx;
	steps_are("look at %d, %s%s, for %d with %.*s", one->pid, one->name,
		  one->several ? " among others" : "", what, (int)len, (const char *)more);
	snprintf(result, sizeof(result), "%.*s", RESULT - 1, steps.said);
	memset(steps.said, 0, sizeof(steps.said));
	steps.len = 0;
	*count = 7;
	if (what == 3)
		_Exit(1);
	return what == 2 ? errmsg_set(err, "nothing to see") : 0;
}

static void failed(void *ctx, const struct errmsg *err)
{
	(void)ctx;
	steps_are("failed: %s", err->text);
}

static const struct goprocesses_work work = {
	.look = look, .result = result, .result_len = sizeof(result)};

static void begin(const struct process *some, size_t count, const char *fails)
{
	memset(&steps, 0, sizeof(steps));
	steps.fails = fails;
	process_count = count;
	if (count)
		memcpy(processes, some, count * sizeof(*some));
}

static void say(const struct goprocesses *procs)
{
	for (size_t i = 0; i < procs->count; i++)
		steps_are("has %d", procs->all[i].pid);
	if (procs->refused)
		steps_are("refused %zu: %s", procs->refused, procs->why.text);
	if (procs->core_size)
		steps_are("%lu of %lu missing%s", procs->core_missing, procs->core_size,
			  procs->core_untold ? ", not told" : "");
}

static bool open_it(const struct goprocesses_wanted *wanted, struct goprocesses *procs)
{
	struct errmsg err = {0};

	if (goprocesses_open(wanted, &work, procs, failed, NULL, &err)) {
		steps_are("error: %s%s%s", err.text, *err.hint ? "; " : "", err.hint);
		goprocesses_close(procs);
		return false;
	}
	say(procs);
	return true;
}

static void ask(struct goprocesses *procs, size_t i, int what)
{
	struct errmsg err = {0};
	uint64_t count = 1;
	int ret = goprocesses_look(procs, i, what, "more", 4, &count, &err);

	steps_are("%d: %lu %s[%s]", ret, count, err.text, ret && what == 3 ? "" : result);
}

static const struct process some[PROCESSES] = {
	{.pid = 11, .path = "/bin/first"},
	{.pid = 12, .path = "/bin/other", .is_not_go = true},
	{.pid = 13, .path = "/bin/refused", .is_refused = true},
	{.pid = 14, .no_exe = true},
	{.pid = 15, .path = "ended", .is_refused = true, .has_ended = true},
	{.pid = 16, .path = "/usr/bin/second"},
};

static void test_given(void **state)
{
	static const pid_t pids[] = {11, 12, 13, 14, 15, 17, 16};
	const struct goprocesses_wanted wanted = {.pids = pids, .pid_count = 7};
	struct goprocesses procs;

	(void)state;
	begin(some, PROCESSES, NULL);
	assert_true(open_it(&wanted, &procs));
	ask(&procs, 0, 1);
	ask(&procs, 1, 2);
	ask(&procs, 1, 1);
	ask(&procs, 1, 3);
	goprocesses_drop(&procs, 0);
	say(&procs);
	steps_are("closed: %d", goprocesses_close(&procs));
	steps_expect("close 12; failed: ; close 13; failed: 13: not permitted; close 14; failed: "
		     "14: no file; close 15; failed: 15: not permitted; failed: no process with "
		     "PID 17; has 11; has 16; 0: 7 [find_root 11; program_open; look at 11, first "
		     "among others, for 1 with more; ]; -1: 7 nothing to see[close 12; failed: ; "
		     "close 13; failed: 13: not permitted; close 14; failed: 14: no file; close "
		     "15; failed: 15: not permitted; failed: no process with PID 17; find_root 16; "
		     "program_open; look at 16, second among others, for 2 with more; ]; 0: 7 "
		     "[look at 16, second among others, for 1 with more; ]; -1: 0 process 16: what "
		     "reads it has ended[]; close 11; has 16; close 16; closed: 0; ");
}

static void test_all(void **state)
{
	const struct goprocesses_wanted wanted = {.all = true};
	struct goprocesses procs;

	(void)state;
	begin(some, PROCESSES, NULL);
	assert_true(open_it(&wanted, &procs));
	steps_are("again");
	processes[1].path = "/bin/another";
	processes[1].is_not_go = false;
	processes[2].is_refused = false; /* and executes what it did: it is not asked again */
	processes[3].is_gone = true;
	goprocesses_more(&wanted, &work, &procs);
	say(&procs);
	ask(&procs, 2, 1);
	steps_are("closed: %d", goprocesses_close(&procs));
	steps_expect(
		"close 12; close 13; close 14; close 15; has 11; has 16; refused 2: 13: not "
		"permitted; again; close 13; close 15; has 11; has 16; has 12; refused 1: 13: not "
		"permitted; 0: 7 [close 12; close 13; close 14; close 15; has 11; has 16; refused "
		"2: 13: not permitted; again; find_root 12; program_open; look at 12, another "
		"among others, for 1 with more; ]; close 11; close 16; close 12; closed: 1; ");
}

static void test_named(void **state)
{
	struct goprocesses_wanted wanted = {.name = "second"};
	struct goprocesses procs;

	(void)state;
	begin(some, PROCESSES, NULL);
	assert_true(open_it(&wanted, &procs));
	goprocesses_close(&procs);
	steps_expect("close 11; close 12; close 13; close 14; close 15; has 16; close 16; ");
	begin(some, 1, NULL);
	assert_false(open_it(&wanted, &procs));
	steps_expect("close 11; error: no Go program runs whose name contains \"second\"; ");
	begin(some + 1, 1, NULL);
	wanted.name = NULL;
	assert_false(open_it(&wanted, &procs));
	steps_expect("close 12; error: no Go program runs; ");
	begin(some + 2, 2, NULL);
	assert_false(open_it(&wanted, &procs));
	steps_expect("close 13; close 14; error: no Go program found; 2 processes could not be "
		     "read: 13: not permitted; ");
	begin(some + 3, 1, NULL);
	assert_false(open_it(&wanted, &procs));
	steps_expect("close 14; error: no Go program found; 1 processes could not be read: 14: no "
		     "file; be root; ");
}

static void test_core(void **state)
{
	static const char *const fails[] = {
		NULL,           "heldfile_open",       "corefile_open", "target_resolve",
		"program_open", "goprocess_open_core", "is_told"};
	const struct goprocesses_wanted wanted = {.core = "/core", .binary = "prog"};
	char all[2048] = "";
	struct goprocesses procs;

	(void)state;
	for (size_t i = 0; i < sizeof(fails) / sizeof(*fails); i++) {
		begin(NULL, 0, fails[i]);
		if (open_it(&wanted, &procs)) {
			ask(&procs, 0, 1);
			goprocesses_close(&procs);
		}
		strcat(all, steps.said);
	}
	begin(NULL, 0, NULL);
	steps_are("%s", all);
	steps_expect("has 0; 300 of 1000 missing, not told; 0: 7 [heldfile_open /core; "
		     "corefile_open; target_resolve prog; program_open; goprocess_open_core; "
		     "is_told; look at 99, prog, for 1 with more; ]; error: no heldfile_open; "
		     "error: no corefile_open; error: no target_resolve; error: no program_open; "
		     "error: no goprocess_open_core; has 0; 300 of 1000 missing; 0: 7 "
		     "[heldfile_open /core; corefile_open; target_resolve prog; program_open; "
		     "goprocess_open_core; is_told; look at 99, prog, for 1 with more; ]; ; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
