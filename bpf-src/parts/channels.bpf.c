// SPDX-License-Identifier: Apache-2.0
/* A call of ROOT goes on in a goroutine that receives a value which one below the call has sent,
 * until it receives the next value, no matter who sends it, or the call ends.
 *
 *   -DCHANNEL_VALUES=n   room for values in buffers
 *
 * The program that this is inserted into defines struct channel_value, what a value has of who sent
 * it: all zeroes if that is below no call of ROOT; and what is declared here.
 *
 * Go's src/runtime/chan.go: send() and recv() hand a value over between who runs and who waits.
 * Otherwise chansend() and selectgo() copy it into the channel's
 * buffer by typedmemmove(), and chanrecv() and selectgo() clear its place by typedmemclr(), after
 * they have copied it if that is wanted. All of this is done with the channel locked, so what is
 * kept of a place in the buffer is touched by one thread at a time, in the order of the values; and
 * who waits does not run.
 *
 * A value without a size (struct{}) carries nothing from one goroutine to another: it neither
 * begins nor ends anything. Nor does a value that a timer sends, on a system stack: its type is
 * noted, as whoever takes it out of a buffer meets nothing else of the timer.
 */
#include "shared/channels.h"

#define CHANNEL_TIMERS 4096 /* types of values that timers send: one in each program */
/* Byte offset in struct hchan: of recvx, since Go 1.23 of sendx. Of a full buffer they are equal.
 */
#define HCHAN_NEXT 48

/* what is read of struct hchan at a time: its first fields */
struct channel_head {
	u64 count, size, buffer;
	u16 value_size, zero;
	u32 closed;
};

/* in buffers, with the value's address in place of a goid */
BPF_F_TABLE("hash", struct goroutine_key, struct channel_value, channel_values, CHANNEL_VALUES,
	    BPF_F_NO_PREALLOC);
/* by the type's address in place of a goid */
BPF_F_TABLE("hash", struct goroutine_key, u64, channel_timers, CHANNEL_TIMERS, BPF_F_NO_PREALLOC);

/* What a value has that the goroutine sends. */
static inline struct channel_value channel_value(struct goroutine_key *who);
static inline bool channel_is_given(struct channel_value *value); /* is it of a call of ROOT? */
/* The goroutine receives this value. */
static inline void channel_receive(struct goroutine_key *who, struct channel_value *value);
static inline void channel_full(void); /* a value has no room */
static inline void channel_lost(void); /* who sends or receives could not be read */

/* An argument of the function that is called by the instruction at the site. */
static inline long call_arg(struct pt_regs *ctx, const u32 place, u32 at, u64 *value)
{
#ifdef ARGS_IN_REGISTERS
	*value = probe_register(ctx, place);
	return 0;
#elif defined(__aarch64__)
	return read_user(value, sizeof(*value), probe_sp(ctx) + 8 + at); /* above the link */
#else
	return read_user(value, sizeof(*value), probe_sp(ctx) + at);
#endif
}

/* `place` is who->id's for the while that the maps need it there. */
static inline void channel_put(struct goroutine_key *who, struct channel_value *value, u64 place)
{
	u64 id = who->id;

	who->id = place;
	if (!channel_is_given(value))
		channel_values.delete(who);
	else if (channel_values.update(who, value))
		channel_full();
	who->id = id;
}

static inline void channel_take(struct goroutine_key *who, u64 place, u64 type)
{
	struct channel_value value = {}, *put;
	u64 id = who->id, *timers;

	who->id = place;
	put = channel_values.lookup(who);
	if (put) {
		value = *put;
		channel_values.delete(who);
	}
	who->id = type;
	timers = channel_timers.lookup(who);
	who->id = id;
	if (put || !timers)
		channel_receive(who, &value);
}

/* at typedmemmove(type, place, from), and at typedmemclr(type, place) */
static inline void channel_buffer_hit(struct pt_regs *ctx, u32 what, struct goroutine_key *who)
{
	u64 type = 0, place = 0, size = 0, one = 1, id = who->id;
	struct channel_value value;

	if (call_arg(ctx, GOARG_1, 0, &type) || call_arg(ctx, GOARG_2, 8, &place) ||
	    read_user(&size, sizeof(size), type)) {
		channel_lost();
		return;
	}
	if (!size)
		return;
	if (what == CHANNEL_TAKE) {
		channel_take(who, place, type);
		return;
	}
	value = channel_value(who);
	channel_put(who, &value, place);
	if (id & GOROUTINE_SYSTEM) {
		who->id = type;
		channel_timers.update(who, &one);
	}
}

/* Where the buffer is full, who waits to send puts its value where the oldest one was. */
static inline void channel_turn(struct goroutine_key *who, struct goroutine_key *sender,
				struct channel_head *head, u64 channel)
{
	struct channel_value value = channel_value(sender);
	u64 at = 0;

	if (read_user(&at, sizeof(at), channel + HCHAN_NEXT)) {
		channel_lost();
		return;
	}
	at = head->buffer + at * head->value_size;
	channel_take(who, at, 0); /* no timer waits to send */
	channel_put(who, &value, at);
}

/* send(c, sg, ...) and recv(c, sg, ...): sg.g, its first word, waits */
static inline void channel_meet(struct pt_regs *ctx, u64 cookie, u32 what,
				struct goroutine_key *who)
{
	struct goroutine_key waiter = {.process = who->process};
	u64 channel = 0, waiting = 0, g = 0;
	struct channel_head head = {};
	struct channel_value value;

	if (goarg(ctx, cookie, GOARG_1, 0, 8, &channel) ||
	    goarg(ctx, cookie, GOARG_2, 8, 8, &waiting) || read_user(&g, sizeof(g), waiting) ||
	    read_user(&waiter.id, sizeof(waiter.id), g + GOID_OFF) ||
	    read_user(&head, sizeof(head), channel)) {
		channel_lost();
		return;
	}
	if (!head.value_size || who->id & GOROUTINE_SYSTEM)
		return;
	if (what == CHANNEL_RECEIVE && head.size) {
		channel_turn(who, &waiter, &head, channel);
		return;
	}
	value = channel_value(what == CHANNEL_SEND ? who : &waiter);
	channel_receive(what == CHANNEL_SEND ? &waiter : who, &value);
}

static inline void channel_hit(struct pt_regs *ctx, u64 cookie)
{
	u64 depth;
	u32 what = cookie_copy(cookie);
	struct goroutine_key who = {};

	if (!probe_wanted() || !probe_is_call(ctx, cookie))
		return;
	if (!goroutine_here(ctx, probe_sp(ctx), &who, &depth))
		channel_lost();
	else if (what >= CHANNEL_PUT)
		channel_buffer_hit(ctx, what, &who);
	else
		channel_meet(ctx, cookie, what, &who);
}
