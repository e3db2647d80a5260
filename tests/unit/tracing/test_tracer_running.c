// SPDX-License-Identifier: Apache-2.0
/* --name and --all: which of the processes that run are opened, and what is said of it. The
 * processes are children of this test's own; what they execute is made up. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/worker.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "program/program.h"
#include "selection/target.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

enum { CHILDREN = 4, PROGRAMS_MAX = 16 };

struct process {
	pid_t pid;
	const char *path, *comm; /* path NULL: not known */
	bool no_exe, not_go, is_not_held, worker_fails, is_replaced;
	bool root_found;
};

struct heldfile {
	const char *path, *place;
};

static struct process processes[CHILDREN];
static size_t process_count;
static struct heldfile files[CHILDREN];
static struct program programs[CHILDREN];
static struct program *opened[PROGRAMS_MAX];
static unsigned held, programs_held, workers, looked_at;
static bool has_mounts; /* the last child has mounts of its own */
static char *note;      /* to the user */

/* --- of other modules --- */

pid_t *process_list(size_t *count)
{
	pid_t *pids = mem_zalloc(CHILDREN, sizeof(*pids));

	for (size_t i = 0; i < process_count; i++)
		pids[i] = processes[i].pid;
	*count = process_count;
	return pids;
}

struct process *process_hold(pid_t pid, struct errmsg *err)
{
	size_t i = 0;

	(void)err;
	while (processes[i].pid != pid)
		i++;
	held += !processes[i].is_not_held;
	return processes[i].is_not_held ? NULL : &processes[i];
}

void process_close(struct process *proc)
{
	held -= proc != NULL;
}

char *process_exe_path(const struct process *proc)
{
	return proc->path ? mem_strdup(proc->path) : NULL;
}

pid_t process_id(const struct process *proc)
{
	return proc->pid;
}

bool process_runs_deleted(const struct process *proc, const char *path)
{
	return proc->is_replaced && !strcmp(path, proc->path);
}

char *process_name(const struct process *proc)
{
	return mem_strdup(proc->comm);
}

void process_find_root(struct process *proc)
{
	proc->root_found = true;
}

struct heldfile *process_exe(const struct process *proc, struct errmsg *err)
{
	assert_true(proc->root_found);
	if (proc->no_exe) {
		errmsg_set(err, "%s cannot be opened", proc->path);
		return NULL;
	}
	return &files[proc - processes];
}

struct program *tracer_open_traceable(struct heldfile *file, struct errmsg *err)
{
	if (processes[file - files].not_go) {
		errmsg_set(err, "%s is no Go program", file->path);
		return NULL;
	}
	programs_held++;
	return &programs[file - files];
}

void program_close(struct program *prog)
{
	programs_held -= prog != NULL;
}

struct program *tracer_open(struct tracer *tracer, struct heldfile *file, struct errmsg *err)
{
	(void)err;
	assert_non_null(file);
	opened[tracer->program_count] = &programs[file - files];
	return opened[tracer->program_count++];
}

void budget_watch_pause(void)
{
}

char *heldfile_place(const struct heldfile *file)
{
	return file->place ? mem_strdup(file->place) : NULL;
}

/* Serves here, where what it is asked is seen. */
struct worker *worker_new(const struct worker_task *task, struct errmsg *err)
{
	const struct process *proc = task->ctx;

	looked_at++;
	if (proc->worker_fails) {
		errmsg_set(err, "no more processes");
		return NULL;
	}
	workers++;
	return (struct worker *)task;
}

int worker_ask(struct worker *worker, const void *request, size_t len, void *reply,
	       struct errmsg *err)
{
	const struct worker_task *task = (const struct worker_task *)worker;

	(void)err;
	memset(reply, 0, task->reply_len);
	task->serve(task->ctx, request, len, reply);
	return 0;
}

bool worker_free(struct worker *worker)
{
	workers -= worker != NULL;
	return true;
}

void selection_note(struct selection *sel, char *text)
{
	(void)sel;
	assert_null(note);
	note = text;
}

/* "BINARY:PATTERN" alone has one. */
int target_spec_parse(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err)
{
	assert_false(has_process);
	*out = (struct target_spec){0};
	return strchr(arg, ':') ? 0 : errmsg_set(err, "no BINARY");
}

void target_spec_free(struct target_spec *spec)
{
	(void)spec;
}

/* --- */

static int begin(void **state)
{
	int ready[2];
	char mounts = 0;

	*state = NULL;
	if (pipe(ready))
		return -1;
	for (size_t i = 0; i < CHILDREN; i++) {
		processes[i].pid = fork();
		if (processes[i].pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (i == CHILDREN - 1) {
			mounts = !unshare(CLONE_NEWNS);
			if (write(ready[1], &mounts, 1) < 0)
				_exit(1);
		}
		pause();
		_exit(0);
	}
	int got = (int)read(ready[0], &mounts, 1);

	has_mounts = mounts;
	close(ready[0]);
	close(ready[1]);
	return got == 1 ? 0 : -1;
}

static void end_child(struct process *proc)
{
	if (proc->pid <= 0)
		return;
	kill(proc->pid, SIGKILL);
	waitpid(proc->pid, NULL, 0);
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHILDREN; i++)
		end_child(&processes[i]);
	return 0;
}

static void run(size_t n, const char *path, const char *comm)
{
	processes[n] = (struct process){.pid = processes[n].pid, .path = path, .comm = comm};
	files[n] = (struct heldfile){.path = path};
	programs[n] = (struct program){.path = path, .file = &files[n]};
	process_count = n + 1;
}

/* What is found, or what *err has then, and how many files were looked into. */
static void expect(const struct tracer_config *config, size_t before, const char *want,
		   unsigned looks)
{
	struct tracer tracer = {.config = config, .programs = opened, .program_count = before};
	struct errmsg err = {0};

	looked_at = 0;
	int ret = tracer_find_running(&tracer, &err);
	char *text = ret ? mem_printf("%s; %s", err.text, err.hint) : note;

	note = NULL;
	assert_string_equal(text, want);
	assert_int_equal(ret, tracer.program_count ? 0 : -1);
	assert_int_equal(tracer.running, tracer.program_count);
	assert_int_equal(looked_at, looks);
	assert_int_equal(held + programs_held + workers, 0);
	free(text);
}

static const struct tracer_config all = {.all = true}, etcd = {.named = "etcd"};
static const struct tracer_config folder = {.named = "/my"};
static const struct tracer_config command = {.named = "etcd", .named_by_command = true};

static void test_all(void **state)
{
	(void)state;
	run(0, "/bin/a", "a");
	expect(&all, 0, "1 program: /bin/a", 1);
	run(1, "/bin/b", "b");
	run(2, "/bin/a", "other");
	processes[1].not_go = true;
	expect(&all, 0, "1 program: /bin/a", 2);
	processes[1].not_go = false;
	files[1].place = "/elsewhere/b";
	expect(&all, 0, "2 programs: /bin/a, /elsewhere/b", 2);
	/* what is not known of two processes is not the same */
	processes[0].is_not_held = true;
	processes[1].worker_fails = true;
	expect(&all, 0, "1 program: /bin/a", 2);
}

/* The same path, but the file there is another one now: each may run one of its own. */
static void test_replaced(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHILDREN - 1; i++)
		run(i, "/bin/a", "a");
	expect(&all, 0, "1 program: /bin/a", 1);
	processes[0].is_replaced = processes[2].is_replaced = true;
	expect(&all, 0, "3 programs: /bin/a, /bin/a, /bin/a", 3);
}

/* The same path, but seen through other mounts */
static void test_mounts(void **state)
{
	(void)state;
	if (!has_mounts)
		skip();
	for (size_t i = 0; i < CHILDREN; i++)
		run(i, "/bin/a", "a");
	expect(&all, 0, "2 programs: /bin/a, /bin/a", 2);
}

static void test_named(void **state)
{
	(void)state;
	run(0, "/etcd/a", "a");
	run(1, "/bin/my-etcd2", "b");
	run(2, "/bin/c", "the etcd");
	run(3, NULL, "etcd");
	programs[3].path = "/proc/4/exe";
	expect(&etcd, 0, "3 programs: /bin/my-etcd2, /bin/c, /proc/4/exe", 3);
	expect(&command, 0, "2 programs: /bin/c, /proc/4/exe", 2);
	expect(&folder, 0,
	       "no Go program runs whose name contains \"/my\"; gostat --all shows those that run",
	       0);
}

static void test_many(void **state)
{
	(void)state;
	for (size_t i = 0; i < PROGRAMS_MAX; i++)
		opened[i] = &programs[1];
	run(1, "/b", "b");
	run(0, "/a", "a");
	expect(&all, 10, "11 programs: /b, /b, /b, /b, /b, /b, /b, /b and 3 more", 1);
	expect(&all, 8, "9 programs: /b, /b, /b, /b, /b, /b, /b, /b and 1 more", 1);
	expect(&all, 7, "8 programs: /b, /b, /b, /b, /b, /b, /b, /a", 1);
}

/* The first one that has the name tells why it is not traced. */
static void test_none(void **state)
{
	(void)state;
	run(0, "/bin/etcd", "a");
	run(1, "/bin/etcd2", "b");
	processes[0].not_go = true;
	processes[1].no_exe = true;
	expect(&etcd, 0,
	       "no Go program runs whose name contains \"etcd\"; /bin/etcd is no Go program", 2);
	expect(&all, 0, "no Go program runs here; gostat --all shows those that run", 2);
	processes[0].not_go = false;
	processes[0].no_exe = true;
	expect(&etcd, 0,
	       "no Go program runs whose name contains \"etcd\"; /bin/etcd cannot be opened", 2);
	processes[0].worker_fails = true;
	expect(&etcd, 0, "no Go program runs whose name contains \"etcd\"; no more processes", 2);
	expect(&command, 0,
	       "no Go program runs whose name contains \"etcd\"; gostat --all shows those that run",
	       0);
	process_count = 0;
	expect(&all, 0, "no Go program runs here; gostat --all shows those that run", 0);
}

static void test_ended(void **state)
{
	(void)state;
	run(0, "/bin/a", "a");
	run(1, "/bin/b", "b");
	end_child(&processes[0]);
	expect(&all, 0, "1 program: /bin/b", 1);
	processes[0].pid = 0;
}

static void test_for_running(void **state)
{
	char *names[] = {"main.f", "a:main.f"};
	struct tracer_config config = {.patterns = names, .pattern_count = 2};
	struct tracer tracer = {.config = &config};

	(void)state;
	assert_false(tracer_is_for_running(&tracer));
	config.all = true;
	assert_true(tracer_is_for_running(&tracer));
	tracer.pid = 1;
	assert_false(tracer_is_for_running(&tracer));
	tracer.pid = 0;
	config.all = false;
	config.named = "etcd";
	assert_true(tracer_is_for_running(&tracer));
	/* where each pattern has a BINARY, nothing is left for the name */
	config.named_by_command = true;
	assert_true(tracer_is_for_running(&tracer));
	names[0] = "b:main.g";
	assert_false(tracer_is_for_running(&tracer));
	names[1] = "main.f";
	assert_true(tracer_is_for_running(&tracer));
	names[1] = "a:main.f";
	config.named_by_command = false;
	assert_true(tracer_is_for_running(&tracer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),         cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_mounts),      cmocka_unit_test(test_named),
		cmocka_unit_test(test_many),        cmocka_unit_test(test_none),
		cmocka_unit_test(test_for_running), cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
