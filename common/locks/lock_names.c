// SPDX-License-Identifier: Apache-2.0
/* Names are sought when a lock is shown: until then a few words of those who wait for it are kept,
 * as debug information takes long to open. */
#include "locks/lock_names.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/index.h"
#include "base/mem.h"
#include "files/process.h"
#include "frames/frame_args.h"
#include "frames/frames.h"
#include "waits/lock_fields.h"
#include "waits/lock_path.h"
#include "program/program.h"
#include "locks/lock_stacks_internal.h"

enum {
	WORDS_MAX = 8,       /* of each lock */
	NAMED_MAX = 1 << 16, /* locks */
	OBJECT_WORDS = 64,   /* in which pointers to locks are looked for */
	STACKS_LOOKED = 8,   /* of those who wait for a lock */
};

struct word { /* what the function that has this instruction has as its first argument */
	uint64_t at, value;
	bool points; /* there is a pointer to the lock, so many bytes after it; not the lock itself
		      */
	uint64_t off;
};

struct named {
	struct process_key process;
	uint64_t addr, bias;
	struct word words[WORDS_MAX];
	size_t word_count;
	bool sought;
	char *name;
};

struct lock_names {
	const struct program *prog;
	struct lock_stacks *stacks;
	struct lock_fields *fields;
	struct named *all;
	size_t count, cap;
	struct index index;
	struct process_key memory_of;
	int memory; /* of that process; -1: it cannot be read */
};

struct lock_names *lock_names_new(const struct program *prog, struct lock_stacks *stacks)
{
	struct lock_names *names = mem_zalloc(1, sizeof(*names));

	names->prog = prog;
	names->stacks = stacks;
	names->fields = lock_fields_new(prog);
	names->memory = -1;
	return names;
}

void lock_names_free(struct lock_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->count; i++)
		free(names->all[i].name);
	if (names->memory >= 0)
		close(names->memory);
	lock_fields_free(names->fields);
	index_free(&names->index);
	free(names->all);
	free(names);
}

static uint64_t hash_of(const struct lock *lock)
{
	uint64_t hash = index_hash(index_hash(0, lock->process.start_ns), lock->process.tgid);

	return index_hash(index_hash(hash, lock->process.exec), lock->addr);
}

static struct named *find_named(const struct lock_names *names, const struct lock *lock)
{
	size_t n = index_first(&names->index, hash_of(lock));

	while (n != INDEX_NONE &&
	       (names->all[n].addr != lock->addr ||
		memcmp(&names->all[n].process, &lock->process, sizeof(lock->process)) != 0))
		n = index_next(&names->index, n);
	return n == INDEX_NONE ? NULL : &names->all[n];
}

static void open_memory(struct lock_names *names, const struct lock *lock)
{
	struct process *proc;

	if (!memcmp(&names->memory_of, &lock->process, sizeof(lock->process)))
		return;
	if (names->memory >= 0)
		close(names->memory);
	names->memory_of = lock->process;
	proc = process_open((pid_t)lock->pid, NULL);
	names->memory = proc ? process_memory(proc, NULL) : -1;
	process_close(proc);
}

/* Where a pointer to the lock is, behind this address; false: there is none. */
static bool find_pointer(struct lock_names *names, const struct lock *lock, uint64_t addr,
			 uint64_t *off)
{
	uint64_t object[OBJECT_WORDS];
	ssize_t len;

	open_memory(names, lock);
	if (names->memory < 0 || addr % 8 || addr > INT64_MAX)
		return false;
	len = pread(names->memory, object, sizeof(object), (off_t)addr);
	for (size_t i = 0; (ssize_t)((i + 1) * sizeof(*object)) <= len; i++) {
		*off = i * sizeof(*object);
		if (object[i] == lock->addr)
			return true;
	}
	return false;
}

static void note_word(struct lock_names *names, struct named *named, const struct lock *lock,
		      struct word word)
{
	if (named->word_count == WORDS_MAX || !word.value)
		return;
	for (size_t i = 0; i < named->word_count; i++)
		if (named->words[i].at == word.at && named->words[i].value == word.value)
			return;
	word.off = lock->addr - word.value;
	word.points = word.off >= LOCK_FIELDS_STRUCT_MAX;
	if (!word.points)
		named->words[named->word_count++] = word;
	/* both may be: what a pointer to a lock points to can be close by */
	if (named->word_count < WORDS_MAX && find_pointer(names, lock, word.value, &word.off)) {
		word.points = true;
		named->words[named->word_count++] = word;
	}
}

void lock_names_note(struct lock_names *names, const struct lock *lock,
		     const struct lock_event *event)
{
	struct named *named = find_named(names, lock);
	const struct lock_trace *trace;

	if (!named && names->count == NAMED_MAX)
		return;
	if (!named) {
		index_add(&names->index, hash_of(lock));
		names->all = mem_grow(names->all, names->count, &names->cap, sizeof(*names->all));
		named = &names->all[names->count++];
		*named = (struct named){
			.process = lock->process, .addr = lock->addr, .bias = event->probe};
	}
	named->sought = false;
	if (named->name || named->word_count == WORDS_MAX)
		return;
	trace = lock_stacks_find(names->stacks, (struct lock_stack){event->stack, event->probe});
	for (size_t i = 0; i < trace->count && trace->frames[i].number < LOCK_WORDS; i++) {
		const struct frame *frame = &trace->frames[i];
		uint64_t value = event->words[frame->number];

		if (!frame->inlined)
			note_word(names, named, lock, (struct word){frame->at, value, false, 0});
	}
}

static struct frames frames_of(const struct program *prog)
{
	return (struct frames){.tab = prog->tab, .img = prog->img, .release = prog->release};
}

static char *field_name(struct lock_names *names, const struct lock *lock, const struct word *word)
{
	struct frames frames = frames_of(names->prog);
	const struct gotype *type;

	if (!frame_args_first(&frames, word->at))
		return NULL;
	type = lock_fields_param(names->fields, word->at, 0);
	return type ? lock_path(type, word->off, lock->is_rw ? WAIT_RWMUTEX : WAIT_MUTEX,
				word->points)
		    : NULL;
}

/* By what those who wait for it have as their first parameter. */
static char *by_words(struct lock_names *names, const struct lock *lock, const struct named *named)
{
	char *name = NULL;

	for (size_t i = 0; i < named->word_count && !name; i++)
		name = field_name(names, lock, &named->words[i]);
	return name;
}

static char *by_code(struct lock_names *names, const struct lock *lock, bool in_sync)
{
	struct frames frames = frames_of(names->prog);
	const char *name = NULL;

	for (size_t i = 0; i < lock->waiter_count && i < STACKS_LOOKED && !name; i++)
		name = lock_stacks_name(names->stacks, &frames, names->fields,
					lock->waiters[i].stack, in_sync);
	if (!name && lock->waiting)
		name = lock_stacks_name(names->stacks, &frames, names->fields, lock->waiting->stack,
					in_sync);
	return name ? mem_strdup(name) : NULL;
}

static char *seek(struct lock_names *names, const struct lock *lock, const struct named *named)
{
	char *variable = lock_fields_variable(names->fields, lock->addr - named->bias);
	char *field;

	if (variable && !strchr(variable, '+'))
		return variable;
	field = by_code(names, lock, false);
	if (!field)
		field = by_words(names, lock, named);
	if (!field && !variable)
		field = by_code(names, lock, true);
	if (!field)
		return variable;
	free(variable);
	return field;
}

const char *lock_names_find(void *ctx, const struct lock *lock)
{
	struct lock_names *names = ctx;
	struct named *named = find_named(names, lock);

	if (named && !named->name && !named->sought) {
		named->sought = true;
		named->name = seek(names, lock, named);
	}
	return named ? named->name : NULL;
}
