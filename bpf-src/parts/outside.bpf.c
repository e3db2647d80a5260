// SPDX-License-Identifier: Apache-2.0
/* Hits of processes that the tool's PID namespace does not show, as those of other containers with
 * the same file: they are left out, and counted. Needed where the namespace is not the machine's
 * (-DPIDNS_INO) and all processes of a file are traced. */
#if defined(PIDNS_INO) && !defined(TGID)
BPF_PERCPU_ARRAY(outside, u64, 1);

static inline void probe_note_outside(void)
{
	u32 zero = 0;
	u64 *hits = outside.lookup(&zero);

	if (hits)
		++*hits;
}
#endif
