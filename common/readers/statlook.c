// SPDX-License-Identifier: Apache-2.0
#include "readers/statlook.h"

#include <stdio.h>

#include "base/budget_watch.h"
#include "gostacks/goprocesses.h"
#include "gostat/stats.h"

enum { LOOK_NS = 2000000000, LOOK_BYTES = 1 << 20 };

void statlook(struct stats_reader **reader, const struct goprocesses_one *one, struct stats *out)
{
	char whose[64];

	snprintf(whose, sizeof(whose), "process %d", one->pid);
	budget_watch_task(whose, "a look at its numbers");
	budget_watch_allow(LOOK_NS, LOOK_BYTES);
	if (!*reader)
		*reader = stats_reader_new(goprocess_program(one->gp), goprocess_frames(one->gp));
	stats_read(*reader, goprocess_memory(one->gp), one->proc, out);
}
