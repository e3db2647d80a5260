// SPDX-License-Identifier: Apache-2.0
#include "latency/threadwatch_internal.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/states.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/btf.h"
#include "selection/target.h"
#include "tracing/tracer.h"

enum { THREADS_MAX = 1 << 16, TRACEPOINTS = 2 };

struct threadwatch {
	int links[TRACEPOINTS]; /* -1: not attached */
	uint64_t begun_ns, ended_ns, switches;
	int map;
};

/* Says what it was that failed. */
static int failed(struct errmsg *err)
{
	struct errmsg why = *err;

	errmsg_set(err, "--threads: %.400s", why.text);
	if (*why.hint)
		errmsg_hint(err, "%s", why.hint);
	return -1;
}

int threadwatch_plan(struct tracer *tracer, struct errmsg *err)
{
	const char *wish = getenv("GOTOOLS_THREADS");
	unsigned long dev, ino;
	struct btf_ids ids;

	if (wish && !strcmp(wish, "no"))
		return errmsg_set(err,
				  "--threads: this kernel does not report switches of threads");
	if (btf_task_ids(&ids, err))
		return failed(err);
	tracer_define(tracer, "THREADS_WANTED", 1);
	tracer_define(tracer, "THREADS", bpfmap_room(THREADS_MAX));
	tracer_define(tracer, "TASK_TID", ids.tid);
	tracer_define(tracer, "TASK_TGID", ids.tgid);
	/* elsewhere the process is known by another ID than in the kernel */
	if (tracer_pid(tracer) && !tracer_follows(tracer) && !target_pid_namespace(&dev, &ino))
		tracer_define(tracer, "THREADS_TGID", tracer_pid(tracer));
	return 0;
}

struct threadwatch *threadwatch_begin(struct bpfprog *bpf, struct errmsg *err)
{
	static const char *const watched[TRACEPOINTS][2] = {
		{"on_thread_exit", "sched_process_exit"},
		{"on_switch", "sched_switch"},
	};
	struct threadwatch *watch = mem_zalloc(1, sizeof(*watch));

	watch->map = bpfprog_map(bpf, "switches");
	watch->begun_ns = clock_ns();
	for (int i = 0; i < TRACEPOINTS; i++)
		watch->links[i] = -1;
	for (int i = 0; i < TRACEPOINTS; i++) {
		watch->links[i] = bpfprog_at_tracepoint(bpf, watched[i][0], watched[i][1], err);
		if (watch->links[i] >= 0)
			continue;
		failed(err);
		threadwatch_free(watch);
		return NULL;
	}
	return watch;
}

void threadwatch_end(struct threadwatch *watch)
{
	if (!watch || watch->ended_ns)
		return;
	for (int i = 0; i < TRACEPOINTS; i++)
		if (watch->links[i] >= 0)
			close(watch->links[i]);
	watch->ended_ns = clock_ns();
	uint64_t words[sizeof(struct thread_switches) / sizeof(uint64_t)];

	if (!bpfmap_sum_percpu(watch->map, 1, sizeof(words) / sizeof(*words), words))
		watch->switches = words[0];
}

void threadwatch_free(struct threadwatch *watch)
{
	threadwatch_end(watch);
	free(watch);
}

void threadwatch_say(const struct threadwatch *watch, const char *tool)
{
	double seconds = (double)(watch->ended_ns - watch->begun_ns) / 1e9;

	if (watch->ended_ns > watch->begun_ns)
		fprintf(stderr,
			"%s: %" PRIu64
			" switches of threads (%.0f a second), of the whole machine\n",
			tool, watch->switches, (double)watch->switches / seconds);
}
