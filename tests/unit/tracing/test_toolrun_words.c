// SPDX-License-Identifier: Apache-2.0
/* What tools say of how their tracing went: with files, processes and maps of this test's own. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/process.h"
#include "kernel/bpfmap.h"
#include "kernel/execwatch.h"
#include "program/program.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "tracing/filewatch_internal.h"
#include "tracing/idlefiles_internal.h"
#include "tracing/toolrun_words_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

enum { OUTSIDE = 5, PID = 1234, FILES = 2 };

/* What the others answer; all of it is 0 before each test. */
static struct answers {
	const char *lack;
	const char *newly[FILES + 1], *replaced[FILES + 1];
	unsigned newly_told;
	bool maps[FILES]; /* by the process, of the files below */
	struct execwatch_report executed;
	struct command_end end;
	bool ended;
	uint64_t unfollowed, outside;
	bool no_outside_map, sum_fails;
} answers;

static char file_marks[FILES];

/* --- of other modules --- */

const char *filewatch_lack(const struct filewatch *watch)
{
	(void)watch;
	return answers.lack;
}

const char *filewatch_newly_replaced(struct filewatch *watch)
{
	(void)watch;
	return answers.newly[answers.newly_told] ? answers.newly[answers.newly_told++] : NULL;
}

const char *filewatch_replaced(const struct filewatch *watch, unsigned n)
{
	(void)watch;
	assert_true(n <= FILES);
	return answers.replaced[n];
}

bool process_maps(const struct process *proc, const struct heldfile *file)
{
	assert_non_null(proc);
	return answers.maps[(const char *)file - file_marks];
}

void execwatch_read(const struct execwatch *watch, struct execwatch_report *out)
{
	assert_non_null(watch);
	*out = answers.executed;
}

uint64_t descendants_lost(const struct descendants *desc)
{
	assert_non_null(desc);
	return answers.unfollowed;
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	(void)prog;
	assert_string_equal(name, "outside");
	return answers.no_outside_map ? -1 : OUTSIDE;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_true(fd == OUTSIDE && entries == 1 && words == 1);
	*out = answers.outside;
	return answers.sum_fails ? -1 : 0;
}

bool command_ended(const struct command *cmd, struct command_end *end)
{
	assert_non_null(cmd);
	*end = answers.end;
	return answers.ended;
}

void idlefiles_say(const struct tracer *tracer, FILE *out, const char *tool)
{
	fprintf(out, "%s: idle of %zu\n", tool, tracer->program_count);
}

/* --- what is said --- */

static char *said;
static size_t said_len;
static FILE *before;

static void listen(void)
{
	before = stderr;
	stderr = open_memstream(&said, &said_len);
}

static void expect(const char *want)
{
	fclose(stderr);
	stderr = before;
	assert_string_equal(said, want);
	free(said);
}

static char *command_line[] = {"./se\nrver", "arg", NULL};
static struct tracer_config config = {.command = command_line, .cpu = -1};

static struct tracer nothing(void)
{
	answers = (struct answers){.maps = {true, true}};
	return (struct tracer){.config = &config};
}

/* what is a pointer to a module's own, and is only asked about here */
static void *someone(void)
{
	return file_marks;
}

bool process_is_stopped(const struct process *proc)
{
	assert_ptr_equal(proc, file_marks);
	return answers.lack != NULL;
}

bool process_is_frozen(const struct process *proc, const char *proc_dir)
{
	assert_ptr_equal(proc, file_marks);
	assert_string_equal(proc_dir, "/proc");
	return !answers.maps[0];
}

pid_t process_id(const struct process *proc)
{
	assert_ptr_equal(proc, file_marks);
	return PID;
}

static void test_silent(void **state)
{
	struct tracer tracer = nothing();

	(void)state;
	listen();
	toolrun_say_before(&tracer, "tool");
	toolrun_say_details(&tracer, "tool");
	toolrun_say_newly_replaced(&tracer, "tool");
	toolrun_say_replaced(&tracer, "tool");
	toolrun_say_after(&tracer, "tool", 0);
	/* execs and descendants that have nothing to tell */
	tracer.execs = someone();
	tracer.descendants = someone();
	toolrun_say_after(&tracer, "tool", 0);
	expect("tool: idle of 0\n");
}

static void test_before(void **state)
{
	struct tracer tracer = nothing();
	struct program first = {.path = "/a", .file = (struct heldfile *)&file_marks[0]};
	struct program second = {.path = "/b\x1b", .file = (struct heldfile *)&file_marks[1]};
	struct program *programs[] = {&first, &second};

	(void)state;
	tracer.programs = programs;
	tracer.program_count = 2;
	tracer.pid = PID;
	answers.maps[1] = false;
	listen();
	toolrun_say_before(&tracer, "tool"); /* there is no process to ask */
	expect("tool: idle of 2\n");

	tracer.process = someone();
	answers.lack = "no watches are left";
	strcpy(tracer.alone_why.text, "the kernel is old");
	listen();
	toolrun_say_before(&tracer, "tool");
	expect("tool: process 1234 is stopped, and does nothing\n"
	       "hint: kill -CONT 1234 lets it go on\n"
	       "tool: process 1234 does not run \"/b\\x1b\": to trace what it runs, leave BINARY "
	       "out\n"
	       "tool: idle of 2\n"
	       "tool: no watches are left: the tool may notice only after a second that a traced "
	       "file is written to\n"
	       "tool: processes that COMMAND starts are not traced: the kernel is old\n");

	answers.maps[0] = false;
	answers.maps[1] = true;
	answers.lack = NULL;
	tracer.alone_why.text[0] = '\0';
	listen();
	toolrun_say_before(&tracer, "tool");
	expect("tool: process 1234 is frozen, as in a paused container, and does nothing\n"
	       "hint: docker unpause, or what has frozen its cgroup, lets it go on\n"
	       "tool: process 1234 does not run \"/a\": to trace what it runs, leave BINARY out\n"
	       "tool: idle of 2\n");
}

static void test_details(void **state)
{
	struct tracer tracer = nothing();

	(void)state;
	tracer.rets_left = 1;
	listen();
	toolrun_say_details(&tracer, "tool");
	expect("tool: 1 return instruction is single-stepped by the kernel, as another tracer "
	       "probes it\n");
	tracer.rets_left = 2;
	listen();
	toolrun_say_details(&tracer, "tool");
	expect("tool: 2 return instructions are single-stepped by the kernel, as another tracer "
	       "probes them\n");
}

static void test_replaced(void **state)
{
	struct tracer tracer = nothing();

	(void)state;
	answers.newly[0] = "/a";
	answers.newly[1] = "/b\n";
	listen();
	toolrun_say_newly_replaced(&tracer, "tool");
	expect("tool: \"/a\" was replaced on disk: only processes of the old file are seen\n"
	       "tool: \"/b\\n\" was replaced on disk: only processes of the old file are seen\n");
	answers.replaced[0] = "/c\t";
	answers.replaced[1] = "/d";
	listen();
	toolrun_say_replaced(&tracer, "tool");
	expect("tool: \"/c\\t\" was replaced while it was traced: only processes of the old file "
	       "were seen\n"
	       "tool: \"/d\" was replaced while it was traced: only processes of the old file "
	       "were seen\n");
}

static void test_executed(void **state)
{
	struct tracer tracer = nothing();

	(void)state;
	tracer.execs = someone();
	tracer.pid = PID;
	answers.executed = (struct execwatch_report){.times = 1, .blind_ns = 2345678};
	listen();
	toolrun_say_after(&tracer, "tool", 0);
	expect("tool: process 1234 executed another program: calls in the first 2.3 ms of it were "
	       "not seen\n");
	answers.executed = (struct execwatch_report){.failure = {.text = "no more descriptors"}};
	listen();
	toolrun_say_after(&tracer, "tool", 0);
	expect("tool: cannot attach again after an execve: no more descriptors\n");
}

static void test_descendants(void **state)
{
	struct tracer tracer = nothing();

	(void)state;
	tracer.descendants = someone();
	answers.unfollowed = 1;
	listen();
	toolrun_say_after(&tracer, "tool", 1);
	expect("tool: 1 process that COMMAND started was not followed: too many\n"
	       "tool: 1 process still runs that COMMAND started: traced up to COMMAND's end "
	       "only\n");
	answers.unfollowed = 2;
	listen();
	toolrun_say_after(&tracer, "tool", 3);
	expect("tool: 2 processes that COMMAND started were not followed: too many\n"
	       "tool: 3 processes still run that COMMAND started: traced up to COMMAND's end "
	       "only\n");
	answers.unfollowed = 0;
	listen();
	toolrun_say_after(&tracer, "tool", 0);
	expect("");
}

static void test_outside(void **state)
{
	struct tracer tracer = nothing();

	(void)state;
	answers.outside = 1;
	tracer.stuck = true;
	listen();
	toolrun_say_after(&tracer, "tool", 0);
	expect("tool: 1 hit of processes outside this PID namespace was left out\n"
	       "hint: to trace them, run the tool in the machine's (docker run --pid=host)\n"
	       "tool: a traced call waits for memory that does not come: the probes stay until "
	       "the call continues or its process ends\n");
	answers.outside = 2;
	tracer.stuck = false;
	listen();
	toolrun_say_after(&tracer, "tool", 0);
	expect("tool: 2 hits of processes outside this PID namespace were left out\n"
	       "hint: to trace them, run the tool in the machine's (docker run --pid=host)\n");
	/* it is not known, or nobody asks */
	listen();
	answers.sum_fails = true;
	toolrun_say_after(&tracer, "tool", 0);
	answers.sum_fails = false;
	answers.no_outside_map = true;
	toolrun_say_after(&tracer, "tool", 0);
	answers.no_outside_map = false;
	tracer.pid = PID;
	toolrun_say_after(&tracer, "tool", 0);
	expect("");
}

static void expect_end(const struct tracer *tracer, struct command_end end, int status,
		       const char *text)
{
	answers.end = end;
	listen();
	assert_int_equal(toolrun_say_ended(tracer, "tool"), status);
	expect(text);
}

static void test_ended(void **state)
{
	struct tracer tracer = nothing();

	(void)state;
	tracer.pid = PID;
	answers.ended = true;
	expect_end(&tracer, (struct command_end){.status = 3}, 0, "tool: process 1234 has ended\n");
	tracer.command = someone();
	expect_end(&tracer, (struct command_end){.status = 0}, 0, "");
	expect_end(&tracer, (struct command_end){.status = 3}, 3,
		   "tool: \"./se\\nrver\" exited with status 3\n");
	expect_end(&tracer, (struct command_end){128 + SIGTERM, SIGTERM, false}, 128 + SIGTERM,
		   "tool: \"./se\\nrver\" was ended by SIGTERM\n");
	expect_end(&tracer, (struct command_end){128 + SIGSEGV, SIGSEGV, true}, 128 + SIGSEGV,
		   "tool: \"./se\\nrver\" was ended by SIGSEGV, core dumped\n");
	expect_end(&tracer, (struct command_end){128 + 40, 40, false}, 128 + 40,
		   "tool: \"./se\\nrver\" was ended by signal 40\n");
	expect_end(&tracer, (struct command_end){128 + 40, 40, true}, 128 + 40,
		   "tool: \"./se\\nrver\" was ended by signal 40, core dumped\n");
	answers.ended = false;
	expect_end(&tracer, (struct command_end){.status = 3}, 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent),   cmocka_unit_test(test_before),
		cmocka_unit_test(test_details),  cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_executed), cmocka_unit_test(test_descendants),
		cmocka_unit_test(test_outside),  cmocka_unit_test(test_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
