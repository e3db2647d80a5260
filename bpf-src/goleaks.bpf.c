// SPDX-License-Identifier: Apache-2.0
/* Counts goroutines by the go statements that create them: at runtime.newproc1, which makes each of
 * them, and where runtime.goexit0 or, since Go 1.22, runtime.gdestroy ends each of them.
 *
 *   -DBIRTHS=n        room for go statements
 *   -DCALLER_THIRD    newproc1's argument callerpc is the third, not the fifth
 *   -DG_GOPC=n        byte offset in Go's struct g: gopc, ancestors, startpc
 */
#include "parts/goarg.h"
#include "shared/births.h"

#define LOSS_KINDS BIRTH_LOSSES

BPF_F_TABLE("hash", struct birth_key, struct birth_sum, births, BIRTHS, BPF_F_NO_PREALLOC);

#include "parts/every_program.bpf.c"
#include "parts/losses.bpf.c"

static inline struct birth_sum *sum_of(struct birth_key *key)
{
	struct birth_sum none = {}, *sum = births.lookup(key);

	if (sum)
		return sum;
	/* several CPUs may try: the first one inserts it */
	births.insert(key, &none);
	return births.lookup(key);
}

/* newproc1(fn, argp, narg, callergp, callerpc), and since Go 1.18 newproc1(fn, callergp, callerpc).
 * What `fn` points to begins with the function's address. */
static inline long read_birth(struct pt_regs *ctx, u64 cookie, struct birth_key *key)
{
	u64 fn;

#ifdef CALLER_THIRD
	if (goarg(ctx, cookie, GOARG_3, 16, 8, &key->created_by))
#else
	if (goarg(ctx, cookie, GOARG_5, 32, 8, &key->created_by))
#endif
		return 1;
	return goarg(ctx, cookie, GOARG_1, 0, 8, &fn) ||
	       read_user(&key->start, sizeof(key->start), fn);
}

/* goexit0(gp) */
static inline long read_end(struct pt_regs *ctx, u64 cookie, struct birth_key *key)
{
	u64 g;

	return goarg(ctx, cookie, GOARG_1, 0, 8, &g) ||
	       read_user(&key->created_by, sizeof(key->created_by), g + G_GOPC) ||
	       read_user(&key->start, sizeof(key->start), g + G_GOPC + 16);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx);
	struct birth_key key = {};
	struct birth_sum *sum;
	bool ends = cookie_row(cookie) == BIRTH_END;

	if (!probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	if (ends ? read_end(ctx, cookie, &key) : read_birth(ctx, cookie, &key)) {
		count_loss(BIRTH_LOSS_UNREADABLE);
		return 0;
	}
	sum = sum_of(&key);
	if (!sum)
		count_loss(BIRTH_LOSS_ROOM);
	else if (ends)
		__sync_fetch_and_add(&sum->ended, 1);
	else
		__sync_fetch_and_add(&sum->born, 1);
	return 0;
}
