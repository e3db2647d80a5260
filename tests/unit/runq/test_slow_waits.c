// SPDX-License-Identifier: Apache-2.0
/* A run of gorunqlat --slower, of which the tracer and the kernel side are this test's. */
#include "gofile_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/runqslower.h"
#include "base/json.h"
#include "blocked/losses.h"
#include "kernel/bpfmap.h"
#include "kernel/events.h"
#include "printed.h"
#include "program/program.h"
#include "runq/slow_waits.h"
#include "selection/runtime_func.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

enum { ACTIVE = 3, LOSSES = 4, EVENTS = 5, BIAS = 0x10000, DEFINES = 8, MIN_NS = 5000 };

struct events {
	events_fn *fn;
	void *ctx;
};

static struct opened o;
static struct program prog;
static struct goruntime runtime;
static struct selection sel;
static struct selection_item item;
static size_t programs;
static bool no_events, no_map;
static uint32_t active;
static struct { /* what the program was compiled with */
	const char *name;
	uint64_t value;
} defines[DEFINES];
static size_t define_count;
static struct errmsg error;

/* --- of tracing/ and kernel/ --- */

size_t tracer_program_count(const struct tracer *tracer)
{
	(void)tracer;
	return programs;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &prog;
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &runtime;
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &sel;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	assert_true(define_count < DEFINES);
	defines[define_count].name = name;
	defines[define_count++].value = value;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	(void)tracer;
	return !strcmp(name, "active") ? ACTIVE : !strcmp(name, "losses") ? LOSSES : EVENTS;
}

int bpfmap_set(int fd, uint32_t value)
{
	assert_int_equal(fd, ACTIVE);
	active = value;
	return no_map ? -1 : 0;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room / 2;
}

struct events *events_new(int ring_fd, events_fn *fn, void *ctx, struct errmsg *err)
{
	struct events *events = calloc(1, sizeof(*events));

	assert_int_equal(ring_fd, EVENTS);
	*events = (struct events){fn, ctx};
	if (!no_events)
		return events;
	free(events);
	errmsg_set(err, "no ring");
	return NULL;
}

void events_free(struct events *events)
{
	free(events);
}

void losses_say(int map, const char *tool, const char *const *said, uint64_t *counts, size_t kinds)
{
	assert_int_equal(map, LOSSES);
	assert_int_equal(kinds, RUNQ_LOSSES);
	memset(counts, 0, kinds * sizeof(*counts));
	printf("%s:\n", tool);
	for (size_t i = 0; i < kinds; i++)
		printf("%s\n", said[i]);
}

static struct runq_slow event_of(void)
{
	return (struct runq_slow){
		.time_ns = 2000000,
		.wait_ns = 7000,
		.goid = 7,
		.start = o.g.starts[0] + BIAS,
		.probe = o.g.starts[2] + 4 + BIAS,
		.pid = 12,
		.tid = 13,
		.cpu = 3,
		.count = 2,
		.turns = {{.goid = 8, .start = o.g.starts[1] + BIAS, .from_ns = 1, .to_ns = 0},
			  {.goid = 9, .start = 0, .from_ns = 1994000, .to_ns = 1995000}},
		.comm = "app"};
}

static void check_config(const struct toolrun *run)
{
	const struct tracer_config *config = &run->config;

	assert_int_equal(config->cpu, -1);
	assert_string_equal(config->bpf_file, "runqslower.bpf.c");
	assert_true(config->goroutines && config->sleepable);
	assert_int_equal(config->runtime_func_count, 1);
	assert_string_equal(config->runtime_funcs[0].names[0], "runtime.casgstatus");
	assert_int_equal(config->def_count, 3);
	assert_string_equal(config->defs[0].name, "GOROUTINES");
	assert_int_equal(config->defs[0].value, 1 << 19);
	assert_string_equal(config->defs[1].name, "RING_PAGES");
	assert_int_equal(config->defs[1].value, 128);
	assert_string_equal(config->defs[2].name, "MIN_NS");
	assert_int_equal(config->defs[2].value, MIN_NS);
}

int toolrun(struct toolrun *run)
{
	struct runq_slow event = event_of();

	check_config(run);
	if (run->config.plan(run->config.plan_ctx, NULL, &error) ||
	    run->begin(run->ctx, NULL, &error))
		return 1;
	assert_int_equal(active, 1);
	run->started(run->ctx);
	assert_true((*run->events)->fn(&event, sizeof(event) - 1, (*run->events)->ctx));
	assert_true((*run->events)->fn(&event, sizeof(event), (*run->events)->ctx));
	assert_int_equal(run->stop(run->ctx), 0);
	assert_int_equal(active, 0);
	run->lost(run->ctx);
	return 3;
}

void toolrun_json_time(struct json *json)
{
	json_member_string(json, "time", "now");
}

/* --- */

static int setup(void **state)
{
	*state = NULL;
	gofile_make(&o.g, 23, EM_X86_64);
	open_it(&o);
	prog = (struct program){
		.path = "prog", .img = o.img, .tab = o.tab, .release = 23, .release_told = true};
	runtime = (struct goruntime){.m_curg = 0xc0, .g_gopc = 0x118};
	item = (struct selection_item){.sites.entry.addr = o.g.starts[2] + 4};
	sel = (struct selection){.items = &item, .item_count = 1};
	programs = 1;
	no_events = no_map = false;
	define_count = 0;
	error = (struct errmsg){0};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close_it(&o);
	return 0;
}

static void expect(const struct options *opts, const char *want)
{
	printed_begin();
	assert_int_equal(slow_waits_run(NULL, opts, MIN_NS), 3);
	printed_expect(want);
}

#define LOST                                                                                       \
	"gorunqlat:\n"                                                                             \
	"waits not tracked: the map of goroutines is full, or the kernel had no memory\n"          \
	"changes of status not tracked: memory of the goroutine could not be read\n"               \
	"waits lost: the ring buffer was full\n"

#define TEXT                                                                                       \
	"Tracing run queue latency of goroutines higher than 5 us... Hit Ctrl-C to end.\n"         \
	"TIME     COMM             PID     GOID     WAIT(us) FUNC: RAN(us)\n"                      \
	"hh:mm:ss app              12      7               7 main.a: main.b[8] 7, ?[9] 1\n" LOST
#define JSON_OF(time)                                                                              \
	"{\"type\":\"runqslower\"," time "\"goid\":7,\"func\":\"main.a\",\"ns\":7000,\"ran\":["    \
	"{\"goid\":8,\"func\":\"main.b\",\"ns\":7000},{\"goid\":9,\"func\":null,\"ns\":1000}],"    \
	"\"cut_ns\":0,\"pid\":12,\"tid\":13,\"cpu\":3,\"comm\":\"app\"}\n"

static void test_text(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	printed_begin();
	assert_int_equal(slow_waits_run(NULL, &(struct options){0}, MIN_NS), 3);
	char *got = printed_end(), *clock = strstr(got, " app") - 8;

	for (unsigned i = 0; i < 8; i++) /* when it ended, by this machine's clock */
		clock[i] = "hh:mm:ss"[i];
	assert_string_equal(got, TEXT);
	free(got);
	assert_int_equal(define_count, 2);
	assert_string_equal(defines[0].name, "M_P");
	assert_int_equal(defines[0].value, 0xc0 + 16);
	assert_string_equal(defines[1].name, "G_GOPC");
	assert_int_equal(defines[1].value, 0x118);
}

static void test_json(void **state)
{
	(void)state;
	expect(&(struct options){.json = true}, JSON_OF("") LOST);
	expect(&(struct options){.json = true, .timestamp = true},
	       JSON_OF("\"time\":\"now\",") LOST);
}

/* A field comes before m.p since then. */
static void test_later_release(void **state)
{
	(void)state;
	prog.release = 26;
	printed_begin();
	slow_waits_run(NULL, &(struct options){0}, MIN_NS);
	free(printed_end());
	assert_int_equal(defines[0].value, 0xc0 + 24);
}

static void expect_error(const char *text)
{
	assert_int_equal(slow_waits_run(NULL, &(struct options){0}, MIN_NS), 1);
	assert_string_equal(error.text, text);
}

#define NOT_KNOWN                                                                                  \
	"\"prog\": where its runtime notes who runs on a processor is not known: --slower needs "  \
	"it"

static void test_refused(void **state)
{
	(void)state;
	programs = 2;
	expect_error("--slower traces one program: run it for each");
	programs = 1;
	prog.release_told = false;
	expect_error(NOT_KNOWN);
	prog.release_told = true;
	runtime.m_curg = 0;
	expect_error(NOT_KNOWN);
	runtime.m_curg = 0xc0;
	runtime.g_gopc = 0;
	expect_error(NOT_KNOWN);
	runtime.g_gopc = 0x118;
	define_count = 0;
	item.skipped = "why";
	expect_error("runtime.casgstatus cannot be probed");
	item.skipped = NULL;
	sel.item_count = 0;
	define_count = 0;
	expect_error("runtime.casgstatus cannot be probed");
	sel.item_count = 1;
	define_count = 0;
	no_events = true;
	expect_error("no ring");
	no_events = false;
	no_map = true;
	errno = EPERM;
	define_count = 0;
	expect_error("cannot switch the BPF program on: Operation not permitted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json, setup, teardown),
		cmocka_unit_test_setup_teardown(test_later_release, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
