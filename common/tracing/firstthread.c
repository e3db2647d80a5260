// SPDX-License-Identifier: Apache-2.0
#include "tracing/firstthread_internal.h"

#include "base/clock.h"
#include "base/errmsg.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "tracing/tracer_state_internal.h"

/* Longer than an execve takes, or the end of all threads. */
#define ENDED_NS 500000000ull

int firstthread_check(const struct tracer *tracer, uint64_t *since, struct errmsg *err)
{
	uint64_t now = clock_ns();

	if (!tracer->execs || !tracer->process || attach_how() == ATTACH_MULTI)
		return 0;
	if (process_first_runs(tracer->process) || !process_runs(tracer->process)) {
		*since = 0;
		return 0;
	}
	if (!*since)
		*since = now;
	if (now - *since < ENDED_NS)
		return 0;
	errmsg_set(err,
		   "the first thread of process %d has ended: this kernel shows no calls of the "
		   "others since",
		   tracer->pid);
	errmsg_hint(err, "trace it again");
	return -1;
}
