// SPDX-License-Identifier: Apache-2.0
#include "objects/special_queues_internal.h"

#include <stddef.h>
#include <string.h>

#include "golang/release.h"
#include "goroutines/memory.h"
#include "goroutines/runtime_refs.h"
#include "objects/specials_internal.h"
#include "program/program.h"

/* --- finding them --- */

enum { QUEUE_SIZE = 272 }; /* bytes of struct cleanupQueue before its `all`, at most */

static bool has_load(const struct runtime_refs *refs, uint64_t addr)
{
	for (size_t i = 0; i < refs->count; i++)
		if (refs->all[i].addr == addr && refs->all[i].how == ACCESS_LOAD &&
		    refs->all[i].bytes == 8)
			return true;
	return false;
}

static bool has_begin(const struct runtime_refs *refs, uint64_t addr)
{
	for (size_t i = 0; i < refs->count; i++)
		if (refs->all[i].how == ACCESS_ADDRESS && refs->all[i].addr < addr &&
		    addr - refs->all[i].addr < QUEUE_SIZE)
			return true;
	return false;
}

/* The one variable that the marking of roots loads and of which this is true; 0: none, or several.
 */
static uint64_t find_one(const struct runtime_refs *marking, const struct runtime_refs *other,
			 bool (*is)(const struct runtime_refs *refs, uint64_t addr))
{
	uint64_t found = 0;

	for (size_t i = 0; i < marking->count; i++) {
		uint64_t addr = marking->all[i].addr;

		if (!has_load(marking, addr) || !is(other, addr) || addr == found)
			continue;
		if (found)
			return 0;
		found = addr;
	}
	return found;
}

/* runtime.queuefinalizer puts a new block before those of allfin; runtime.runCleanups gives
 * functions of gcCleanups its address. */
void special_queues_find(const struct program *prog, struct special_queues *out)
{
	struct runtime_refs marking = {0}, queueing = {0}, running = {0};

	runtime_refs_add(prog, "runtime.markroot", &marking);
	runtime_refs_add(prog, "runtime.queuefinalizer", &queueing);
	runtime_refs_add(prog, "runtime.runCleanups", &running);
	*out = (struct special_queues){
		.finalizers = find_one(&marking, &queueing, has_load),
		.cleanups = find_one(&marking, &running, has_begin),
		.has_cleanups = prog->release >= RELEASE_TINY_SPECIALS,
	};
}

/* --- reading them --- */

enum { BLOCKS_MAX = 1 << 16, BLOCK_SIZE = 4096, FINALIZER = 40, CLEANUP = 24 };

/* Bytes from where a block begins, and of it. */
struct layout {
	uint32_t link, count, first, each, size;
};

static void add_finalizer(const uint8_t *bytes, struct specials *out)
{
	uint64_t words[FINALIZER / 8]; /* fn, arg, nret, fint, ot */

	memcpy(words, bytes, sizeof(words));
	/* cleanups of Go 1.24 are functions alone */
	specials_put(out, &(struct special){.how = words[1] ? SPECIAL_QUEUED_FINALIZER
							    : SPECIAL_QUEUED_CLEANUP,
					    .words = {words[0], words[1], words[3], words[4]},
					    .typed = words[1],
					    .type = words[4]});
}

static void add_cleanup(const uint8_t *bytes, size_t len, struct specials *out)
{
	struct special special = {.how = SPECIAL_QUEUED_CLEANUP};

	memcpy(special.words, bytes, len);
	specials_put(out, &special);
}

static void read_blocks(const struct memory *mem, uint64_t first, const struct layout *layout,
			struct specials *out)
{
	uint8_t bytes[BLOCK_SIZE];
	uint64_t next;
	uint32_t count;

	for (uint64_t addr = first; addr; addr = next) {
		if (out->blocks++ >= BLOCKS_MAX ||
		    !mem->read(mem->ctx, addr, bytes, layout->size)) {
			out->left_out = true;
			return;
		}
		memcpy(&next, bytes + layout->link, sizeof(next));
		memcpy(&count, bytes + layout->count, sizeof(count));
		if (count > (layout->size - layout->first) / layout->each) {
			out->left_out = true;
			return;
		}
		for (uint32_t i = 0; i < count; i++) {
			const uint8_t *at = bytes + layout->first + i * layout->each;

			if (layout->each == FINALIZER)
				add_finalizer(at, out);
			else
				add_cleanup(at, layout->each, out);
		}
	}
}

static void read_list(const struct memory *mem, uint64_t place, uint64_t bias,
		      const struct layout *layout, struct specials *out)
{
	uint64_t first;

	if (place && memory_u64(mem, place + bias, &first))
		read_blocks(mem, first, layout, out);
	else
		out->left_out = true;
}

void special_queues_read(const struct special_queues *queues, const struct memory *mem,
			 uint64_t bias, int release, struct specials *out)
{
	const struct layout finalizers = {0, 16, 24, FINALIZER, BLOCK_SIZE};
	const struct layout cleanups = {
		16, 24, 32, release >= RELEASE_CLEANUP_ARGS ? CLEANUP : sizeof(uint64_t), 512};

	read_list(mem, queues->finalizers, bias, &finalizers, out);
	if (queues->has_cleanups)
		read_list(mem, queues->cleanups, bias, &cleanups, out);
}
