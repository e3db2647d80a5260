/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of gotrace's kernel side, which the test has included, for tests that want no others. */
#ifndef TRACEPLAN_OWN_H
#define TRACEPLAN_OWN_H

#include <string.h>

#include "traceplans.h"

#ifdef STATES_WANTED
#define TRACEHITS_STATES sizeof(struct state_times)
#else
#define TRACEHITS_STATES 0
#endif

static inline bool waits_for_return(u32 plan)
{
	return plan != ENTRY_PLAN;
}

static inline bool tests_results(u32 plan)
{
	return plan == RESULT_PLAN;
}

static inline bool tracehits_wants(struct pt_regs *ctx)
{
	return is_wanted(ctx->ax != NO, ctx->ax == BAD ? TRACE_FAULT : 0);
}

static inline bool wants_at_entry(struct pt_regs *ctx, struct hit *hit, u32 part)
{
	(void)part;
	return hit->plan != RETURN_PLAN || tracehits_wants(ctx);
}

static inline void save_arguments(struct pt_regs *ctx, struct hit *hit, char *rec, u32 part)
{
	(void)hit;
	(void)part;
	*(u64 *)(rec + TRACEHITS_STATES) = ctx->ax;
}

#ifndef KEYED
static inline struct trace_event *fill_event(struct pt_regs *ctx, struct hit *hit, char *saved,
					     u32 part)
{
	u32 kept = saved ? TRACEHITS_STATES + 8 : 0;
	struct trace_event *event;
	char *rec;

#if TABLES
	if (reports_by_table(part))
		return tracehits_wants(ctx) ? table_report(ctx, hit, saved) : NULL;
#endif
	(void)part;
	if (hit->plan != RETURN_PLAN && !tracehits_wants(ctx))
		return NULL;
	event = events.ringbuf_reserve(sizeof(*event) + kept + 8 + FRAMES_SIZE);
	if (!event) {
		count(TRACE_LOST);
		return NULL;
	}
	rec = (char *)(event + 1);
	if (saved)
		memcpy(rec, saved, kept);
	*(u64 *)(rec + kept) = ctx->ax;
	hit->size = sizeof(*event) + kept + 8;
	return event;
}
#endif

#endif
