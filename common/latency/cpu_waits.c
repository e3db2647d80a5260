// SPDX-License-Identifier: Apache-2.0
#include "latency/cpu_waits.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "files/process.h"
#include "files/process_usage.h"
#include "latency/cpu_waits_internal.h"

enum { MUCH = 10 /* percent: less than that changes no answer */ };

struct cpu_waits {
	struct process *proc; /* NULL: not known */
	struct process_turns last;
};

struct cpu_waits *cpu_waits_begin(pid_t pid)
{
	struct cpu_waits *waits = mem_zalloc(1, sizeof(*waits));

	waits->proc = pid ? process_hold(pid, NULL) : NULL;
	if (waits->proc && !process_turns(waits->proc, &waits->last)) {
		process_close(waits->proc);
		waits->proc = NULL;
	}
	return waits;
}

void cpu_waits_free(struct cpu_waits *waits)
{
	if (!waits)
		return;
	process_close(waits->proc);
	free(waits);
}

unsigned cpu_waits_percent(const struct process_turns *before, const struct process_turns *after)
{
	if (after->ran_ns < before->ran_ns || after->waited_ns <= before->waited_ns)
		return 0;
	double waited = after->waited_ns - before->waited_ns;

	return 100 * waited / (waited + (after->ran_ns - before->ran_ns));
}

void cpu_waits_say(struct cpu_waits *waits, const char *tool, const char *hint)
{
	struct process_turns now;

	if (!waits->proc || !process_turns(waits->proc, &now))
		return;
	unsigned percent = cpu_waits_percent(&waits->last, &now);

	waits->last = now;
	if (percent >= MUCH)
		fprintf(stderr,
			"%s: the process's threads waited for a CPU for %u %% of the time that "
			"they wanted one\n"
			"hint: %s\n",
			tool, percent, hint);
}
