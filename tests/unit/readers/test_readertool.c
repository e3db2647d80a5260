// SPDX-License-Identifier: Apache-2.0
/* The command line of tools that read processes, and what they say of those that cannot be read.
 * The processes are made up. */
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/process.h"
#include "files/process_usage.h"
#include "golang/pattern.h"
#include "printed.h"
#include "readers/readertool.h"
#include "readers/readmetrics_internal.h"
#include "tracing/options.h"

enum { ARGS = 12, PROCESSES = 3 };

static struct readertool rt;
static char *words;                     /* of the command line, to which the options point */
static char *said;                      /* on stderr, the first line */
static const char *failures[PROCESSES]; /* of a look; NULL: it shows two things */
static const char *hint;
static size_t process_count, refused, looks;
static struct process *living, *dead;
static bool has_memory = true;
static bool all_closed, runs, nothing_fails, core_untold;
static unsigned long long core_missing;
static struct goprocesses_wanted asked;

/* --- in place of gostacks/goprocesses.c --- */

int goprocesses_open(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		     struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		     void *ctx, struct errmsg *err)
{
	(void)work;
	(void)failed;
	(void)ctx;
	(void)err;
	asked = *wanted;
	*out = (struct goprocesses){.count = process_count,
				    .all = calloc(PROCESSES, sizeof(*out->all)),
				    .core_size = 100,
				    .core_missing = core_missing,
				    .core_untold = core_untold,
				    .refused = refused};
	snprintf(out->why.text, sizeof(out->why.text), "the first reason");
	for (size_t i = 0; i < process_count; i++) {
		out->all[i].pid = (pid_t)(20 + i);
		out->all[i].proc = runs ? living : dead;
	}
	return 0;
}

int goprocesses_look(struct goprocesses *procs, size_t i, int what, const void *more, size_t len,
		     uint64_t *count, struct errmsg *err)
{
	(void)procs;
	(void)more;
	(void)len;
	assert_int_equal(what, rt.shown != 0);
	looks++;
	*count = failures[i] ? 0 : 2;
	*err = (struct errmsg){0};
	if (!failures[i])
		return 0;
	errmsg_set(err, "%s", failures[i]);
	if (hint)
		errmsg_hint(err, "%s", hint);
	return -1;
}

bool goprocesses_close(struct goprocesses *procs)
{
	free(procs->all);
	return all_closed;
}

/* in place of files/process_usage.c */
bool process_usage(const struct process *proc, struct process_usage *out)
{
	(void)proc;
	*out = (struct process_usage){0};
	return has_memory;
}

int goprocess_check(const struct goprocess *gp, struct errmsg *err)
{
	(void)gp;
	(void)err;
	return 0;
}

const struct program *goprocess_program(const struct goprocess *gp)
{
	(void)gp;
	return NULL;
}

/* --- in place of readers/readmetrics.c --- */

static const struct readmetrics_source numbers;

int readmetrics_run(struct readmetrics *metrics, struct errmsg *err)
{
	assert_ptr_equal(metrics->source, &numbers);
	assert_ptr_equal(metrics->tool, rt.tool);
	assert_ptr_equal(metrics->opts, &rt.opts);
	assert_ptr_equal(metrics->wanted, &rt.wanted);
	metrics->has_failed = core_untold;
	return nothing_fails ? errmsg_set(err, "the port is taken") : 0;
}

/* --- a tool --- */

static const struct options_def defs[] = {
	READERTOOL_DEFS,
	READERTOOL_CORE_DEF,
	{0},
};

static int take(void *ctx, int letter, const char *value, struct errmsg *err)
{
	(void)ctx;
	return readertool_take(&rt, letter, value, err);
}

static const struct options_tool tool = {.name = "tool",
					 .about = "test",
					 .args = "[PID...]",
					 .process = true,
					 .shared = "idTrj",
					 .metrics = true,
					 .pprof = true,
					 .own = defs,
					 .take = take};

static int nothing(void *ctx, struct errmsg *err)
{
	(void)ctx;
	return nothing_fails ? errmsg_set(err, "nothing is shown") : 0;
}

static int begin(void **state)
{
	(void)state;
	rt = (struct readertool){.tool = &tool, .nothing = nothing};
	memset(failures, 0, sizeof(failures));
	process_count = 1;
	all_closed = runs = true;
	nothing_fails = core_untold = false;
	refused = core_missing = looks = 0;
	hint = NULL;
	return 0;
}

/* Runs the tool with these words; what it says is kept in `said`. */
static int run(const char *line, int (*tool_main)(int argc, char **argv))
{
	char *argv[ARGS] = {"tool"}, *rest, *word;
	FILE *theirs = stderr;
	size_t len;
	int argc = 1, status;

	free(words);
	words = rest = strdup(line);
	while ((word = strtok_r(rest, " ", &rest)) && argc < ARGS - 1)
		argv[argc++] = word;
	free(said);
	stderr = open_memstream(&said, &len);
	status = tool_main(argc, argv);
	fclose(stderr);
	stderr = theirs;
	return status;
}

static int parse_alone(int argc, char **argv)
{
	int status = 0;

	return readertool_parse(&rt, argc, argv, &status) ? 0 : status;
}

static int whole_run(int argc, char **argv)
{
	return readertool_main(&rt, argc, argv);
}

static void expect_refused(const char *line, const char *why)
{
	struct readertool kept = rt;

	assert_int_equal(run(line, parse_alone), 2);
	said[strcspn(said, "\n")] = '\0';
	assert_string_equal(said, why);
	rt = kept;
}

static void test_refused(void **state)
{
	(void)state;
	expect_refused("", "tool: no PID, -n NAME or --all given");
	expect_refused("-p 0", "tool: \"0\" is not a process ID");
	expect_refused("-p 2147483648", "tool: \"2147483648\" is not a process ID");
	expect_refused("-p 1x", "tool: \"1x\" is not a process ID");
	expect_refused("0", "tool: \"0\" is not a process ID");
	expect_refused("-n a --all", "tool: PID, -n NAME and --all exclude each other");
	expect_refused("-p 1 --all", "tool: PID, -n NAME and --all exclude each other");
	expect_refused("12 -n a", "tool: PID, -n NAME and --all exclude each other");
	expect_refused("12 -d 3", "tool: -d and -T need -i");
	expect_refused("12 -T", "tool: -d and -T need -i");
	expect_refused("12 -i 1 --pprof f", "tool: --pprof is for a single snapshot: not with -i");
	expect_refused("12 --metrics :1 -j", "tool: --metrics prints no lines: not with -j");
	expect_refused("12 --metrics :1 -T", "tool: --metrics prints no lines: not with -T");
	expect_refused("12 --metrics :1 -i 3",
		       "tool: -i is how often FILE.prom is written: what an address serves is read "
		       "when it is asked for");
	expect_refused("12 -- ls", "tool: tool starts no COMMAND");
	expect_refused("--core f", "tool: --core needs BINARY, the program that has left the core "
				   "file");
	expect_refused("--core f bin -p 1", "tool: -p is for programs that run: not with --core");
	expect_refused("--core f bin -n a", "tool: -n is for programs that run: not with --core");
	expect_refused("--core f bin --all",
		       "tool: --all is for programs that run: not with --core");
	expect_refused("--core f bin -i 1", "tool: -i is for programs that run: not with --core");
	rt.pids_only = true;
	expect_refused("12 main.f", "tool: \"main.f\" is not a process ID");
}

static void end_parse(void)
{
	for (size_t i = 0; i < rt.pattern_count; i++)
		pattern_free(rt.patterns[i]);
	free(rt.patterns);
	free(rt.pids);
}

static void test_accepted(void **state)
{
	assert_int_equal(run("12 2147483647 -p 12 :main.f main.g", parse_alone), 0);
	assert_int_equal(rt.wanted.pid_count, 2); /* each once */
	assert_int_equal(rt.wanted.pids[0], 12);
	assert_int_equal(rt.wanted.pids[1], INT32_MAX);
	assert_int_equal(rt.pattern_count, 2);
	assert_true(pattern_match(rt.patterns[0], "main.f"));
	assert_false(rt.wanted.all || rt.opts.interval_ns);
	end_parse();
	begin(state);
	assert_int_equal(run("--core f bin 12", parse_alone), 0); /* 12 is a function there */
	assert_string_equal(rt.wanted.binary, "bin");
	assert_int_equal(rt.pattern_count, 1);
	assert_int_equal(rt.wanted.pid_count, 0);
	end_parse();
	begin(state);
	rt.all_by_default = rt.each_interval = true;
	assert_int_equal(run("-T", parse_alone), 0);
	assert_true(rt.wanted.all);
	assert_int_equal(rt.opts.interval_ns, 1000000000);
	begin(state);
	rt.all_by_default = rt.each_interval = true;
	assert_int_equal(run("--metrics :1 -d 3", parse_alone), 0); /* at each scrape */
	assert_int_equal(rt.opts.interval_ns, 0);
	begin(state);
	rt.all_by_default = rt.each_interval = true;
	assert_int_equal(run("-n app -i 2", parse_alone), 0);
	assert_false(rt.wanted.all);
	assert_int_equal(rt.opts.interval_ns, 2000000000);
}

static void expect_run(const char *line, int status, const char *want)
{
	assert_int_equal(run(line, whole_run), status);
	assert_string_equal(said, want);
}

/* The message names the process where there are several, unless it does already. */
static void test_failures(void **state)
{
	expect_run("20", 0, "");
	assert_int_equal(rt.shown, 2);
	assert_int_equal(asked.pid_count, 1);
	begin(state);
	failures[0] = "it lies";
	hint = "look again";
	expect_run("20", 1, "tool: it lies\nhint: look again\n");
	begin(state);
	process_count = 2;
	failures[0] = "it lies";
	hint = "look again";
	expect_run("20 21", 1, "tool: process 20: it lies\nhint: look again\n");
	begin(state);
	process_count = 2;
	failures[1] = "process 21 has ended";
	expect_run("20 21", 1, "tool: process 21 has ended\n");
	begin(state);
	all_closed = false;
	expect_run("20", 1, "");
}

/* Of programs that were only looked for, how many could not be read, and why the first could not;
 * not those that have ended meanwhile. */
static void test_looked_for(void **state)
{
	process_count = 3;
	failures[0] = "why";
	failures[2] = "other why";
	expect_run("--all", 0, "tool: 2 more processes could not be read: why\n");
	begin(state);
	process_count = 3;
	refused = 4;
	failures[1] = "why";
	expect_run("-n app", 0, "tool: 5 more processes could not be read: the first reason\n");
	begin(state);
	process_count = 3;
	runs = false;
	failures[1] = "why";
	expect_run("--all", 0, "");
	begin(state);
	failures[0] = "why"; /* the only one */
	expect_run("--all", 1, "tool: why\n");
}

/* It looks at once, at each interval, and at the end; a process that cannot be read is not looked
 * at again. */
static void test_interval(void **state)
{
	expect_run("20 -i 0.05 -d 0.12", 0, "");
	assert_in_range(looks, 3, 4);
	begin(state);
	process_count = 2;
	failures[1] = "why";
	expect_run("20 21 -i 0.05 -d 0.12", 1, "tool: process 21: why\n");
	assert_in_range(looks, 4, 5);
	begin(state);
	failures[0] = "why";
	expect_run("20 -i 0.05", 1, "tool: why\n");
	assert_int_equal(looks, 1);
}

/* Its memory is gone, and its end is told a moment later. */
static void test_ending(void **state)
{
	struct process *other = living;
	struct errmsg err;
	pid_t child = fork();

	(void)state;
	if (!child) {
		usleep(50000);
		_exit(0);
	}
	living = process_open(child, &err);
	failures[0] = "why";
	has_memory = false;
	expect_run("20 -i 0.05", 0, "tool: process 20 has ended\n");
	has_memory = true;
	process_close(living);
	living = other;
	waitpid(child, NULL, 0);
}

/* It ends between two looks; one of several, and the others go on. */
static void test_ended(void **state)
{
	struct process *other = living;

	living = dead;
	expect_run("20 -i 10", 0, "tool: process 20 has ended\n");
	begin(state);
	process_count = 2;
	failures[1] = "why";
	expect_run("20 21 -i 0.05 -d 0.12", 0, "tool: process 21 has ended\n");
	assert_in_range(looks, 4, 5);
	living = other;
}

/* What stands in place of a PID may be a name. */
static void test_name(void **state)
{
	(void)state;
	assert_int_equal(run("app", whole_run), 2);
	assert_non_null(strstr(said, "tool: no PID, -n NAME or --all given\n"
				     "hint: for the programs that run and have this in their "
				     "names: -n app\nusage: "));
	begin(state);
	rt.pids_only = true;
	assert_int_equal(run("app", whole_run), 2);
	assert_non_null(strstr(said, "tool: \"app\" is not a process ID\n"
				     "hint: for the programs that run and have this in their "
				     "names: -n app\nusage: "));
	begin(state);
	assert_int_equal(run("", whole_run), 2);
	assert_null(strstr(said, "hint: "));
}

static void test_nothing(void **state)
{
	process_count = 0;
	expect_run("--all", 0, "");
	begin(state);
	process_count = 0;
	nothing_fails = true;
	expect_run("--all", 1, "tool: nothing is shown\n");
	begin(state);
	nothing_fails = true;
	expect_run("20", 0, "");
	begin(state);
	nothing_fails = true;
	failures[0] = "why"; /* which says enough */
	expect_run("20", 1, "tool: why\n");
}

/* No line is printed, and so nobody is looked at by itself. */
static void test_metrics(void **state)
{
	rt.metrics = &numbers;
	expect_run("20 --metrics :1", 0, "");
	assert_int_equal(looks, 0);
	begin(state);
	rt.metrics = &numbers;
	core_untold = true; /* one fails */
	expect_run("20 --metrics :1", 1, "");
	begin(state);
	rt.metrics = &numbers;
	nothing_fails = true;
	expect_run("20 --metrics :1", 1, "tool: the port is taken\n");
}

static void test_core(void **state)
{
	(void)state;
	core_missing = 7;
	core_untold = true;
	expect_run("--core f bin\x1b", 0,
		   "tool: the core file was cut off: 7 of 100 bytes are missing\n"
		   "tool: the core file does not tell which program it is of: taken for "
		   "bin\\x1b's\n");
}

/* This one, and a child that has ended */
static int hold(void **state)
{
	struct errmsg err;
	pid_t child = fork();

	(void)state;
	if (!child) {
		pause();
		_exit(0);
	}
	living = process_open(getpid(), &err);
	dead = process_open(child, &err);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return living && dead ? 0 : -1;
}

static int release(void **state)
{
	(void)state;
	process_close(living);
	process_close(dead);
	free(words);
	free(said);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_refused, begin),
		cmocka_unit_test_setup(test_accepted, begin),
		cmocka_unit_test_setup(test_failures, begin),
		cmocka_unit_test_setup(test_looked_for, begin),
		cmocka_unit_test_setup(test_interval, begin),
		cmocka_unit_test_setup(test_ended, begin),
		cmocka_unit_test_setup(test_name, begin),
		cmocka_unit_test_setup(test_ending, begin),
		cmocka_unit_test_setup(test_nothing, begin),
		cmocka_unit_test_setup(test_metrics, begin),
		cmocka_unit_test_setup(test_core, begin),
	};

	return cmocka_run_group_tests(tests, hold, release);
}
