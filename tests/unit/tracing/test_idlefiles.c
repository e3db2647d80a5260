// SPDX-License-Identifier: Apache-2.0
/* Files that no process runs while they are traced, and who runs others of their names. Processes
 * and files are the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "program/program.h"
#include "selection/target.h"
#include "tracing/filewatch_internal.h"
#include "tracing/idlefiles_internal.h"
#include "tracing/session_internal.h"
#include "tracing/textcost_internal.h"
#include "tracing/tracer_state_internal.h"

enum { PIDS = 4 };

static bool sees_all, in_namespace;
static struct made {
	bool mapped, opened;
	const char *place; /* NULL: not known */
} files[2];
static const char *paths[PIDS]; /* of process 101 and those that follow; NULL: it has ended */
static size_t held;             /* processes */
static struct program first = {.path = "/usr/bin/a\x1b"}, second = {.path = "/usr/bin/b"};
static struct program *programs[] = {&first, &second};
static struct tracer tracer;

/* --- in place of processes and files --- */

bool session_sees_all(void)
{
	return sees_all;
}

bool target_pid_namespace(unsigned long *dev, unsigned long *ino)
{
	*dev = *ino = 1;
	return in_namespace;
}

static const struct made *made_of(const struct heldfile *file)
{
	return (const struct made *)file;
}

bool textcost_is_mapped(const struct textcost *cost, const struct heldfile *file)
{
	assert_ptr_equal(cost, &tracer);
	return made_of(file)->mapped;
}

bool filewatch_is_unopened(struct filewatch *watch, const struct heldfile *file)
{
	assert_ptr_equal(watch, files);
	return !made_of(file)->opened;
}

char *heldfile_place(const struct heldfile *file)
{
	return made_of(file)->place ? mem_strdup(made_of(file)->place) : NULL;
}

pid_t *process_list(size_t *count)
{
	pid_t *pids = mem_zalloc(PIDS, sizeof(*pids));

	for (size_t i = 0; i < PIDS; i++)
		pids[i] = 101 + (pid_t)i;
	*count = PIDS;
	return pids;
}

struct process *process_hold(pid_t pid, struct errmsg *err)
{
	assert_null(err);
	if (!paths[pid - 101])
		return NULL;
	held++;
	return (struct process *)&paths[pid - 101];
}

char *process_exe_path(const struct process *process)
{
	return mem_strdup(*(const char *const *)process);
}

void process_close(struct process *process)
{
	held -= process != NULL;
}

/* --- what is said --- */

static int begin(void **state)
{
	(void)state;
	sees_all = true;
	in_namespace = false;
	files[0] = (struct made){.place = "/usr/bin/a"};
	files[1] = (struct made){.place = "/usr/bin/b"};
	memset(paths, 0, sizeof(paths));
	first.file = (struct heldfile *)&files[0];
	second.file = (struct heldfile *)&files[1];
	tracer = (struct tracer){.programs = programs,
				 .program_count = 1,
				 .cost = (struct textcost *)&tracer,
				 .watch = (struct filewatch *)files};
	return 0;
}

static void expect(const char *want)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	idlefiles_say(&tracer, out, "gotrace");
	fclose(out);
	assert_string_equal(text, want);
	free(text);
	assert_int_equal(held, 0);
}

static void expect_end(const char *why)
{
	struct errmsg err = {0};

	assert_int_equal(idlefiles_check(&tracer, &err), why ? -1 : 0);
	assert_string_equal(err.text, why ? why : "");
}

#define NOBODY "gotrace: no process runs \"/usr/bin/a\\x1b\" now: waiting for one to start\n"
#define NOBODY_B "gotrace: no process runs \"/usr/bin/b\" now: waiting for one to start\n"

static void test_files(void **state)
{
	(void)state;
	expect(NOBODY);
	expect_end("no process ran \"/usr/bin/a\x1b\" while it was traced");
	tracer.program_count = 2;
	expect(NOBODY NOBODY_B);
	expect_end("no process ran \"/usr/bin/a\x1b\", or another of the files, while it was "
		   "traced");
	files[0].mapped = true;
	expect(NOBODY_B);
	expect_end(NULL);
	files[0].mapped = false;
	files[1].opened = true;
	expect(NOBODY);
	expect_end(NULL);
}

/* Who does not see all processes, or traces one alone, does not know. */
static void test_unknown(void **state)
{
	(void)state;
	sees_all = false;
	expect("");
	expect_end(NULL);
	sees_all = in_namespace = true;
	expect("");
	expect_end(NULL);
	in_namespace = false;
	tracer.pid = 5;
	expect("");
	expect_end(NULL);
	tracer.pid = 0;
	tracer.command = (struct command *)files;
	expect("");
	expect_end(NULL);
}

/* What stood at the same place before is the best hint. */
static void test_namesakes(void **state)
{
	(void)state;
	paths[1] = "/opt/b";
	expect(NOBODY);
	paths[1] = "/opt/a\n";
	expect(NOBODY);
	paths[2] = "/home/a";
	expect(NOBODY "hint: process 103 runs another file of this name, \"/home/a\": -p 103\n");
	paths[0] = "/srv/x/a";
	expect(NOBODY "hint: process 101 runs another file of this name, \"/srv/x/a\": -p 101\n");
	paths[2] = "/usr/bin/a";
	paths[3] = "/home/a";
	expect(NOBODY "hint: process 103 runs what was at this path before: -p 103\n");
	paths[1] = "/usr/bin/a";
	expect(NOBODY "hint: process 102 runs what was at this path before: -p 102\n");
	files[0].place = "a";
	expect(NOBODY "hint: process 101 runs another file of this name, \"/srv/x/a\": -p 101\n");
	files[0].place = NULL;
	expect(NOBODY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_files, begin),
		cmocka_unit_test_setup(test_unknown, begin),
		cmocka_unit_test_setup(test_namesakes, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
