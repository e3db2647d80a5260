// SPDX-License-Identifier: Apache-2.0
/* Counts calls by what their records hold, for goargdist. Inserted into gotrace.bpf.c, where a
 * record would go into an event.
 *
 *   -DKEY_MAX=n   bytes of a record, at most; a multiple of 8
 *   -DKEYS=n      keys that there can be at a time
 *   -DROOMS=n     threads that can make keys
 */

struct trace_key {
	struct trace_key_head head;
	char record[KEY_MAX];
};

BPF_F_TABLE("hash", struct trace_key, u64, keys, KEYS, BPF_F_NO_PREALLOC);
/* Where keys are made, by thread: one that is interrupted, or waits for a page, keeps its own. */
BPF_F_TABLE("hash", u32, struct trace_key, rooms, ROOMS, BPF_F_NO_PREALLOC);
BPF_ARRAY(no_key, struct trace_key, 1);

/* Room for a key, all zero. NULL: the call is counted as lost. */
static inline struct trace_key *key_room(void)
{
	u32 thread = bpf_get_current_pid_tgid(), zero = 0;
	struct trace_key *none = no_key.lookup(&zero), *room = rooms.lookup(&thread);

	if (!none)
		return 0;
	if (room) {
		probe_read_kernel(room, sizeof(*room), none);
		return room;
	}
	rooms.update(&thread, none);
	return rooms.lookup(&thread);
}

static inline void count_key(struct trace_key *key)
{
	u64 one = 1, *calls = keys.lookup(key);
	long error;

	if (!calls) {
		error = keys.insert(key, &one);
		if (!error)
			return;
		calls = keys.lookup(key); /* another thread was faster */
		if (!calls) {
			count(error == -E2BIG ? TRACE_KEYS_FULL : TRACE_KEYS_NO_MEMORY);
			return;
		}
	}
	__sync_fetch_and_add(calls, 1);
}

/* The row of bcc's log2 histograms that a number is in: 1 for 0 and 1, 2 for 2 and 3, 3 for 4 to 7
 * ...; of negative numbers the row of their magnitude, negated. */
static inline s64 log2_row(u64 number, bool is_signed)
{
	bool negative = is_signed && (s64)number < 0;
	s64 row = histogram_log2(negative ? -number : number) + 1;

	return negative ? -row : row;
}

/* Whether a pointer is nil is all that is kept of it in a key: its target is in the key as well. */
static inline void forget_pointer(char *at)
{
	*(u64 *)at = *(u64 *)at != 0;
}

/* All ones where something could be read, by its state; else 0. */
static inline u64 read_mask(char *state)
{
	return ~(*(s64 *)state >> 63);
}
