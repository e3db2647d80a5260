// SPDX-License-Identifier: Apache-2.0
/* Adds up what hits cost.
 *
 *   -DCOST_ROWS=n    cookies have rows below n; not defined: nothing is added up
 */

#ifdef COST_ROWS
#include "shared/cost.h"

BPF_PERCPU_ARRAY(cost_cpus, struct cost_cpu, 1);
BPF_ARRAY(cost_limits, struct cost_limit, 1);
BPF_ARRAY(cost_sums, struct cost_sum, 1);
BPF_ARRAY(cost_rows, struct cost_row, COST_ROWS);

static inline u32 cost_of(u32 kind, struct cost_row *row, struct cost_limit *limit)
{
	if (kind == COOKIE_JUMP || kind == COOKIE_RETURN)
		return limit->end;
	return row && row->stepped ? limit->stepped : limit->entry;
}

/* Is the hit to be handled? A thread that preempts another one here may tell a batch twice, which
 * is one in thousands; hits are counted exactly. */
static inline bool cost_allows(u64 cookie)
{
	u32 zero = 0, number = cookie_row(cookie), kind = cookie_kind(cookie);
	struct cost_cpu *cpu = cost_cpus.lookup(&zero);
	struct cost_limit *limit = cost_limits.lookup(&zero);
	struct cost_sum *sum = cost_sums.lookup(&zero);
	struct cost_row *row = cost_rows.lookup(&number);
	u64 batch;

	if (!cpu || !limit || !sum)
		return true;
	__sync_fetch_and_add(&cpu->hits, 1);
	__sync_fetch_and_add(&cpu->spent, cost_of(kind, row, limit));
	batch = cpu->spent - cpu->told;
	if (batch >= COST_BATCH_NS) {
		cpu->told += batch;
		__sync_fetch_and_add(&sum->spent, batch);
		if (row && kind <= COOKIE_RETURN)
			__sync_fetch_and_add(&row->spent, batch);
		if (limit->spent && sum->spent > limit->spent)
			sum->over = 1;
	}
	return !sum->over;
}
#else
static inline bool cost_allows(u64 cookie)
{
	return true;
}
#endif
