// SPDX-License-Identifier: Apache-2.0
#include "objects/retained_roots_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "goroutines/memory.h"
#include "objects/object_walk_internal.h"
#include "objects/objects_still_internal.h"
#include "objects/spans_internal.h"
#include "objects/variable_names_internal.h"
#include "program/functab.h"
#include "program/moduledata.h"
#include "program/program.h"

enum { DATA = 4, BSS = 6, MASK_WORDS = 2 }; /* words of moduledata: from its text, from its mask */
#define PART_MAX (UINT64_C(1) << 30)        /* bytes; far more than programs have */

struct part { /* of the variables: data or bss */
	uint64_t addr, words;
	uint8_t *mask; /* which of them are pointers; NULL: all may be */
};

static void add_word(const struct retained_roots *roots, uint64_t addr, uint64_t value)
{
	uint64_t at = addr - roots->walk->bias;
	struct retained_root root = {.how = RETAINED_VARIABLE, .addr = at};

	root.name = variable_names_at(roots->names, at, &root.addr);
	roots->found(roots->ctx, &root, value);
}

static void add_part(const struct retained_roots *roots, const struct part *part)
{
	for (uint64_t i = 0; i < part->words && object_walk_spend(roots->walk); i++) {
		if (part->mask && !(part->mask[i / 8] >> i % 8 & 1))
			continue;
		uint64_t addr = part->addr + i * 8, value = object_walk_word(roots->walk, addr);

		if (value)
			add_word(roots, addr, value);
	}
}

/* src/runtime/symtab.go, bitvector: n int32, bytedata *uint8 */
static bool read_part(const struct object_walk *walk, uint64_t ends, uint64_t mask,
		      struct part *out)
{
	const struct memory *mem = walk->live;
	uint64_t end, bits, bytes;

	if (!memory_u64(mem, ends, &out->addr) || !memory_u64(mem, ends + 8, &end) ||
	    !memory_u64(mem, mask, &bits) || !memory_u64(mem, mask + 8, &bytes) || out->addr % 8 ||
	    end < out->addr || end - out->addr > PART_MAX)
		return false;
	out->words = (end - out->addr) / 8;
	if ((uint32_t)bits != out->words)
		return false;
	out->mask = mem_alloc(out->words / 8 + 1);
	return !out->words || mem->read(mem->ctx, bytes, out->mask, (out->words + 7) / 8);
}

bool retained_roots_variables(const struct retained_roots *roots)
{
	const struct object_walk *walk = roots->walk;
	const struct moduledata_layout *layout = moduledata_layout(walk->prog->release);
	uint64_t md = functab_moduledata(walk->prog->tab) + walk->bias;
	uint64_t text = md + layout->text * 8, mask = md + layout->masks * 8;
	struct part data = {0}, bss = {0};
	bool known = read_part(walk, text + DATA * 8, mask, &data) &&
		     read_part(walk, text + BSS * 8, mask + MASK_WORDS * 8, &bss);

	if (known) {
		add_part(roots, &data);
		add_part(roots, &bss);
	}
	for (size_t i = 0; !known && i < roots->still->variables; i++) {
		const struct objects_range *range = &roots->still->roots[i];

		add_part(roots, &(struct part){.addr = range->addr, .words = range->len / 8});
	}
	free(data.mask);
	free(bss.mask);
	return known;
}

/* The collector marks what an object with a finalizer leads to, and not the object: if nothing else
 * leads to that, it is kept until the finalizer has run. */
void retained_roots_specials(const struct retained_roots *roots)
{
	static const enum retained_how hows[] = {
		[SPECIAL_FINALIZER] = RETAINED_FINALIZER,
		[SPECIAL_CLEANUP] = RETAINED_CLEANUP,
		[SPECIAL_WEAK_POINTER] = RETAINED_WEAK_POINTER,
		[SPECIAL_QUEUED_FINALIZER] = RETAINED_QUEUED_FINALIZER,
		[SPECIAL_QUEUED_CLEANUP] = RETAINED_QUEUED_CLEANUP,
	};
	const struct specials *specials = &roots->walk->spans->specials;

	for (size_t i = 0; i < specials->count && object_walk_spend(roots->walk); i++) {
		const struct special *special = &specials->all[i];
		const struct retained_root root = {.how = hows[special->how]};

		if (special->object)
			roots->found(roots->ctx, &root, special->object);
		for (size_t k = 0; k < SPECIAL_WORDS; k++)
			if (special->words[k])
				roots->found(roots->ctx, &root, special->words[k]);
	}
}
