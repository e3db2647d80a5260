// SPDX-License-Identifier: Apache-2.0
/* When to wake the reader of map `events`, of RING_BYTES: once an eighth of it is new. It is read
 * some times a second anyway. Included once, after that map. */
BPF_PERCPU_ARRAY(sent, u64, 1); /* bytes since the reader was woken */

/* The flags for an event of so many bytes */
static inline u64 wakeup(u64 size)
{
	u32 zero = 0;
	u64 *bytes = sent.lookup(&zero);

	if (!bytes)
		return BPF_RB_NO_WAKEUP;
	*bytes += size;
	if (*bytes < RING_BYTES / 8)
		return BPF_RB_NO_WAKEUP;
	*bytes = 0;
	return BPF_RB_FORCE_WAKEUP;
}
