// SPDX-License-Identifier: Apache-2.0
#include "waits/wait_names_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/gotype.h"
#include "frames/frame_args.h"
#include "frames/frames.h"
#include "waits/lock_fields.h"
#include "waits/lock_path_internal.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "frames/unwinder.h"
#include "waits/wait_code_internal.h"
#include "waits/wait_objects.h"

enum {
	STACK_MAX = 64 << 10,  /* bytes of a stack, the innermost */
	FRAMES_MAX = 64,       /* of it */
	SLOTS = 16,            /* words of a frame's arguments */
	LOOKED_MAX = 4,        /* goroutines that wait for a lock, and as many that may hold it */
	WORDS_MAX = 8,         /* of each of these kinds */
	ALL_MAX = 1 << 20,     /* words of all locks */
	STACKS_MAX = 1 << 18,  /* looked at for all locks */
	AT_ONCE_MAX = 1 << 12, /* before names are asked for, while most are where they were */
	OBJECT_MAX = 4 << 10,  /* bytes of what an argument points to */
	READS_MAX = 1 << 16,   /* of such objects, for all locks */
};

enum role { WAITS, HOLDS, ROLES };

struct word { /* an argument that points to somewhere before the lock */
	uint64_t value;
	uint32_t goroutine, frame; /* numbers, in the snapshot and in the stack */
	uint32_t off;              /* into its arguments */
	uint32_t next;             /* of the same lock and role; 0: none */
};

struct about {                              /* a lock */
	uint32_t first[ROLES], last[ROLES]; /* word, 0: none */
	uint8_t words[ROLES];
	uint8_t waiter_count;
	bool looked, sought;
	uint32_t waiters[LOOKED_MAX]; /* some of those who wait for it */
	char *name;
};

struct wait_names {
	const struct snapshot_source *from;
	const struct snapshot *snap;
	const struct frames *frames;
	struct lock_fields *fields;
	struct wait_code *code;
	const struct wait_lock *locks;
	struct about *about; /* of each lock */
	size_t count;
	struct word *words; /* from 1 on */
	size_t word_count, word_cap;
	size_t stacks, reads;
	uint8_t *bytes;
	size_t len;
	struct unwound_frames walk; /* of the stack in bytes */
};

/* --- what is on stacks --- */

/* Is it where it was, and is that what is read of its stack? */
static bool read_stack(struct wait_names *names, const struct goroutine *g)
{
	const struct memory *mem = names->from->mem;
	uint64_t left = g->stack_hi - g->sp;
	size_t count;
	const uint64_t *stack = snapshot_stack(names->snap, g->stack, &count);

	if ((g->stack_state != STACK_READ && g->stack_state != STACK_CUT) || !count ||
	    names->stacks++ >= STACKS_MAX)
		return false;
	names->len = left > STACK_MAX ? STACK_MAX : left;
	if (!mem->read(mem->ctx, g->sp, names->bytes, names->len) ||
	    !snapshot_is_still(names->from, names->from->mem, g))
		return false;
	struct stack_bytes bytes = {g->sp, names->bytes, names->len, left > STACK_MAX, g->link};
	enum unwound how = unwinder_walk(&bytes, stack[0] - g->interrupted, names->from->rule,
					 names->from->rule_ctx, &names->walk);

	if (how == UNWOUND_NOT)
		return false;
	/* where the arguments of the last one are is not known, then */
	names->walk.count -= how == UNWOUND_CUT;
	if (names->walk.count > count)
		names->walk.count = count;
	names->walk.pc[0] += g->interrupted;
	return !memcmp(names->walk.pc, stack, names->walk.count * sizeof(*stack));
}

/* Does it wait for what it was found to wait for? Before Go 1.26, that was found later than its
 * stack was read: it may be another lock than the one that it waits for there. */
static bool still_waits(const struct wait_names *names, const struct goroutine *g)
{
	const struct memory *mem = names->from->mem;
	const struct wait *wait = &names->snap->waits.all[g->waits];
	uint64_t waiter, semaphore;

	return memory_u64(mem, wait->sudog, &waiter) && waiter == g->addr &&
	       memory_u64(mem, wait->sudog + names->from->waits->sudog_elem, &semaphore) &&
	       semaphore == wait->semaphore;
}

static bool read_waiter(struct wait_names *names, const struct goroutine *g)
{
	return still_waits(names, g) && read_stack(names, g) && still_waits(names, g);
}

/* The word `off` bytes into the arguments of frame `number`. */
static bool read_slot(const struct wait_names *names, size_t number, uint32_t off, uint64_t *out)
{
	uint64_t at = (uint64_t)names->walk.args[number] + off;

	if (at > names->len || names->len - at < sizeof(*out))
		return false;
	memcpy(out, names->bytes + at, sizeof(*out));
	return true;
}

static void add_word(struct wait_names *names, size_t lock, enum role role, struct word word)
{
	struct about *about = &names->about[lock];

	if (about->words[role] == WORDS_MAX || names->word_count == ALL_MAX)
		return;
	names->words =
		mem_grow(names->words, names->word_count, &names->word_cap, sizeof(*names->words));
	if (about->last[role])
		names->words[about->last[role]].next = names->word_count;
	else
		about->first[role] = names->word_count;
	about->last[role] = names->word_count;
	about->words[role]++;
	names->words[names->word_count++] = word;
}

/* Does this argument point to where there may be a struct with the lock in it? */
static bool may_lead(const struct wait_names *names, size_t frame, uint32_t off, uint64_t addr,
		     uint64_t *value)
{
	return read_slot(names, frame, off, value) && *value <= addr &&
	       addr - *value < LOCK_FIELDS_STRUCT_MAX &&
	       frame_args_points(names->frames, names->walk.pc[frame] - 1 - names->frames->bias,
				 off);
}

/* Arguments of the goroutine whose stack was read. */
static void note(struct wait_names *names, size_t lock, enum role role, size_t goroutine)
{
	/* where it was interrupted, nothing tells which arguments are in use */
	size_t first = names->snap->all[goroutine].interrupted;
	uint64_t addr = names->locks[lock].addr;
	struct word word = {.goroutine = goroutine};

	for (size_t i = first; i < names->walk.count && i < FRAMES_MAX; i++) {
		word.frame = i;
		for (word.off = 0; word.off < SLOTS * sizeof(addr); word.off += sizeof(addr))
			if (may_lead(names, i, word.off, addr, &word.value))
				add_word(names, lock, role, word);
	}
}

/* At the stacks of those who wait for the lock, and of those who may hold it. */
static void look(struct wait_names *names, size_t lock)
{
	const struct wait_lock *here = &names->locks[lock];
	struct about *about = &names->about[lock];

	if (about->looked)
		return;
	about->looked = true;
	size_t confirmed = 0;

	for (size_t i = 0; i < about->waiter_count; i++) {
		uint32_t waiter = about->waiters[i];
		bool is_there = read_waiter(names, &names->snap->all[waiter]);

		if (is_there)
			note(names, lock, WAITS, waiter);
		/* from Go 1.26 on, it waited for the lock when its stack was read first */
		if (is_there || names->from->waits->semaphores)
			about->waiters[confirmed++] = waiter;
	}
	about->waiter_count = confirmed;
	for (size_t i = 0; i < here->holder_count && i < LOOKED_MAX; i++) {
		const struct goroutine *holder = snapshot_find(names->snap, here->holders[i]);

		if (holder && read_stack(names, holder))
			note(names, lock, HOLDS, holder - names->snap->all);
	}
}

void wait_names_waits(struct wait_names *names, size_t lock, size_t goroutine)
{
	struct about *about = &names->about[lock];

	if (about->waiter_count < LOOKED_MAX)
		about->waiters[about->waiter_count++] = goroutine;
}

void wait_names_look(struct wait_names *names)
{
	for (size_t i = 0; i < names->count && names->stacks < AT_ONCE_MAX; i++)
		look(names, i);
}

struct wait_names *wait_names_new(const struct snapshot_source *from, const struct snapshot *snap,
				  const struct frames *frames, struct lock_fields *fields,
				  const struct wait_lock *locks, size_t count)
{
	struct wait_names *names = mem_zalloc(1, sizeof(*names));

	names->from = from;
	names->snap = snap;
	names->frames = frames;
	names->fields = fields;
	names->locks = locks;
	names->count = count;
	names->about = mem_zalloc(count + 1, sizeof(*names->about));
	names->code = wait_code_new(snap, frames, fields);
	names->bytes = mem_alloc(STACK_MAX);
	names->word_count = 1;
	return names;
}

void wait_names_free(struct wait_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->about[i].name);
	wait_code_free(names->code);
	free(names->about);
	free(names->words);
	free(names->bytes);
	free(names);
}

/* --- names --- */

struct seeking {
	struct wait_names *names;
	size_t lock;
	enum wait_kind kind;
	enum role role;
	uint32_t goroutine;
	bool in_sync; /* in the functions of package sync, whose structs are parts of others */
	char *name;
};

/* The struct that this argument surely points to; NULL: not known. */
static const struct gotype *argument(const struct wait_names *names, uint64_t at, uint32_t off)
{
	return frame_args_points(names->frames, at, off) ? lock_fields_param(names->fields, at, off)
							 : NULL;
}

static void seek_in(void *ctx, const struct frame *frame)
{
	struct seeking *seeking = ctx;
	const struct wait_names *names = seeking->names;
	const struct about *about = &names->about[seeking->lock];

	if (frame->inlined || lock_fields_in_sync(frame->func) != seeking->in_sync)
		return;
	for (uint32_t n = about->first[seeking->role]; n && !seeking->name;
	     n = names->words[n].next) {
		const struct word *word = &names->words[n];

		if (word->goroutine != seeking->goroutine || word->frame != frame->number)
			continue;
		const struct gotype *type = argument(names, frame->at, word->off);

		if (type)
			seeking->name =
				lock_path(type, names->locks[seeking->lock].addr - word->value,
					  seeking->kind, false);
	}
}

static void walk_frames(struct seeking *seeking, void (*fn)(void *, const struct frame *))
{
	const struct snapshot *snap = seeking->names->snap;
	size_t count;
	const uint64_t *stack = snapshot_stack(snap, snap->all[seeking->goroutine].stack, &count);

	frames_all(seeking->names->frames, stack, count < FRAMES_MAX ? count : FRAMES_MAX, fn,
		   seeking);
}

/* In what the arguments of those in this role point to. */
static char *by_words(struct seeking seeking, enum role role, bool in_sync)
{
	const struct wait_names *names = seeking.names;
	uint32_t before = UINT32_MAX;

	seeking.role = role;
	seeking.in_sync = in_sync;
	for (uint32_t n = names->about[seeking.lock].first[role]; n && !seeking.name;
	     n = names->words[n].next) {
		seeking.goroutine = names->words[n].goroutine;
		if (seeking.goroutine != before)
			walk_frames(&seeking, seek_in);
		before = seeking.goroutine;
	}
	return seeking.name;
}

static void seek_behind(void *ctx, const struct frame *frame)
{
	struct seeking *seeking = ctx;
	struct wait_names *names = seeking->names;
	const struct memory *mem = names->from->mem;
	uint64_t addr = names->locks[seeking->lock].addr, value;
	uint8_t object[OBJECT_MAX];

	if (frame->inlined || lock_fields_in_sync(frame->func) ||
	    frame->number >= names->walk.count)
		return;
	for (uint32_t off = 0; off < SLOTS * sizeof(value) && !seeking->name;
	     off += sizeof(value)) {
		const struct gotype *type = argument(names, frame->at, off);
		size_t len = !type ? 0 : type->size < OBJECT_MAX ? type->size : OBJECT_MAX;

		if (len && read_slot(names, frame->number, off, &value) &&
		    names->reads++ < READS_MAX && mem->read(mem->ctx, value, object, len))
			seeking->name = lock_path_behind(type, object, len, addr, seeking->kind);
	}
}

/* One step further: in what pointers in such a struct point to. It has to be so still. */
static char *by_pointers(struct seeking seeking)
{
	struct wait_names *names = seeking.names;
	uint32_t waiter = names->about[seeking.lock].waiters[0];
	const struct goroutine *g = &names->snap->all[waiter];

	if (!names->about[seeking.lock].waiter_count || names->reads >= READS_MAX ||
	    !read_waiter(names, g))
		return NULL;
	seeking.goroutine = waiter;
	walk_frames(&seeking, seek_behind);
	if (snapshot_is_still(names->from, names->from->mem, g))
		return seeking.name;
	free(seeking.name);
	return NULL;
}

static char *by_code(const struct wait_names *names, size_t lock, enum wait_kind kind, bool in_sync)
{
	const struct about *about = &names->about[lock];
	const char *name = NULL;

	for (size_t i = 0; i < about->waiter_count && !name; i++)
		name = wait_code_name(names->code, names->snap->all[about->waiters[i]].stack, kind,
				      in_sync);
	return name ? mem_strdup(name) : NULL;
}

static char *seek(struct wait_names *names, size_t lock, enum wait_kind kind)
{
	struct seeking seeking = {.names = names, .lock = lock, .kind = kind};
	char *variable =
		lock_fields_variable(names->fields, names->locks[lock].addr - names->frames->bias);
	char *field;

	if (variable && !strchr(variable, '+'))
		return variable;
	if (!names->from->waits->semaphores)
		look(names, lock);
	field = by_code(names, lock, kind, false);
	if (!field)
		look(names, lock);
	if (!field)
		field = by_words(seeking, WAITS, false);
	if (!field)
		field = by_words(seeking, HOLDS, false);
	if (!field)
		field = by_pointers(seeking);
	if (!field)
		field = by_code(names, lock, kind, true);
	if (!field)
		field = by_words(seeking, WAITS, true);
	if (!field)
		return variable;
	free(variable);
	return field;
}

const char *wait_names_find(struct wait_names *names, size_t lock, enum wait_kind kind)
{
	struct about *about = &names->about[lock];

	if (!about->sought) {
		about->sought = true;
		about->name = seek(names, lock, kind);
	}
	return about->name;
}
