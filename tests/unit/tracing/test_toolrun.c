// SPDX-License-Identifier: Apache-2.0
/* What a tool does from its options to its end, in which order, and what it says: all else is of
 * this test's own, and writes down that it was called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/progress.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "kernel/events.h"
#include "metrics/publisher.h"
#include "profile/pprof.h"
#include "profile/profile.h"
#include "program/program.h"
#include "selection/selection_print.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "tracing/filewatch_internal.h"
#include "tracing/firstthread_internal.h"
#include "tracing/heat_internal.h"
#include "tracing/idlefiles_internal.h"
#include "tracing/options.h"
#include "tracing/session_internal.h"
#include "tracing/spending_internal.h"
#include "tracing/textcost_internal.h"
#include "tracing/toolrun.h"
#include "tracing/toolrun_metrics_internal.h"
#include "tracing/toolrun_words_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

static int anything; /* its address stands for what only others look into */

static struct world {
	const char *fails; /* what goes wrong */
	unsigned times;    /* how often it goes well before */
	const char *steps; /* of the session: t(ick), s(tream), w(atch) */
	enum session_end end;
	size_t traced;
	bool metrics, pprof, written;
	enum attach_how how;
	struct tracer tracer;
} world;

/* Writes the name down; is this what goes wrong? */
static bool step(const char *name)
{
	fprintf(stderr, "%s ", name);
	return world.fails && !strcmp(name, world.fails) && !world.times--;
}

static int result(const char *name, struct errmsg *err)
{
	return step(name) ? errmsg_set(err, "no %s", name) : 0;
}

/* --- of other modules --- */

#define STEP(name, ...)                                                                            \
	void name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		step(#name);                                                                       \
	}
#define RESULT(name, what, ...)                                                                    \
	int name(__VA_ARGS__)                                                                      \
	{                                                                                          \
		return result(what, err);                                                          \
	}
#define VALUE(type, name, value, ...)                                                              \
	type name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		return value;                                                                      \
	}

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

STEP(progress_begin, const char *tool)
STEP(progress_end, void)
STEP(progress_pause, void)
STEP(progress_resume, void)
STEP(selection_print_notes, FILE *out, const struct selection *sel)
STEP(textcost_warn, const struct textcost *cost, FILE *out, const char *tool)
STEP(toolrun_metrics_close, struct toolrun_metrics *metrics)
STEP(pprof_close, struct pprof *pprof)
STEP(tracer_free, struct tracer *tracer)
STEP(tracer_stop, struct tracer *tracer)
STEP(tracer_detach, struct tracer *tracer)
STEP(session_free, struct session *ses)
STEP(toolrun_say_before, const struct tracer *tracer, const char *tool)
STEP(toolrun_say_details, const struct tracer *tracer, const char *tool)
STEP(toolrun_say_newly_replaced, const struct tracer *tracer, const char *tool)
STEP(toolrun_say_replaced, const struct tracer *tracer, const char *tool)
STEP(spending_begin, struct spending *spending)
STEP(spending_end, struct spending *spending)
STEP(spending_print, const struct spending *spending, FILE *out, const char *tool)
STEP(spending_print_names, const struct spending *spending, FILE *out, const char *tool)
STEP(spending_print_prices, const struct spending *spending, FILE *out, const char *tool)
STEP(profile_begin, struct profile *profile)
STEP(profile_end, struct profile *profile)
STEP(heat_look, struct heat *heat, const struct tracer *tracer, const char *tool)
STEP(heat_end, struct heat *heat)
STEP(publisher_tick, struct publisher *pub)
STEP(publisher_run, struct publisher *pub)
RESULT(session_check_privileges, "privileges", struct errmsg *err)
RESULT(events_check, "events_check", struct errmsg *err)
RESULT(pprof_write, "pprof_write", const struct pprof *pprof, struct errmsg *err)
RESULT(toolrun_metrics_begin, "metrics_begin", struct toolrun_metrics *metrics,
       const struct toolrun *run, const struct tracer *tracer, struct errmsg *err)
RESULT(publisher_end, "publisher_end", struct publisher *pub, struct errmsg *err)
RESULT(tracer_attach, "attach", struct tracer *tracer, struct errmsg *err)
RESULT(session_flush, "flush", struct errmsg *err)
RESULT(command_start, "command", struct command *cmd, struct errmsg *err)
RESULT(firstthread_check, "first_thread", const struct tracer *tracer, uint64_t *since,
       struct errmsg *err)
RESULT(idlefiles_check, "idle", const struct tracer *tracer, struct errmsg *err)
VALUE(bool, spending_passed, result("spending", err), struct spending *spending, struct errmsg *err)
VALUE(bool, options_main, argc == 1, const struct options_tool *tool, int argc, char **argv,
      struct options *out, int *status)
VALUE(struct session *, session_new, result("session", err) ? NULL : (void *)&anything,
      struct errmsg *err)
VALUE(int, events_fd, 71, const struct events *events)
VALUE(int, publisher_fd, 72, const struct publisher *pub)
VALUE(int, process_fd, 73, const struct process *proc)
VALUE(int, command_pidfd, 74, const struct command *cmd)
VALUE(int, filewatch_fd, 75, const struct filewatch *watch)
VALUE(size_t, selection_traced, world.traced, const struct selection *sel)
VALUE(size_t, descendants_running, 5, const struct descendants *desc)
VALUE(const char *, bpfprog_chatter, "chatter", const struct bpfprog *prog)
VALUE(enum attach_how, attach_how, world.how, void)

void textcost_print(const struct textcost *cost, FILE *out)
{
	fputs("textcost\n", out);
}

bool events_read(struct events *events, bool all)
{
	assert_ptr_equal(events, &anything);
	return !step(all ? "all_events" : "events");
}

int pprof_open(struct pprof *pprof, const char *path, const struct profile_spec *spec,
	       struct errmsg *err)
{
	if (result("pprof_open", err))
		return -1;
	pprof->profile = world.pprof ? (struct profile *)&anything : NULL;
	return 0;
}

int toolrun_metrics_open(struct toolrun_metrics *metrics, const struct toolrun *run,
			 struct errmsg *err)
{
	metrics->pub = world.metrics ? (struct publisher *)&anything : NULL;
	return result("metrics", err);
}

/* With what it is asked for. */
struct tracer *tracer_new(const struct tracer_config *c, struct errmsg *err)
{
	fprintf(stderr, "\nnew %zu %s %d %s %s %d%d%d%d %u %d%d%d\n", c->pattern_count,
		c->pattern_count ? c->patterns[0] : "-", c->pid, c->named ? c->named : "-",
		c->command ? c->command[0] : "-", c->all, c->force, c->no_emulate, c->costs,
		c->max_cost, c->want.regex, c->want.inlined, c->want.fips);
	if (result("tracer", err))
		return NULL;
	world.tracer.config = c;
	return &world.tracer;
}

void tracer_print_start(const struct tracer *tracer, FILE *out)
{
	fprintf(stderr, "start on %s ", out == stdout ? "stdout" : "stderr");
}

void selection_print_skipped(FILE *out, const struct selection *sel, const char *tool, bool each)
{
	fprintf(out, "skipped%s ", each ? " each" : "");
}

char *bpfprog_text(const char *file, const struct bpfprog_insert *inserts, size_t ninserts)
{
	return mem_printf("text of %s with %zu\n", file, ninserts);
}

int session_run(struct session *ses, const struct session_spec *spec, enum session_end *end,
		struct errmsg *err)
{
	fprintf(stderr, "\nrun %llu %llu %d %d %llu %d: ", (unsigned long long)spec->interval_ns,
		(unsigned long long)spec->duration_ns, spec->process_fd, spec->event_fd,
		(unsigned long long)spec->stream_ns, spec->stream_fd);
	if (result("session_run", err))
		return -1;
	*end = world.end;
	for (const char *at = world.steps; at && *at; at++) {
		if (*at == 't')
			spec->tick(spec->ctx);
		else if (!(*at == 's' ? spec->stream : spec->event)(spec->ctx))
			break;
	}
	fputc('\n', stderr);
	return 0;
}

const char *filewatch_written(struct filewatch *watch)
{
	return step("written") || world.written ? "/a" : NULL;
}

void toolrun_say_after(const struct tracer *tracer, const char *tool, size_t running)
{
	fprintf(stderr, "after %zu ", running);
}

int toolrun_say_ended(const struct tracer *tracer, const char *tool)
{
	step("ended");
	return 3;
}

int options_fail(const struct options_tool *tool, const struct errmsg *err)
{
	fprintf(stderr, "\n%s: %s\n", tool->name, err->text);
	return 1;
}

/* --- of the tool --- */

static RESULT(
	begin, "tool_begin", void *ctx, struct tracer *tracer,
	struct errmsg *err) static STEP(sweep,
					void *ctx) static STEP(lost,
							       void *ctx) static STEP(started,
										      void *ctx)

	static int show(void *ctx, bool final, struct errmsg *err)
{
	return result(final ? "show all" : "show", err);
}

static int stop(void *ctx)
{
	return step("stop");
}

/* --- */

static struct options opts;
static struct options_tool tool = {.name = "tool"};
static struct toolrun run;
static char *pattern[] = {"main.*"}, *command_line[] = {"./server", NULL};

static int setup(void **state)
{
	*state = NULL;
	opts = (struct options){.patterns = pattern, .pattern_count = 1};
	run = (struct toolrun){.tool = &tool, .begin = begin};
	run.config.bpf_file = "tool.bpf.c";
	world = (struct world){.traced = 1, .how = ATTACH_PERF_COOKIE};
	return 0;
}

/* Runs it; what is on stdout and, with the names of what was called, on stderr. */
static int both(char **out, char **err)
{
	FILE *before[] = {stdout, stderr};
	size_t len;

	stdout = open_memstream(out, &len);
	stderr = open_memstream(err, &len);
	int status = toolrun_main(&run, &opts, 1, NULL);

	fclose(stdout);
	fclose(stderr);
	stdout = before[0];
	stderr = before[1];
	return status;
}

static void expect(int status, const char *want_out, const char *want_err)
{
	char *out, *err;
	int got = both(&out, &err);

	assert_string_equal(err, want_err);
	assert_string_equal(out, want_out);
	assert_int_equal(got, status);
	free(out);
	free(err);
}

#define NEW(config)                                                                                \
	"progress_begin privileges pprof_open metrics \n"                                          \
	"new " config "\n"                                                                         \
	"tracer progress_pause selection_print_notes textcost_warn "
#define PLAIN NEW("1 main.* 0 - - 0000 0 000")
#define ATTACH                                                                                     \
	"progress_resume attach session progress_end tool_begin metrics_begin toolrun_say_before "
#define RUN(spec) "start on stdout flush \nrun " spec ": session_run "
#define PLAIN_RUN RUN("0 0 -1 75 250000000 -1")
#define FINISH "\nheat_end tracer_stop written flush pprof_write skipped toolrun_say_replaced idle "
#define FREE "session_free toolrun_metrics_close pprof_close tracer_free progress_end "
#define END "tracer_detach after 0 flush " FREE
#define DETACHING "Detaching...\n"

static void test_plain(void **state)
{
	(void)state;
	run.show = show;
	world.steps = "tst";
	expect(0, DETACHING,
	       PLAIN ATTACH PLAIN_RUN
	       "show flush heat_look flush first_thread show flush "
	       "\nheat_end tracer_stop written show all flush pprof_write skipped "
	       "toolrun_say_replaced idle " END);
}

/* All that is asked for comes to the tracer. */
static void test_options(void **state)
{
	(void)state;
	opts = (struct options){.patterns = pattern,
				.pattern_count = 1,
				.pid = 7,
				.named = "etcd",
				.all = true,
				.command = command_line,
				.force = true,
				.max_cost = 20,
				.regexp = true,
				.fips = true,
				.interval_ns = 11,
				.duration_ns = 12,
				.json = true};
	world.tracer.process = (struct process *)&anything;
	world.traced = 10000;
	expect(0, "",
	       NEW("1 main.* 7 etcd ./server 1101 20 101") ATTACH
	       "start on stderr flush \nrun 11 12 73 75 50000000 -1: session_run " FINISH END);
	setup(state);
	opts = (struct options){.no_emulate = true, .inlined = true};
	run.config.named = "own";
	run.config.patterns = command_line;
	run.config.pattern_count = 2;
	run.folded = true;
	expect(0, "",
	       NEW("2 ./server 0 own - 0010 0 010") ATTACH
	       "start on stderr flush \nrun 0 0 -1 75 250000000 -1: session_run " FINISH END);
}

#define DETAILED                                                                                   \
	ATTACH "toolrun_say_details " RUN(                                                         \
		"0 0 -1 75 50000000 -1") "\nheat_end tracer_stop written flush pprof_write "       \
					 "skipped each "                                           \
					 "toolrun_say_replaced idle " END
#define PROGRAM "#define ROWS 3\n#define TLS_G -8\ntext of tool.bpf.c with 4\ntextcost\n"

static void test_program(void **state)
{
	struct bpfprog_define defs[] = {{"ROWS", 3}, {"TLS_G", UINT64_MAX - 7}};

	(void)state;
	opts.verbose = true;
	world.tracer.defs = defs;
	world.tracer.def_count = 2;
	world.tracer.insert_count = 4;
	expect(0, PROGRAM DETACHING, NEW("1 main.* 0 - - 0001 0 000") "chatter" DETAILED);
	world.tracer.emulation = (struct emulation_trial *)&anything;
	expect(0, PROGRAM "Returns are emulated by the BPF program.\n" DETACHING,
	       NEW("1 main.* 0 - - 0001 0 000") "chatter" DETAILED);
	world.tracer.emulator = -1;
	expect(0, PROGRAM "Returns are single-stepped by the kernel.\n" DETACHING,
	       NEW("1 main.* 0 - - 0001 0 000") "chatter" DETAILED);
}

static void expect_warning(const char *longer)
{
	char *want = mem_printf(PLAIN "tool: about to probe 10001 functions: each of their calls "
				      "will take %s longer, and the program may run many times "
				      "slower\n"
				      "hint: name a package, as in 'main.*', or trace for a second "
				      "(-d 1)\n" ATTACH PLAIN_RUN FINISH END,
				longer);

	expect(0, DETACHING, want);
	free(want);
}

static void test_many(void **state)
{
	bool returns[] = {false};

	(void)state;
	world.traced = 10001;
	expect_warning("1 to 4 microseconds");
	run.config.want.returns = true;
	expect_warning("some 10 microseconds");
	setup(state);
	world.traced = 10001;
	run.config.patterns = pattern;
	run.config.pattern_count = 1;
	run.config.pattern_returns = returns;
	expect_warning("1 to 4 microseconds");
	run.config.want.returns = true;
	expect_warning("some 10 microseconds");
	world.traced = 0;
	world.tracer.refusal = "why";
	expect(1, "",
	       PLAIN "progress_resume attach session progress_end tool_begin " FREE
		     "\ntool: no function can be traced: why\n");
}

/* Events that come as it happens, and what is published and written beside them */
static void test_events(void **state)
{
	struct events *events = (struct events *)&anything;

	(void)state;
	run.events = &events;
	run.show = show;
	run.sweep = sweep;
	run.lost = lost;
	run.started = started;
	run.quiet_end = true;
	world.metrics = world.pprof = true;
	world.steps = "st";
	world.how = ATTACH_MULTI;
	expect(0, "",
	       "progress_begin privileges events_check pprof_open metrics \n"
	       "new 1 main.* 0 - - 0000 0 000\n"
	       "tracer progress_pause selection_print_notes textcost_warn " ATTACH
	       "profile_begin started flush \nrun 0 0 -1 75 100000000 71: session_run "
	       "heat_look sweep events publisher_run flush first_thread "
	       "show publisher_tick flush "
	       "\nheat_end profile_end tracer_stop tracer_detach written all_events show all "
	       "publisher_end flush lost pprof_write skipped toolrun_say_replaced idle " END);
	assert_null(run.profile);
	run.events = NULL;
	run.stop = stop;
	world.how = ATTACH_PERF_COOKIE; /* detaching takes long: all is read before */
	expect(0, "",
	       PLAIN ATTACH
	       "profile_begin started flush \nrun 0 0 -1 75 250000000 72: session_run "
	       "heat_look sweep publisher_run flush first_thread "
	       "show publisher_tick flush "
	       "\nheat_end stop profile_end tracer_stop written show all publisher_end "
	       "flush lost pprof_write skipped toolrun_say_replaced idle " END);
}

#define SPENT "heat_look flush spending first_thread "
#define SPENDING_END                                                                               \
	"\nheat_end spending_end tracer_stop written flush pprof_write skipped "                   \
	"toolrun_say_replaced idle tracer_detach after 0 "
#define PRICED                                                                                     \
	NEW("1 main.* 0 - - 0001 0 000")                                                           \
	ATTACH "spending_print_prices textcost\nspending_begin " RUN("0 0 -1 75 50000000 -1")

static void test_costs(void **state)
{
	(void)state;
	world.tracer.spending = (struct spending *)&anything;
	world.steps = "ss";
	run.quiet_cost = true;
	expect(0, DETACHING,
	       PLAIN ATTACH "spending_begin " PLAIN_RUN SPENT SPENT SPENDING_END "flush " FREE);
	run.quiet_cost = false;
	expect(0, DETACHING,
	       PLAIN ATTACH "spending_begin " PLAIN_RUN SPENT SPENT SPENDING_END
			    "spending_print flush " FREE);
	opts.cost = run.quiet_cost = true;
	expect(0, DETACHING,
	       PRICED SPENT SPENT SPENDING_END "spending_print spending_print_names flush " FREE);
	world.fails = "spending";
	world.times = 1;
	expect(1, DETACHING,
	       PRICED SPENT "heat_look flush spending " SPENDING_END
			    "spending_print spending_print_names " FREE "\ntool: no spending\n");
}

#define COMMAND_RUN                                                                                \
	"start on stdout flush command \nrun 0 0 74 75 250000000 -1: session_run " FINISH          \
	"tracer_detach "

static void test_command(void **state)
{
	(void)state;
	world.tracer.command = (struct command *)&anything;
	world.tracer.process = (struct process *)&anything;
	world.end = SESSION_PROCESS;
	expect(3, DETACHING, PLAIN ATTACH COMMAND_RUN "after 0 ended flush " FREE);
	world.tracer.descendants = (struct descendants *)&anything;
	expect(3, DETACHING, PLAIN ATTACH COMMAND_RUN "after 5 ended flush " FREE);
	world.end = SESSION_SIGNAL;
	expect(0, DETACHING, PLAIN ATTACH COMMAND_RUN "after 0 flush " FREE);
}

static void test_written(void **state)
{
	(void)state;
	world.steps = "ww";
	expect(0, DETACHING,
	       PLAIN ATTACH PLAIN_RUN "written toolrun_say_newly_replaced "
				      "written toolrun_say_newly_replaced " FINISH END);
	world.written = true;
	world.fails = "idle"; /* which is no news then */
	world.end = SESSION_DURATION;
	expect(1, DETACHING,
	       PLAIN ATTACH PLAIN_RUN "written tracer_detach " FINISH "tracer_detach after 0 " FREE
				      "\ntool: \"/a\" was written to while it was traced: "
				      "detached\n");
}

/* Nobody ran it: that is a failure if it was waited for as long as was asked for. */
static void test_idle(void **state)
{
	(void)state;
	world.fails = "idle";
	expect(0, DETACHING, PLAIN ATTACH PLAIN_RUN FINISH "tool: no idle\n" END);
	world.times = 0;
	world.end = SESSION_DURATION;
	expect(1, DETACHING,
	       PLAIN ATTACH PLAIN_RUN FINISH "tracer_detach after 0 " FREE "\ntool: no idle\n");
}

#define UNDONE FREE "\ntool: "
#define ABORTED "tracer_detach after 0 " UNDONE
#define REST "pprof_write skipped toolrun_say_replaced idle "
#define LAST "\nheat_end tracer_stop written show all flush " REST

static const struct failure {
	const char *fails;
	unsigned times; /* it goes well before */
	const char *then;
} failures[] = {
	{"privileges", 0, "progress_end \ntool: no privileges\n"},
	{"pprof_open", 0, "toolrun_metrics_close pprof_close progress_end \ntool: no pprof_open\n"},
	{"metrics", 0, "toolrun_metrics_close pprof_close progress_end \ntool: no metrics\n"},
	{"tracer", 0, "toolrun_metrics_close pprof_close progress_end \ntool: no tracer\n"},
	{"attach", 0, UNDONE "no attach\n"},
	{"session", 0, UNDONE "no session\n"},
	{"tool_begin", 0, UNDONE "no tool_begin\n"},
	{"metrics_begin", 0, UNDONE "no metrics_begin\n"},
	{"flush", 0, UNDONE "no flush\n"},
	{"command", 0, UNDONE "no command\n"},
	{"session_run", 0, UNDONE "no session_run\n"},
	{"show", 0, "flush heat_look flush first_thread flush " LAST ABORTED "no show\n"},
	{"first_thread", 0, LAST ABORTED "no first_thread\n"},
	{"show all", 0, "flush skipped toolrun_say_replaced idle " ABORTED "no show all\n"},
	{"pprof_write", 0, "skipped toolrun_say_replaced idle " ABORTED "no pprof_write\n"},
	{"flush", 1, "heat_look flush first_thread flush " LAST ABORTED "no flush\n"},
	{"flush", 2, LAST ABORTED "no flush\n"},
};

static void expect_failure(const struct failure *f)
{
	char *out, *err, *at;

	setup((void *[]){NULL});
	run.show = show;
	world.steps = "tst";
	world.tracer.command = (struct command *)&anything;
	world.fails = f->fails;
	world.times = f->times;
	assert_int_equal(both(&out, &err), 1);
	char *word = mem_printf("%s ", f->fails);

	at = err;
	for (unsigned i = 0; i <= f->times; i++)
		at = strstr(at, word) + strlen(word);
	assert_string_equal(at, f->then);
	free(word);
	free(out);
	free(err);
}

static void test_failures(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++)
		expect_failure(&failures[i]);
}

#define CASE(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_plain),  CASE(test_options),  CASE(test_program), CASE(test_many),
		CASE(test_events), CASE(test_costs),    CASE(test_command), CASE(test_written),
		CASE(test_idle),   CASE(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
} /* NOLINTEND(misc-unused-parameters) */
