// SPDX-License-Identifier: Apache-2.0
/* golocks from its command line to its run: which waits are kept, and what is shown. Accounts of
 * locks are the test's. */
#include "fakerun.h"
#include "faketool.h"
#include "printed.h"
#include "profile/profile.h"

#define main tool_main
#include "tools/golocks.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "unit.h"

enum { PID = FAKERUN_PID, ENTRY = 0x1000 };

static struct selection_row rows[1] = {{.name = "sync.lockSlow"}};
static struct selection_item items[LOCK_FUNCS];
static struct goroutine_key keys[2];
static struct lock_attempt attempts[2];
static struct lock_wait waits[3]; /* that the accounts have */
static size_t wait_count;
static struct lock the_lock; /* what an event is about */
static uint64_t refused;     /* of one kind; twice as many of the other */
static struct errmsg failure;

/* --- in place of the accounts --- */

int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err)
{
	assert_null(tracer);
	return faketool_answer(tool, err);
}

struct stacks *stacks_new(const struct tracer *tracer)
{
	assert_null(tracer);
	return FAKETOOL_SOME(stacks);
}

void stacks_free(struct stacks *stacks)
{
	assert_true(!stacks || stacks == FAKETOOL_SOME(stacks));
}

struct lock_stacks *lock_stacks_new(const struct stacks *stacks)
{
	assert_ptr_equal(stacks, FAKETOOL_SOME(stacks));
	return FAKETOOL_SOME(lock_stacks);
}

void lock_stacks_free(struct lock_stacks *stacks)
{
	assert_true(!stacks || stacks == FAKETOOL_SOME(lock_stacks));
}

bool lock_stacks_owner(void *ctx, const struct lock_event *event, struct lock_owner *out)
{
	(void)ctx;
	(void)event;
	(void)out;
	return false;
}

struct lock_names *lock_names_new(const struct program *prog, struct lock_stacks *stacks)
{
	assert_ptr_equal(prog, &faketool.program);
	assert_ptr_equal(stacks, FAKETOOL_SOME(lock_stacks));
	return FAKETOOL_SOME(lock_names);
}

void lock_names_free(struct lock_names *names)
{
	assert_true(!names || names == FAKETOOL_SOME(lock_names));
}

void lock_names_note(struct lock_names *names, const struct lock *lock,
		     const struct lock_event *event)
{
	assert_ptr_equal(names, FAKETOOL_SOME(lock_names));
	assert_ptr_equal(lock, &the_lock);
	faketool_note("name by %d\n", (int)event->addr);
}

const char *lock_names_find(void *ctx, const struct lock *lock)
{
	(void)ctx;
	(void)lock;
	return NULL;
}

struct locks *locks_new(size_t max, locks_owner_fn *owner, void *ctx)
{
	assert_true(owner == lock_stacks_owner);
	assert_ptr_equal(ctx, FAKETOOL_SOME(lock_stacks));
	faketool_note("room for %zu locks\n", max);
	return FAKETOOL_SOME(locks);
}

void locks_free(struct locks *locks)
{
	assert_true(!locks || locks == FAKETOOL_SOME(locks));
}

struct lock *locks_event(struct locks *locks, const struct lock_event *event)
{
	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	faketool_note("event %d of %d at bias %#x\n", event->kind, event->func,
		      (unsigned)event->probe);
	return event->addr ? &the_lock : NULL;
}

void locks_lost(struct locks *locks, uint64_t lost, uint64_t now_ns)
{
	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	faketool_note("lost %d until %d\n", (int)lost, (int)(now_ns / 1000));
}

void locks_prune(struct locks *locks, bool (*fn)(void *ctx, struct lock_wait *wait), void *ctx)
{
	size_t kept = 0;

	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	for (size_t i = 0; i < wait_count; i++)
		if (fn(ctx, &waits[i]))
			waits[kept++] = waits[i];
	wait_count = kept;
	faketool_note("%zu waits\n", kept);
}

void locks_clear(struct locks *locks)
{
	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	faketool_result("clear");
}

struct locks_refused locks_refused(const struct locks *locks)
{
	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	return (struct locks_refused){refused, 2 * refused};
}

static void print_show(const struct locks_show *show, const char *how)
{
	printf("%s at %d, frames %d, locks %d%s%s\n", how, (int)(show->now_ns / 1000),
	       (int)show->frames, (int)show->locks_max, show->processes ? ", processes" : "",
	       show->timestamp ? ", time" : "");
	assert_ptr_equal(show->stacks, FAKETOOL_SOME(lock_stacks));
	assert_ptr_equal(show->ctx, FAKETOOL_SOME(lock_names));
	assert_true(show->name == lock_names_find);
}

void locks_print(const struct locks_show *show, struct locks *locks)
{
	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	print_show(show, "text");
}

void locks_json(const struct locks_show *show, struct locks *locks)
{
	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	print_show(show, "JSON");
}

const struct profile_spec locks_profile_spec = {.tool = "golocks"};

void locks_profile(const struct locks_show *show, struct locks *locks, struct profile *profile)
{
	assert_ptr_equal(locks, FAKETOOL_SOME(locks));
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	print_show(show, "profile");
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	fakerun_begin();
	for (size_t i = 0; i < LOCK_FUNCS; i++) {
		items[i] = (struct selection_item){.group = i};
		items[i].sites.entry.addr = ENTRY + 0x10 * i;
	}
	faketool.selection = (struct selection){
		.rows = rows, .row_count = 1, .items = items, .item_count = LOCK_FUNCS};
	fakerun.key_size = sizeof(*keys);
	fakerun.value_size = sizeof(*attempts);
	for (size_t i = 0; i < 2; i++) {
		keys[i] = (struct goroutine_key){.id = 10 + i, .process.tgid = PID};
		attempts[i] = (struct lock_attempt){.parked_ns = 100 + i};
		fakerun.entries[i].key = &keys[i];
		fakerun.entries[i].value = &attempts[i];
	}
	fakerun.entry_count = 1;
	wait_count = 0;
	refused = 0;
	fakerun.now_ns = 10 * SECOND_NS;
	return 0;
}

static void add_wait(uint64_t goroutine, uint64_t since_ns)
{
	waits[wait_count++] = (struct lock_wait){.who = {.id = goroutine, .process.tgid = PID},
						 .since_ns = since_ns};
}

static void begin_it(struct toolrun *run, const char *want)
{
	*faketool.said = '\0';
	assert_int_equal(run->begin(run->ctx, NULL, &failure), 0);
	faketool_noted(want);
}

static void show_it(struct toolrun *run, bool final, const char *want)
{
	*faketool.said = '\0';
	printed_begin();
	assert_int_equal(run->show(run->ctx, final, &failure), 0);
	printed_expect(want);
}

static void expect_started(struct toolrun *run, bool json)
{
	static const char said[] =
		"Tracing contended sync.Mutex and sync.RWMutex... Hit Ctrl-C to end.\n";

	faketool_errors_begin();
	printed_begin();
	run->started(run->ctx);
	printed_expect(json ? "" : said);
	faketool_errors_expect(json ? said : "");
}

static void plain(struct toolrun *run)
{
	struct lock_event event = {.kind = LOCK_PARKS, .func = 2, .probe = ENTRY + 0x7020};

	faketool_expect_config(
		run, "golocks.bpf.c cpu -1 goroutines sleepable plan sync.(*Mutex).lockSlow "
		     "runtime.semacquire1 sync.(*Mutex).unlockSlow runtime.semrelease1 "
		     "runtime.(*semaRoot).queue\n"
		     "ATTEMPTS=1048576 STACKS=16384 RING_PAGES=2048\n"
		     "golocks: begin show sweep lost stop events started profile\n");
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), 0);
	begin_it(run, "room for 65536 locks\n"
		      "events\n"
		      "on\n");
	expect_started(run, false);
	event.addr = 77;
	assert_true(fakerun_send(&event, sizeof(event)));
	assert_true(fakerun_send(&event, sizeof(event) - 1));
	event.kind = LOCK_GOT;
	event.func = LOCK_FUNCS;
	assert_true(fakerun_send(&event, sizeof(event)));
	event.kind = LOCK_PARKS;
	event.addr = 0;
	assert_true(fakerun_send(&event, sizeof(event)));
	faketool_noted("event 0 of 2 at bias 0x7000\n"
		       "name by 77\n"
		       "event 1 of 5 at bias 0x8020\n"
		       "event 0 of 5 at bias 0x8020\n");
	show_it(run, false,
		"\n"
		"text at 10000000, frames 1, locks -1\n");
	faketool_noted("look at processes\n"
		       "0 waits\n"
		       "0 waits\n"
		       "clear\n");
	run->stop(run->ctx);
	fakerun.now_ns += SECOND_NS;
	fakerun.lost = 6;
	show_it(run, true,
		"\n"
		"text at 10000000, frames 1, locks -1\n"
		"\n");
	faketool_noted("lost 6 until 11000000\n"
		       "look at processes\n"
		       "0 waits\n"
		       "0 waits\n"
		       "clear\n");
}

static void test_text(void **state)
{
	(void)state;
	assert_int_equal(faketool_main(tool_main, "-p 181", plain), FAKETOOL_STATUS);
	setup(state);
}

static void as_json(struct toolrun *run)
{
	begin_it(run, "room for 65536 locks\nevents\non\n");
	expect_started(run, true);
	((struct toolrun *)run)->profile = FAKETOOL_SOME(profile);
	show_it(run, true,
		"JSON at 10000000, frames -1, locks -1, processes, time\n"
		"profile at 10000000, frames -1, locks -1, processes, time\n");
}

static void some(struct toolrun *run)
{
	begin_it(run, "room for 65536 locks\nevents\non\n");
	show_it(run, true,
		"\n"
		"12:00:00\n"
		"text at 10000000, frames 64, locks 3, processes, time\n"
		"\n");
}

static void test_options(void **state)
{
	(void)state;
	faketool_main(tool_main, "-jT app", as_json);
	faketool_main(tool_main, "-T -n 3 -s 64 app", some);
}

/* --- waits whose end was not told --- */

/* One goes on; of one the end may be on its way for a second; one has ended with its process. */
static void waiting(struct toolrun *run)
{
	begin_it(run, "room for 65536 locks\nevents\non\n");
	add_wait(10, 100);
	add_wait(10, 99);
	show_it(run, false,
		"\n"
		"text at 10000000, frames 1, locks -1\n");
	faketool_noted("look at processes\n"
		       "2 waits\n"
		       "2 waits\n"
		       "clear\n");
	fakerun.now_ns += SECOND_NS - 1;
	show_it(run, false,
		"\n"
		"text at 10999999, frames 1, locks -1\n");
	faketool_noted("look at processes\n"
		       "2 waits\n"
		       "2 waits\n"
		       "clear\n");
	fakerun.now_ns += 1;
	show_it(run, false,
		"\n"
		"text at 11000000, frames 1, locks -1\n");
	faketool_noted("look at processes\n"
		       "1 waits\n"
		       "1 waits\n"
		       "clear\n");
	assert_int_equal(waits[0].since_ns, 100);
}

static void ended(struct toolrun *run)
{
	begin_it(run, "room for 65536 locks\nevents\non\n");
	attempts[1].parked_ns = 0;
	fakerun.entry_count = 2;
	fakerun.has_gone = true;
	fakerun.ended_ns = 9000;
	fakerun.is_due = true;
	run->sweep(run->ctx);
	faketool_noted("look at processes\n"
		       "sweep attempts\n"
		       "kept 0\n"
		       "kept 0\n"
		       "forget processes\n"
		       "0 waits\n");
	run->sweep(run->ctx);
	faketool_noted("");
	fakerun.has_gone = false;
	fakerun.entry_count = 0;
	fakerun.now_ns += SECOND_NS - 1;
	add_wait(10, 101);
	add_wait(10, 100);
	add_wait(11, 0);
	show_it(run, false,
		"\n"
		"text at 10999999, frames 1, locks -1\n");
	faketool_noted("look at processes\n"
		       "3 waits\n"
		       "2 waits\n"
		       "clear\n");
	assert_int_equal(waits[0].since_ns, 101);
	assert_int_equal(waits[1].since_ns, 0);
	fakerun.now_ns += SECOND_NS;
	wait_count = 0;
	add_wait(10, 100);
	show_it(run, false,
		"\n"
		"text at 11999999, frames 1, locks -1\n");
	faketool_noted("look at processes\n"
		       "1 waits\n"
		       "0 waits\n"
		       "clear\n");
	add_wait(10, 100); /* of a process that is forgotten by now */
	run->stop(run->ctx);
	show_it(run, true,
		"\n"
		"text at 11999999, frames 1, locks -1\n"
		"\n");
	faketool_noted("lost 0 until 11999999\n"
		       "look at processes\n"
		       "0 waits\n"
		       "0 waits\n"
		       "clear\n");
}

static void test_waits(void **state)
{
	faketool_main(tool_main, "-p 181", waiting);
	setup(state);
	faketool_main(tool_main, "-p 181", ended);
}

/* --- losses, failures --- */

static void losing(struct toolrun *run)
{
	begin_it(run, "room for 65536 locks\nevents\non\n");
	faketool_errors_begin();
	refused = 3;
	run->lost(run->ctx);
	faketool_errors_expect(
		"golocks: 0 waits were lost: the ring buffer was full\n"
		"golocks: 1 waits of RWMutexes, WaitGroups or the like were lost: the ring "
		"buffer was full\n"
		"golocks: 2 locks got without a wait were lost: the ring buffer was full\n"
		"golocks: 3 events of who waits or unlocks were lost: the ring buffer was "
		"full\n"
		"golocks: 4 waits were lost: more goroutines than there is room for\n"
		"golocks: 5 waits of RWMutexes, WaitGroups or the like were lost: more "
		"goroutines than there is room for\n"
		"golocks: 6 locks got without a wait were lost: more goroutines than there is "
		"room for\n"
		"golocks: 7 waits were lost: the goroutine could not be read\n"
		"golocks: 8 stacks are not known: more of them than there is room for\n"
		"golocks: 9 -\n"
		"golocks: 3 waits were lost: more locks than there is room for\n"
		"golocks: 6 locks got without a wait were lost: more locks than there is room "
		"for\n"
		"golocks: 9 waits had begun before: not counted\n");
	faketool.failing = "events";
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "events fails");
	faketool.failing = "on";
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text,
			    "cannot switch the BPF program on: Operation not permitted");
	faketool.failing = "golocks";
	assert_int_equal(run->config.plan(run->config.plan_ctx, NULL, &failure), -1);
	items[3].skipped = "no place";
	assert_int_equal(run->begin(run->ctx, NULL, &failure), -1);
	assert_string_equal(failure.text, "sync.lockSlow cannot be probed: no place");
}

static void test_losses(void **state)
{
	static const char *const words[][2] = {
		{"-n 0 app", "\"0\" is not a number of locks"},
		{"-n x app", "\"x\" is not a number of locks"},
		{"-s 0 app", "\"0\" is not a number of stack frames"},
		{"-s 65 app", "\"65\" is not a number of stack frames"},
	};

	(void)state;
	faketool_main(tool_main, "-p 181", losing);
	for (size_t i = 0; i < 4; i++) {
		char want[128];

		snprintf(want, sizeof(want), "golocks: %s\nusage: golocks...", words[i][1]);
		faketool_errors_begin();
		assert_int_equal(faketool_main(tool_main, words[i][0], faketool_never), 2);
		faketool_errors_expect(want);
	}
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: golocks [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j]\n"
		"               [-n LOCKS] [-s FRAMES] [--name NAME] [--all] [--force]\n"
		"               [--max-cost PERCENT] [--no-emulate] [--pprof FILE] [--version]\n"
		"               [BINARY] [-- COMMAND [ARG...]]\n"
		"\n"
		"Sum up waits for contended locks, by who waits and who holds them\n"
		"\n"
		"examples:\n"
		"    golocks -p 181                # which locks does process 181 wait for?\n"
		"    golocks -p 181 -d 10 -n 3     # the worst three, of 10 seconds\n"
		"    golocks -p 181 -i 1 -T        # each second, with the time\n"
		"    golocks -s 5 -p 181           # with five frames of each stack\n"
		"    golocks etcd                  # of all processes of this program\n"
		"\n"
		"all options: golocks --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: golocks [-h] [-p PID] [-i INTERVAL] [-d DURATION] [-T] [-v] [-j]\n"
		"               [-n LOCKS] [-s FRAMES] [--name NAME] [--all] [--force]\n"
		"               [--max-cost PERCENT] [--no-emulate] [--pprof FILE] [--version]\n"
		"               [BINARY] [-- COMMAND [ARG...]]\n"
		"\n"
		"Sum up waits for contended locks, by who waits and who holds them\n"
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
		"  -n LOCKS, --locks LOCKS\n"
		"                        show the LOCKS that were waited for longest\n"
		"  -s FRAMES, --stack FRAMES\n"
		"                        frames of each stack to show (default 1)\n"
		"  --name NAME           trace the Go programs that run and whose name contains\n"
		"                        NAME\n"
		"  --all                 trace all Go programs that run\n"
		"  --force               trace even if breakpoints take more memory than the\n"
		"                        process may use\n"
		"  --max-cost PERCENT    end when probes take more than PERCENT of a processor\n"
		"  --no-emulate          have the kernel execute returns, even if BPF could\n"
		"                        carry them out\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    golocks -p 181                # which locks does process 181 wait for?\n"
		"    golocks -p 181 -d 10 -n 3     # the worst three, of 10 seconds\n"
		"    golocks -p 181 -i 1 -T        # each second, with the time\n"
		"    golocks -s 5 -p 181           # with five frames of each stack\n"
		"    golocks etcd                  # of all processes of this program\n"
		"    golocks -jp 181               # JSON\n"
		"    golocks -p 181 -d 10 --pprof locks.pb.gz   # for go tool pprof\n"
		"    golocks -- ./app arg          # run a program from its start\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_options, setup),
		cmocka_unit_test_setup(test_waits, setup),
		cmocka_unit_test_setup(test_losses, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
