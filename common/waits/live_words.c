// SPDX-License-Identifier: Apache-2.0
#include "waits/live_words_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "golang/release.h"
#include "frames/frame_maps.h"
#include "frames/frames.h"
#include "goroutines/memory.h"
#include "goroutines/snapshot.h"
#include "frames/unwinder.h"
#include "program/functab.h"

enum {
	WORDS_MAX = 1 << 12, /* of a goroutine */
	OBJECTS_MAX = 64,    /* variables of a goroutine that are looked at */
	PLACES = 1 << 12,    /* entries of a cache */
	CAPTURED_MAX = 15,   /* variables of a closure */
	DEFERS_MAX = 16,     /* of a goroutine */
	DEFER_ARGS_MAX = 4,  /* words */
	READS_MAX = 1 << 18, /* of closures and deferred calls, of all goroutines */
	LOWEST = 4096,       /* address */
	G_DEFER = 40,        /* in struct g: stack, two guards, _panic before it */
	DEFER_FN = 3,
	DEFER_LINK = 4,
	DEFER_LEN = 9, /* words */
};

struct place {       /* in the code */
	uint64_t at; /* 0: nothing is remembered */
	struct frame_maps maps;
	uint64_t func; /* where its function begins */
	bool captures; /* may be a closure's */
};

struct live_words {
	const struct snapshot_source *from;
	const struct snapshot *snap;
	const struct frames *frames;
	struct place *places;
	struct live_word *all;
	size_t count, reads;
	struct unwound_frames walk;
	const struct goroutine *g;
	const uint8_t *bytes;
	size_t len;
	uint64_t objects[OBJECTS_MAX]; /* that were looked at: addresses */
	size_t object_count;
};

struct live_words *live_words_new(const struct snapshot_source *from, const struct snapshot *snap,
				  const struct frames *frames)
{
	struct live_words *words = mem_zalloc(1, sizeof(*words));

	words->from = from;
	words->snap = snap;
	words->frames = frames;
	words->places = mem_zalloc(PLACES, sizeof(*words->places));
	words->all = mem_alloc(WORDS_MAX * sizeof(*words->all));
	return words;
}

void live_words_free(struct live_words *words)
{
	if (!words)
		return;
	free(words->places);
	free(words->all);
	free(words);
}

static void add(struct live_words *words, struct live_word word)
{
	if (word.value >= LOWEST && words->count < WORDS_MAX)
		words->all[words->count++] = word;
}

/* --- where the program's code is --- */

/* What the compiler makes of a function literal, a go or a defer statement, or a method value. */
static bool may_capture(const char *name)
{
	static const char *const parts[] = {".func",  ".gowrap", ".deferwrap",
					    "·dwrap", "-range",  "-fm"};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

static const struct place *find_place(struct live_words *words, uint64_t at)
{
	struct place *place = &words->places[index_hash(0, at) % PLACES];
	struct functab_func fn;

	if (place->at == at)
		return place;
	*place = (struct place){.at = at};
	frame_maps_at(words->frames, at, &place->maps);
	if (functab_find(words->frames->tab, at, &fn)) {
		place->func = fn.addr;
		place->captures = may_capture(fn.name);
	}
	return place;
}

static bool is_function(const struct live_words *words, uint64_t addr)
{
	struct functab_func fn;

	return functab_find(words->frames->tab, addr - words->frames->bias, &fn) &&
	       fn.addr == addr - words->frames->bias;
}

/* --- a frame --- */

static uint64_t word_at(const struct live_words *words, uint64_t at)
{
	uint64_t value = 0;

	if (at <= words->len && words->len - at >= sizeof(value))
		memcpy(&value, words->bytes + at, sizeof(value));
	return value;
}

/* Bytes from the stack pointer to where a frame begins, and where its locals end: before the
 * caller's frame pointer and the return address. */
static uint64_t frame_begin(const struct live_words *words, size_t i)
{
	return i ? words->walk.args[i - 1] : 0;
}

static uint64_t locals_end(const struct live_words *words, size_t i)
{
	uint64_t end = words->walk.args[i] - 8;

	return end > frame_begin(words, i) ? end - 8 : end;
}

static uint64_t at_of(const struct live_words *words, size_t i)
{
	return words->walk.pc[i] - 1 - words->frames->bias;
}

static void add_frame(struct live_words *words, size_t i)
{
	uint64_t begin = frame_begin(words, i), end = locals_end(words, i);
	const struct place *place = find_place(words, at_of(words, i));
	const struct frame_map *locals = &place->maps.locals, *args = &place->maps.args;

	for (uint32_t k = 0; k < locals->count && k < (end - begin) / 8; k++)
		if (frame_maps_bit(locals, locals->count - 1 - k))
			add(words, (struct live_word){word_at(words, end - 8 - 8 * (uint64_t)k),
						      place->at, false});
	for (uint32_t k = 0; k < args->count; k++)
		if (frame_maps_bit(args, k))
			add(words, (struct live_word){
					   word_at(words, words->walk.args[i] + 8 * (uint64_t)k),
					   place->at, false});
}

/* --- what words point to --- */

/* Frame `i` has its locals up to `end`: the variable that has the byte at `at`. */
static bool find_object(struct live_words *words, size_t i, uint64_t at, uint64_t *from,
			uint32_t *size)
{
	const struct place *place = find_place(words, at_of(words, i));
	struct frame_object object;

	for (uint32_t n = 0; n < place->maps.object_count; n++) {
		if (!frame_maps_object(words->frames, &place->maps, n, &object))
			return false;
		*from = (object.off < 0 ? locals_end(words, i) : words->walk.args[i]) + object.off;
		*size = object.size;
		if (*from < words->len && at >= *from && at - *from < object.size)
			return true;
	}
	return false;
}

static bool is_seen(struct live_words *words, uint64_t object)
{
	for (size_t i = 0; i < words->object_count; i++)
		if (words->objects[i] == object)
			return true;
	if (words->object_count == OBJECTS_MAX)
		return true;
	words->objects[words->object_count++] = object;
	return false;
}

/* A variable on the stack: a closure that is made there is that of a deferred call, or one that a
 * frame further in has been given. */
static void follow_stack(struct live_words *words, struct live_word word)
{
	uint64_t at = word.value - words->g->sp, from = 0, first;
	uint32_t size = 0;
	size_t i = 0;

	while (i < words->walk.count && words->walk.args[i] <= at)
		i++;
	/* a variable among the arguments is the callee's */
	if ((i == words->walk.count || !find_object(words, i, at, &from, &size)) &&
	    (!i || !find_object(words, i - 1, at, &from, &size)))
		return;
	if (is_seen(words, from))
		return;
	first = word_at(words, from);
	if (is_function(words, first))
		word = (struct live_word){.at = first - words->frames->bias, .deferred = true};
	for (uint32_t off = word.deferred ? 8 : 0; size - off >= 8 && off < size; off += 8) {
		word.value = word_at(words, from + off);
		add(words, word);
	}
}

/* What stands behind the address of a function, up to the next closure. */
static void add_captured(struct live_words *words, const uint64_t *closure, struct live_word like)
{
	for (size_t i = 1; i <= CAPTURED_MAX && !is_function(words, closure[i]); i++) {
		like.value = closure[i];
		add(words, like);
	}
}

static bool read_closure(struct live_words *words, uint64_t addr, uint64_t *closure)
{
	const struct memory *mem = words->from->mem;

	memset(closure, 0, (CAPTURED_MAX + 1) * sizeof(*closure));
	if (addr % 8 || addr < LOWEST || words->reads++ >= READS_MAX)
		return false;
	/* it may be the last thing in its part of memory */
	return mem->read(mem->ctx, addr, closure, (CAPTURED_MAX + 1) * sizeof(*closure)) ||
	       mem->read(mem->ctx, addr, closure, 2 * sizeof(*closure));
}

/* The closure that the frame's function runs as: its first word is that function. */
static void follow_heap(struct live_words *words, struct live_word word)
{
	uint64_t closure[CAPTURED_MAX + 1];
	const struct place *place = find_place(words, word.at);
	uint64_t func = place->func;

	if (!place->captures || word.deferred || is_seen(words, word.value) ||
	    !read_closure(words, word.value, closure) || closure[0] != func + words->frames->bias)
		return;
	add_captured(words, closure, word);
}

static void follow_all(struct live_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		struct live_word word = words->all[i];

		if (word.value >= words->g->sp && word.value < words->g->stack_hi)
			follow_stack(words, word);
		else
			follow_heap(words, word);
	}
}

/* --- deferred calls --- */

static void add_deferred(struct live_words *words, uint64_t addr, const uint64_t *record)
{
	const struct memory *mem = words->from->mem;
	uint64_t closure[CAPTURED_MAX + 1], args[DEFER_ARGS_MAX] = {0};
	struct live_word word = {.deferred = true};

	if (!read_closure(words, record[DEFER_FN], closure) || !is_function(words, closure[0]))
		return;
	word.at = closure[0] - words->frames->bias;
	add_captured(words, closure, word);
	if (words->frames->release >= RELEASE_DEFER_WITHOUT_ARGS)
		return;
	size_t size = (uint32_t)record[0] < sizeof(args) ? (uint32_t)record[0] : sizeof(args);

	if (!mem->read(mem->ctx, addr + DEFER_LEN * 8, args, size))
		return;
	for (size_t i = 0; i < size / 8; i++) {
		word.value = args[i];
		add(words, word);
	}
}

static void add_defers(struct live_words *words)
{
	const struct memory *mem = words->from->mem;
	size_t link = DEFER_LINK + (words->frames->release < RELEASE_DEFER_WITHOUT_PANIC),
	       len = link + 1;
	uint64_t addr, record[DEFER_LEN];

	if (!memory_u64(mem, words->g->addr + G_DEFER, &addr))
		return;
	for (size_t i = 0; i < DEFERS_MAX && addr >= LOWEST && addr % 8 == 0; i++) {
		if (words->reads++ >= READS_MAX ||
		    !mem->read(mem->ctx, addr, record, len * sizeof(*record)))
			return;
		add_deferred(words, addr, record);
		addr = record[link];
	}
}

/* --- a goroutine --- */

/* Are these the frames that it had when the snapshot was taken? */
static bool walk_it(struct live_words *words)
{
	const struct goroutine *g = words->g;
	size_t count;
	const uint64_t *stack = snapshot_stack(words->snap, g->stack, &count);
	struct stack_bytes bytes = {g->sp, words->bytes, words->len,
				    g->sp + words->len < g->stack_hi, g->link};

	if (!count)
		return false;
	enum unwound how = unwinder_walk(&bytes, stack[0] - g->interrupted, words->from->rule,
					 words->from->rule_ctx, &words->walk);

	if (how == UNWOUND_NOT)
		return false;
	/* where the last one ends is not known, then */
	words->walk.count -= how == UNWOUND_CUT;
	if (words->walk.count > count)
		words->walk.count = count;
	for (size_t i = g->interrupted; i < words->walk.count; i++)
		if (words->walk.pc[i] != stack[i])
			return false;
	return true;
}

const struct live_word *live_words_find(struct live_words *words, const struct goroutine *g,
					const uint8_t *bytes, size_t len, size_t *count)
{
	words->g = g;
	words->bytes = bytes;
	words->len = len;
	words->count = words->object_count = 0;
	if (!walk_it(words))
		return NULL;
	/* where it was interrupted, no map tells what is in use */
	for (size_t i = g->interrupted; i < words->walk.count; i++)
		add_frame(words, i);
	follow_all(words);
	add_defers(words);
	*count = words->count;
	return words->all;
}
