// SPDX-License-Identifier: Apache-2.0
/* Counts allocations by type and stack, at the functions of Go's runtime that make them:
 * mallocgc(size, typ, needzero), and since Go 1.27 one of the same signature for each small size,
 * which compiled code and mallocgc call.
 *
 *   -DPLACES=n     probed sites
 *   -DCOUNTS=n     stacks and types of processes
 *   -DBY_STACK     stacks are wanted
 *   -DEVERY=n      a sample every n bytes on average; 0: all of them
 *   -DHANDED_ON=n  mallocgc leaves sizes below this to the others
 */
#include "shared/allocs.h"
#include "shared/trace.h"

#define LOSS_KINDS ALLOC_LOSSES
#define STACK_FRAMES STACK_FRAMES_MAX
#define STACK_SWITCHES 2 /* to a system stack, and to a signal's */

#include "parts/every_program.bpf.c"
#include "parts/goarg.h"
#include "parts/losses.bpf.c"
#include "parts/stacks.bpf.c"

BPF_ARRAY(places, struct trace_place, PLACES);
BPF_F_TABLE("hash", struct alloc_key, u64, objects, COUNTS, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct alloc_key, u64, bytes, COUNTS, BPF_F_NO_PREALLOC);

#if EVERY
/* 1 - 2^-x for x = n / 2^32, with 30 bits of fraction: by the first five terms of the series, which
 * is right to some 1/10000 */
static inline u64 chance_of(u64 x)
{
	const u64 one = 1ULL << 30;
	u64 f = (u32)x, f2 = f * f >> 32, f3 = f2 * f >> 32, f4 = f3 * f >> 32, f5 = f4 * f >> 32;
	u64 power = one - (f * 744261118 >> 32) + (f2 * 257941248 >> 32) - (f3 * 59597083 >> 32) +
		    (f4 * 10327388 >> 32) - (f5 * 1431680 >> 32);

	return x >> 32 < 30 ? one - (power >> (x >> 32)) : one;
}
#endif

/* How many allocations this one stands for, in parts of 65536; 0: it is no sample. Each is one with
 * probability 1 - exp(-size / EVERY), as where the runtime's own sampler counts bytes down to a
 * number that is exponentially distributed. */
static inline u64 stands_for(u64 size)
{
#if EVERY
	/* log2(e), with 32 bits of fraction; EVERY is 2^24 at most */
	u64 x = size < 64ULL * EVERY ? size * 6196328019ULL / EVERY : 64ULL << 32;
	u64 chance = chance_of(x);

	if (!chance || (bpf_get_prandom_u32() >> 2) >= chance)
		return 0;
	return (1ULL << 46) / chance;
#else
	return 1 << 16;
#endif
}

/* Has it been counted? */
static inline bool add(struct alloc_key *key, u64 count, u64 size)
{
	u64 *number = objects.lookup(key), *sum, none = 0;

	if (!number) { /* several CPUs may try: the first one inserts it */
		bytes.insert(key, &none);
		objects.insert(key, &none);
		number = objects.lookup(key);
	}
	sum = bytes.lookup(key);
	if (!number || !sum) {
		count_loss(ALLOC_LOSS_ROOM);
		return false;
	}
	__sync_fetch_and_add(number, count >> (16 - ALLOC_PARTS_SHIFT));
	__sync_fetch_and_add(sum, size * count >> (16 - ALLOC_PARTS_SHIFT));
	return true;
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), sp = probe_sp(ctx) + cookie_adjust(cookie), count, of = 0,
	    size, type;
	struct alloc_key key = {.place = cookie_row(cookie), .pid = probe_ids() >> 32};
	struct goroutine_key who = {.id = bpf_get_current_pid_tgid()};
	struct trace_place *place = places.lookup(&key.place);

	if (!place || !probe_wanted() || !probe_is_call(ctx, cookie))
		return 0;
	u32 plan = trace_plan_number(place->plan);

	if (goarg(ctx, cookie, GOARG_1, 0, 8, &size) || goarg(ctx, cookie, GOARG_2, 8, 8, &type)) {
		count_loss(ALLOC_LOSS_UNREADABLE);
		return 0;
	}
	/* nothing is allocated; or the function that is called next allocates it */
	if (!size || (plan & ALLOC_HANDS_ON && size < HANDED_ON))
		return 0;
	count = stands_for(size);
	if (!count)
		return 0;
	if (type) {
		/* a descriptor begins with the size: Go's src/internal/abi/type.go */
		read_user(&of, sizeof(of), type);
		key.many = of && size > of;
		key.type = type - (probe_register(ctx, REGISTER_PC) - place->addr);
	}
#ifdef BY_STACK
	key.stack = stack_keep_here(ctx, &who, sp);
#endif
	key.place = key.stack ? key.place : 0;
	if (!add(&key, count, size))
		return 0;
#ifdef BY_STACK
	if (!key.stack)
		count_loss(ALLOC_LOSS_STACKS);
#endif
	return 0;
}
