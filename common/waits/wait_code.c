// SPDX-License-Identifier: Apache-2.0
#include "waits/wait_code_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "waits/lock_fields_internal.h"
#include "waits/semaphore_owner.h"
#include "goroutines/snapshot.h"
#include "program/functab.h"

enum { FRAMES_MAX = 64 }; /* of a stack, the innermost */

struct named {
	uint64_t key; /* stack, kind and in_sync */
	char *name;   /* NULL: not known */
};

struct wait_code {
	const struct snapshot *snap;
	const struct frames *frames;
	struct lock_fields *fields;
	struct named *all;
	size_t count, cap;
	struct index index;
};

struct wait_code *wait_code_new(const struct snapshot *snap, const struct frames *frames,
				struct lock_fields *fields)
{
	struct wait_code *code = mem_zalloc(1, sizeof(*code));

	code->snap = snap;
	code->frames = frames;
	code->fields = fields;
	return code;
}

void wait_code_free(struct wait_code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->count; i++)
		free(code->all[i].name);
	index_free(&code->index);
	free(code->all);
	free(code);
}

/* The function that has it on the stack at this place; its name NULL: not known. */
static struct functab_func function_at(const struct frames *frames, const uint64_t *stack, size_t i)
{
	struct functab_func fn;

	if (!functab_find(frames->tab, stack[i] - 1 - frames->bias, &fn))
		fn.name = NULL;
	return fn;
}

/* Is it a method of what goroutines wait for? */
static bool is_lockers(const struct functab_func *fn)
{
	static const char *const types[] = {"sync.(*Mutex).", "internal/sync.(*Mutex).",
					    "sync.(*RWMutex).", "sync.(*WaitGroup).",
					    "sync.(*Cond)."};
	bool is = false;

	for (size_t i = 0; fn->name && i < sizeof(types) / sizeof(*types); i++)
		is |= !strncmp(fn->name, types[i], strlen(types[i]));
	return is;
}

/* Which frame of those that wait is the innermost that was given the lock, and how many bytes this
 * stands before its first argument. false: none. */
static bool find_given(const struct frames *frames, const uint64_t *stack, size_t count,
		       enum wait_kind kind, size_t *number, uint32_t *before)
{
	struct functab_func fn = {0}, next = {0};
	size_t i = 0;

	while (i < count && (fn = function_at(frames, stack, i)).name &&
	       !lock_fields_in_sync(fn.name))
		i++;
	if (i + 1 >= count || !fn.name)
		return false;
	*number = i;
	*before = 0;
	if (is_lockers(&fn))
		return true;
	/* the runtime's, which are given the semaphore: by RLock where that is inlined */
	next = function_at(frames, stack, i + 1);
	*number += is_lockers(&next);
	*before = is_lockers(&next) ? 0 : SEMAPHORE_OWNER_READERS;
	return is_lockers(&next) ||
	       (kind == WAIT_RWMUTEX && next.name && !lock_fields_in_sync(next.name));
}

/* Who was given the lock, and in `stack`, of FRAMES_MAX, its callers. false: not known. */
static bool find_callee(const struct frames *frames, const uint64_t *addrs, size_t *count,
			struct lock_callee *callee, uint64_t *stack)
{
	size_t given, all = *count < FRAMES_MAX ? *count : FRAMES_MAX;

	if (callee->kind == WAIT_SEMAPHORE ||
	    !find_given(frames, addrs, all, callee->kind, &given, &callee->before))
		return false;
	for (size_t i = given + 1; i < all; i++)
		stack[i - given - 1] = addrs[i] - frames->bias;
	*count = all - given - 1;
	callee->addr = function_at(frames, addrs, given).addr;
	return true;
}

char *wait_code_of(const struct frames *frames, struct lock_fields *fields, const uint64_t *addrs,
		   size_t count, enum wait_kind kind, bool in_sync)
{
	struct lock_callee callee = {.kind = kind, .in_sync = in_sync};
	uint64_t stack[FRAMES_MAX];

	return find_callee(frames, addrs, &count, &callee, stack)
		       ? lock_fields_called(fields, stack, count, &callee)
		       : NULL;
}

size_t wait_code_offsets(const struct frames *frames, struct lock_fields *fields,
			 const uint64_t *addrs, size_t count, enum wait_kind kind, uint64_t *out,
			 size_t max)
{
	struct lock_callee callee = {.kind = kind};
	uint64_t stack[FRAMES_MAX];

	return find_callee(frames, addrs, &count, &callee, stack)
		       ? lock_fields_offsets(fields, stack, count, &callee, out, max)
		       : 0;
}

/* --- of a snapshot --- */

static char *seek(const struct wait_code *code, uint32_t number, enum wait_kind kind, bool in_sync)
{
	size_t count;
	const uint64_t *stack = snapshot_stack(code->snap, number, &count);

	return wait_code_of(code->frames, code->fields, stack, count, kind, in_sync);
}

const char *wait_code_name(struct wait_code *code, uint32_t stack, enum wait_kind kind,
			   bool in_sync)
{
	uint64_t key = (uint64_t)stack << 32 | (uint64_t)kind << 1 | in_sync;
	size_t n = index_first(&code->index, index_hash(0, key));

	while (n != INDEX_NONE && code->all[n].key != key)
		n = index_next(&code->index, n);
	if (n != INDEX_NONE)
		return code->all[n].name;
	n = index_add(&code->index, index_hash(0, key));
	code->all = mem_grow(code->all, code->count, &code->cap, sizeof(*code->all));
	code->all[code->count++] = (struct named){key, seek(code, stack, kind, in_sync)};
	return code->all[n].name;
}
