// SPDX-License-Identifier: Apache-2.0
#include "latency/cpu_waits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "files/cpucgroup.h"
#include "files/process.h"
#include "files/process_usage.h"
#include "latency/cpu_waits_internal.h"

enum { MUCH = 10 /* percent: less than that changes no answer */ };

struct cpu_waits {
	struct process *proc; /* NULL: not known */
	struct process_turns last;
	struct cpucgroup *group; /* NULL: no quota */
	struct cpucgroup_quota quota;
};

struct cpu_waits *cpu_waits_begin(pid_t pid)
{
	struct cpu_waits *waits = mem_zalloc(1, sizeof(*waits));

	waits->proc = pid ? process_hold(pid, NULL) : NULL;
	if (waits->proc && !process_turns(waits->proc, &waits->last)) {
		process_close(waits->proc);
		waits->proc = NULL;
	}
	if (waits->proc)
		waits->group = cpucgroup_find("/proc", pid);
	if (waits->group)
		cpucgroup_quota(waits->group, &waits->quota);
	return waits;
}

void cpu_waits_free(struct cpu_waits *waits)
{
	if (!waits)
		return;
	process_close(waits->proc);
	cpucgroup_free(waits->group);
	free(waits);
}

unsigned cpu_waits_percent(const struct process_turns *before, const struct process_turns *after)
{
	if (after->ran_ns < before->ran_ns || after->waited_ns <= before->waited_ns)
		return 0;
	double waited = after->waited_ns - before->waited_ns;

	return 100 * waited / (waited + (after->ran_ns - before->ran_ns));
}

/* Names the quota if it was used up meanwhile: then others on the CPU may not be the reason. */
static void say_quota(struct cpu_waits *waits)
{
	struct cpucgroup_quota now, before = waits->quota;

	if (!waits->group || !cpucgroup_quota(waits->group, &now))
		return;
	double cpus = (double)now.us / (double)now.period_us;

	waits->quota = now;
	if (now.throttled > before.throttled && now.periods > before.periods)
		fprintf(stderr,
			": its cgroup may use %.3g CPU%s, used up in %" PRIu64 " of %" PRIu64
			" periods of %" PRIu64 " ms",
			cpus, cpus == 1 ? "" : "s", now.throttled - before.throttled,
			now.periods - before.periods, now.period_us / 1000);
}

void cpu_waits_say(struct cpu_waits *waits, const char *tool, const char *hint)
{
	struct process_turns now;

	if (!waits->proc || !process_turns(waits->proc, &now))
		return;
	unsigned percent = cpu_waits_percent(&waits->last, &now);

	waits->last = now;
	if (percent < MUCH)
		return;
	fprintf(stderr,
		"%s: the process's threads waited for a CPU for %u %% of the time that they wanted "
		"one",
		tool, percent);
	say_quota(waits);
	fprintf(stderr, "\nhint: %s\n", hint);
}
