// SPDX-License-Identifier: Apache-2.0
/* gogc from its command line to its output: what the kernel side is told by release, which events
 * lead to what. Collections, stacks and maps are the test's. */
#include "faketool.h"
#include "printed.h"
#include "unit.h"

#include <errno.h>

#define main tool_main
#include "tools/gogc.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { M_CURG = 184, ENTRY = 0x401000, BIAS = 0x10000, ITEMS = GC_FUNCS, CYCLES = 0x5000 };

static struct selection_row rows[ITEMS] = {{.name = "runtime.stop"},  {.name = "runtime.start"},
					   {.name = "runtime.last"},  {.name = "runtime.yield"},
					   {.name = "runtime.async"}, {.name = "runtime.assist"},
					   {.name = "runtime.sweep"}, {.name = "runtime.swept"}};
static struct selection_item items[ITEMS];
static char told[512];
static events_fn *taken;
static void *taken_ctx;
static struct collections_report reports;
static struct gc_layout layout;
static uint32_t active;
static const char *failing; /* the map that does */
static struct errmsg failure;

static void tell(const char *what)
{
	strcat(strcat(told, what), " ");
}

/* --- in place of stacks --- */

int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err)
{
	(void)err;
	assert_string_equal(tool, "gogc");
	tracer_define(tracer, "STACKS_OF", 1);
	return 0;
}

struct stacks *stacks_new(const struct tracer *tracer)
{
	(void)tracer;
	return (struct stacks *)told;
}

void stacks_free(struct stacks *stacks)
{
	assert_true(!stacks || stacks == (struct stacks *)told);
}

/* --- in place of maps and events --- */

static int result_of(int fd)
{
	errno = EPERM;
	return failing && !strcmp(failing, faketool_map(fd)) ? -1 : 0;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	assert_string_equal(faketool_map(fd), "layout");
	assert_int_equal(*(const uint32_t *)key, 0);
	assert_int_equal(active, 0); /* not before it knows */
	memcpy(&layout, value, sizeof(layout));
	return result_of(fd);
}

int bpfmap_set(int fd, uint32_t value)
{
	assert_string_equal(faketool_map(fd), "active");
	active = value;
	return result_of(fd);
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_string_equal(faketool_map(fd), "losses");
	assert_int_equal(entries * words, GC_LOSSES);
	for (size_t i = 0; i < entries; i++)
		out[i] = 3 + i;
	return 0;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

struct events *events_new(int fd, events_fn *fn, void *ctx, struct errmsg *err)
{
	assert_string_equal(faketool_map(fd), "events");
	taken = fn;
	taken_ctx = ctx;
	if (!result_of(fd))
		return (struct events *)told;
	errmsg_set(err, "no ring");
	return NULL;
}

void events_free(struct events *events)
{
	assert_true(!events || events == (struct events *)told);
}

void gc_vars_find(const struct program *prog, struct gc_vars *out)
{
	assert_ptr_equal(prog, &faketool.program);
	*out = (struct gc_vars){CYCLES, CYCLES + 1, CYCLES + 2, CYCLES + 3, CYCLES + 4};
}

/* --- in place of collections --- */

struct collections *collections_new(const struct collections_report *report)
{
	reports = *report;
	return (struct collections *)told;
}

void collections_free(struct collections *collections)
{
	assert_true(!collections || collections == (struct collections *)told);
}

void collections_event(struct collections *collections, const struct gc_event *event,
		       const struct stop *stop)
{
	assert_ptr_equal(collections, told);
	sprintf(told + strlen(told), "%d:%s/%d/%#llx ", (int)event->kind,
		stop->reason.words ? stop->reason.words : "-", stop->trigger,
		(unsigned long long)stop->bias);
}

struct stop_reason stop_reason_number(uint64_t number)
{
	return (struct stop_reason){number == 5 ? "five" : "other",
				    number == 5 ? STOP_SWEEP_TERMINATION : STOP_MARK_TERMINATION};
}

struct stop_reason stop_reason_asker(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	assert_ptr_equal(stacks, told);
	assert_int_equal(bias, BIAS);
	return (struct stop_reason){hash == 77 ? "asked" : "?", STOP_NO_GC};
}

enum gc_trigger stop_reason_trigger(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	assert_ptr_equal(stacks, told);
	assert_int_equal(hash, 77);
	assert_int_equal(bias, BIAS);
	return GC_TRIGGER_TIME;
}

static void check_view(const struct collections_view *view, const char *what)
{
	assert_ptr_equal(view->stacks, told);
	assert_int_equal(view->timestamp, view->time == toolrun_json_time);
	tell(what);
	if (view->timestamp)
		tell("timed");
}

void collections_print_head(const struct collections_view *view)
{
	check_view(view, "head");
}

void collections_print(const struct collections_view *view, const struct collection *collection)
{
	assert_null(collection);
	check_view(view, "collection");
}

void collections_print_stop(const struct collections_view *view, const struct stop *stop)
{
	assert_null(stop);
	check_view(view, "stop");
}

void collections_json(const struct collections_view *view, const struct collection *collection)
{
	assert_null(collection);
	check_view(view, "{collection}");
}

void collections_json_stop(const struct collections_view *view, const struct stop *stop)
{
	assert_null(stop);
	check_view(view, "{stop}");
}

static int assists(const struct collections_view *view, int map, const uint64_t *entries,
		   const char *what)
{
	assert_string_equal(faketool_map(map), "assists");
	for (size_t i = 0; i < GC_FUNCS; i++)
		assert_int_equal(entries[i], ENTRY + 0x100 * i);
	check_view(view, what);
	return 5;
}

int assists_print(const struct collections_view *view, int map, const uint64_t *entries,
		  struct errmsg *err)
{
	(void)err;
	return assists(view, map, entries, "assists");
}

int assists_json(const struct collections_view *view, int map, const uint64_t *entries,
		 struct errmsg *err)
{
	(void)err;
	return assists(view, map, entries, "{assists}");
}

/* --- what is traced --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	faketool.program = (struct program){.path = "/app", .release = 27, .release_told = true};
	faketool.runtime = (struct goruntime){.m_curg = M_CURG};
	for (uint32_t i = 0; i < ITEMS; i++) {
		items[i] = (struct selection_item){.row = i, .group = i, .returns = true};
		items[i].sites.entry.addr = ENTRY + 0x100 * i;
	}
	faketool.selection = (struct selection){
		.rows = rows, .row_count = ITEMS, .items = items, .item_count = ITEMS};
	*told = '\0';
	active = 0;
	failing = NULL;
	return 0;
}

static void expect_plan(struct toolrun *run, int release, const char *want, bool stop_returns)
{
	setup(NULL);
	*faketool.defined = '\0';
	faketool.program.release = release;
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	assert_string_equal(faketool.defined, want);
	for (size_t i = 0; i < ITEMS; i++)
		assert_int_equal(items[i].returns, i != GC_FUNC_STOP || stop_returns);
}

#define DEFINED(m_p) "STACKS_OF=1 M_P=" m_p " P_TICK=16 "

static void releases(struct toolrun *run)
{
	expect_plan(run, 27, DEFINED("208") "STOP_REASONS=1 WORLD_STOP=2 ", false);
	expect_plan(run, 26, DEFINED("208") "STOP_REASONS=1 WORLD_STOP=2 ", false);
	expect_plan(run, 25, DEFINED("200") "STOP_REASONS=1 WORLD_STOP=2 ", false);
	expect_plan(run, 23, DEFINED("200") "STOP_REASONS=1 WORLD_STOP=2 ", false);
	expect_plan(run, 22, DEFINED("200") "STOP_REASONS=1 WORLD_STOP=1 ", true);
	expect_plan(run, 21, DEFINED("200") "STOP_REASONS=1 ", true);
	expect_plan(run, 20, DEFINED("200"), true);
	faketool.program.release_told = false;
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "\"/app\": which release of Go has built it is not told");
}

static void test_releases(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "-p 1", releases), FAKETOOL_STATUS);
}

static void look_at_run(struct toolrun *run)
{
	assert_string_equal(run->config.bpf_file, "gogc.bpf.c");
	assert_int_equal(run->config.cpu, -1);
	assert_int_equal(run->config.runtime_func_count, GC_FUNC_ASSIST);
	assert_true(run->config.goroutines && run->config.sleepable);
	assert_int_equal(run->config.def_count, 3);
	assert_string_equal(run->config.defs[0].name, "STACKS");
	assert_int_equal(run->config.defs[0].value, 1 << 14);
	assert_string_equal(run->config.defs[1].name, "RING_PAGES");
	assert_int_equal(run->config.defs[1].value, 256);
	assert_string_equal(run->config.defs[2].name, "ASSISTS");
	assert_int_equal(run->config.defs[2].value, 1 << 14);
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	assert_string_equal(told, "");
}

static void test_run(void **state)
{
	(void)state;
	faketool_main(tool_main, "-p 1", look_at_run);
}

/* --- while it runs --- */

static void start(struct toolrun *run, int release)
{
	setup(NULL);
	faketool.program.release = release;
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	assert_ptr_equal(*run->events, told);
	assert_int_equal(active, 1);
}

static void send(uint32_t kind, uint64_t number, size_t short_by)
{
	const struct gc_event event = {
		.kind = kind, .probe = ENTRY + BIAS, .stack = 77, .told = {number}};

	*told = '\0';
	assert_true(taken(&event, sizeof(event) - short_by, taken_ctx));
}

static void events(struct toolrun *run)
{
	start(run, 27);
	assert_int_equal(layout.start, ENTRY + 0x100);
	assert_int_equal(layout.cycles, CYCLES);
	assert_int_equal(layout.times, CYCLES + 1);
	assert_int_equal(layout.heap, CYCLES + 2);
	assert_int_equal(layout.goal, CYCLES + 3);
	assert_int_equal(layout.assist, CYCLES + 4);
	send(GC_STOP, 5, 0);
	assert_string_equal(told, "0:five/2/0x10000 ");
	send(GC_STOP, 6, 0);
	assert_string_equal(told, "0:other/0/0x10000 ");
	send(GC_STARTED, 5, 0);
	assert_string_equal(told, "4:-/0/0 ");
	send(GC_STOP, 5, 1); /* is none */
	assert_string_equal(told, "");
	start(run, 20); /* the runtime has no numbers */
	send(GC_STOP, 5, 0);
	assert_string_equal(told, "0:asked/0/0x10000 ");
	assert_int_equal(run->stop(run->ctx), 0);
	assert_int_equal(active, 0);
}

static void test_events(void **state)
{
	(void)state;
	faketool_main(tool_main, "-p 1", events);
}

#define TITLE "Tracing garbage collections and stops of the world... Hit Ctrl-C to end.\n"

static void as_text(struct toolrun *run)
{
	start(run, 27);
	printed_begin();
	run->started(run->ctx);
	printed_expect(TITLE);
	reports.collection(reports.ctx, NULL);
	reports.stop(reports.ctx, NULL);
	assert_int_equal(run->show(run->ctx, false, &failure), 0);
	assert_int_equal(run->show(run->ctx, true, &failure), 5);
	assert_string_equal(told, "head timed collection timed stop timed assists timed ");
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(
		"gogc: 3 events were lost: the ring buffer was full\n"
		"gogc: 4 events were lost: the goroutine could not be read\n"
		"gogc: 5 stacks are not known: unreadable, or more than there is room for\n"
		"gogc: 6 assists were lost: more than there is room for\n");
}

static void as_json(struct toolrun *run)
{
	assert_int_equal(run->config.runtime_func_count, GC_FUNCS);
	start(run, 27);
	faketool_errors_begin();
	printed_begin();
	run->started(run->ctx);
	printed_expect("");
	faketool_errors_expect(TITLE);
	reports.collection(reports.ctx, NULL);
	reports.stop(reports.ctx, NULL);
	assert_int_equal(run->show(run->ctx, true, &failure), 5);
	assert_string_equal(told, "{collection} {stop} {assists} ");
}

static void test_output(void **state)
{
	(void)state;
	faketool_main(tool_main, "-T --assists -p 1", as_text);
	faketool_main(tool_main, "-j --assists -p 1", as_json);
}

/* --- who sweeps is not seen --- */

static const char *inlined; /* what the program has copies of */

size_t inlining_each(const struct functab *tab, bool (*fn)(const struct inlining_copy *, void *ctx),
		     void *ctx)
{
	const struct inlining_copy copies[] = {
		{.name = "main.a"}, {.name = inlined}, {.name = "main.b"}};

	assert_null(tab);
	for (size_t i = 0; inlined && i < 3 && fn(&copies[i], ctx); i++)
		;
	return 0;
}

static void expect_said(struct toolrun *run, const char *copies, size_t skip, const char *want)
{
	setup(NULL);
	inlined = copies;
	if (skip)
		items[skip].skipped = "its call of another function is not found";
	faketool_errors_begin();
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_errors_expect(want);
	inlined = NULL;
}

static void unseen(struct toolrun *run)
{
	expect_said(run, NULL, 0, "");
	expect_said(run, "runtime.sweepone", 0, "");
	expect_said(run, "runtime.deductSweepCredit", 0,
		    "gogc: who sweeps is not always seen: runtime.deductSweepCredit is inlined\n");
	expect_said(run, "runtime.deductSweepCredit", GC_FUNC_SWEEP,
		    "gogc: who sweeps is not seen: runtime.deductSweepCredit is inlined\n");
	expect_said(
		run, NULL, GC_FUNC_SWEPT,
		"gogc: who sweeps is not seen: runtime.deductSweepCredit is not found, or calls "
		"nothing that could be probed\n");
}

static void nothing_said(struct toolrun *run)
{
	expect_said(run, "runtime.deductSweepCredit", GC_FUNC_SWEEP, "");
}

static void test_unseen(void **state)
{
	(void)state;
	faketool_main(tool_main, "--assists -p 1", unseen);
	faketool_main(tool_main, "-p 1", nothing_said); /* who does not ask */
}

/* --- what fails --- */

/* Who stops last may not be probed; all others must. */
static void skipped(struct toolrun *run)
{
	for (size_t i = 0; i < ITEMS; i++) {
		bool needed = i == GC_FUNC_STOP || i == GC_FUNC_START || i == GC_FUNC_ASSIST;

		setup(NULL);
		items[i].skipped = "too short";
		assert_int_equal(run->begin(run->ctx, NULL, &failure), needed ? -1 : 0);
		assert_int_equal(active, !needed);
	}
	assert_string_equal(failure.text, "runtime.assist cannot be probed: too short");
}

static void failures(struct toolrun *run)
{
	static const char *const maps[] = {"layout", "active"};

	for (size_t i = 0; i < 2; i++) {
		setup(NULL);
		failing = maps[i];
		assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
		assert_string_equal(failure.text,
				    "cannot switch the BPF program on: Operation not permitted");
	}
	setup(NULL);
	failing = "events";
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "no ring");
	assert_int_equal(active, 0);
}

static void test_failures(void **state)
{
	(void)state;
	faketool_main(tool_main, "-p 1", skipped);
	faketool_main(tool_main, "-p 1", failures);
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: gogc [-h] [-p PID] [-d DURATION] [-T] [-v] [-j] [--assists] [-n NAME]\n"
		"            [--all] [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
		"            [BINARY] [-- COMMAND [ARG...]]\n"
		"\n"
		"Print each garbage collection and each stop of the world\n"
		"\n"
		"examples:\n"
		"    gogc -p 181             # each collection, each stop of the world\n"
		"    gogc etcd               # of all processes of this program\n"
		"    gogc -T -d 10m -p 181   # for ten minutes, with the time of day\n"
		"    gogc --assists -p 181   # at the end, who had to mark or sweep\n"
		"    gogc -jp 181            # JSON\n"
		"\n"
		"all options: gogc --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gogc [-h] [-p PID] [-d DURATION] [-T] [-v] [-j] [--assists] [-n NAME]\n"
		"            [--all] [--force] [--max-cost PERCENT] [--no-emulate] [--version]\n"
		"            [BINARY] [-- COMMAND [ARG...]]\n"
		"\n"
		"Print each garbage collection and each stop of the world\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -v, --verbose         print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  --assists             at the end, show who had to mark or sweep, by stack\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --no-emulate          have the kernel execute returns, even if BPF could\n"
		"                        carry them out\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gogc -p 181             # each collection, each stop of the world\n"
		"    gogc etcd               # of all processes of this program\n"
		"    gogc -T -d 10m -p 181   # for ten minutes, with the time of day\n"
		"    gogc --assists -p 181   # at the end, who had to mark or sweep\n"
		"    gogc -jp 181            # JSON\n"
		"    gogc -- ./app arg       # run a program from its start\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_releases, setup),
		cmocka_unit_test_setup(test_run, setup),
		cmocka_unit_test_setup(test_events, setup),
		cmocka_unit_test_setup(test_output, setup),
		cmocka_unit_test_setup(test_unseen, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
