// SPDX-License-Identifier: Apache-2.0
/* since(x): how long ago a time.Time of the program was. Its layout is that of Go's
 * src/time/time.go since 1.9: bits of the first word tell which clocks the two words are of. */
BPF_ARRAY(to_unix, u64, 1); /* what to add to the monotonic clock */

#define TIME_MONOTONIC (1ULL << 63) /* of the first word: it has the seconds as well */
#define TIME_NS_BITS 30
#define TIME_1885_TO_1970 2682288000ULL    /* seconds */
#define TIME_YEAR_1_TO_1970 62135596800ULL /* likewise */
#define TIME_FAR 9000000000ULL             /* no more fit in 63 bits as ns */

/* The ns since 1970; the time that is zero is none. */
static inline s64 time_unix(s64 *bad, u64 wall, u64 ext)
{
	u64 seconds = wall & TIME_MONOTONIC ? (wall << 1 >> (TIME_NS_BITS + 1)) - TIME_1885_TO_1970
					    : ext - TIME_YEAR_1_TO_1970;

	must(bad, wall | ext ? 0 : TRACE_NONE);
	if (seconds + TIME_FAR > 2 * TIME_FAR)
		must(bad, TRACE_BOUNDS);
	return seconds * 1000000000ULL + (wall & ((1ULL << TIME_NS_BITS) - 1));
}

static inline s64 time_since(struct hit *hit, s64 unix_ns)
{
	u32 zero = 0;
	u64 *more = to_unix.lookup(&zero);

	return hit->now + (more ? *more : 0) - unix_ns;
}
