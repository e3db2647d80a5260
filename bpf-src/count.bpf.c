// SPDX-License-Identifier: Apache-2.0
/* Counts calls: -DROWS=n functions, one counter each on every CPU. See probe.h for the filters. */
#include "probe.h"

BPF_PERCPU_ARRAY(counts, u64, ROWS);

#ifdef BY_ADDRESS
BPF_F_TABLE("hash", u64, u64, sites, PROBE_SITES, BPF_F_NO_PREALLOC); /* probe_place() -> cookie */
#endif

/* Here and not in probe.h: libbcc knows maps in a program's main file only. */
static inline u64 find_cookie(struct pt_regs *ctx)
{
#ifdef BY_ADDRESS
	u64 place = probe_place(ctx);
	u64 *found = sites.lookup(&place);

	return found ? *found : (u64)COOKIE_NONE << COOKIE_KIND_SHIFT;
#else
	return bpf_get_attach_cookie(ctx);
#endif
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), *count;
	u32 row = cookie_row(cookie);

	if (!probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	count = counts.lookup(&row);
	/* atomic: the program may be preempted by another thread that hits a probe on this CPU */
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
