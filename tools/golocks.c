// SPDX-License-Identifier: Apache-2.0
/* golocks: contended locks, who waits for them and who holds them meanwhile. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "bpf-src/shared/locks.h"
#include "kernel/bpfmap.h"
#include "kernel/events.h"
#include "kernel/processes.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "locks/lock_names.h"
#include "locks/lock_stacks.h"
#include "locks/locks.h"
#include "locks/locks_show.h"
#include "blocked/losses.h"
#include "tracing/options.h"
#include "blocked/stacks.h"
#include "tracing/toolrun.h"

/* Room, that takes memory as it fills; the ring buffer takes it at once. */
enum { ATTEMPTS_MAX = 1 << 20, LOCKS_MAX = 1 << 16, RING_PAGES = 2048 };
#define SECOND_NS UINT64_C(1000000000)
enum { FRAMES_DEFAULT = 1, FRAMES_MOST = 64 };

struct gone { /* a wait that went on when its process ended */
	struct goroutine_key who;
	uint64_t since_ns;
	uint64_t ended_ns, noted_ns;
};

struct golocks {
	const struct options *opts;
	const struct toolrun *run;
	const struct tracer *tracer;
	struct events *events;
	struct processes *procs;
	struct stacks *stacks;
	struct lock_stacks *lock_stacks;
	struct locks *locks;
	struct lock_names *names;
	struct locks_show show;
	int active, attempts, losses, lost; /* maps */
	uint64_t entries[LOCK_FUNCS];       /* addresses of the probes */
	struct gone *gone;                  /* sorted */
	size_t gone_count, gone_cap;
	uint64_t stopped_ns; /* no more events will come; 0: tracing goes on */
	uint64_t looked_ns;  /* when processes that have ended were looked for */
};

static int take_number(size_t *number, const char *value, uint64_t most, const char *what,
		       struct errmsg *err)
{
	uint64_t n;

	if (!number_parse(value, most, &n) || !n)
		return errmsg_set(err, "\"%s\" is not a number of %s", value, what);
	*number = n;
	return 0;
}

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct golocks *tool = ctx;

	if (letter == 'n')
		return take_number(&tool->show.locks_max, value, SIZE_MAX, "locks", err);
	return take_number(&tool->show.frames, value, FRAMES_MOST, "stack frames", err);
}

/* --- before the first wait --- */

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	(void)ctx;
	return stacks_define(tracer, "golocks", err);
}

/* Without one of them nothing could be said: all must be probed. */
static int find_entries(struct golocks *tool, struct errmsg *err)
{
	const struct selection *sel = tracer_selection(tool->tracer);

	for (size_t i = 0; i < sel->item_count; i++) {
		const struct selection_item *item = &sel->items[i];

		if (item->skipped)
			return errmsg_set(err, "%s cannot be probed: %s", sel->rows[item->row].name,
					  item->skipped);
		tool->entries[item->group] = item->sites.entry.addr;
	}
	return 0;
}

static bool take_event(const void *data, size_t len, void *ctx)
{
	struct golocks *tool = ctx;
	struct lock_event event;

	if (len < sizeof(event))
		return true;
	memcpy(&event, data, sizeof(event));
	if (event.func < LOCK_FUNCS)
		event.probe -= tool->entries[event.func];
	const struct lock *lock = locks_event(tool->locks, &event);

	if (lock && event.kind == LOCK_PARKS)
		lock_names_note(tool->names, lock, &event);
	return true;
}

static int begin(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct golocks *tool = ctx;

	tool->tracer = tracer;
	if (find_entries(tool, err))
		return -1;
	tool->active = tracer_map(tracer, "active");
	tool->attempts = tracer_map(tracer, "attempts");
	tool->losses = tracer_map(tracer, "losses");
	tool->lost = tracer_map(tracer, "lost");
	tool->procs = processes_new(tracer_bpf(tracer));
	tool->stacks = stacks_new(tracer);
	tool->lock_stacks = lock_stacks_new(tool->stacks);
	tool->locks = locks_new(bpfmap_room(LOCKS_MAX), lock_stacks_owner, tool->lock_stacks);
	tool->names = lock_names_new(tracer_program(tracer, 0), tool->lock_stacks);
	tool->show.stacks = tool->lock_stacks;
	tool->show.name = lock_names_find;
	tool->show.ctx = tool->names;
	tool->events = events_new(tracer_map(tracer, "events"), take_event, tool, err);
	if (!tool->events)
		return -1;
	if (bpfmap_set(tool->active, 1))
		return errmsg_set(err, "cannot switch the BPF program on: %s", strerror(errno));
	return 0;
}

static void started(void *ctx)
{
	const struct golocks *tool = ctx;
	FILE *out = tool->opts->json ? stderr : stdout;

	fputs("Tracing contended sync.Mutex and sync.RWMutex... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

static int stop(void *ctx)
{
	struct golocks *tool = ctx;

	tool->stopped_ns = clock_ns();
	return bpfmap_set(tool->active, 0);
}

/* --- what was seen --- */

static int by_wait(const void *a, const void *b)
{
	const struct gone *x = a, *y = b;
	int order = memcmp(&x->who, &y->who, sizeof(x->who));

	return order ? order : (x->since_ns > y->since_ns) - (x->since_ns < y->since_ns);
}

/* When its process ended; 0: it did not end with it */
static uint64_t ended_with(const struct golocks *tool, const struct lock_wait *wait)
{
	struct gone sought = {.who = wait->who, .since_ns = wait->since_ns}, *found = NULL;

	if (tool->gone_count)
		found = bsearch(&sought, tool->gone, tool->gone_count, sizeof(sought), by_wait);
	return found ? found->ended_ns : 0;
}

static int note_gone(const void *key, const void *value, void *arg)
{
	const struct lock_attempt *attempt = value;
	struct golocks *tool = arg;

	if (!attempt->parked_ns)
		return 0;
	tool->gone = mem_grow(tool->gone, tool->gone_count, &tool->gone_cap, sizeof(*tool->gone));
	struct gone *gone = &tool->gone[tool->gone_count++];

	*gone = (struct gone){.since_ns = attempt->parked_ns, .noted_ns = tool->looked_ns};
	memcpy(&gone->who, key, sizeof(gone->who));
	gone->ended_ns = processes_ended(tool->procs, &gone->who.process);
	return 0;
}

/* Those that have been shown; of the others the event may be on its way yet that they wait. */
static void forget_gone(struct golocks *tool)
{
	size_t kept = 0;

	for (size_t i = 0; i < tool->gone_count; i++)
		if (tool->looked_ns - tool->gone[i].noted_ns < SECOND_NS)
			tool->gone[kept++] = tool->gone[i];
	tool->gone_count = kept;
}

/* Is the wait to be shown? The event that it is over may be on its way yet, or be lost. */
static bool is_waiting(void *ctx, struct lock_wait *wait)
{
	const struct golocks *tool = ctx;
	struct lock_attempt attempt;

	if (!bpfmap_lookup(tool->attempts, &wait->who, &attempt) &&
	    attempt.parked_ns == wait->since_ns)
		return true;
	if (!wait->missed_ns)
		wait->missed_ns = tool->looked_ns;
	wait->ended_ns = ended_with(tool, wait);
	if (wait->ended_ns)
		return true;
	return !tool->stopped_ns && tool->looked_ns - wait->missed_ns < SECOND_NS;
}

static bool goes_on(void *ctx, struct lock_wait *wait)
{
	(void)ctx;
	return !wait->ended_ns;
}

/* Forgets waits that will not be told to be over, as the event of that was lost, and notes those
 * whose process has ended. */
static void settle(struct golocks *tool)
{
	tool->looked_ns = clock_ns();
	if (processes_look(tool->procs)) {
		processes_sweep(tool->procs, tool->attempts, note_gone, tool);
		processes_forget(tool->procs);
		if (tool->gone_count)
			qsort(tool->gone, tool->gone_count, sizeof(*tool->gone), by_wait);
	}
	locks_prune(tool->locks, is_waiting, tool);
}

static void sweep(void *ctx)
{
	struct golocks *tool = ctx;

	if (processes_due(tool->procs) && clock_ns() - tool->looked_ns > SECOND_NS)
		settle(tool);
}

static int show(void *ctx, bool final, struct errmsg *err)
{
	struct golocks *tool = ctx;
	uint32_t zero = 0;
	uint64_t lost = 0;

	(void)err;
	if (final && !bpfmap_lookup(tool->lost, &zero, &lost))
		locks_lost(tool->locks, lost, clock_ns());
	settle(tool);
	tool->show.now_ns = tool->stopped_ns ? tool->stopped_ns : tool->looked_ns;
	if (tool->opts->json) {
		locks_json(&tool->show, tool->locks);
	} else {
		toolrun_print_time(tool->opts);
		locks_print(&tool->show, tool->locks);
		if (final)
			putchar('\n');
	}
	if (tool->run->profile)
		locks_profile(&tool->show, tool->locks, tool->run->profile);
	locks_prune(tool->locks, goes_on, tool);
	forget_gone(tool);
	locks_clear(tool->locks);
	fflush(stdout);
	return 0;
}

static void say_lost(void *ctx)
{
	static const char *const said[LOCK_LOSSES] = {
		[LOCK_LOSS_WAITS] = "waits were lost: the ring buffer was full",
		[LOCK_LOSS_OTHERS] = "waits of RWMutexes, WaitGroups or the like were lost: the "
				     "ring buffer was full",
		[LOCK_LOSS_SPINS] = "locks got without a wait were lost: the ring buffer was full",
		[LOCK_LOSS_EVENTS] = "events of who waits or unlocks were lost: the ring buffer "
				     "was full",
		[LOCK_LOSS_ROOM_WAITS] = "waits were lost: more goroutines than there is room for",
		[LOCK_LOSS_ROOM_OTHERS] = "waits of RWMutexes, WaitGroups or the like were lost: "
					  "more goroutines than there is room for",
		[LOCK_LOSS_ROOM_SPINS] = "locks got without a wait were lost: more goroutines "
					 "than there is room for",
		[LOCK_LOSS_UNREADABLE] = "waits were lost: the goroutine could not be read",
		[LOCK_LOSS_STACKS] = "stacks are not known: more of them than there is room for",
	};
	const struct golocks *tool = ctx;
	struct locks_refused refused = locks_refused(tool->locks);
	uint64_t lost[LOCK_LOSSES];

	losses_say(tool->losses, "golocks", said, lost, LOCK_LOSSES);
	if (refused.waits)
		fprintf(stderr,
			"golocks: %" PRIu64 " waits were lost: more locks than there is room for\n",
			refused.waits);
	if (refused.unwaited)
		fprintf(stderr,
			"golocks: %" PRIu64 " locks got without a wait were lost: more locks than "
			"there is room for\n",
			refused.unwaited);
	if (lost[LOCK_LOSS_BEFORE])
		fprintf(stderr, "golocks: %" PRIu64 " wait%s had begun before: not counted\n",
			lost[LOCK_LOSS_BEFORE], lost[LOCK_LOSS_BEFORE] == 1 ? "" : "s");
}

/* --- the tool --- */

static const struct options_def own_options[] = {
	{'n', "locks", "LOCKS", "show the LOCKS that were waited for longest"},
	{'s', "stack", "FRAMES", "frames of each stack to show (default 1)"},
	{0},
};

static const char examples[] =
	"    golocks -p 181                # which locks does process 181 wait for?\n"
	"    golocks -p 181 -d 10 -n 3     # the worst three, of 10 seconds\n"
	"    golocks -p 181 -i 1 -T        # each second, with the time\n"
	"    golocks -s 5 -p 181           # with five frames of each stack\n"
	"    golocks etcd                  # of all processes of this program\n"
	"    golocks -jp 181               # JSON\n"
	"    golocks -p 181 -d 10 --pprof locks.pb.gz   # for go tool pprof\n"
	"    golocks -- ./app arg          # run a program from its start\n";

static const struct runtime_func funcs[LOCK_FUNCS] = {
	[LOCK_FUNC_LOCK] = {.names = {"sync.(*Mutex).lockSlow", "internal/sync.(*Mutex).lockSlow"},
			    .returns = true},
	[LOCK_FUNC_ACQUIRE] = {.names = {"runtime.semacquire1"}, .returns = true},
	[LOCK_FUNC_UNLOCK] = {.names = {"sync.(*Mutex).unlockSlow",
					"internal/sync.(*Mutex).unlockSlow"}},
	[LOCK_FUNC_RELEASE] = {.names = {"runtime.semrelease1"}},
	[LOCK_FUNC_QUEUE] = {.names = {"runtime.(*semaRoot).queue"}},
};

static int run_locks(struct golocks *tool, const struct options_tool *options)
{
	struct bpfprog_define defs[] = {
		{"ATTEMPTS", bpfmap_room(ATTEMPTS_MAX)},
		{"STACKS", bpfmap_room(STACKS_MAX)},
		{"RING_PAGES", bpfmap_room(RING_PAGES)},
	};
	struct toolrun run = {.tool = options,
			      .opts = tool->opts,
			      .config = {.cpu = -1,
					 .runtime_funcs = funcs,
					 .runtime_func_count = LOCK_FUNCS,
					 .bpf_file = "golocks.bpf.c",
					 .defs = defs,
					 .def_count = sizeof(defs) / sizeof(*defs),
					 .goroutines = true,
					 .sleepable = true,
					 .plan = plan,
					 .plan_ctx = tool},
			      .begin = begin,
			      .started = started,
			      .show = show,
			      .sweep = sweep,
			      .lost = say_lost,
			      .stop = stop,
			      .events = &tool->events,
			      .profile_spec = &locks_profile_spec,
			      .ctx = tool};

	tool->run = &run;

	if (tool->opts->json) /* whole stacks */
		tool->show.frames = SIZE_MAX;
	tool->show.timestamp = tool->opts->timestamp;
	tool->show.processes = !tool->opts->pid;
	int status = toolrun(&run);

	events_free(tool->events);
	locks_free(tool->locks);
	lock_names_free(tool->names);
	lock_stacks_free(tool->lock_stacks);
	stacks_free(tool->stacks);
	processes_free(tool->procs);
	free(tool->gone);
	return status;
}

int main(int argc, char **argv)
{
	struct options opts;
	struct golocks tool = {
		.opts = &opts,
		.show = {.frames = FRAMES_DEFAULT, .locks_max = SIZE_MAX},
	};
	struct options_tool options = {
		.name = "golocks",
		.about = "Sum up waits for contended locks, by who waits and who holds them",
		.args = "[BINARY] [-- COMMAND [ARG...]]",
		.shared = "pidTvj",
		.running = true,
		.binaries = true,
		.force = true,
		.returns = true,
		.pprof = true,
		.own = own_options,
		.take = take_option,
		.ctx = &tool,
		.examples = examples};
	int status;

	if (!options_main(&options, argc, argv, &opts, &status))
		return status;
	return run_locks(&tool, &options);
}
