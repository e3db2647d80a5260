// SPDX-License-Identifier: Apache-2.0
/* Counts calls: -DROWS=n functions, one counter each on every CPU. See probe.h for the filters. */
#include "parts/every_program.bpf.c"

BPF_PERCPU_ARRAY(counts, u64, ROWS);

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), *count;
	u32 row = cookie_row(cookie);

	if (!probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	count = counts.lookup(&row);
	/* atomic: another thread that hits a probe on this CPU may preempt the program */
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
