// SPDX-License-Identifier: Apache-2.0
/* goallocs from its command line to its output: counts, stacks and types are the test's. */
#include "faketool.h"
#include "gofile_open.h"
#include "printed.h"

#include <errno.h>

#include "bpf-src/shared/trace.h"

#define main tool_main
#include "tools/goallocs.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { MOST = 4, PLACE = 5, SITE = 0x401000, BIAS = 0x10000, KNOWN_STACK = 77 };

static struct {
	struct alloc_key key;
	uint64_t more[VALUES]; /* in parts */
} counts[MOST];
static size_t count;
static const char *failing; /* the map that does */
static struct opened program;
static struct selection_row rows[] = {{.name = "runtime.mallocgc"}, {.name = "runtime.mallocgcX"}};
static struct selection_item items[] = {{.row = 1}, {.row = 0}};
static char told[256];
static struct errmsg failure;

/* --- in place of stacks and types --- */

int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err)
{
	(void)err;
	assert_string_equal(tool, "goallocs");
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

size_t stacks_addresses(const struct stacks *stacks, uint64_t hash, uint64_t *out, size_t max)
{
	assert_ptr_equal(stacks, told);
	assert_int_equal(max, 1);
	*out = SITE + BIAS + 1;
	return hash == KNOWN_STACK;
}

void stacks_profile(const struct stacks *stacks, uint64_t hash, uint64_t bias,
		    struct profile *profile)
{
	assert_ptr_equal(stacks, told);
	assert_int_equal(bias, hash == KNOWN_STACK ? BIAS : 0);
	profile_word(profile, hash == KNOWN_STACK ? "main.f" : "[lost]");
}

struct alloc_types *alloc_types_new(const struct program *prog)
{
	assert_ptr_equal(prog, &faketool.program);
	return (struct alloc_types *)told;
}

void alloc_types_free(struct alloc_types *types)
{
	assert_true(!types || types == (struct alloc_types *)told);
}

const char *alloc_types_name(struct alloc_types *types, uint64_t addr, bool many)
{
	assert_ptr_equal(types, told);
	return addr ? many ? "[]main.T" : "main.T" : "?";
}

/* --- in place of the tracer and its maps --- */

const struct trace_place *tracer_place(const struct tracer *tracer, uint32_t number)
{
	static const struct trace_place place = {.addr = SITE};

	(void)tracer;
	assert_int_equal(number, PLACE);
	return &place;
}

void tracer_set_plans(struct tracer *tracer, const struct tracer_plan *plans)
{
	(void)tracer;
	sprintf(told, "plans %d %d", (int)plans[0].number, (int)plans[1].number);
}

struct bpfdelta *bpfdelta_new(int fd)
{
	return (struct bpfdelta *)&faketool.maps[fd - 1];
}

void bpfdelta_free(struct bpfdelta *delta)
{
	(void)delta;
}

int bpfdelta_each(struct bpfdelta *delta, void (*fn)(void *ctx, const void *key, uint64_t more),
		  void *ctx)
{
	const char *name = *(const char **)delta;

	strcat(strcat(told, name), fn ? " " : "- ");
	errno = EPERM;
	if (failing && !strcmp(failing, name))
		return -1;
	for (size_t i = 0; fn && i < count; i++)
		fn(ctx, &counts[i].key, counts[i].more[!strcmp(name, "bytes")]);
	return 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_string_equal(faketool_map(fd), "losses");
	assert_int_equal(entries * words, ALLOC_LOSSES);
	for (size_t i = 0; i < entries; i++)
		out[i] = 3 + i;
	return 0;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

/* --- runs --- */

static void begin_with(const char *name)
{
	faketool_begin();
	gofile_make(&program.g, 27, EM_X86_64);
	elffile_bytes(program.g.f, GOFILE_TAB + GOFILE_NAMES + 0x30, name, strlen(name) + 1);
	elffile_u32(program.g.f, gofile_record(&program.g, 0) + 4, 0x30);
	open_it(&program);
	faketool.program = (struct program){.path = "/app",
					    .release = 27,
					    .toolchain = &toolchain_gc,
					    .tab = program.tab,
					    .img = program.img};
	faketool.selection =
		(struct selection){.rows = rows, .row_count = 2, .items = items, .item_count = 2};
	faketool.at_once = true;
	*told = '\0';
	failing = NULL;
	count = 0;
}

static int setup(void **state)
{
	(void)state;
	begin_with("runtime.mallocgcTinySC2");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close_it(&program);
	return 0;
}

static void add_alloc(uint64_t stack, bool typed, bool many, uint64_t objects, uint64_t bytes)
{
	counts[count].key = (struct alloc_key){
		.stack = stack, .type = typed, .place = PLACE, .pid = 181, .many = many};
	counts[count].more[OBJECTS] = objects << ALLOC_PARTS_SHIFT;
	counts[count++].more[BYTES] = bytes << ALLOC_PARTS_SHIFT;
}

static void expect_plan(struct toolrun *run, int release, bool libgo, const char *want)
{
	faketool.program.release = release;
	faketool.program.toolchain = libgo ? &toolchain_gccgo : &toolchain_gc;
	int ret = run->config.plan(run->config.plan_ctx, NULL, &failure);

	assert_string_equal(ret ? failure.text : told, want);
	free(((struct allocs *)run->ctx)->plans);
	((struct allocs *)run->ctx)->plans = NULL;
}

static void by_size(struct toolrun *run)
{
	expect_plan(run, 27, false, "plans 0 1");
	assert_string_equal(faketool.defined, "STACKS_OF=1 ");
	expect_plan(run, 28, false,
		    "\"/app\": how its runtime allocates small objects is not "
		    "known: it is not that of Go 1.27");
	expect_plan(run, 26, false,
		    "\"/app\": how its runtime allocates small objects is not "
		    "known: it is not that of Go 1.27");
	expect_plan(run, 27, true,
		    "\"/app\" is built by gccgo: allocations are known of Go's gc "
		    "compiler only");
}

static void not_by_size(struct toolrun *run)
{
	expect_plan(run, 26, false, "plans 0 0");
	expect_plan(run, 28, false, "plans 0 0");
}

static void test_plan(void **state)
{
	faketool_main(tool_main, "-p 1", by_size);
	teardown(state);
	begin_with("runtime.mallocgcTinySC3");
	faketool_main(tool_main, "-p 1", not_by_size);
}

static void expect_run(const struct toolrun *run, size_t defs, uint64_t every, bool quiet,
		       unsigned cost, const char *first, const char *second)
{
	static const char *const defined[] = {"STACKS", "COUNTS", "EVERY", "HANDED_ON", "BY_STACK"};
	const char *behind = ":runtime\\.(mallocgc|mallocgcTinySC[0-9]+|mallocgcSmall("
			     "ScanNoHeader|NoScan)SC[0-9]+)$";

	assert_int_equal(run->config.def_count, defs);
	for (size_t i = 0; i < defs; i++)
		assert_string_equal(run->config.defs[i].name, defined[i]);
	assert_int_equal(run->config.defs[0].value, 1 << 14);
	assert_int_equal(run->config.defs[1].value, 1 << 18);
	assert_int_equal(run->config.defs[2].value, every);
	assert_int_equal(run->quiet_cost, quiet);
	assert_int_equal(run->opts->max_cost, cost);
	assert_true(run->opts->regexp);
	assert_int_equal(run->config.pattern_count, second ? 2 : 1);
	for (size_t i = 0; i < run->config.pattern_count; i++) {
		const char *binary = i ? second : first;

		assert_memory_equal(run->config.patterns[i], binary, strlen(binary));
		assert_string_equal(run->config.patterns[i] + strlen(binary), behind);
	}
}

static void of_process(struct toolrun *run)
{
	expect_run(run, 5, 0, true, 20, "", NULL);
	assert_string_equal(run->config.bpf_file, "goallocs.bpf.c");
	assert_true(run->config.want.places && run->config.want.args);
}

static void of_binaries(struct toolrun *run)
{
	expect_run(run, 4, 512, false, 7, "/a", "/b");
}

static void test_run(void **state)
{
	(void)state;
	faketool_main(tool_main, "-p 1", of_process);
	faketool_main(tool_main, "-C --every 512 --max-cost 7 /a /b", of_binaries);
}

/* --- output --- */

static void expect_shown(struct toolrun *run, const char *title, const char *want)
{
	bool aside = run->opts->json || run->folded;

	run->profile = NULL;
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_errors_begin();
	printed_begin();
	run->started(run->ctx);
	printed_expect(aside ? "" : title);
	faketool_errors_expect(aside ? title : "");
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &failure), 0);
	printed_expect(want);
}

static void make_counts(void)
{
	add_alloc(KNOWN_STACK, true, false, 3, 96);
	add_alloc(KNOWN_STACK, true, true, 1, 400);
	add_alloc(1, false, false, 2, 32);
	counts[0].more[OBJECTS] += 127; /* less than half of one */
	counts[2].more[OBJECTS] += 128;
}

#define TITLE "Tracing allocations... Hit Ctrl-C to end.\n"

static void by_type(struct toolrun *run)
{
	expect_shown(run, TITLE,
		     "\n     OBJECTS        BYTES TYPE\n"
		     "           3           32 ?\n"
		     "           3           96 main.T\n"
		     "           1          400 []main.T\n");
	assert_string_equal(told, "objects bytes ");
}

static void as_json(struct toolrun *run)
{
#define ROW "{\"type\":\"alloc\",\"time\":\"12:00:00\",\"pid\":181,\"go_type\":"
#define FRAME(func) "\"stack\":[{\"func\":\"" func "\",\"file\":null,\"line\":null}]}\n"
	expect_shown(run, TITLE,
		     ROW "\"?\",\"objects\":3,\"bytes\":32," FRAME("[lost]") ROW
		     "\"main.T\",\"objects\":3,\"bytes\":96," FRAME("main.f") ROW
		     "\"[]main.T\",\"objects\":1,\"bytes\":400," FRAME("main.f"));
}

static void folded(struct toolrun *run)
{
	expect_shown(run, "Tracing allocations, a sample every 512 bytes... Hit Ctrl-C to end.\n",
		     "[lost];? 32\nmain.f;main.T 96\nmain.f;[]main.T 400\n");
}

static void test_output(void **state)
{
	(void)state;
	make_counts();
	faketool_main(tool_main, "-C -p 1", by_type);
	faketool_main(tool_main, "-jT -p 1", as_json);
	faketool_main(tool_main, "-f --every 512 -p 1", folded);
}

/* --- what fails, and what is lost --- */

static void one_by_one(struct toolrun *run)
{
	faketool.at_once = false;
	*told = '\0';
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	assert_string_equal(told, "objects- bytes- ");
	failing = "bytes";
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "cannot read the counts: Operation not permitted");
	printed_begin();
	assert_int_equal(run->show(run->ctx, true, &failure), -1);
	printed_expect("");
	assert_string_equal(failure.text, "cannot read the counts: Operation not permitted");
}

static void losses(struct toolrun *run)
{
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_errors_begin();
	run->lost(run->ctx);
	faketool_errors_expect(
		((struct allocs *)run->ctx)->every
			? "goallocs: 3 samples have no stack: more of them than there is room for\n"
			  "goallocs: 4 samples were not counted: more stacks and types than there "
			  "is room for\n"
			  "goallocs: 5 allocations were not counted: their arguments could not be "
			  "read\n"
			: "goallocs: 3 allocations have no stack: more of them than there is room "
			  "for\n"
			  "goallocs: 4 allocations were not counted: more stacks and types than "
			  "there is room for\n"
			  "goallocs: 5 allocations were not counted: their arguments could not be "
			  "read\n");
}

static void test_failures(void **state)
{
	(void)state;
	faketool_main(tool_main, "-p 1", one_by_one);
	failing = NULL;
	faketool_main(tool_main, "-p 1", losses);
	faketool_main(tool_main, "--every 16777216 -p 1", losses);
	for (int i = 0; i < 3; i++) {
		static const char *const words[] = {"--every 0 -p 1", "--every x -p 1",
						    "--every 16777217 -p 1"};

		faketool_errors_begin();
		assert_int_equal(faketool_main(tool_main, words[i], faketool_never), 2);
		faketool_errors_expect("goallocs: --every of \"...");
	}
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: goallocs [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j] [-C]\n"
		"                [-f] [--every N] [-n NAME] [--all] [--force]\n"
		"                [--max-cost PERCENT] [--pprof FILE] [--version] [BINARY...]\n"
		"                [-- COMMAND [ARG...]]\n"
		"\n"
		"Count allocations of Go programs by type and stack\n"
		"\n"
		"examples:\n"
		"    goallocs -d 1 -p 181           # what does process 181 allocate, and where?\n"
		"    goallocs -C -d 1 -p 181        # by type alone\n"
		"    goallocs --every 524288 etcd   # samples, of all processes of this program\n"
		"    goallocs -f -d 5 -p 181 > out.stacks\n"
		"                                   # for flamegraph.pl, by bytes\n"
		"    goallocs --pprof out.pb.gz -d 5 -p 181\n"
		"                                   # for go tool pprof\n"
		"\n"
		"all options: goallocs --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: goallocs [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j] [-C]\n"
		"                [-f] [--every N] [-n NAME] [--all] [--force]\n"
		"                [--max-cost PERCENT] [--pprof FILE] [--version] [BINARY...]\n"
		"                [-- COMMAND [ARG...]]\n"
		"\n"
		"Count allocations of Go programs by type and stack\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        summary interval, in seconds, or as 500ms\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -v, --verbose         print the BPF program, and what is left out, with the\n"
		"                        reasons\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -C, --count           count by type only, without stacks\n"
		"  -f, --folded          output folded format, for flame graphs, by bytes\n"
		"  --every N             count a sample every N bytes on average, and estimate\n"
		"                        the rest\n"
		"  -n NAME, --name NAME  trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    goallocs -d 1 -p 181           # what does process 181 allocate, and where?\n"
		"    goallocs -C -d 1 -p 181        # by type alone\n"
		"    goallocs --every 524288 etcd   # samples, of all processes of this program\n"
		"    goallocs -f -d 5 -p 181 > out.stacks\n"
		"                                   # for flamegraph.pl, by bytes\n"
		"    goallocs --pprof out.pb.gz -d 5 -p 181\n"
		"                                   # for go tool pprof\n"
		"    goallocs -C -- ./app arg       # run a program from its start\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup_teardown(test_plan, setup, teardown),
		cmocka_unit_test_setup_teardown(test_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_output, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
