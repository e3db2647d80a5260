// SPDX-License-Identifier: Apache-2.0
/* Tells of each context that is cancelled, once: by whom, when it was created, and who waited for
 * it. In Go's src/context/context.go all contexts that can be cancelled are joined to their parent
 * by propagateCancel, and cancelled by (*cancelCtx).cancel, which calls itself for children.
 *
 *   -DCONTEXTS=n          contexts whose creation is remembered; the oldest are forgotten
 *   -DCALLS=n             calls of cancel() at a time
 *   -DRING_PAGES=n        size of the ring buffer, a power of two
 *   -DALL                 those that nobody waits for are told, too
 *   -DJOIN_METHOD         propagateCancel is a method of the new context; else that is its second
 *                         argument, an interface
 *   -DCONTEXT_DONE=n -DCONTEXT_ERR=n    byte offsets in struct cancelCtx: the channel; the error
 *   -DERR_IS_VALUE        ... of which the first word is its type, not an itab
 *   -DCONTEXT_CAUSE=n     ... the cause, an error; not defined: there is none
 *   -DG_PARAM=n -DSUDOG_CHANNEL=n       byte offsets in the runtime's struct g and sudog
 *   -DG_WAITING=n         ... of what g waits for, which is nil for semaphores; else not defined
 *
 * Of calls for a context that is cancelled already nothing is told. Where two goroutines call
 * cancel() for one at the same time, the first to come is told, and that another one was there.
 */
#include "parts/goarg.h"
#include "parts/goroutine.h"
#include "shared/cancels.h"

#define RING_BYTES (RING_PAGES * 4096ULL)
#define LOSS_KINDS CANCEL_LOSSES
#define EEXIST 17 /* of the kernel's errno-base.h */

BPF_ARRAY(active, u32, 1);
BPF_ARRAY(no_call, struct cancel_event, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
/* In the key of these two the address of a context is in place of a goid. */
BPF_TABLE("lru_hash", struct goroutine_key, struct cancel_birth, births, CONTEXTS);
/* that are being cancelled; and if another goroutine tries to, too */
BPF_F_TABLE("hash", struct goroutine_key, u32, contexts, CALLS, BPF_F_NO_PREALLOC);
/* the context of each call for one that was not cancelled yet */
BPF_F_TABLE("hash", struct cancel_frame, u64, frames, CALLS, BPF_F_NO_PREALLOC);
/* by goroutine: the outermost of its calls */
BPF_F_TABLE("hash", struct goroutine_key, struct cancel_event, calls, CALLS, BPF_F_NO_PREALLOC);

#include "parts/every_program.bpf.c"
#include "parts/losses.bpf.c"
#include "parts/processes.bpf.c"
#include "parts/stacks.bpf.c"
#include "parts/wakeup.bpf.c"

static inline u64 keep_stack(struct pt_regs *ctx, struct goroutine_key *who, u64 sp)
{
	u64 hash = stack_keep_caller(ctx, who, sp, ~0ULL);

	if (!hash)
		count_loss(CANCEL_LOSS_STACKS);
	return hash;
}

static inline void note_birth(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who, u64 sp,
			      u64 now)
{
	struct goroutine_key key = {.process = who->process};
	struct cancel_birth birth = {.time_ns = now, .goid = who->id};

#ifdef JOIN_METHOD
	if (goarg(ctx, cookie, GOARG_1, 0, 8, &key.id))
#else
	if (goarg(ctx, cookie, GOARG_4, 24, 8, &key.id))
#endif
	{
		count_loss(CANCEL_LOSS_UNREADABLE);
		return;
	}
	birth.stack = keep_stack(ctx, who, sp);
	births.update(&key, &birth);
}

/* Is the context not cancelled yet, and is this the only goroutine that cancels it? Then nobody
 * else is, until the context is taken out of the map. */
static inline bool claim(struct goroutine_key *key)
{
	u32 mine = 0, *other;
	u64 err = 0;
	long error = contexts.insert(key, &mine);
	/* to be read after that: who has set it was in the map before, or is turned away below */
	bool is_read = !read_user(&err, sizeof(err), key->id + CONTEXT_ERR);

	other = error == -EEXIST || err ? contexts.lookup(key) : 0;
	if (!error) {
		/* or who has come second was faster */
		if (is_read && (!err || (other && *other)))
			return true;
		if (!is_read)
			count_loss(CANCEL_LOSS_UNREADABLE);
		contexts.delete(key);
	} else if (error != -EEXIST) {
		count_loss(CANCEL_LOSS_ROOM);
	} else if (other && is_read && !err) {
		*other = 1;
	}
	return false;
}

/* The outermost call of its goroutine; NULL: there is no room. */
static inline struct cancel_event *begin_call(struct pt_regs *ctx, struct goroutine_key *who,
					      u64 context, u64 depth, u64 now)
{
	u32 zero = 0;
	struct cancel_event *none = no_call.lookup(&zero), *call;

	if (!none || process_note(who) || calls.update(who, none))
		return 0;
	call = calls.lookup(who);
	if (!call)
		return 0;
	call->begin_ns = now;
	call->who = *who;
	call->depth = depth;
	call->context = context;
	call->probe = probe_register(ctx, REGISTER_PC);
	call->pid = probe_ids() >> 32;
	return call;
}

static inline void cancel_begins(struct pt_regs *ctx, u64 cookie, struct goroutine_key *who,
				 u64 depth, u64 now)
{
	struct goroutine_key key = {.process = who->process};
	struct cancel_frame frame = {*who, depth};
	struct cancel_event *call;
	struct cancel_birth *birth;

	if (goarg(ctx, cookie, GOARG_1, 0, 8, &key.id)) {
		count_loss(CANCEL_LOSS_UNREADABLE);
		return;
	}
	if (!claim(&key))
		return;
	call = calls.lookup(who);
	if (call && call->depth >= depth) { /* a panic has ended it, or so */
		count_loss(CANCEL_LOSS_ENDS);
		call = 0;
	}
	birth = births.lookup(&key);
	if (call) {
		call->children++;
	} else {
		call = begin_call(ctx, who, key.id, depth, now);
		if (call && birth) {
			call->created_ns = birth->time_ns;
			call->created_goid = birth->goid;
			call->created_stack = birth->stack;
		}
	}
	if (birth)
		births.delete(&key);
	if (!call || frames.update(&frame, &key.id)) {
		count_loss(CANCEL_LOSS_ROOM);
		contexts.delete(&key);
		return;
	}
	call->last = key.id;
}

/* `words`: an interface's, or a sync/atomic.Value's */
static inline void read_error(struct cancel_error *error, u64 at, const bool is_value)
{
	struct {
		u64 type, data;
	} words = {};
	struct {
		u64 data, len;
	} text = {};
	u32 len;

	if (read_user(&words, sizeof(words), at) || !words.type)
		return;
	error->type = words.type;
	if (!is_value && read_user(&error->type, sizeof(error->type), words.type + 8))
		error->type = 0;
	if (read_user(&text, sizeof(text), words.data) || !text.data)
		return;
	len = text.len < CANCEL_TEXT ? text.len : CANCEL_TEXT;
	asm volatile("" : "+r"(len));
	if (len > CANCEL_TEXT || !len)
		return;
	if (!probe_read_user(error->text, len, (void *)text.data))
		error->len = text.len;
}

static inline void tell(struct pt_regs *ctx, struct goroutine_key *who, struct cancel_event *call,
			u64 sp)
{
	call->stack = keep_stack(ctx, who, sp);
	call->time_ns = bpf_ktime_get_ns();
#ifdef ERR_IS_VALUE
	read_error(&call->error, call->context + CONTEXT_ERR, true);
#else
	read_error(&call->error, call->context + CONTEXT_ERR, false);
#endif
#ifdef CONTEXT_CAUSE
	read_error(&call->cause, call->context + CONTEXT_CAUSE, false);
#endif
	if (events.ringbuf_output(call, sizeof(*call), wakeup(sizeof(*call))))
		count_loss(CANCEL_LOSS_EVENTS);
}

static inline void cancel_returns(struct pt_regs *ctx, struct goroutine_key *who, u64 depth, u64 sp)
{
	struct goroutine_key key = {.process = who->process};
	struct cancel_frame frame = {*who, depth};
	u64 *context = frames.lookup(&frame);
	struct cancel_event *call = calls.lookup(who);
	u32 *contested;

	if (!context)
		return;
	key.id = *context;
	frames.delete(&frame);
	contested = contexts.lookup(&key);
	if (call && call->depth == depth) {
		call->contested = contested && *contested;
#ifndef ALL
		/* whom another goroutine has woken by the same context is not counted */
		if (call->woken || call->contested)
#endif
			tell(ctx, who, call, sp);
		calls.delete(who);
	}
	contexts.delete(&key);
}

/* Has goroutine `gp` waited for the channel of this context, and goes on as that is closed? It is
 * told at which of its sudogs; up to Go 1.15 or so that is nil, as it is where a semaphore wakes
 * it. */
static inline bool has_waited(u64 gp, u64 context)
{
	u64 sudog = 0, waiting = 0, channel = 0, done = 0;

	if (read_user(&sudog, sizeof(sudog), gp + G_PARAM))
		return false;
#ifdef G_WAITING
	if (!sudog)
		return !read_user(&waiting, sizeof(waiting), gp + G_WAITING) && waiting;
#endif
	read_user(&channel, sizeof(channel), sudog + SUDOG_CHANNEL);
	read_user(&done, sizeof(done), context + CONTEXT_DONE);
	return channel && channel == done;
}

/* ready(gp, ...), on the system stack of the thread: has gp waited for the channel that is being
 * closed by the goroutine that this thread works for? */
static inline void goes_on(struct pt_regs *ctx, u64 cookie)
{
	struct goroutine_key who = {};
	struct cancel_event *call;
	u64 m = 0, user = 0, gp = 0;
	u32 n;

	read_user(&m, sizeof(m), goroutine_g(ctx) + G_M);
	read_user(&user, sizeof(user), m + M_CURG);
	if (!user || read_user(&who.id, sizeof(who.id), user + GOID_OFF))
		return;
	goroutine_process(&who);
	call = calls.lookup(&who);
	if (!call || goarg(ctx, cookie, GOARG_1, 0, 8, &gp) || !has_waited(gp, call->last))
		return;
	n = call->woken++;
	if (n >= CANCEL_WOKEN)
		return;
	n &= CANCEL_WOKEN - 1;
	read_user(&call->by[n].goid, sizeof(call->by[n].goid), gp + GOID_OFF);
	call->by[n].stack = stack_keep_parked(&who, gp);
	if (!call->by[n].stack)
		count_loss(CANCEL_LOSS_STACKS);
}

int on_probe(struct pt_regs *ctx)
{
	u64 cookie = find_cookie(ctx), now = bpf_ktime_get_ns(), depth;
	u64 sp = probe_sp(ctx) + cookie_adjust(cookie);
	u32 zero = 0, func = cookie_row(cookie), kind = cookie_kind(cookie), *on;
	struct goroutine_key who = {};

	on = active.lookup(&zero);
	if (!on || !*on || !probe_wanted())
		return 0;
	if (kind != COOKIE_RETURN && !probe_is_call(ctx, cookie))
		return 0;
	if (func == CANCEL_FUNC_READY) {
		goes_on(ctx, cookie);
		return 0;
	}
	if (!goroutine_here(ctx, sp, &who, &depth)) {
		count_loss(CANCEL_LOSS_UNREADABLE);
		return 0;
	}
	if (func == CANCEL_FUNC_JOIN)
		note_birth(ctx, cookie, &who, sp, now);
	else if (kind == COOKIE_RETURN)
		cancel_returns(ctx, &who, depth, sp);
	else
		cancel_begins(ctx, cookie, &who, depth, now);
	return 0;
}
