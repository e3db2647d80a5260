// SPDX-License-Identifier: Apache-2.0
/* Which probe is this? Put into each program's own text: libbcc knows maps there only. */

#ifdef BY_ADDRESS
BPF_F_TABLE("hash", u64, u64, sites, PROBE_SITES, BPF_F_NO_PREALLOC); /* probe_place() -> cookie */
#endif

static inline u64 find_cookie(struct pt_regs *ctx)
{
#ifdef BY_ADDRESS
	u64 place = probe_place(ctx);
	u64 *found = sites.lookup(&place);

	return found ? *found : (u64)COOKIE_NONE << COOKIE_KIND_SHIFT;
#else
	return bpf_get_attach_cookie(ctx);
#endif
}
