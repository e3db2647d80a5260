// SPDX-License-Identifier: Apache-2.0
/* goleaks from its command line to its output: what leaks, when it is looked at, and how a session
 * ends are the test's. What looks at the process is a copy of the tool's, as in its own process. */
#include "faketool.h"
#include "leakrun.h"
#include "printed.h"

#define main tool_main
#include "tools/goleaks.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "unit.h" /* whose fail() is another one */

enum { PID = 181 };

static bool closes, is_refused;
static unsigned looks_left;  /* that go well; 0: any number */
static struct goleaks child; /* in the process that looks */
static struct goprocesses_one one;
static const struct goprocesses_work *given;

/* --- in place of the processes that do the work --- */

int goprocesses_open(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		     struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		     void *ctx, struct errmsg *err)
{
	struct errmsg why = {.text = "not a Go program"};

	assert_int_equal(wanted->pid_count, 1);
	faketool_note("open %d\n", wanted->pids[0]);
	assert_ptr_equal(work->ctx, &goleaks);
	child = goleaks;
	given = work;
	*out = (struct goprocesses){.all = &one, .count = 1};
	if (is_refused) {
		out->count = 0;
		failed(ctx, &why);
	}
	return faketool.failing && !strcmp(faketool.failing, "open") ? errmsg_set(err, "open fails")
								     : 0;
}

int goprocesses_look(struct goprocesses *procs, size_t i, int what, const void *more, size_t len,
		     uint64_t *count, struct errmsg *err)
{
	static const char *const words[] = {"read", "show", "profile"};

	assert_int_equal(i, 0);
	assert_ptr_equal(procs, &goleaks.procs);
	if (faketool_answer(words[what], err))
		return -1;
	if (what == LOOK_READ && looks_left && !--looks_left)
		return errmsg_set(err, "it has ended");
	child.profile_fd = goleaks.profile_fd;
	return given->look(&child, &one, what, more, len, count, err);
}

bool goprocesses_close(struct goprocesses *procs)
{
	assert_ptr_equal(procs, &goleaks.procs);
	given->end(&child);
	return closes;
}

/* --- leakrun.runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	memset(leakrun.all, 0, sizeof(leakrun.all));
	memset(&goleaks, 0, sizeof(goleaks));
	one = (struct goprocesses_one){.pid = PID,
				       .proc = FAKETOOL_SOME(process),
				       .gp = FAKETOOL_SOME(goprocess),
				       .name = (char *)"jobs"};
	leakrun.now_ns = 1000 * SECOND_NS;
	leakrun.looks = 0;
	leakrun.passes_ns = 0;
	leakrun.session_ends = SESSION_SIGNAL;
	leakrun.runs = closes = true;
	is_refused = false;
	looks_left = 0;
	faketool.failing = NULL;
	leakrun.left_out = 0;
	leakrun.all[0] = (struct leak){.created_by = LEAKRUN_GO_STATEMENT + 7,
				       .live = 30,
				       .born = 12,
				       .ended = 2,
				       .first_live = 10,
				       .all_ended = 5,
				       .looks = 4,
				       .grown = 3,
				       .first_ns = 990 * SECOND_NS,
				       .oldest_ns = 59 * SECOND_NS,
				       .state = "chan receive"};
	leakrun.all[1] =
		(struct leak){.ended = 3, .looks = 1, .first_ns = 999 * SECOND_NS, .state = "idle"};
	return 0;
}

/* What it prints; `said` on stderr */
static void run_it(const char *words, int status, const char *said, const char *want)
{
	*faketool.said = '\0';
	faketool_errors_begin();
	printed_begin();
	int got = faketool_main(tool_main, words, faketool_never);

	printed_expect(want);
	faketool_errors_expect(said);
	assert_int_equal(got, status);
}

static void test_text(void **state)
{
	(void)state;
	leakrun.looks = 1;
	leakrun.left_out = 6;
	run_it("-i 10 181", 0,
	       "goleaks: 6 left out\n"
	       "goleaks: 6 left out\n"
	       "goleaks: 6 left out\n",
	       "181 jobs (go1.27)\n"
	       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
	       "     -       -      30       -     59s  chan receive       main.run\\x1b "
	       "main.go:7\n"
	       "        only grows: from 10 to 30 in 11s, and 5 have ended\n"
	       "     -       -       0       -       -  -                  ?\n"
	       "\n"
	       "181 jobs (go1.27)\n"
	       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
	       "   720     120      30    +600     59s  chan receive       main.run\\x1b "
	       "main.go:7\n"
	       "        only grows: from 10 to 30 in 12s, and 5 have ended\n"
	       "     0     180       0    -180       -  -                  ?\n"
	       "\n"
	       "181 jobs (go1.27)\n"
	       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
	       "   720     120      30    +600     59s  chan receive       main.run\\x1b "
	       "main.go:7\n"
	       "        only grows: from 10 to 30 in 13s, and 5 have ended\n"
	       "     0     180       0    -180       -  -                  ?\n");
	faketool_noted("open 181\n"
		       "session\n"
		       "read\n"
		       "show\n"
		       "every 10 s for 0 s\n"
		       "read\n"
		       "show\n"
		       "run\n"
		       "read\n"
		       "show\n"
		       "flush\n");
}

/* It has ended after the first look: that is no failure, as there was something to see; unless it
 * still runs. */
static void test_ended(void **state)
{
	static const char once[] =
		"181 jobs (go1.27)\n"
		"  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
		"     -       -      30       -     59s  chan receive       main.run\\x1b "
		"main.go:7\n"
		"        only grows: from 10 to 30 in 11s, and 5 have ended\n"
		"     -       -       0       -       -  -                  ?\n";

	(void)state;
	leakrun.runs = false;
	leakrun.looks = 1;
	looks_left = 2;
	run_it("-i 10 181", 0, "", once);
	setup(state);
	looks_left = 2;
	leakrun.looks = 1;
	run_it("-i 10 181", 1, "goleaks: it has ended\n", once);
	setup(state);
	leakrun.runs = false;
	looks_left = 1;
	run_it("-i 10 181", 1, "goleaks: it has ended\n", "");
}

static void test_ages(void **state)
{
	static const uint64_t seconds[] = {0, 60, 3599, 3600, 86399, 86400, 90000};

	(void)state;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		printed_begin();
		print_age(seconds[i] * SECOND_NS);
		printed_expect((const char *const[]){"       -", "      1m", "     59m", "    1h00",
						     "   23h59", "    1d00", "    1d01"}[i]);
	}
}

static void test_json(void **state)
{
	(void)state;
	leakrun.all[1].grown = 1;
	run_it("-jT -p 181", 0, "",
	       "{\"type\":\"leak\",\"time\":\"12:00:00\","
	       "\"created_by\":{\"func\":\"main.run\\u001b\",\"file\":\"/src/main.go\","
	       "\"line\":7},\"live\":30,\"born\":12,\"ended\":2,\"interval_ns\":0,"
	       "\"first_live\":10,\"watched_ns\":11000000000,\"oldest_ns\":59000000000,"
	       "\"state\":\"chan receive\",\"only_grows\":true}\n"
	       "{\"type\":\"leak\",\"time\":\"12:00:00\",\"created_by\":null,\"live\":0,"
	       "\"born\":0,\"ended\":3,\"interval_ns\":0,\"first_live\":0,"
	       "\"watched_ns\":2000000000,\"oldest_ns\":null,\"state\":null,"
	       "\"only_grows\":false}\n"
	       "{\"type\":\"leak\",\"time\":\"12:00:00\","
	       "\"created_by\":{\"func\":\"main.run\\u001b\",\"file\":\"/src/main.go\","
	       "\"line\":7},\"live\":30,\"born\":12,\"ended\":2,\"interval_ns\":1000000000,"
	       "\"first_live\":10,\"watched_ns\":12000000000,\"oldest_ns\":59000000000,"
	       "\"state\":\"chan receive\",\"only_grows\":true}\n"
	       "{\"type\":\"leak\",\"time\":\"12:00:00\",\"created_by\":null,\"live\":0,"
	       "\"born\":0,\"ended\":3,\"interval_ns\":1000000000,\"first_live\":0,"
	       "\"watched_ns\":3000000000,\"oldest_ns\":null,\"state\":null,"
	       "\"only_grows\":false}\n");
	setup(NULL);
	leakrun.all[0].all_ended = 0;
	run_it("-T 181", 0, "",
	       "\n"
	       "12:00:00\n"
	       "181 jobs (go1.27)\n"
	       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
	       "     -       -      30       -     59s  chan receive       main.run\\x1b "
	       "main.go:7\n"
	       "        only grows: from 10 to 30 in 11s, and none has ended\n"
	       "     -       -       0       -       -  -                  ?\n"
	       "\n"
	       "12:00:00\n"
	       "181 jobs (go1.27)\n"
	       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
	       "   720     120      30    +600     59s  chan receive       main.run\\x1b "
	       "main.go:7\n"
	       "        only grows: from 10 to 30 in 12s, and none has ended\n"
	       "     0     180       0    -180       -  -                  ?\n");
}

/* A look at the end, unless there has just been one */
static void test_end(void **state)
{
	(void)state;
	leakrun.all[0].looks = 0;
	leakrun.session_ends = SESSION_DURATION;
	run_it("-d 20 181", 0, "", "181 jobs (go1.27)\n");
	faketool_noted("open 181\n"
		       "session\n"
		       "read\n"
		       "show\n"
		       "every 20 s for 20 s\n"
		       "run\n"
		       "flush\n");
	setup(NULL);
	leakrun.all[0].looks = 0;
	leakrun.session_ends = SESSION_DURATION;
	run_it("-d 2m -p 181", 0, "", "181 jobs (go1.27)\n");
	faketool_noted("open 181\n"
		       "session\n"
		       "read\n"
		       "show\n"
		       "every 60 s for 120 s\n"
		       "run\n"
		       "flush\n");
	setup(NULL);
	leakrun.all[0].looks = 0;
	leakrun.session_ends = SESSION_PROCESS;
	leakrun.runs = false;
	run_it("181", 0, "", "181 jobs (go1.27)\n");
	faketool_noted("open 181\n"
		       "session\n"
		       "read\n"
		       "show\n"
		       "every 60 s for 0 s\n"
		       "run\n"
		       "181 has ended\n"
		       "flush\n");
}

static void test_long_after(void **state)
{
	(void)state;
	leakrun.all[0].looks = 0;
	leakrun.session_ends = SESSION_DURATION;
	leakrun.passes_ns = 15 * SECOND_NS;
	run_it("-d 2m 181", 0, "",
	       "181 jobs (go1.27)\n"
	       "\n"
	       "181 jobs (go1.27)\n");
	setup(NULL);
	leakrun.all[0].looks = 0;
	leakrun.session_ends = SESSION_PROCESS;
	leakrun.passes_ns = 15 * SECOND_NS;
	run_it("-d 2m 181", 0, "", "181 jobs (go1.27)\n");
	setup(NULL);
	leakrun.all[0].state = "sync.Mutex.Lock all";
	leakrun.all[1].looks = 0;
	leakrun.passes_ns = 1;
	faketool.failing = "gone";
	leakrun.runs = false;
	run_it("181", 0, "",
	       "181 jobs (go1.27)\n"
	       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
	       "     -       -      30       -     59s  sync.Mutex.Lock all main.run\\x1b "
	       "main.go:7\n"
	       "        only grows: from 10 to 30 in 11s, and 5 have ended\n");
}

static void test_profile(void **state)
{
	(void)state;
	leakrun.looks = 1;
	run_it("-j --pprof out 181", 0, "",
	       "{\"type\":\"leak\",\"created_by\":{\"func\":\"main.run\\u001b\","
	       "\"file\":\"/src/main.go\",\"line\":7},\"live\":30,\"born\":12,\"ended\":2,"
	       "\"interval_ns\":0,\"first_live\":10,\"watched_ns\":11000000000,"
	       "\"oldest_ns\":59000000000,\"state\":\"chan receive\",\"only_grows\":true}\n"
	       "{\"type\":\"leak\",\"created_by\":null,\"live\":0,\"born\":0,\"ended\":3,"
	       "\"interval_ns\":0,\"first_live\":0,\"watched_ns\":2000000000,"
	       "\"oldest_ns\":null,\"state\":null,\"only_grows\":false}\n"
	       "{\"type\":\"leak\",\"created_by\":{\"func\":\"main.run\\u001b\","
	       "\"file\":\"/src/main.go\",\"line\":7},\"live\":30,\"born\":12,\"ended\":2,"
	       "\"interval_ns\":1000000000,\"first_live\":10,\"watched_ns\":12000000000,"
	       "\"oldest_ns\":59000000000,\"state\":\"chan receive\",\"only_grows\":true}\n"
	       "{\"type\":\"leak\",\"created_by\":null,\"live\":0,\"born\":0,\"ended\":3,"
	       "\"interval_ns\":1000000000,\"first_live\":0,\"watched_ns\":3000000000,"
	       "\"oldest_ns\":null,\"state\":null,\"only_grows\":false}\n"
	       "{\"type\":\"leak\",\"created_by\":{\"func\":\"main.run\\u001b\","
	       "\"file\":\"/src/main.go\",\"line\":7},\"live\":30,\"born\":12,\"ended\":2,"
	       "\"interval_ns\":1000000000,\"first_live\":10,\"watched_ns\":13000000000,"
	       "\"oldest_ns\":59000000000,\"state\":\"chan receive\",\"only_grows\":true}\n"
	       "{\"type\":\"leak\",\"created_by\":null,\"live\":0,\"born\":0,\"ended\":3,"
	       "\"interval_ns\":1000000000,\"first_live\":0,\"watched_ns\":4000000000,"
	       "\"oldest_ns\":null,\"state\":null,\"only_grows\":false}\n");
	faketool_noted("out\n"
		       "open 181\n"
		       "open pprof\n"
		       "session\n"
		       "read\n"
		       "show\n"
		       "line 7 pid=181 comm=jobs live 0 born 12 ended 2\n"
		       "[unknown] pid=181 comm=jobs live 0 born 0 ended 3\n"
		       "every 60 s for 0 s\n"
		       "read\n"
		       "show\n"
		       "line 7 pid=181 comm=jobs live 0 born 12 ended 2\n"
		       "[unknown] pid=181 comm=jobs live 0 born 0 ended 3\n"
		       "run\n"
		       "read\n"
		       "show\n"
		       "line 7 pid=181 comm=jobs live 0 born 12 ended 2\n"
		       "[unknown] pid=181 comm=jobs live 0 born 0 ended 3\n"
		       "ends\n"
		       "profile\n"
		       "line 7 pid=181 comm=jobs live 30 born 0 ended 0\n"
		       "pass\n"
		       "take\n"
		       "write\n"
		       "flush\n");
	for (size_t i = 0; i < 6; i++) {
		static const char *const each[] = {"out",  "open pprof", "profile",
						   "pass", "take",       "write"};
		char want[64];

		setup(NULL);
		leakrun.all[0].looks = 0;
		faketool.failing = each[i];
		snprintf(want, sizeof(want), "goleaks: %s fails\n", faketool.failing);
		run_it("-j --pprof out 181", 1, want, "");
	}
}

/* --- what fails --- */

static void test_failures(void **state)
{
	static const char *const each[] = {"open", "session", "run",     "flush",
					   "read", "show",    "snapshot"};

	for (size_t i = 0; i < 7; i++) {
		char want[64];

		setup(state);
		faketool.failing = each[i];
		leakrun.all[0].looks = 0;
		leakrun.runs = i != 4;
		snprintf(want, sizeof(want), "goleaks: %s fails\n", faketool.failing);
		run_it("-j 181", 1, want, "");
	}
	setup(state);
	is_refused = true;
	run_it("181", 1, "goleaks: not a Go program\n", "");
	setup(state);
	closes = false;
	leakrun.all[0].looks = 0;
	run_it("-j 181", 1, "", "");
}

/* --- each birth --- */

static struct errmsg failure;

static void exactly(struct toolrun *run)
{
	faketool_expect_config(run, "goleaks.bpf.c cpu 0\n"
				    "\n"
				    "goleaks: begin show lost started profile quiet_end\n");
	assert_int_equal(run->opts->pid, PID);
	assert_int_equal(run->opts->duration_ns, 5 * SECOND_NS);
	assert_int_equal(run->opts->interval_ns, 60 * SECOND_NS);
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	run->started(run->ctx);
	run->profile = FAKETOOL_SOME(profile);
	assert_int_equal(run->show(run->ctx, false, &failure), 0);
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	faketool_noted("births begin\n"
		       "read\n"
		       "births\n"
		       "show\n"
		       "2 births of 8\n"
		       "line 7 pid=181 comm=jobs live 0 born 12 ended 2\n"
		       "[unknown] pid=181 comm=jobs live 0 born 0 ended 3\n"
		       "read\n"
		       "births\n"
		       "show\n"
		       "2 births of 8\n"
		       "line 7 pid=181 comm=jobs live 0 born 12 ended 2\n"
		       "[unknown] pid=181 comm=jobs live 0 born 0 ended 3\n"
		       "read\n"
		       "births\n"
		       "show\n"
		       "2 births of 8\n"
		       "line 7 pid=181 comm=jobs live 0 born 12 ended 2\n"
		       "[unknown] pid=181 comm=jobs live 0 born 0 ended 3\n"
		       "profile\n"
		       "line 7 pid=181 comm=jobs live 30 born 0 ended 0\n"
		       "pass\n"
		       "take\n");
	run->lost(run->ctx);
	faketool.failing = "births";
	assert_int_equal(run->show(run->ctx, false, &failure), -1);
	assert_string_equal(failure.text, "births fails");
	leakrun.runs = false;
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	*faketool.said = '\0';
	run->profile = NULL;
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	faketool_noted("");
}

static void exactly_nothing(struct toolrun *run)
{
	faketool.failing = "show";
	leakrun.runs = false;
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "show fails");
}

static void test_exact(void **state)
{
	(void)state;
	faketool_errors_begin();
	printed_begin();
	int got = faketool_main(tool_main, "--exact -d 5 --pprof out -p 181", exactly);

	printed_expect("181 jobs (go1.27)\n"
		       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
		       "     -       -      30       -     59s  chan receive       main.run\\x1b "
		       "main.go:7\n"
		       "        only grows: from 10 to 30 in 11s, and 5 have ended\n"
		       "     -       -       0       -       -  -                  ?\n"
		       "\n"
		       "181 jobs (go1.27)\n"
		       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
		       "   720     120      30    +600     59s  chan receive       main.run\\x1b "
		       "main.go:7\n"
		       "        only grows: from 10 to 30 in 12s, and 5 have ended\n"
		       "     0     180       0    -180       -  -                  ?\n"
		       "\n"
		       "181 jobs (go1.27)\n"
		       "  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY\n"
		       "   720     120      30    +600     59s  chan receive       main.run\\x1b "
		       "main.go:7\n"
		       "        only grows: from 10 to 30 in 13s, and 5 have ended\n"
		       "     0     180       0    -180       -  -                  ?\n");
	faketool_errors_expect("goleaks: births lost\n");
	assert_int_equal(got, FAKETOOL_STATUS);
	setup(NULL);
	assert_int_equal(faketool_main(tool_main, "--exact 181", exactly_nothing), FAKETOOL_STATUS);
}

/* --- the command line --- */

static void test_refused(void **state)
{
	static const char *const refused[][2] = {
		{"", "no PID given"},
		{"1 2", "one PID is all that goleaks takes"},
		{"-p 1 2", "one PID is all that goleaks takes"},
		{"x", "\"x\" is not a process ID"},
		{"0", "\"0\" is not a process ID"},
		{"2147483648", "\"2147483648\" is not a process ID"},
		{"-p x", "\"x\" is not a process ID"},
		{"-i x 1", "interval of \"x\": not a positive number of seconds"},
		{"-d 0 1", "duration of \"0\": not a positive number of seconds"},
		{"1 -- app", "goleaks starts no COMMAND"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		char want[128];

		setup(state);
		snprintf(want, sizeof(want), "goleaks: %s\nusage: goleaks ...", refused[i][1]);
		run_it(refused[i][0], 2, want, "");
	}
	setup(state);
	faketool.failing = "open";
	run_it("2147483647", 1, "goleaks: open fails\n", "");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: goleaks [-h] [-T] [-j] [-p PID] [-i INTERVAL] [-d DURATION] [--exact]\n"
		"               [--pprof FILE] [--version] [PID]\n"
		"\n"
		"Show which go statements leave ever more goroutines behind\n"
		"\n"
		"examples:\n"
		"    goleaks 181                # every minute, until Ctrl-C\n"
		"    goleaks -i 10 -d 5m 181    # every 10 seconds, for 5 minutes\n"
		"    goleaks -j -i 10m 181      # one JSON object a go statement\n"
		"    goleaks -d 10m --pprof leaks.pb.gz 181  # for go tool pprof\n"
		"    goleaks --exact 181        # with those that live briefly\n"
		"\n"
		"all options: goleaks --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: goleaks [-h] [-T] [-j] [-p PID] [-i INTERVAL] [-d DURATION] [--exact]\n"
		"               [--pprof FILE] [--version] [PID]\n"
		"\n"
		"Show which go statements leave ever more goroutines behind\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -p PID, --pid PID     the process to read; it is not stopped\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        snapshot interval, in seconds, or as 10m (default 60)\n"
		"  -d DURATION, --duration DURATION\n"
		"                        end after so long, in seconds, or as 1h30m\n"
		"  --exact               count each birth and end by probes, also between two\n"
		"                        snapshots\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    goleaks 181                # every minute, until Ctrl-C\n"
		"    goleaks -i 10 -d 5m 181    # every 10 seconds, for 5 minutes\n"
		"    goleaks -j -i 10m 181      # one JSON object a go statement\n"
		"    goleaks -d 10m --pprof leaks.pb.gz 181  # for go tool pprof\n"
		"    goleaks --exact 181        # with those that live briefly\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_ended, setup),
		cmocka_unit_test_setup(test_ages, setup),
		cmocka_unit_test_setup(test_json, setup),
		cmocka_unit_test_setup(test_end, setup),
		cmocka_unit_test_setup(test_long_after, setup),
		cmocka_unit_test_setup(test_profile, setup),
		cmocka_unit_test_setup(test_failures, setup),
		cmocka_unit_test_setup(test_exact, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
