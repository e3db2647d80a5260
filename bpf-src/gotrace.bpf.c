// SPDX-License-Identifier: Apache-2.0
/* Traces calls for gotrace: what each PROBE asks for is read into an event's record, and events go
 * through a ring buffer. A plan is a few functions that are generated from a PROBE and a function's
 * signature; plans are inserted at the marks below.
 *
 *   -DSTRING_MAX=n      bytes of a string in an interface, at most
 *   -DSAVED_MAX=n       bytes kept with a call until it returns
 *   -DRING_PAGES=n      size of the ring buffer, a power of two
 *   -DPLACES=n          probed sites
 *   -DCALLS=n           calls that can be waited for at a time
 *   -DRETURNS           there are return probes
 *   -DSTATES_WANTED     it is asked how long calls were in each state: trace_states.bpf.c
 *   -DUSER_FRAMES -DKERNEL_FRAMES    stacks are wanted
 *   -DPARENT            who created the goroutine is wanted
 *   -DIDENTITY_FIRST     predicates ask for the goroutine, the thread or the CPU
 *   -DLABELS            labels of goroutines are asked for
 *   -DCONTEXTS          values of contexts are asked for: parts/trace_contexts.bpf.c
 *   -DSINCE              how long ago a time was is asked for: parts/trace_since.bpf.c
 *   -DSLEEPABLE         pages that are not in memory can be waited for
 *   -DONLY_TID=n -DONLY_GOID=n
 *   -DKEYED             no events: calls are counted by their records, parts/trace_keys.bpf.c
 *   -DKEY_BIAS          records have addresses of code
 *   -DROOTS=n           calls below a call of ROOT are wanted alone: parts/roots.bpf.c. With it
 *                       IDENTITY_FIRST
 *   -DTABLES=n          there are programs that read by tables of steps: parts/trace_tables.bpf.c
 */
#include "parts/goroutine.h"
#include "parts/tail.h"
#include "shared/states.h"
#include "shared/trace.h"
#include "parts/hit.h"
#include "parts/fetch.h"
#if defined(LABELS) || defined(CONTEXTS)
#include "parts/text_key.h"
#endif
#ifdef LABELS
#include "parts/label_find.h"
#endif
#if defined(SPLIT_STACK) && USER_FRAMES
#include "parts/stackcopy.h"
#endif
#include "shared/type_key.h"
#if TABLES
#include "parts/extremes.h"
#include "shared/trace_step.h"
#else
#define TABLE_ENTRIES ~0U
#define TABLE_BEGINS ~0U
#define TABLE_ENDS ~0U
#endif

#ifdef SPLIT_STACK
#define USER_BYTES sizeof(struct trace_stack)
#else
#define USER_BYTES (8 * TRACE_FRAMES)
#endif
#define FRAMES_SIZE (USER_BYTES * USER_FRAMES + 8 * TRACE_FRAMES * KERNEL_FRAMES)
#define RING_BYTES (RING_PAGES * 4096ULL)
#define SAVED_ROOM (SAVED_MAX ? SAVED_MAX : 8)

struct waiting { /* a call that has not returned yet; a goroutine's are in order, outermost first */
	struct call call;
	u64 site; /* address of the probe that saw it begin */
	u64 bias; /* of the file that it is in */
	u32 plan;
	u32 done; /* its return was seen */
	u32 part; /* which program saw it begin */
	u32 table;
#ifdef ROOTS
	u32 root, zero; /* the number of ROOT's call that it began below */
#endif
#ifdef STATES_WANTED
	struct clock_read { /* the beginning of its goroutine's clock, when it has ended */
		u64 since_ns;
		u32 state, early;
		u64 ns[STATES_BRIEF];
	} clock;
#endif
	char saved[SAVED_ROOM];
};

#ifndef KEYED
BPF_RINGBUF_OUTPUT(events, RING_PAGES);
#endif
BPF_ARRAY(places, struct trace_place, PLACES);
BPF_ARRAY(ended, u32, 1); /* set before probes are detached one by one: hits no longer count */
BPF_F_TABLE("hash", u64, struct trace_dyntype, dyntypes, TRACE_DYNTYPES, BPF_F_NO_PREALLOC);
BPF_PERCPU_ARRAY(counters, u64, TRACE_COUNTERS);
#ifdef RETURNS
BPF_F_TABLE("hash", struct goroutine_key, u64, goroutines, CALLS, BPF_F_NO_PREALLOC);
BPF_F_TABLE("hash", struct deep_key, struct waiting, deep_calls, CALLS, BPF_F_NO_PREALLOC);
BPF_ARRAY(no_call, struct waiting, 1);
BPF_F_TABLE("hash", u64, u64, untested, TRACE_UNTESTED_MAX, BPF_F_NO_PREALLOC);
#endif
#include "parts/every_program.bpf.c"

static inline void count(u64 counter)
{
	u64 *n = counters.lookup(KEY(counter));

	if (n)
		__sync_fetch_and_add(n, 1);
}

#ifdef CONTEXTS
#include "parts/trace_contexts.bpf.c"
#endif
#ifdef SINCE
#include "parts/trace_since.bpf.c"
#endif
#ifdef KEYED
#include "shared/histogram_index.h"
#include "parts/trace_keys.bpf.c"
#define REPORT struct trace_key
#else
#define REPORT struct trace_event
#endif

/* `rtype`: what may be the address of a type's descriptor in the file, or a shared_key() */
static inline struct trace_dyntype *find_dyntype(u64 rtype, struct hit *hit)
{
	u64 key = type_key_program(rtype) ? rtype : type_key_of(rtype, hit->program);

	return dyntypes.lookup(&key);
}

#ifdef SPLIT_STACK
struct shared_scratch { /* in a record, as the stack has no room for it */
	struct type_key_head head;
	u64 name[2], part[TYPE_KEY_PART / 8];
};

static inline bool add_part(struct shared_scratch *scratch, u64 from, u64 len)
{
	u64 *part = scratch->part;

	part[0] = part[1] = part[2] = part[3] = 0;
	if (len > TYPE_KEY_PART || fetch(part, len, from))
		return false;
	scratch->head.size = type_key_part(scratch->head.size, part);
	return true;
}

/* The key in `dyntypes` of a type that may have descriptors in several files. */
static inline u64 shared_key(u64 rtype, struct shared_scratch *scratch)
{
	u64 len;

	if (fetch(&scratch->head, sizeof(scratch->head), rtype) ||
	    fetch(scratch->name, sizeof(scratch->name), scratch->head.name))
		return ~0ULL;
	scratch->head.size = type_key_start(&scratch->head, scratch->name[1]);
	len = scratch->name[1] < TYPE_KEY_PART ? scratch->name[1] : TYPE_KEY_PART;
	asm volatile("" : "+r"(len));
	if (!add_part(scratch, scratch->name[0], len) ||
	    !add_part(scratch, scratch->name[0] + scratch->name[1] - len, len))
		return ~0ULL;
	return type_key_of(type_key_end(scratch->head.size), TYPE_KEY_EVERY_PROGRAM);
}
#endif

/* The dynamic type if two words are certainly an interface, else 0: the first word is a type of the
 * program, or an itab, which begins with two types and the second one's hash. */
static inline u64 proven_type(u64 word, struct hit *hit)
{
	u64 itab[3] = {};
	u32 hash = 0;

	if (find_dyntype(word - hit->bias, hit))
		return word - hit->bias;
	if (fetch(itab, sizeof(itab), word) || !find_dyntype(itab[0] - hit->bias, hit) ||
	    !find_dyntype(itab[1] - hit->bias, hit) || fetch(&hash, 4, itab[1] + 16) ||
	    hash != (u32)itab[2])
		return 0;
	return itab[1] - hit->bias;
}

/* Reads the value of the type behind the data word, and what the value refers to. */
static inline bool fetch_level(struct trace_dynamic *dyn, struct trace_dyntype *type)
{
	if (type->direct) {
		*(u64 *)dyn->object = dyn->word;
		dyn->state = 8;
	} else {
		dyn->state =
			fetch_elements(dyn->object, TRACE_DYN_OBJECT, dyn->word, type->size, 1);
	}
	if (dyn->state <= 0)
		return false;
	fetch_refs(dyn->object, (char *)(dyn + 1), type);
	return true;
}

/* Reads the next element of the list that was met into a level's first words. */
static inline u64 next_element(struct trace_dynamic *first, struct trace_dynamic *level)
{
	if (!first->left || fetch(level, 16, first->list))
		return 0;
	first->list += 16;
	first->left--;
	first->last++;
	level->element = first->last;
	return level->rtype;
}

/* how the type of an interface with methods is found; not out of what is passed, for which the
 * stack has no room in the loop */
#ifdef SPLIT_STACK
#define DYNAMIC_INNER (DYNAMIC_ITAB | DYNAMIC_GCCGO)
#else
#define DYNAMIC_INNER DYNAMIC_ITAB
#endif

/* bytes of a record for one level */
#define LEVEL_ROOM (sizeof(struct trace_dynamic) + TRACE_DYN_REFS * (8 + STRING_ROOM))

/* Reads what an interface holds, by its dynamic type, then what an interface or pointer in that
 * leads to, and so on, `left` levels at most; where that ends, the next element of the list of
 * interfaces that was met. */
static inline void fetch_dynamic(char *to, u64 word, u64 data, u64 how, u64 left, struct hit *hit)
{
	struct trace_dynamic *first = (void *)to, *dyn;
	u64 off, rtype = how == DYNAMIC_EITHER ? proven_type(word, hit)
					       : dynamic_type(word, how, hit);
	struct trace_dyntype *type;

	first->left = 0;
	first->element = 0;
#pragma clang loop unroll(disable)
	for (; left; left = loop_before(left)) {
		dyn = (void *)to;
		dyn->word = data;
		dyn->state = TRACE_NIL;
		dyn->rtype = rtype;
		dyn->more = 0;
		word = 0;
		type = find_dyntype(rtype, hit);
#ifdef SPLIT_STACK
		if (!type && rtype) { /* not the program's own type: perhaps its library's */
			dyn->rtype = shared_key(rtype + hit->bias, (void *)dyn->object);
			type = find_dyntype(dyn->rtype, hit);
		}
#endif
		if (type && fetch_level(dyn, type)) {
			off = type->inner;
			rtype = type->inner_type;
			asm volatile("" : "+r"(off));
			if (off <= TRACE_DYN_OBJECT - 16) {
				word = *(u64 *)(dyn->object + off);
				data = *(u64 *)(dyn->object + off + 8);
			}
		}
		if (left <= 1)
			break;
		to += LEVEL_ROOM;
		((struct trace_dynamic *)to)->element = 0;
		if (word && rtype == TRACE_DYN_LIST) {
			if (!first->left) {
				first->list = word;
				first->left = data;
				first->last = trace_element(left, 0);
			}
			word = 0;
		} else if (rtype) {
			data = word;
		}
		if (!word) {
			word = next_element(first, (void *)to);
			data = ((struct trace_dynamic *)to)->word;
			rtype = 0;
		}
		if (!word)
			break;
		if (!rtype)
			rtype = dynamic_type(word, DYNAMIC_INNER, hit);
		dyn->more = 1;
	}
}

/* Does one read that was put off. */
static inline void fetch_put_off(struct hit *hit, char *rec, u64 word)
{
	u64 own = later_own(word), to = later_to(word), max = later_max(word);
	u64 size = later_size(word), done = later_done(word);
	s64 needed = (done + 1) * LATER_OWN;
	bool there = !later_count(word) || *(s64 *)(rec + own - 8) >= needed;

	own += done * LATER_OWN;
	if (later_is_dynamic(word)) {
		to += done * size * LEVEL_ROOM;
		if (there)
			fetch_dynamic(rec + to, *(u64 *)(rec + own), *(u64 *)(rec + own + 8), max,
				      size, hit);
		else
			*(u64 *)(rec + to) = 0;
		return;
	}
	to += done * later_room(max);
	*(s64 *)(rec + to) = there ? fetch_elements(rec + to + 8, max, *(u64 *)(rec + own),
						    *(u64 *)(rec + own + 8), size)
				   : TRACE_NIL;
}

static inline void fetch_later(struct hit *hit, char *rec)
{
	u64 word;
	u32 i = 0;

#pragma clang loop unroll(disable)
	while (i < TRACE_LATER) {
		word = hit->later[i];
		if (word)
			fetch_put_off(hit, rec, word);
		/* read again, as the stack has no room to keep it */
		word = later_next(*(volatile u64 *)&hit->later[i]);
		hit->later[i] = word;
		i = loop_next(i - !!word);
	}
}

#ifdef KEYED
/* Makes a part of a key of what fetch_dynamic() has read. Of errors addresses do not matter: their
 * texts do. */
static inline void forget_dynamic(char *to, u32 levels, bool is_error, struct hit *hit)
{
	struct trace_dynamic *dyn;
	struct trace_dyntype *type;
	u32 level, i;
	u64 off;

	((struct trace_dynamic *)to)->list = 0;
	((struct trace_dynamic *)to)->left = 0;
	((struct trace_dynamic *)to)->last = 0;
#pragma clang loop unroll(disable)
	for (level = 0; level < levels; level = loop_next(level)) {
		dyn = (void *)to;
		type = find_dyntype(dyn->rtype, hit);
		if (!type)
			break;
		if (!type->direct || is_error)
			forget_pointer((char *)&dyn->word);
#pragma clang loop unroll(disable)
		for (i = 0; i < TRACE_DYN_REFS; i++) {
			off = type->ref[i].off;
			asm volatile("" : "+r"(off));
			if (i < type->refs && off <= TRACE_DYN_OBJECT - 16)
				forget_pointer(dyn->object + off);
		}
		off = type->inner;
		asm volatile("" : "+r"(off));
		if (off <= TRACE_DYN_OBJECT - 16) {
			forget_pointer(dyn->object + off);
			if (type->inner_type != TRACE_DYN_LIST)
				forget_pointer(dyn->object + off + 8);
		}
		if (!dyn->more)
			break;
		to = (char *)(dyn + 1) + TRACE_DYN_REFS * (8 + STRING_ROOM);
	}
}
#endif

/* Events. */

#ifndef KEYED
/* The tool reads the ring several times a second anyway; it is woken only if much was sent since.
 * (Each CPU's count is not exact where one handler preempts another.) */
static inline u64 wakeup_flags(u64 size)
{
	u64 sent = TRACE_SENT;
	u64 *bytes = counters.lookup(KEY(sent));

	if (bytes)
		*bytes += size;
	if (!bytes || *bytes <= RING_BYTES / 8)
		return BPF_RB_NO_WAKEUP;
	*bytes = 0;
	return BPF_RB_FORCE_WAKEUP;
}

static inline void submit(struct trace_event *event, u64 size)
{
	events.ringbuf_submit(event, wakeup_flags(size));
}
#endif

/* Does the predicate hold? */
static inline bool is_wanted(bool want, s64 bad)
{
	if (bad)
		count(TRACE_UNREADABLE);
	return want && !bad;
}

#if TABLES
#include "parts/trace_tables.bpf.c"

static inline bool reports_by_table(u32 part)
{
	return part == TABLE_ENTRIES || part == TABLE_ENDS;
}
#endif

/* generated: plans */

#if defined(RETURNS) || defined(ROOTS)
#include "parts/processes.bpf.c"
#endif
#include "parts/trace_roots.bpf.c"

#ifdef KEYED
static inline void report(struct pt_regs *ctx, struct hit *hit, char *saved, u32 how, u32 part)
{
	struct trace_key *key = fill_event(ctx, hit, saved, part);

	if (!key)
		return;
	fetch_later(hit, key->record);
	make_key(ctx, hit, key->record, part);
#ifdef KEY_BIAS
	key->head.bias = hit->bias;
#endif
	key->head.item = hit->item;
	key->head.how = how;
	count_key(key);
}
#else
static inline void add_frames(struct pt_regs *ctx, struct hit *hit, struct trace_event *event,
			      char *to)
{
#if USER_FRAMES && defined(SPLIT_STACK)
	event->user_frames = stackcopy(ctx, hit->tls_g, (struct trace_stack *)to);
#elif USER_FRAMES
	event->user_frames = frames_user(ctx, hit->entry_sp, (u64 *)to);
	*(u64 *)to = hit->site; /* the RET may have been carried out */
#endif
#if KERNEL_FRAMES
	long bytes = bpf_get_stack(ctx, to + USER_BYTES * USER_FRAMES, 8 * TRACE_FRAMES, 0);

	event->kernel_frames = bytes > 0 ? (u64)bytes / 8 : 0;
#endif
}

static inline void report(struct pt_regs *ctx, struct hit *hit, char *saved, u32 how, u32 part)
{
	struct trace_event *event = fill_event(ctx, hit, saved, part);

#if TABLES
	if (reports_by_table(part) && !event)
		return;
#endif
	/* not `!event`: older verifiers (6.1) take it that the event can still be NULL here */
	if (!hit->size)
		return;
	if (!hit->now && !hit_identify(ctx, hit))
		count(TRACE_NAMELESS);
#if TABLES
	if (reports_by_table(part)) {
		u64 size = hit->size & TABLE_SIZE_MASK;

		hit_describe(hit, event, how);
		root_describe(event, saved);
		add_frames(ctx, hit, event, (char *)event + size);
		table_submit(event, size + FRAMES_SIZE);
		return;
	}
#endif
	fetch_later(hit, (char *)(event + 1));
	hit_describe(hit, event, how);
	root_describe(event, saved);
	add_frames(ctx, hit, event, (char *)event + hit->size);
	submit(event, hit->size + FRAMES_SIZE);
}
#endif

#ifdef RETURNS
#include "parts/first_over.bpf.c"
#include "parts/state_clocks.bpf.c"
#include "parts/trace_states.bpf.c"
#include "parts/trace_calls.bpf.c"
#include "parts/state_changes.bpf.c"
#endif

/* Is it a call whose return is waited for? */
static inline bool waits(struct hit *hit, u32 part)
{
	if (part == TABLE_ENTRIES || part == TABLE_BEGINS)
		return part == TABLE_BEGINS;
	return waits_for_return(hit->plan);
}

static inline bool reads_by_table(u32 part)
{
	return part == TABLE_ENTRIES || part == TABLE_BEGINS || part == TABLE_ENDS;
}

/* Fills in the hit's place and plan. False: no place, as of most hooks in the runtime. */
static inline bool find_place(struct pt_regs *ctx, u32 row, struct hit *hit, u32 part)
{
	struct trace_place *place = places.lookup(&row);
	u64 here = probe_address(ctx);

	if (!place || !place->addr)
		return false;
	/* where the file is can then be told from the call's beginning alone: until then as if it
	 * was not moved. Without a branch, as others */
	hit->site = here ^ ((here ^ place->addr) & -(u64)hit->returned);
	hit->bias = hit->site - place->addr;
#ifdef SPLIT_STACK
	u64 tls_g = hit->bias + place->tls_word;

	if (place->tls_delta) {
		read_user(&tls_g, sizeof(tls_g), tls_g);
		tls_g += place->tls_delta;
	}
	hit->tls_g = tls_g;
#endif
	hit->item = place->item;
	hit->plan = trace_plan_number(place->plan);
	hit->program = trace_plan_program(place->plan);
	if (reads_by_table(part))
		hit->table = place->table;
	hit->restart = place->restart;
	hit->entry_sp = place->frame < 0 ? 0 : hit->sp + place->frame;
	hit->entry_sp = forget_value(hit->entry_sp, hit->sp);
	return true;
}

static inline int handle(struct pt_regs *ctx, u32 part)
{
	u64 cookie = find_cookie(ctx);
	u32 kind = cookie_kind(cookie);
	bool begins = part != TABLE_ENDS && probe_is_call(ctx, cookie);
	u32 zero = 0, *over = ended.lookup(&zero);
	struct hit hit = {.sp = probe_sp(ctx) + cookie_adjust(cookie),
			  .returned = probe_returned(ctx, cookie)};
	struct goroutine_key who = {};
	struct call call = {};

	if (!over || *over || !probe_wanted() || kind == COOKIE_NONE ||
	    (kind == COOKIE_CALL_IF_CHECKED && !begins))
		return 0;
#ifdef SPLIT_STACK
	if (kind > COOKIE_RETURN) /* the hook's place tells where g is */
		find_place(ctx, cookie_row(cookie), &hit, part);
#endif
	if (kind <= COOKIE_RETURN && !find_place(ctx, cookie_row(cookie), &hit, part))
		return 0;
#ifndef IDENTITY_FIRST
	/* most predicates are false: they are tested before anything else is found out */
	if (begins && !waits(&hit, part)) {
		report(ctx, &hit, 0, TRACE_ENTRY, part);
		return 0;
	}
#endif
	if (!goroutine_find(ctx, hit.sp, kind, &who, &call.depth)) {
		if (begins)
			count(TRACE_UNKNOWN);
		return 0;
	}
	hit.now = bpf_ktime_get_ns();
	hit.goid = hit_goid(&hit, &who);
	find_thread(&hit);
	if (kind <= COOKIE_RETURN && !only_these(&hit))
		return 0;
	find_parent(ctx, &hit);
#ifdef IDENTITY_FIRST
	if (begins && !waits(&hit, part)) {
		if (root_enters(&hit, &who))
			report(ctx, &hit, 0, TRACE_ENTRY, part);
		return 0;
	}
	if (begins)
		root_enters(&hit, &who);
#endif
#ifdef RETURNS
	if (part == TABLE_ENTRIES)
		return 0;
	call.row = hit.item;
	call.copy = tail_copy(ctx, cookie, hit.sp);
	follow_call(ctx, &hit, &who, &call, kind, begins, part);
#endif
	return 0;
}

/* generated: programs */
/* generated: state_program */
/* generated: root_programs */
