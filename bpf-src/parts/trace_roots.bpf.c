// SPDX-License-Identifier: Apache-2.0
/* For gotrace.bpf.c: -DROOTS, calls are of interest if they begin below a call of ROOT, and their
 * events have its number; else all are. */
#ifdef ROOTS
#include "parts/roots.bpf.c"

static inline bool root_enters(struct hit *hit, struct goroutine_key *who)
{
	hit->latency = root_number(who);
	return hit->latency;
}

/* The same when that is known. */
static inline bool root_entered(struct hit *hit)
{
	return hit->latency;
}

static inline void root_forget(struct hit *hit)
{
	hit->latency = forget_value(hit->latency, hit->now);
}

static inline void root_keep(struct waiting *waiting, struct hit *hit)
{
	waiting->root = hit->latency;
}

/* Of a call that has ended, `saved` is what was kept of it; else NULL. */
static inline void root_describe(struct trace_event *event, char *saved)
{
	if (saved) {
		event->root = *(u32 *)(saved + __builtin_offsetof(struct waiting, root) -
				       __builtin_offsetof(struct waiting, saved));
		return;
	}
	event->root = event->latency_ns; /* of struct hit */
	event->latency_ns = 0;
}
#else
static inline bool root_enters(struct hit *hit, struct goroutine_key *who)
{
	return true;
}

static inline bool root_entered(struct hit *hit)
{
	return true;
}

static inline void root_forget(struct hit *hit)
{
}

static inline void root_keep(struct waiting *waiting, struct hit *hit)
{
}

static inline void root_describe(struct trace_event *event, char *saved)
{
}
#endif
