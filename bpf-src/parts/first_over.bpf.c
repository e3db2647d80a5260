// SPDX-License-Identifier: Apache-2.0
/* A search in map `deep_calls` of the program that this is inserted into; the map's values begin
 * with a struct call. */

#define DEEP_LOG2 24 /* calls of one goroutine, at most 2 to this */

/* The index of the first call at `depth` or deeper among a goroutine's calls with indexes in [from,
 * to); `to`: none. A binary search, as depths never fall from one call to the next. */
static inline u64 first_over(struct goroutine_key *who, u64 from, u64 to, u64 depth)
{
	struct deep_key key = {.who = *who};
	struct call *call;
	u64 middle, below;
	int i;

	from = forget_value(from, depth);
	/* Each step forgets what it found: the verifier would follow each outcome of each step
	 * through all later ones. */
#pragma clang loop unroll(disable)
	for (i = 0; i < DEEP_LOG2; i = loop_next(i)) {
		if (forget_value(from, depth) >= forget_value(to, depth))
			continue;
		middle = forget_value((from + to) / 2, depth);
		key.index = middle;
		call = (struct call *)deep_calls.lookup(&key);
		below = forget_value(call && call->depth < depth, middle);
		from = forget_value(from ^ ((from ^ (middle + 1)) & -below), depth);
		to = forget_value(to ^ ((to ^ middle) & (below - 1)), depth);
	}
	return from;
}
