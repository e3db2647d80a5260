// SPDX-License-Identifier: Apache-2.0
/* gostat from its command line to what it prints: numbers are the test's, which a line tells. */
#include "faketool.h"
#include "printed.h"
#include "readerrun.h"

#define main tool_main
#include "tools/gostat.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include <string.h>

#include "unit.h"

static struct errmsg failure;
static uint64_t now_ns;

/* --- in place of numbers --- */

char *process_name(const struct process *proc)
{
	assert_ptr_equal(proc, FAKETOOL_SOME(process));
	return strdup("comm");
}

void statlook(struct stats_reader **reader, const struct goprocesses_one *one, struct stats *out)
{
	assert_ptr_equal(one, &readerrun.one);
	*reader = FAKETOOL_SOME(stats_reader);
	*out = (struct stats){.when_ns = ++now_ns};
}

void stats_reader_free(struct stats_reader *reader)
{
	assert_ptr_equal(reader, FAKETOOL_SOME(stats_reader));
	faketool_result("free");
}

void stats_read_lazyfree(const struct process *proc, struct stats *out)
{
	assert_ptr_equal(proc, FAKETOOL_SOME(process));
	out->when_ns += 1000;
}

void stats_print_head(FILE *out)
{
	fputs("HEAD\n", out);
}

static void print_subject(FILE *out, const struct stats_subject *of, const struct stats *now)
{
	fprintf(out, "%d %s %s go1.%d at %d", of->pid, of->name, of->comm, of->release,
		(int)now->when_ns);
}

void stats_print_line(FILE *out, const struct stats_subject *of, const struct stats *now,
		      const struct stats *before)
{
	print_subject(out, of, now);
	fprintf(out, " after %d\n", before ? (int)before->when_ns : -1);
}

void stats_print_json(FILE *out, const struct stats_subject *of, const struct stats *now,
		      void (*time)(struct json *json))
{
	print_subject(out, of, now);
	fputs(time == toolrun_json_time ? " JSON with time\n" : " JSON\n", out);
}

static bool is_used_up;
static unsigned asked;

bool stats_print_quota(FILE *out, const char *tool, const struct stats_subject *of,
		       const struct stats *now, const struct stats *before)
{
	assert_ptr_equal(out, stderr);
	assert_string_equal(tool, "gostat");
	assert_string_equal(of->comm, "comm");
	assert_true(now->when_ns > before->when_ns);
	asked++;
	return is_used_up;
}

void stats_metrics_write(FILE *out, bool openmetrics, const struct stats_published *all,
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%d %s go1.%d at %d%s\n", all[i].pid, all[i].comm, all[i].release,
			(int)all[i].now.when_ns, openmetrics ? " open" : "");
}

void stats_memory_print(FILE *out, const struct stats_subject *of, const struct stats *now)
{
	print_subject(out, of, now);
	fputs(" memory\n", out);
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	readerrun_begin();
	gostat = (struct gostat){0};
	now_ns = 0;
	return 0;
}

static void look_twice(struct readertool *rt, const char *want)
{
	uint64_t count = 0;

	printed_begin();
	for (int i = 0; i < 2; i++) {
		rt->begin(rt->ctx, i == 0);
		assert_int_equal(rt->look(rt->ctx, &readerrun.one, i == 0, NULL, &count, &failure),
				 0);
		assert_int_equal(count, 1);
	}
	printed_expect(want);
	rt->end(rt->ctx);
	faketool_noted("free\n");
}

#define ONE "181 app comm go1.27 at "

/* The head comes again before 20 lines have scrolled it away. */
static void lines(struct readertool *rt)
{
	readerrun_expect("gostat: each_interval pids_only look end begin ready\n");
	rt->procs.count = 1;
	look_twice(rt, "HEAD\n" ONE "1 after -1\n" ONE "2 after 1\n");
	assert_int_equal(asked, 1);
	printed_begin();
	for (int i = 0; i < 18; i++)
		rt->begin(rt->ctx, false);
	printed_expect("");
	for (int i = 0; i <= 20; i++) {
		printed_begin();
		rt->begin(rt->ctx, false);
		printed_expect(i % 20 ? "" : "HEAD\n");
	}
}

/* A quota that was used up is said once. */
static void several(struct readertool *rt)
{
	is_used_up = true;
	rt->procs.count = 2;
	look_twice(rt, "HEAD\n" ONE "1 after -1\n\nHEAD\n" ONE "2 after 1\n");
	look_twice(rt, "HEAD\n" ONE "3 after 2\n\nHEAD\n" ONE "4 after 3\n");
	assert_int_equal(asked, 2);
}

static void timed(struct readertool *rt)
{
	rt->procs.count = 1;
	look_twice(rt, "\n12:00:00\nHEAD\n" ONE "1 after -1\n\n12:00:00\n" ONE "2 after 1\n");
}

static void as_json(struct readertool *rt)
{
	rt->procs.count = 2;
	look_twice(rt, ONE "1 JSON with time\n" ONE "2 JSON with time\n");
	rt->opts.timestamp = false;
	look_twice(rt, ONE "3 JSON\n" ONE "4 JSON\n");
}

static void of_memory(struct readertool *rt)
{
	readerrun_expect("takes a\ngostat: pids_only look end begin ready\n");
	rt->procs.count = 1;
	look_twice(rt, ONE "1001 memory\n\n" ONE "1002 memory\n");
	rt->opts.json = true;
	look_twice(rt, ONE "1003 JSON\n" ONE "1004 JSON\n");
}

static void test_output(void **state)
{
	assert_int_equal(readerrun_main(tool_main, "181", lines), FAKETOOL_STATUS);
	setup(state);
	readerrun_main(tool_main, "1 2", several);
	setup(state);
	readerrun_main(tool_main, "-T 181", timed);
	setup(state);
	readerrun_main(tool_main, "-jT 1 2", as_json);
	setup(state);
	readerrun_main(tool_main, "--memory --all", of_memory);
}

/* Each time, what was found since this began */
static void published(struct readertool *rt)
{
	const struct readmetrics_source *source = rt->metrics;

	printed_begin();
	for (int i = 0; i < 2; i++) {
		source->begin(source->ctx);
		for (int k = 0; k < 2; k++) {
			assert_int_equal(source->look(source->ctx, &readerrun.one, &failure), 0);
			source->found(source->ctx);
		}
		source->write(source->ctx, stdout, i);
	}
	printed_expect("181 comm go1.27 at 1\n181 comm go1.27 at 2\n"
		       "181 comm go1.27 at 3 open\n181 comm go1.27 at 4 open\n");
	assert_ptr_equal(source->result, &gostat.found);
	source->end(source->ctx);
	faketool_noted("takes a\nfree\n");
}

static void test_metrics(void **state)
{
	(void)state;
	readerrun_main(tool_main, "--metrics :9437 --all", published);
}

static void test_refused(void **state)
{
	(void)state;
	readerrun_refused(tool_main, "--metrics :1 --memory 181",
			  "gostat: --metrics prints no lines: not with --memory\nusage: ...");
	setup(state);
	readerrun_refused(tool_main, "-p bad", "gostat: bad value\nusage: gostat ...");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(tool_main, "-h",
		      "usage: gostat [-h] [-T] [-j] [-p PID] [-n NAME] [--all] [-i INTERVAL]\n"
		      "              [-d DURATION] [--memory] [--metrics WHERE] [--version] "
		      "[PID...]\n"
		      "\n"
		      "Show goroutines, heap and collections of running Go programs\n"
		      "\n"
		      "examples:\n"
		      "    gostat 181                 # a line a second, until Ctrl-C\n"
		      "    gostat -i 10 -d 1m 181     # every 10 seconds, for a minute\n"
		      "    gostat --all               # all Go programs\n"
		      "    gostat -n etcd             # whose name contains etcd\n"
		      "    gostat --memory 181        # what its memory consists of\n"
		      "\n"
		      "all options: gostat --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gostat [-h] [-T] [-j] [-p PID] [-n NAME] [--all] [-i INTERVAL]\n"
		"              [-d DURATION] [--memory] [--metrics WHERE] [--version] [PID...]\n"
		"\n"
		"Show goroutines, heap and collections of running Go programs\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -p PID, --pid PID     the process to read; it is not stopped\n"
		"  -n NAME, --name NAME  the Go programs that run and whose name contains NAME\n"
		"  --all                 all Go programs that run\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        time between looks, in seconds, or as 500ms (default 1)\n"
		"  -d DURATION, --duration DURATION\n"
		"                        end after so long, in seconds, or as 1h30m\n"
		"  --memory              what resident memory consists of; once, without -i\n"
		"  --metrics WHERE       publish metrics: serve them at ADDR:PORT (PORT alone:\n"
		"                        of 127.0.0.1), or write FILE.prom\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gostat 181                 # a line a second, until Ctrl-C\n"
		"    gostat -i 10 -d 1m 181     # every 10 seconds, for a minute\n"
		"    gostat --all               # all Go programs\n"
		"    gostat -n etcd             # whose name contains etcd\n"
		"    gostat --memory 181        # what its memory consists of\n"
		"    gostat --metrics :9437 --all # all numbers for Prometheus\n"
		"    gostat -j 181              # one JSON object a line\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_output, setup),
		cmocka_unit_test_setup(test_metrics, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
