// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "tracing/options.h"
#include "unit.h"

enum { ARGS_MAX = 20 };

struct taken {
	char text[64]; /* "u l=3 " */
};

static int take(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct taken *taken = ctx;
	size_t len = strlen(taken->text);

	if (value && !strcmp(value, "bad"))
		return errmsg_set(err, "level of \"%s\": not a number", value);
	snprintf(taken->text + len, sizeof(taken->text) - len, "%c%s%s ", letter, value ? "=" : "",
		 value ? value : "");
	return 0;
}

static const struct options_def own[] = {
	{'u', "microseconds", NULL, "microsecond histogram"},
	{'l', "level", "LEVEL",
	 "set the level of nested or recursive functions, which is taken and "
	 "changes nothing"},
	{300, "emit", "KIND", "print the probes"},
	{0},
};

static bool binaries, metrics;
static enum options_numbers numbers;

static struct options_tool make_tool(struct taken *taken)
{
	return (struct options_tool){
		.name = "gotool",
		.about = "Do things to functions",
		.args = "[BINARY:]PATTERN... [-- COMMAND [ARG...]]",
		.shared = "pidTrDj",
		.binaries = binaries,
		.metrics = metrics,
		.max_series = metrics,
		.numbers = numbers,
		.running = true,
		.inlined = true,
		.force = true,
		.cost = true,
		.own = own,
		.take = take,
		.ctx = taken,
		.examples = "    ./gotool x:main.*\n"
			    "    ./gotool two\n"
			    "         # goes on\n"
			    "    ./gotool three\n    ./gotool four\n    ./gotool five\n"
			    "         # goes on as well\n"
			    "    ./gotool six\n",
	};
}

/* Splits `line` at spaces, into memory that lives as long as the test. */
static enum options_result parse(const char *line, struct options *out, struct taken *taken,
				 struct errmsg *err)
{
	static char copy[256];
	static char *argv[ARGS_MAX];
	struct options_tool tool = make_tool(taken);
	int argc = 0;

	snprintf(copy, sizeof(copy), "gotool %s", line);
	for (char *arg = strtok(copy, " "); arg && argc < ARGS_MAX - 1; arg = strtok(NULL, " "))
		argv[argc++] = arg;
	argv[argc] = NULL;
	*taken = (struct taken){0};
	*err = (struct errmsg){0};
	return options_parse(&tool, argc, argv, out, err);
}

static void test_all_at_once(void **state)
{
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	assert_int_equal(parse("-p 12 -i 2 -d 0.5 -TrDju -l 3 --emit=perf --inlined --fips "
			       "--force --cost x:a",
			       &opts, &taken, &err),
			 OPTIONS_RUN);
	assert_int_equal(opts.pid, 12);
	assert_int_equal(opts.interval_ns, 2000000000);
	assert_int_equal(opts.duration_ns, 500000000);
	assert_true(opts.timestamp && opts.regexp && opts.verbose && opts.json && opts.inlined &&
		    opts.fips && opts.force && opts.cost);
	assert_int_equal(opts.pattern_count, 1);
	assert_string_equal(opts.patterns[0], "x:a");
	assert_null(opts.command);
	/* 300 has no letter: printed as the byte ',' */
	assert_string_equal(taken.text, "u l=3 ,=perf ");
}

/* How many functions have metrics of their own */
static void test_max_series(void **state)
{
	static const struct {
		const char *line, *why;
		size_t most;
	} rows[] = {
		{"--metrics 9 f", "", 1000},
		{"--metrics 9 --max-series 1 f", "", 1},
		{"--metrics 9 --max-series 1000000 f", "", 1000000},
		{"--metrics 9 --max-series 0 f",
		 "--max-series: \"0\" is not a number from 1 to 1000000", 0},
		{"--metrics 9 --max-series 1000001 f",
		 "--max-series: \"1000001\" is not a number from 1 to 1000000", 0},
		{"--metrics 9 --max-series 5x f",
		 "--max-series: \"5x\" is not a number from 1 to 1000000", 0},
		{"--max-series 5 f", "", 5},
	};
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	metrics = true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum options_result got = parse(rows[i].line, &opts, &taken, &err);

		assert_string_equal(err.text, rows[i].why);
		if (got == OPTIONS_RUN)
			assert_int_equal(opts.max_series, rows[i].most);
	}
	metrics = false;
}

static void test_running(void **state)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{"-n a --all f", "--name and --all exclude each other"},
		{"-n a -p 3 f", "--name and -p PID exclude each other"},
		{"--all -p 3 f", "--all and -p PID exclude each other"},
		{"--all f -- x", "--all and -- COMMAND exclude each other"},
		{"--name= f", "--name needs a part of a program's name"},
		{"-n f", "no PATTERN given"},
	};
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	assert_int_equal(parse("-n etcd f", &opts, &taken, &err), OPTIONS_RUN);
	assert_string_equal(opts.named, "etcd");
	assert_false(opts.all);
	assert_int_equal(parse("--name etcd f", &opts, &taken, &err), OPTIONS_RUN);
	assert_string_equal(opts.named, "etcd");
	assert_int_equal(parse("--all f", &opts, &taken, &err), OPTIONS_RUN);
	assert_true(opts.all && !opts.named);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(rows[i].line, &opts, &taken, &err), OPTIONS_BAD);
		assert_string_equal(err.text, rows[i].why);
	}
	binaries = true;
	assert_int_equal(parse("-n etcd", &opts, &taken, &err), OPTIONS_RUN);
	assert_int_equal(parse("--all", &opts, &taken, &err), OPTIONS_RUN);
	assert_int_equal(parse("--all x", &opts, &taken, &err), OPTIONS_BAD);
	assert_string_equal(err.text, "BINARY and --all exclude each other");
	binaries = false;
}

static void test_nothing_given(void **state)
{
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	assert_int_equal(parse("x:a", &opts, &taken, &err), OPTIONS_RUN);
	assert_int_equal(opts.pid, 0);
	assert_true(!opts.interval_ns && !opts.duration_ns);
	assert_false(opts.timestamp || opts.regexp || opts.verbose || opts.json || opts.inlined ||
		     opts.fips || opts.force || opts.cost);
	assert_string_equal(taken.text, "");
}

static void test_long_forms(void **state)
{
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	assert_int_equal(parse("--pid=7 --interval 1 --duration=3 --timestamp --regexp --verbose "
			       "--json --microseconds --level 2 x:a",
			       &opts, &taken, &err),
			 OPTIONS_RUN);
	assert_int_equal(opts.pid, 7);
	assert_true(opts.interval_ns && opts.duration_ns);
	assert_true(opts.timestamp && opts.regexp && opts.verbose && opts.json);
	assert_string_equal(taken.text, "u l=2 ");
	assert_int_equal(parse("-v x:a", &opts, &taken, &err), OPTIONS_RUN);
	assert_true(opts.verbose);
}

static void test_order_is_free(void **state)
{
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	assert_int_equal(parse("x:a -T y:b -i 1 -- cmd -p 0 -- --json", &opts, &taken, &err),
			 OPTIONS_RUN);
	assert_int_equal(opts.pattern_count, 2);
	assert_string_equal(opts.patterns[0], "x:a");
	assert_string_equal(opts.patterns[1], "y:b");
	assert_true(opts.timestamp && opts.interval_ns && !opts.pid && !opts.json);
	assert_string_equal(opts.command[0], "cmd");
	assert_string_equal(opts.command[1], "-p");
	assert_string_equal(opts.command[3], "--");
	assert_string_equal(opts.command[4], "--json");
	assert_null(opts.command[5]);
}

/* Numbers without a letter, as bcc's tools take them, and names that are numbers. */
static void test_numbers(void **state)
{
	static const struct {
		const char *line;
		bool binaries;
		enum options_numbers numbers;
		uint64_t interval, duration; /* s */
		size_t patterns;
	} rows[] = {
		{"-i 2 3 a:b", false, OPTIONS_COUNT, 2, 6, 1},
		{"a:b -i 2 3", false, OPTIONS_COUNT, 2, 6, 1},
		{"-i 2 3 4 a:b", false, OPTIONS_COUNT, 2, 0, 3},
		{"-i 2 -d 9 3 a:b", false, OPTIONS_COUNT, 2, 9, 2},
		{"-i 2 3", false, OPTIONS_COUNT, 2, 0, 1},
		{"3 a:b", false, OPTIONS_COUNT, 0, 0, 2},
		{"-p 1 2 3", true, OPTIONS_INTERVAL, 2, 6, 0},
		{"-p 1 2", true, OPTIONS_INTERVAL, 2, 0, 0},
		{"app 2 3", true, OPTIONS_INTERVAL, 2, 6, 1},
		{"2 3", true, OPTIONS_INTERVAL, 0, 0, 2},
		{"-p 1 -i 5 2", true, OPTIONS_INTERVAL, 5, 10, 0},
		{"-p 1 2", true, OPTIONS_DURATION, 0, 2, 0},
		{"-p 1 2 3", true, OPTIONS_DURATION, 0, 0, 2},
		{"-p 1 2", true, OPTIONS_COUNT, 0, 0, 1},
	};
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		binaries = rows[i].binaries;
		numbers = rows[i].numbers;
		if (parse(rows[i].line, &opts, &taken, &err) != OPTIONS_RUN)
			fail_msg("%s: %s", rows[i].line, err.text);
		if (opts.interval_ns != rows[i].interval * 1000000000 ||
		    opts.duration_ns != rows[i].duration * 1000000000 ||
		    opts.pattern_count != rows[i].patterns)
			fail_msg("%s", rows[i].line);
	}
	binaries = false;
	numbers = OPTIONS_COUNT;
	assert_int_equal(parse("-i 1 0 a:b", &opts, &taken, &err), OPTIONS_BAD);
	assert_string_equal(err.text, "count of \"0\": not a number from 1 to 1000000");
}

static void test_help_and_version(void **state)
{
	struct options opts;
	struct taken taken;
	struct errmsg err;

	(void)state;
	assert_int_equal(parse("-h", &opts, &taken, &err), OPTIONS_HELP);
	assert_int_equal(parse("x:a --help --nonsense", &opts, &taken, &err), OPTIONS_HELP);
	assert_int_equal(parse("x:a --help all", &opts, &taken, &err), OPTIONS_HELP_ALL);
	assert_int_equal(parse("--help=all", &opts, &taken, &err), OPTIONS_HELP_ALL);
	assert_int_equal(parse("-jh all x:a", &opts, &taken, &err), OPTIONS_HELP_ALL);
	assert_int_equal(parse("-h x:a all", &opts, &taken, &err), OPTIONS_HELP);
	assert_int_equal(parse("--help=", &opts, &taken, &err), OPTIONS_BAD);
	assert_string_equal(err.text, "--help=: only --help and --help=all are known");
	assert_int_equal(parse("--version", &opts, &taken, &err), OPTIONS_VERSION);
}

static void test_errors(void **state)
{
	static const struct {
		const char *line, *text;
	} rows[] = {
		{"-x a:b", "unknown option '-x'"},
		{"-Tx a:b", "unknown option '-x'"},
		{"--json -Tx a:b", "unknown option '-x'"},
		{"--json -xT a:b", "unknown option '-x'"},
		{"--nonsense=3 a:b", "unknown option '--nonsense'"},
		{"--in a:b", "option '--in' is ambiguous"},
		{"--json=3 a:b", "option '--json' takes no value"},
		{"a:b -p", "option '-p' needs a value"},
		{"a:b --pid", "option '--pid' needs a value"},
		{"-p 0 a:b", "\"0\" is not a process ID"},
		{"-p -3 a:b", "\"-3\" is not a process ID"},
		{"-p 12x a:b", "\"12x\" is not a process ID"},
		{"-p 2147483648 a:b", "\"2147483648\" is not a process ID"},
		{"-i 0 a:b", "interval of \"0\": not a positive number of seconds"},
		{"-i -1 a:b", "interval of \"-1\": not a positive number of seconds"},
		{"-d 1x a:b", "duration of \"1x\": not a positive number of seconds"},
		{"--max-cost 0 a:b", "cost of \"0\": not a percentage from 1 to 100000"},
		{"--max-cost 100001 a:b", "cost of \"100001\": not a percentage from 1 to 100000"},
		{"--max-cost=5% a:b", "cost of \"5%\": not a percentage from 1 to 100000"},
		{"-l bad a:b", "level of \"bad\": not a number"},
		{"", "no PATTERN given"},
		{"-T", "no PATTERN given"},
		{"-- cmd", "no PATTERN given"},
		{"a:b --", "no COMMAND after '--'"},
		{"-p 1 a:b -- cmd", "-p PID and -- COMMAND exclude each other"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options opts;
		struct taken taken;
		struct errmsg err;

		if (parse(rows[i].line, &opts, &taken, &err) != OPTIONS_BAD)
			fail_msg("\"%s\" is taken", rows[i].line);
		assert_string_equal(err.text, rows[i].text);
	}
}

static void test_options_of_bcc(void **state)
{
	char *argv[] = {"gotrace", "-jI", "a:b", NULL};
	struct taken taken = {0};
	struct options_tool tool = make_tool(&taken);
	struct errmsg err = {0};
	struct options opts;

	(void)state;
	tool.name = "gotrace";
	assert_int_equal(options_parse(&tool, 3, argv, &opts, &err), OPTIONS_BAD);
	assert_string_equal(err.text, "unknown option '-I'");
	assert_non_null(strstr(err.hint, "without headers"));
	assert_int_equal(parse("-I a:b", &opts, &taken, &err), OPTIONS_BAD);
	assert_string_equal(err.hint, "");
}

/* What options_answer prints to `fd`, which is put back. */
static int answer(enum options_result result, int fd, char *text, size_t size)
{
	struct taken taken = {0};
	struct options_tool tool = make_tool(&taken);
	struct errmsg err = {.text = "bad \x1b[0m", .hint = "better"};
	FILE *file = tmpfile();
	int saved = dup(fd);

	fflush(NULL);
	dup2(fileno(file), fd);
	int status = options_answer(&tool, result, &err);

	fflush(NULL);
	dup2(saved, fd);
	close(saved);
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
	return status;
}

static void test_answers(void **state)
{
	static const char usage[] =
		"usage: gotool [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-r] [-D] [-j]\n"
		"              [-u] [-l LEVEL] [--emit KIND] [-n NAME] [--all] [--inlined]\n"
		"              [--fips] [--force] [--max-cost PERCENT] [--cost] [--version]\n"
		"              [BINARY:]PATTERN... [-- COMMAND [ARG...]]\n";
	char text[4096];

	(void)state;
	assert_int_equal(answer(OPTIONS_HELP, STDOUT_FILENO, text, sizeof(text)), 0);
	assert_ptr_equal(strstr(text, usage), text);
	assert_string_equal(text + sizeof(usage) - 1,
			    "\nDo things to functions\n\nexamples:\n"
			    "    ./gotool x:main.*\n    ./gotool two\n         # goes on\n"
			    "    ./gotool three\n    ./gotool four\n    ./gotool five\n"
			    "         # goes on as well\n"
			    "\nall options: gotool --help all\n");

	assert_int_equal(answer(OPTIONS_HELP_ALL, STDOUT_FILENO, text, sizeof(text)), 0);
	assert_ptr_equal(strstr(text, usage), text);
	assert_non_null(strstr(text, "\n\nDo things to functions\n\noptions:\n"));
	assert_non_null(strstr(text, "\n  -p PID, --pid PID     trace this PID only\n"));
	assert_non_null(strstr(
		text, "\n  -i INTERVAL, --interval INTERVAL\n"
		      "                        summary interval, in seconds, or as 500ms\n"));
	assert_non_null(strstr(text, "\n  --inlined             include"));
	assert_non_null(strstr(text, "\n  --fips                include"));
	assert_non_null(strstr(text, "\n  --force               trace even"));
	assert_null(strstr(text, "--verbose")); /* taken all the same */
	assert_non_null(strstr(text, "\n\nexamples:\n    ./gotool x:main.*\n"));
	assert_non_null(strstr(text, "\n    ./gotool six\n"));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) < 80);

	assert_int_equal(answer(OPTIONS_VERSION, STDOUT_FILENO, text, sizeof(text)), 0);
	assert_string_equal(text, "gotool (bcc-gotools) " GOTOOLS_VERSION "\n");

	assert_int_equal(answer(OPTIONS_BAD, STDERR_FILENO, text, sizeof(text)), 2);
	assert_ptr_equal(strstr(text, "gotool: bad \\x1b[0m\nhint: better\nusage: "), text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_at_once),      cmocka_unit_test(test_max_series),
		cmocka_unit_test(test_running),          cmocka_unit_test(test_nothing_given),
		cmocka_unit_test(test_long_forms),       cmocka_unit_test(test_order_is_free),
		cmocka_unit_test(test_errors),           cmocka_unit_test(test_options_of_bcc),
		cmocka_unit_test(test_help_and_version), cmocka_unit_test(test_answers),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
