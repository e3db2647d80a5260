// SPDX-License-Identifier: Apache-2.0
/* gowakeups: who has woken a goroutine, by stacks that are made up, and how that is shown. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "blocked/blocked.h"
#include "blocked/stacks.h"
#include "frames/frames.h"
#include "printed.h"
#include "profile/profile.h"
#include "profile/profile_show.h"

#define main tool_main
#include "tools/gowakeups.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { BIAS = 0x1000, MOST = 4, WAKER = 7, WOKEN = 9 };

static const struct blocked_tool *shown_tool;
static const char *frames[MOST]; /* of the waker's stack */
static const char *state, *outermost;
static unsigned asked;

/* --- in place of blocked/ --- */

int blocked_main(const struct blocked_tool *tool, int argc, char **argv)
{
	shown_tool = tool;
	assert_int_equal(argc, 1);
	assert_string_equal(argv[0], "x");
	return 5;
}

const struct stacks *blocked_stacks(const struct blocked *blocked)
{
	assert_null(blocked);
	return (const struct stacks *)frames;
}

uint64_t blocked_bias(const struct blocked *blocked, const struct wait_key *key)
{
	assert_null(blocked);
	assert_int_equal(key->stack, WOKEN);
	return BIAS;
}

bool blocked_is_for(const struct blocked *blocked, const struct wait_key *key, const char *text)
{
	assert_null(blocked);
	assert_int_equal(key->stack, WOKEN);
	return !strcmp(state, text);
}

static void check(const struct stacks *stacks, uint64_t bias)
{
	assert_ptr_equal(stacks, frames);
	assert_int_equal(bias, BIAS);
}

bool stacks_each(const struct stacks *stacks, uint64_t hash, uint64_t bias, bool all,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	check(stacks, bias);
	assert_int_equal(hash, WAKER);
	assert_true(all);
	asked++;
	for (size_t i = 0; i < MOST && frames[i]; i++)
		fn(ctx, &(struct frame){.func = frames[i]});
	return frames[0];
}

void stacks_print(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	check(stacks, bias);
	fprintf(out, "    stack %d\n", (int)hash);
}

void stacks_print_folded(const struct stacks *stacks, uint64_t hash, uint64_t bias, FILE *out)
{
	check(stacks, bias);
	fprintf(out, "stack %d;", (int)hash);
}

const char *stacks_outermost(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	check(stacks, bias);
	assert_int_equal(hash, WOKEN);
	return outermost;
}

void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json)
{
	check(stacks, bias);
	json_u64(json, hash);
}

void stacks_profile(const struct stacks *stacks, uint64_t hash, uint64_t bias,
		    struct profile *profile)
{
	char word[16];

	check(stacks, bias);
	snprintf(word, sizeof(word), "stack %d", (int)hash);
	profile_word(profile, word);
}

static int setup(void **unused)
{
	char name[] = "x", *argv[] = {name, NULL};

	(void)unused;
	memset(frames, 0, sizeof(frames));
	state = "chan receive";
	outermost = "main.f;x";
	assert_int_equal(tool_main(1, argv), 5);
	return 0;
}

/* --- who it was --- */

static void expect(unsigned waker, const char *for_what, const char *first, const char *second,
		   const char *want)
{
	struct wait_key key = {.stack = WOKEN, .waker = WAKER, .by = waker};

	state = for_what;
	frames[0] = first;
	frames[1] = second;
	shown_tool->settle(NULL, &key);
	assert_string_equal(names[key.by], want);
	assert_int_equal(key.waker, key.by == WAKER_GOROUTINE ? WAKER : 0);
}

static void test_settle(void **unused)
{
	static const char *const timers[] = {"runtime.checkTimers", "runtime.runtimer",
					     "runtime.runOneTimer", "runtime.(*timers).run"};

	(void)unused;
	expect(WAKER_GOROUTINE, "chan receive", "runtime.checkTimers", NULL, "goroutine");
	assert_int_equal(asked, 0);
	for (size_t i = 0; i < 4; i++) {
		expect(WAKER_SCHEDULER, "sleep", "runtime.ready", timers[i], "timer");
		expect(WAKER_SCHEDULER, "IO wait", timers[i], NULL, "timer");
		/* a deadline of a connection, that a goroutine finds to be over */
		expect(WAKER_GOROUTINE, "IO wait", timers[i], NULL, "netpoll");
	}
	expect(WAKER_SCHEDULER, "sleep", "runtime.park_m", "runtime.mcall", "itself");
	expect(WAKER_SCHEDULER, "sleep", "runtime.x", "runtime.park_m", "scheduler");
	expect(WAKER_GOROUTINE, "IO wait", "runtime.park_m", NULL, "netpoll");
	expect(WAKER_SCHEDULER, "IO wait", "runtime.netpoll", "runtime.sysmon", "netpoll");
	expect(WAKER_GOROUTINE, "IO wait", "runtime.ready", "internal/poll.(*FD).Close",
	       "goroutine");
	expect(WAKER_SCHEDULER, "IO wait", "internal/poll.x", NULL, "scheduler");
	expect(WAKER_GOROUTINE, "IO wait", NULL, NULL, "goroutine");
	expect(WAKER_SCHEDULER, "IO wait", NULL, NULL, "scheduler");
	expect(WAKER_SCHEDULER, "GC worker", "runtime.injectglist", "runtime.sysmon", "sysmon");
	expect(WAKER_SCHEDULER, "GC worker", "runtime.sysmon2", NULL, "scheduler");
	expect(WAKER_SCHEDULER, "GC worker", "runtime.sysmon", "runtime.x", "sysmon");
	expect(WAKER_SCHEDULER, "sleep", "runtime.runtimer", "runtime.x", "timer");
	expect(WAKER_SCHEDULER, "sleep", "runtime.park_m", "runtime.x", "itself");
	expect(WAKER_SCHEDULER, "IO wait", "internal/poll.x", "runtime.x", "scheduler");
	expect(WAKER_GOROUTINE, "IO wait", "internal/poll.x", "main.f", "goroutine");
}

/* --- how it is shown --- */

static void expect_shown(unsigned by, bool folded, const char *above, const char *below)
{
	const struct wait_key key = {.stack = WOKEN, .waker = WAKER, .by = by};

	printed_begin();
	shown_tool->above(NULL, &key, folded);
	printed_expect(above);
	printed_begin();
	shown_tool->below(NULL, &key, folded);
	printed_expect(below);
}

static void test_text(void **unused)
{
	(void)unused;
	expect_shown(WAKER_GOROUTINE, false, "    stack 7\n", "    stack 9\n");
	expect_shown(BY_TIMER, false, "    [timer]\n", "    stack 9\n");
	expect_shown(WAKER_GOROUTINE, true, "stack 7;", ";main.f,x");
	expect_shown(BY_SYSMON, true, "[sysmon];", ";main.f,x");
	outermost = NULL;
	expect_shown(BY_ITSELF, true, "[itself];", ";[lost]");
}

static void expect_json(unsigned by, const char *want)
{
	const struct wait_key key = {.stack = WOKEN, .waker = by ? 0 : WAKER, .by = by};
	struct json json;

	printed_begin();
	json_init(&json, stdout);
	json_object(&json);
	shown_tool->json(NULL, &key, &json);
	json_object_end(&json);
	printed_expect(want);
}

static void test_json(void **unused)
{
	(void)unused;
	expect_json(BY_NETPOLL, "{\"by\":\"netpoll\",\"waker\":0,\"woken\":{\"func\":\"main.f;x\","
				"\"stack\":9}}\n");
	outermost = NULL;
	expect_json(BY_SCHEDULER, "{\"by\":\"scheduler\",\"waker\":0,\"woken\":{\"func\":null,"
				  "\"stack\":9}}\n");
}

static void expect_profile(unsigned by, const char *want)
{
	const struct wait_key key = {.stack = WOKEN, .waker = WAKER, .by = by};
	const struct profile_style style = {.type = "row", .json = true};
	struct profile *profile = profile_new(shown_tool->profile_spec);

	shown_tool->profile(NULL, &key, profile);
	profile_add(profile, (uint64_t[]){3, 400});
	printed_begin();
	profile_show(stdout, profile, &style);
	printed_expect(want);
	profile_free(profile);
}

static void test_profile(void **unused)
{
	(void)unused;
	expect_profile(WAKER_GOROUTINE,
		       "{\"type\":\"row\",\"by\":\"goroutine\",\"woken\":\"main.f;x\","
		       "\"wakeups\":3,\"delay\":400,\"stack\":[{\"func\":\"stack "
		       "7\",\"file\":null,\"line\":null}]}\n");
	expect_profile(BY_TIMER, "{\"type\":\"row\",\"by\":\"timer\",\"woken\":\"main.f;x\","
				 "\"wakeups\":3,\"delay\":400,\"stack\":[{\"func\":\"[timer]\","
				 "\"file\":null,\"line\":null}]}\n");
}

static void test_tool(void **unused)
{
	(void)unused;
	assert_string_equal(shown_tool->name, "gowakeups");
	assert_string_equal(shown_tool->about,
			    "Sum up blocked time of goroutines by who makes them runnable");
	assert_string_equal(
		shown_tool->examples,
		"    gowakeups -p 181                      # who wakes goroutines of process 181?\n"
		"    gowakeups -d 5 -p 181                 # for 5 seconds\n"
		"    gowakeups --state 'sync.*' -p 181     # who lets goroutines wait for locks?\n"
		"    gowakeups --state 'chan *' -p 181     # who is at the other end of channels?\n"
		"    gowakeups -m 1000 -p 181              # after waits of 1 ms and longer\n"
		"    gowakeups -f -d 30 -p 181 > out.stacks\n"
		"                                          # for flamegraph.pl --countname us\n"
		"    gowakeups --pprof out.pb.gz -d 30 -p 181\n"
		"                                          # for go tool pprof\n"
		"    gowakeups -- ./app arg                # run a program\n");
	assert_string_equal(shown_tool->bpf_file, "gowakeups.bpf.c");
	assert_string_equal(shown_tool->by, "waker");
	assert_string_equal(shown_tool->type, "wakeup");
	assert_string_equal(shown_tool->wait, "wakeup");
	assert_string_equal(shown_tool->waits, "wakeups");
	assert_int_equal(shown_tool->profile_spec->type_count, 2);
	assert_int_equal(shown_tool->profile_spec->shown, 1);
	assert_false(shown_tool->open_rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_settle, setup),
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_json, setup),
		cmocka_unit_test_setup(test_profile, setup),
		cmocka_unit_test_setup(test_tool, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
