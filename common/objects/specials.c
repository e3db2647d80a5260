// SPDX-License-Identifier: Apache-2.0
#include "objects/specials_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/release.h"
#include "goroutines/memory.h"

enum { READ_MAX = 1 << 20, NONE = -1 };
enum { FINALIZER_TYPE = 24 }; /* what follows struct special is fn, nret, fint, ot */

/* The numbers of kinds, and how many words a cleanup has */
struct numbers {
	int finalizer, weak, cleanup, cleanup_words;
};

static struct numbers numbers_of(int release)
{
	if (release >= RELEASE_CLEANUP_ARGS)
		return (struct numbers){2, 3, 7, 3};
	if (release >= RELEASE_TINY_SPECIALS)
		return (struct numbers){2, 3, 7, 1};
	if (release >= RELEASE_CLEANUPS)
		return (struct numbers){1, 2, 6, 1};
	return (struct numbers){1, release >= RELEASE_WEAK_POINTERS ? 2 : NONE, NONE, 0};
}

/* What follows struct special; false: it keeps nothing. */
static bool describe(int release, int kind, uint64_t object, struct special *out, size_t *words)
{
	const struct numbers numbers = numbers_of(release);

	*words = 1;
	if (kind == numbers.finalizer) {
		*out = (struct special){.how = SPECIAL_FINALIZER, .object = object};
		return true;
	}
	if (kind == numbers.weak) {
		*out = (struct special){.how = SPECIAL_WEAK_POINTER};
		return true;
	}
	*out = (struct special){.how = SPECIAL_CLEANUP};
	*words = (size_t)numbers.cleanup_words;
	return kind == numbers.cleanup;
}

/* next, offset in the span, kind: the offset was shorter before there were cleanups. */
struct head {
	uint64_t next, off;
	int kind;
	size_t size;
};

static bool read_head(const struct memory *mem, uint64_t addr, int release, struct head *out)
{
	bool is_short = release < RELEASE_CLEANUPS;
	uint8_t bytes[24] = {0};
	uint16_t half;

	out->size = is_short ? 16 : 24;
	if (!mem->read(mem->ctx, addr, bytes, out->size))
		return false;
	memcpy(&out->next, bytes, sizeof(out->next));
	memcpy(&out->off, bytes + 8, sizeof(out->off));
	memcpy(&half, bytes + 8, sizeof(half));
	out->off = is_short ? half : out->off;
	out->kind = bytes[is_short ? 10 : 16];
	return true;
}

void specials_put(struct specials *specials, const struct special *special)
{
	specials->all =
		mem_grow(specials->all, specials->count, &specials->cap, sizeof(*specials->all));
	specials->all[specials->count++] = *special;
}

void specials_add(struct specials *specials, const struct memory *mem, uint64_t first,
		  uint64_t base, int release)
{
	struct head head;
	struct special special;
	size_t words;

	for (uint64_t addr = first; addr; addr = head.next) {
		if (specials->read++ >= READ_MAX || !read_head(mem, addr, release, &head)) {
			specials->left_out = true;
			return;
		}
		if (!describe(release, head.kind, base + head.off, &special, &words))
			continue;
		if (special.how == SPECIAL_FINALIZER &&
		    memory_u64(mem, addr + head.size + FINALIZER_TYPE, &special.type))
			special.typed = special.object;
		if (mem->read(mem->ctx, addr + head.size, special.words, words * 8))
			specials_put(specials, &special);
		else
			specials->left_out = true;
	}
}

void specials_free(struct specials *specials)
{
	free(specials->all);
	*specials = (struct specials){0};
}
