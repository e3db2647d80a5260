// SPDX-License-Identifier: Apache-2.0
/* The part of gofunclatency.bpf.c for gccgo, whose goroutines' stacks have several segments.
 * Inserted there. */

#ifdef SPLIT_STACK
#define SEGMENTS_MAX 64

static inline void end_segments(struct goroutine_key *who, enum ending how, bool deeper)
{
	u64 at = who->id - SPLIT_BACKOFF - SPLIT_HEADER;
	struct goroutine_key key = *who;
	struct split_segment seg;
	struct calls *calls;
	int i;

	for (i = 0; i < SEGMENTS_MAX; i++) {
		if (read_user(&seg, sizeof(seg), at))
			break;
		at = deeper ? seg.next : seg.prev;
		if (!at)
			break;
		key.id = at + SPLIT_HEADER + SPLIT_BACKOFF;
		calls = goroutines.lookup(&key);
		if (calls && !calls->ended)
			calls->ended = 1 + how;
	}
}

/* A hook also ends the calls on the goroutine's other segments: they are marked, and ended at the
 * segment's next hit. */
static inline void end_others(u32 kind, struct goroutine_key *who, enum ending how)
{
	if (kind < COOKIE_RECOVERED || who->id & GOROUTINE_SYSTEM)
		return;
	end_segments(who, how, true);
	if (kind != COOKIE_RECOVERED)
		end_segments(who, how, false);
}
#endif
