/* SPDX-License-Identifier: Apache-2.0 */
/* To be included before gotrace.bpf.c, which is run on this side: what is generated for it, and is
 * the test's own. traceplan_own.h has plans for all who want no others: */
#ifndef TRACEPLANS_H
#define TRACEPLANS_H

#include "fakegoroutine.h"
#include "steps.h"
#include "unit.h"

#include "bpf-src/parts/hit.h"

/* calls are printed at their entry; at their return; at their return, of which the predicate
 * asks for a result. Each prints AX, and with r: first what it was when the call began. It wants no
 * NO, and cannot read BAD. */
enum tracehits_plan { ENTRY_PLAN, RETURN_PLAN, RESULT_PLAN };
enum { NO = 99, BAD = 98 };

#ifdef KEYED
#define TRACEPLANS_REPORT struct trace_key
#else
#define TRACEPLANS_REPORT struct trace_event
#endif

struct trace_key;

static inline bool waits_for_return(u32 plan);
static inline bool tests_results(u32 plan);
static inline bool wants_at_entry(struct pt_regs *ctx, struct hit *hit, u32 part);
static inline void save_arguments(struct pt_regs *ctx, struct hit *hit, char *rec, u32 part);
static inline TRACEPLANS_REPORT *fill_event(struct pt_regs *ctx, struct hit *hit, char *saved,
					    u32 part);
#ifdef KEYED
static inline void make_key(struct pt_regs *ctx, struct hit *hit, char *rec, u32 part);
#endif

#endif
