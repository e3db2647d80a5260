// SPDX-License-Identifier: Apache-2.0
/* The parts of calls' latencies, of goroutines that are made up. Needs the privileges to trace. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "bpf-src/shared/states.h"
#include "bpf-src/shared/trace.h"
#include "fakeg.h"
#include "genprobe.h"
#include "gotrace/traceplan_text_internal.h"
#include "kernel/attach.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/events.h"
#include "gotrace/tracelosses.h"
#include "unit.h"

enum { FUNCS = 2, SEEN_MAX = 64, SHORT_MS = 10, LONG_MS = 30, MS = 1000000 };
/* places: where each function begins and returns, and of what the scheduler does */
enum { GOEXIT = 2 * FUNCS, ENTER, LEAVE };

struct fixture {
	struct bpfprog *prog;
	struct attach *calls, *changes;
	struct events *events;
	struct seen {
		uint32_t item, how;
		uint64_t latency;
		struct state_times times;
	} seen[SEEN_MAX];
	size_t count;
};

static bool take(const void *data, size_t len, void *ctx)
{
	const struct trace_event *event = data;
	struct fixture *f = ctx;

	assert_true(f->count < SEEN_MAX && len >= sizeof(*event) + sizeof(struct state_times));
	struct seen *seen = &f->seen[f->count++];

	seen->item = event->item;
	seen->how = event->how;
	seen->latency = event->latency_ns;
	memcpy(&seen->times, event + 1, sizeof(seen->times));
	return true;
}

static struct bpfprog *compile(unsigned goroutines, struct errmsg *err)
{
	struct genprobe_how how = {
		.arch = ARCH_AMD64, .convention = ABI_REGISTERS, .string_max = 80};
	struct traceplan_text *text = traceplan_text_new();
	struct bpfprog_define defs[FAKEG_DEFINES + 16] = {
		{"STRING_MAX", 80},
		{"SAVED_MAX", 64},
		{"RING_PAGES", 16},
		{"CALLS", 64},
		{"PLACES", 16},
		{"ROWS", 1},
		{"USER_FRAMES", 0},
		{"KERNEL_FRAMES", 0},
		{"RETURNS", 1},
		{"STATES_WANTED", 1},
		{"GOROUTINES", goroutines},
		{"G_STATUS", 24},
		{"WAITS_AS_ONE", 1},
		{"ARGS_IN_REGISTERS", 1},
	};
	size_t count = 14 + fakeg_define(defs + 14);
	struct genprobe gp;

	assert_int_equal(genprobe_make(&gp, "r:main.f() \"%d\", $blocked", &how, err), 0);
	traceplan_text_add(text, &gp.plan, true);
	genprobe_free(&gp);
	traceplan_text_serve(text, false);
	char *bodies = traceplan_text_plans(text), *programs = traceplan_text_programs(text);
	char changes[] =
		"int on_probe_1(struct pt_regs *ctx)\n{\n\treturn on_state_change(ctx);\n}\n";
	const struct bpfprog_insert inserts[] = {
		{"plans", bodies}, {"programs", programs}, {"state_program", changes}};
	struct bpfprog *prog = bpfprog_compile("gotrace.bpf.c", defs, count, inserts, 3, err);

	free(bodies);
	free(programs);
	traceplan_text_free(text);
	return prog;
}

static struct attach *attach_calls(const struct fixture *f, int fd, struct errmsg *err)
{
	struct fakeg_probe sites[2 * FUNCS + 1];

	for (uint32_t i = 0; i < 2 * FUNCS; i++) {
		struct trace_place place = {.addr = fakeg_addr(i), .item = i / 2, .frame = -1};

		bpfmap_update(bpfprog_map(f->prog, "places"), &i, &place);
		sites[i] = (struct fakeg_probe){
			i, cookie_make(i, i & 1 ? COOKIE_RETURN : COOKIE_CALL, 0, 0)};
	}
	sites[GOEXIT] = (struct fakeg_probe){GOEXIT, cookie_make(0, COOKIE_GOEXIT, 0, 0)};
	return fakeg_attach(fd, sites, 2 * FUNCS + 1, err);
}

static struct fixture *begin(void **state, unsigned goroutines)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	struct errmsg err = {0};

	*state = f;
	if (geteuid() || attach_how() == ATTACH_PERF_STUB)
		skip();
	f->prog = compile(goroutines, &err);
	assert_string_equal(err.text, "");
	int type = attach_prog_type(attach_how());
	int calls = bpfprog_load(f->prog, "on_probe", type, &err);
	int changes = bpfprog_load(f->prog, "on_probe_1", type, &err);

	assert_string_equal(err.text, "");
	f->changes = fakeg_attach_syscalls(changes, ENTER, LEAVE, &err);
	f->calls = attach_calls(f, calls, &err);
	f->events = events_new(bpfprog_map(f->prog, "events"), take, f, &err);
	assert_string_equal(err.text, "");
	return f;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->calls)
		attach_free(f->calls);
	if (f->changes)
		attach_free(f->changes);
	events_free(f->events);
	bpfprog_free(f->prog);
	free(f);
	return 0;
}

static void call(unsigned goid, unsigned func)
{
	fakeg_hit(goid, 256 + 64 * func, 2 * func);
}

static void end(unsigned goid, unsigned func)
{
	fakeg_hit(goid, 256 + 64 * func, 2 * func + 1);
}

static void in_syscall(unsigned goid, unsigned ms)
{
	fakeg_hit(goid, 512, ENTER);
	fakeg_wait_ms(ms);
	fakeg_hit(goid, 512, LEAVE);
}

/* The n-th event: so long at least in these states, and in no other; its parts are its latency. */
static void expect(const struct fixture *f, size_t n, unsigned item, unsigned running_ms,
		   unsigned syscall_ms, unsigned unknown_ms)
{
	const struct seen *seen = &f->seen[n];
	const unsigned long long *ns = seen->times.ns;
	uint64_t sum = 0;

	assert_true(n < f->count);
	assert_int_equal(seen->item, item);
	for (unsigned i = 0; i < STATES_BRIEF; i++)
		sum += ns[i];
	assert_int_equal(sum, seen->latency);
	assert_true(ns[STATE_RUNNING] >= (uint64_t)running_ms * MS);
	assert_true(ns[STATE_SYSCALL] >= (uint64_t)syscall_ms * MS);
	assert_true(ns[STATE_UNKNOWN] >= (uint64_t)unknown_ms * MS);
	assert_int_equal(!ns[STATE_SYSCALL], !syscall_ms);
	assert_int_equal(!ns[STATE_UNKNOWN], !unknown_ms);
	assert_int_equal(ns[STATE_RUNNABLE] + ns[STATE_WAITING], 0);
}

static uint64_t lost(const struct fixture *f, enum state_loss loss)
{
	uint64_t losses[STATE_LOSSES];
	int fd = bpfprog_map(f->prog, "state_losses");

	assert_int_equal(bpfmap_sum_percpu(fd, STATE_LOSSES, 1, losses), 0);
	return losses[loss];
}

static void test_nested(void **state)
{
	struct fixture *f = begin(state, 8);

	call(7, 0);
	in_syscall(7, SHORT_MS);
	call(7, 1);
	in_syscall(7, LONG_MS);
	fakeg_wait_ms(SHORT_MS);
	end(7, 1);
	fakeg_wait_ms(SHORT_MS);
	end(7, 0);
	assert_true(events_read(f->events, true));
	expect(f, 0, 1, SHORT_MS, LONG_MS, 0);
	expect(f, 1, 0, 2 * SHORT_MS, SHORT_MS + LONG_MS, 0);
	assert_int_equal(f->count, 2);
	assert_int_equal(fakeg_entries(f->prog, "clocks"), 0);
}

/* Calls that Goexit ends in a system call, which was not seen to end. */
static void test_abandoned(void **state)
{
	struct fixture *f = begin(state, 8);

	call(7, 0);
	fakeg_wait_ms(SHORT_MS);
	call(7, 1);
	fakeg_wait_ms(SHORT_MS);
	fakeg_hit(7, 512, ENTER);
	fakeg_wait_ms(LONG_MS);
	fakeg_hit(7, 64, GOEXIT);
	assert_true(events_read(f->events, true));
	expect(f, 0, 1, SHORT_MS, LONG_MS, 0);
	expect(f, 1, 0, 2 * SHORT_MS, LONG_MS, 0);
	assert_int_equal(f->seen[0].how, TRACE_EXITED);
	assert_int_equal(f->seen[1].how, TRACE_EXITED);
	assert_int_equal(fakeg_entries(f->prog, "clocks"), 0);
}

/* A change from a state that the goroutine is not in: one was not seen, and the time is unknown. */
static void test_unseen(void **state)
{
	struct fixture *f = begin(state, 8);

	call(7, 0);
	fakeg_wait_ms(LONG_MS);
	fakeg_hit(7, 512, LEAVE);
	fakeg_wait_ms(SHORT_MS);
	end(7, 0);
	assert_true(events_read(f->events, true));
	expect(f, 0, 0, SHORT_MS, 0, LONG_MS);
	assert_int_equal(lost(f, STATE_LOSS_UNSEEN), 1);
}

/* what the tool says of losses, on stderr */
static void expect_said(const struct fixture *f, const char *text)
{
	static const struct tracelosses_words words = {"gotrace", "printed", "results"};
	struct tracelosses *losses = tracelosses_new(f->prog, NULL, &words);
	int stderr_fd = dup(STDERR_FILENO), file = memfd_create("said", 0);
	char said[256] = "";

	dup2(file, STDERR_FILENO);
	tracelosses_say_all(losses, "");
	dup2(stderr_fd, STDERR_FILENO);
	assert_true(pread(file, said, sizeof(said) - 1, 0) >= 0);
	close(stderr_fd);
	close(file);
	tracelosses_free(losses);
	assert_string_equal(said, text);
}

/* Without room for its clock all of a goroutine's time is unknown, until it has no calls any more.
 */
static void test_no_room(void **state)
{
	struct fixture *f = begin(state, 1);

	call(7, 0);
	call(8, 0);
	end(7, 0);
	call(8, 1);
	fakeg_wait_ms(SHORT_MS);
	end(8, 1);
	end(8, 0);
	call(8, 0);
	fakeg_wait_ms(SHORT_MS);
	end(8, 0);
	assert_true(events_read(f->events, true));
	assert_int_equal(f->count, 4);
	expect(f, 1, 1, 0, 0, SHORT_MS);
	expect(f, 2, 0, 0, 0, SHORT_MS);
	expect(f, 3, 0, SHORT_MS, 0, 0);
	assert_int_equal(lost(f, STATE_LOSS_ROOM), 2);

	expect_said(f, "gotrace: 2 calls whose states are unknown: there was no room for them\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nested, teardown),
		cmocka_unit_test_teardown(test_abandoned, teardown),
		cmocka_unit_test_teardown(test_unseen, teardown),
		cmocka_unit_test_teardown(test_no_room, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
