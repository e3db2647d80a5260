// SPDX-License-Identifier: Apache-2.0
#include "readers/ending_internal.h"

#include <poll.h>

#include "files/process.h"
#include "files/process_usage.h"

enum { ENDING_MS = 1000 };

bool ending_runs_on(const struct process *proc)
{
	struct pollfd ended = {.fd = process_fd(proc), .events = POLLIN};
	struct process_usage usage;

	if (process_usage(proc, &usage))
		return process_runs(proc);
	return poll(&ended, 1, ENDING_MS) <= 0;
}
