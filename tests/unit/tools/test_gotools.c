// SPDX-License-Identifier: Apache-2.0
/* gotools: its list, what it says of the machine, and of a program. What the kernel has, and what
 * may be done, is the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gofile.h"
#include "printed.h"

#define main tool_main
#include "tools/gotools.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

static enum attach_how how;
static bool sleepable, alone, may, sees_all, has_ring;

/* --- in place of the kernel --- */

struct attach_trial *attach_trial_start(void)
{
	return (struct attach_trial *)&how;
}

bool attach_trial_end(struct attach_trial *trial)
{
	assert_ptr_equal(trial, &how);
	return alone;
}

enum attach_how attach_how(void)
{
	return how;
}

bool attach_sleepable(void)
{
	return sleepable;
}

int events_check(struct errmsg *err)
{
	return has_ring ? 0 : errmsg_set(err, "no ring buffers");
}

int session_check_privileges(struct errmsg *err)
{
	if (may)
		return 0;
	errmsg_set(err, "not permitted");
	errmsg_hint(err, "as root");
	return -1;
}

bool session_sees_all(void)
{
	return sees_all;
}

int session_flush(struct errmsg *err)
{
	(void)err;
	return fflush(stdout);
}

/* --- a run --- */

static int setup(void **state)
{
	(void)state;
	how = ATTACH_MULTI;
	sleepable = alone = may = sees_all = has_ring = true;
	return 0;
}

/* stdout; the caller frees */
static char *run_tool(int want_status, const char *const *words)
{
	char *argv[8] = {(char *)"gotools"};
	int argc = 1;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	argv[argc] = NULL;
	optind = 0;
	printed_begin();
	int status = tool_main(argc, argv);
	char *text = printed_end();

	assert_int_equal(status, want_status);
	return text;
}

#define RUN(status, ...) run_tool(status, (const char *const[]){__VA_ARGS__, NULL})

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

static void expect_in(const char *text, const char *want, bool is_there)
{
	if ((strstr(text, want) != NULL) != is_there)
		fail_msg("%s: \"%s\" in\n%s", is_there ? "missing" : "there", want, text);
}

static void test_list(void **state)
{
	static const char first[] = "Which functions are called, and how often?     gofunccount\n";
	char *text = run_tool(0, (const char *const[]){NULL});

	(void)state;
	assert_memory_equal(text, first, sizeof(first) - 1);
	expect_in(text, "\nWhat can be traced here, and why not?          gotools doctor\n", true);
	assert_int_equal(count_lines(text), sizeof(answers) / sizeof(*answers));
	free(text);
	text = RUN(0, "-j");
	expect_in(text,
		  "{\"type\":\"tool\",\"question\":\"Who creates goroutines?\","
		  "\"tool\":\"gocreators\"}\n",
		  true);
	assert_int_equal(count_lines(text), sizeof(answers) / sizeof(*answers));
	free(text);
}

/* --- the machine --- */

static void test_machine(void **state)
{
	char *text = RUN(0, "doctor");

	(void)state;
	expect_in(text, "ok  ring buffers: there\n", true);
	expect_in(text, "ok  privileges: may trace: root, or CAP_BPF and CAP_PERFMON\n", true);
	expect_in(text, "ok  others' processes: root, or CAP_SYS_PTRACE\n", true);
	expect_in(text, "ok  many probes: one link for all of them\n", true);
	expect_in(text, "ok  memory that is paged out: probes wait for it\n", true);
	expect_in(text,
		  "ok  probes in one process: -p leaves other processes of the same file "
		  "alone\n",
		  true);
	expect_in(text, "no  privileges", false);
	free(text);
	how = ATTACH_PERF_COOKIE;
	sleepable = alone = sees_all = has_ring = false;
	text = RUN(0, "doctor"); /* none of these is needed */
	expect_in(text, "no  ring buffers: no ring buffers\n      it takes Linux 5.8\n", true);
	expect_in(text,
		  "no  many probes: a perf event for each\n      tools over thousands of functions "
		  "begin and end faster from Linux 6.6 on\n",
		  true);
	expect_in(text, "no  memory that is paged out: probes cannot wait for it\n", true);
	expect_in(text, "no  probes in one process: with -p, other processes", true);
	expect_in(text,
		  "no  others' processes: CAP_SYS_PTRACE is missing\n      as root, tools read "
		  "the memory of all processes\n",
		  true);
	free(text);
	how = ATTACH_PERF_STUB;
	text = RUN(0, "doctor", "-j");
	expect_in(text,
		  "{\"type\":\"check\",\"check\":\"many probes\",\"ok\":false,"
		  "\"detail\":\"a perf event and a BPF program for each\",\"remedy\":",
		  true);
	expect_in(text,
		  "{\"type\":\"check\",\"check\":\"privileges\",\"ok\":true,\"detail\":\"may "
		  "trace: root, or CAP_BPF and CAP_PERFMON\",\"remedy\":null}\n",
		  true);
	free(text);
	may = false;
	text = RUN(1, "doctor");
	expect_in(text, "no  privileges: not permitted\n      as root\n", true);
	expect_in(text, "many probes", false);
	free(text);
}

/* --- a program --- */

static void test_no_program(void **state)
{
	char *text = RUN(1, "doctor", "/nowhere/there");

	(void)state;
	expect_in(text, "no  program: ", true);
	expect_in(text, "release", false);
	free(text);
	text = RUN(1, "doctor", "2147483646");
	expect_in(text, "no  program: ", true);
	free(text);
}

/* --- a program --- */

static void expect_program(int release, bool symbols, const char *option, const char *want)
{
	struct gofile g;
	struct errmsg err;
	char first[128], *text;

	gofile_make(&g, release, EM_X86_64);
	if (symbols)
		elffile_section(g.f, ".symtab", ELFFILE_RODATA, 24)->sh_type = SHT_SYMTAB;
	elffile_section(g.f, ".note.go.buildid", ELFFILE_RODATA, 8);
	image_close(elffile_open(g.f, &err)); /* it is written */
	text = option ? RUN(0, "doctor", option, g.f->path) : RUN(0, "doctor", g.f->path);
	snprintf(first, sizeof(first),
		 option ? "\"program\",\"ok\":true,\"detail\":\"%s\"" : "ok  program: %s\n",
		 g.f->path);
	const char *rest = strstr(text, first);

	assert_non_null(rest);
	rest += strlen(first);
	char *named = strstr(rest, g.f->path);

	assert_non_null(named);
	printed_is(mem_printf("%.*sPATH%s", (int)(named - rest), rest, named + strlen(g.f->path)),
		   want);
	free(text);
	elffile_free(g.f);
}

static void test_program(void **state)
{
	(void)state;
	expect_program(
		27, false, NULL,
		"ok  release: Go 1.27 or later\n"
		"ok  file: not PIE, static, with a build ID\n"
		"ok  functions: 3 of Go's own table (pclntab)\n"
		"ok  symbols: stripped: Go's own table has the names\n"
		"no  DWARF: no debug information (DWARF) in it, and it names no separate file\n"
		"      build without -ldflags=-w or -s, or give the signature in the probe\n"
		"no  type information: \"PATH\": its run-time type information was not "
		"found\n"
		"ok  goroutines: can be read\n"
		"no  heap profile: the linker has left it out\n"
		"      goheap needs a program that refers to runtime.MemProfile, as net/http/pprof "
		"does\n");
	expect_program(
		16, true, NULL,
		"ok  release: Go 1.16 or later\n"
		"ok  file: not PIE, static, with a build ID\n"
		"ok  functions: 3 of Go's own table (pclntab)\n"
		"ok  symbols: there\n"
		"no  DWARF: no debug information (DWARF) in it, and it names no separate file\n"
		"      build without -ldflags=-w or -s, or give the signature in the probe\n"
		"no  type information: \"PATH\": its run-time type information was not "
		"found\n"
		"ok  goroutines: can be read\n"
		"no  heap profile: the linker has left it out\n"
		"      goheap needs a program that refers to runtime.MemProfile, as net/http/pprof "
		"does\n");
	expect_program(
		27, false, "-j",
		",\"remedy\":null}\n"
		"{\"type\":\"check\",\"check\":\"release\",\"ok\":true,\"detail\":\"Go 1.27 or "
		"later\",\"remedy\":null}\n"
		"{\"type\":\"check\",\"check\":\"file\",\"ok\":true,\"detail\":\"not PIE, static, "
		"with a build ID\",\"remedy\":null}\n"
		"{\"type\":\"check\",\"check\":\"functions\",\"ok\":true,\"detail\":\"3 of Go's "
		"own table (pclntab)\",\"remedy\":null}\n"
		"{\"type\":\"check\",\"check\":\"symbols\",\"ok\":true,\"detail\":\"stripped: Go's "
		"own table has the names\",\"remedy\":null}\n"
		"{\"type\":\"check\",\"check\":\"DWARF\",\"ok\":false,\"detail\":\"no debug "
		"information (DWARF) in it, and it names no separate file\",\"remedy\":\"build "
		"without -ldflags=-w or -s, or give the signature in the probe\"}\n"
		"{\"type\":\"check\",\"check\":\"type "
		"information\",\"ok\":false,\"detail\":\"\\\"PATH\\\": its run-time "
		"type information was not found\",\"remedy\":null}\n"
		"{\"type\":\"check\",\"check\":\"goroutines\",\"ok\":true,\"detail\":\"can be "
		"read\",\"remedy\":null}\n"
		"{\"type\":\"check\",\"check\":\"heap profile\",\"ok\":false,\"detail\":\"the "
		"linker has left it out\",\"remedy\":\"goheap needs a program that refers to "
		"runtime.MemProfile, as net/http/pprof does\"}\n");
}

static void test_refused(void **state)
{
	static const struct {
		const char *words[4], *why;
	} rows[] = {
		{{"nurse"},
		 "gotools: there is no \"gotools nurse\"\nhint: gotools alone lists the tools "
		 "by "
		 "question; gotools doctor [PID|BINARY] says what can be traced\n"},
		{{"nurse", "1"}, "gotools: there is no \"gotools nurse\"\n"},
		{{"doctor", "1", "2"},
		 "gotools: doctor looks at one PID or BINARY, not at \"2\" too\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		FILE *was = stderr;
		char *said;
		size_t len;

		stderr = open_memstream(&said, &len);
		char *text = run_tool(2, rows[i].words);

		fclose(stderr);
		stderr = was;
		assert_string_equal(text, "");
		assert_memory_equal(said, rows[i].why, strlen(rows[i].why));
		free(said);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_list, setup),
		cmocka_unit_test_setup(test_machine, setup),
		cmocka_unit_test_setup(test_no_program, setup),
		cmocka_unit_test_setup(test_program, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
