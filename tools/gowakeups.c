// SPDX-License-Identifier: Apache-2.0
/* gowakeups: who makes goroutines runnable that were blocked, and how long they were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "blocked/blocked.h"
#include "blocked/stacks.h"
#include "frames/frame_print.h"
#include "frames/frames.h"
#include "profile/profile.h"

/* Who wakes, beside enum waker: what the scheduler's stack has told. Rows of these have no stack of
 * the waker's. */
enum {
	BY_NETPOLL = WAKERS, /* as the kernel says that a connection is ready */
	BY_TIMER,
	BY_SYSMON,
	BY_ITSELF, /* what the goroutine waited for was there before it had left its thread */
	BY_SCHEDULER,
	BYS,
};

static const char *const names[BYS] = {
	[WAKER_GOROUTINE] = "goroutine", [BY_NETPOLL] = "netpoll", [BY_TIMER] = "timer",
	[BY_SYSMON] = "sysmon",          [BY_ITSELF] = "itself",   [BY_SCHEDULER] = "scheduler",
};

/* --- who has done it? --- */

struct callers { /* of runtime.casgstatus, on the waker's stack */
	bool timers, sysmon, park, poll;
	size_t count;
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* In Go's src/runtime, time.go, proc.go and netpoll.go */
static void note_caller(void *ctx, const struct frame *frame)
{
	static const char *const timers[] = {"runtime.checkTimers", "runtime.runtimer",
					     "runtime.runOneTimer", "runtime.(*timer"};
	struct callers *callers = ctx;

	for (size_t i = 0; i < sizeof(timers) / sizeof(*timers); i++)
		callers->timers |= begins(frame->func, timers[i]);
	callers->sysmon |= !strcmp(frame->func, "runtime.sysmon");
	callers->park |= !callers->count && !strcmp(frame->func, "runtime.park_m");
	/* deadlines that are over, and connections that are closed */
	callers->poll |= begins(frame->func, "internal/poll.");
	callers->count++;
}

/* What the network has made ready may be found by a goroutine too, which starts the world again:
 * it has nothing to do with that. */
static unsigned find_by(const struct blocked *blocked, const struct wait_key *key)
{
	bool io = blocked_is_for(blocked, key, "IO wait"), free = key->by == WAKER_SCHEDULER;
	struct callers callers = {0};

	if (!io && !free)
		return WAKER_GOROUTINE;
	stacks_each(blocked_stacks(blocked), key->waker, blocked_bias(blocked, key), true,
		    note_caller, &callers);
	if (free && callers.timers)
		return BY_TIMER;
	if (free && callers.park)
		return BY_ITSELF;
	if (io && !callers.poll && callers.count)
		return BY_NETPOLL;
	if (!free)
		return WAKER_GOROUTINE;
	return callers.sysmon ? BY_SYSMON : BY_SCHEDULER;
}

static void settle(const struct blocked *blocked, struct wait_key *key)
{
	key->by = find_by(blocked, key);
	if (key->by != WAKER_GOROUTINE)
		key->waker = 0;
}

/* --- output --- */

static void put_waker(const struct blocked *blocked, const struct wait_key *key, bool folded)
{
	if (key->by == WAKER_GOROUTINE)
		(folded ? stacks_print_folded : stacks_print)(blocked_stacks(blocked), key->waker,
							      blocked_bias(blocked, key), stdout);
	else
		printf(folded ? "[%s];" : "    [%s]\n", names[key->by]);
}

/* Valid during the next call that shows a stack. */
static const char *goroutine_of(const struct blocked *blocked, const struct wait_key *key)
{
	return stacks_outermost(blocked_stacks(blocked), key->stack, blocked_bias(blocked, key));
}

static void put_woken(const struct blocked *blocked, const struct wait_key *key, bool folded)
{
	if (!folded) {
		stacks_print(blocked_stacks(blocked), key->stack, blocked_bias(blocked, key),
			     stdout);
		return;
	}
	const char *name = goroutine_of(blocked, key);

	putchar(';');
	frame_print_word(stdout, name ? name : "[lost]");
}

static void add_both(const struct blocked *blocked, const struct wait_key *key, struct json *json)
{
	const struct stacks *stacks = blocked_stacks(blocked);
	uint64_t bias = blocked_bias(blocked, key);

	json_member_string(json, "by", names[key->by]);
	json_key(json, "waker");
	stacks_json(stacks, key->waker, bias, json);
	json_key(json, "woken");
	json_object(json);
	json_member_string(json, "func", goroutine_of(blocked, key));
	json_key(json, "stack");
	stacks_json(stacks, key->stack, bias, json);
	json_object_end(json);
}

/* The waker's stack; a label says which goroutine it has woken. */
static void profile_both(const struct blocked *blocked, const struct wait_key *key,
			 struct profile *profile)
{
	uint64_t bias = blocked_bias(blocked, key);

	if (key->by == WAKER_GOROUTINE) {
		stacks_profile(blocked_stacks(blocked), key->waker, bias, profile);
	} else {
		char *word = mem_printf("[%s]", names[key->by]);

		profile_word(profile, word);
		free(word);
	}
	profile_label(profile, "by", names[key->by]);
	profile_label(profile, "woken", goroutine_of(blocked, key));
}

/* --- the tool --- */

static const struct profile_type types[] = {{"wakeups", "count"}, {"delay", "nanoseconds"}};
static const struct profile_spec profile_spec = {
	.tool = "gowakeups", .types = types, .type_count = 2, .shown = 1};

static const char examples[] =
	"    gowakeups -p 181                      # who wakes goroutines of process 181?\n"
	"    gowakeups -d 5 -p 181                 # for 5 seconds\n"
	"    gowakeups --state 'sync.*' -p 181     # who lets goroutines wait for locks?\n"
	"    gowakeups --state 'chan *' -p 181     # who is at the other end of channels?\n"
	"    gowakeups -m 1000 -p 181              # after waits of 1 ms and longer\n"
	"    gowakeups -f -d 30 -p 181 > out.stacks\n"
	"                                          # for flamegraph.pl --countname us\n"
	"    gowakeups --pprof out.pb.gz -d 30 -p 181\n"
	"                                          # for go tool pprof\n"
	"    gowakeups -- ./app arg                # run a program\n";

int main(int argc, char **argv)
{
	static const struct blocked_tool tool = {
		.name = "gowakeups",
		.about = "Sum up blocked time of goroutines by who makes them runnable",
		.examples = examples,
		.bpf_file = "gowakeups.bpf.c",
		.by = "waker",
		.type = "wakeup",
		.wait = "wakeup",
		.waits = "wakeups",
		.settle = settle,
		.above = put_waker,
		.below = put_woken,
		.json = add_both,
		.profile_spec = &profile_spec,
		.profile = profile_both,
	};

	return blocked_main(&tool, argc, argv);
}
