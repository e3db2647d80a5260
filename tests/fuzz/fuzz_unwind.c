// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as a program's call frame information, with registers and a stack that its data
 * segment has: each row must hold together, and unwinding must end. */
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "elf/image.h"
#include "elf/unwind.h"
#include "elffile.h"
#include "framefile.h"
#include "fuzz.h"
#include "elf/ehframe_internal.h"

enum {
	FUNCTION = FRAMEFILE_FUNCTION,
	FRAMES = 32,
	PIECES = 2,
	STACK = 0x200, /* bytes, from SP on */
	MAX_ROWS = 512,
	MAX_RULES = 100000,
};

/* What is at the start of the data segment; the stack follows. */
struct taken {
	uint64_t regs[EHFRAME_REGS];
	uint64_t bias, morestack; /* of the file once more, as a library */
	uint64_t addrs[PIECES], lens[PIECES];
};

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_row(const struct image *img, uint64_t pc)
{
	struct budget work = {MAX_RULES};
	struct ehframe_row row;

	if (!ehframe_row(img, pc, &work, &row))
		return;
	expect(row.func <= pc && row.cfa_reg < EHFRAME_RA);
	for (unsigned i = 0; i < EHFRAME_REGS; i++)
		expect(row.regs[i].how <= EHFRAME_LOST);
}

static void check_rows(const struct image *img)
{
	size_t count, left = MAX_ROWS;
	const struct image_segment *segs = image_segments(img, &count);

	for (size_t i = 0; i < count; i++)
		for (uint64_t off = 0; segs[i].exec && off < segs[i].memsz && left; off++, left--)
			check_row(img, segs[i].addr + off);
	check_row(img, 0);
	check_row(img, UINT64_MAX);
}

/* Memory of its own, exactly as long as it says: ASan sees what reads past it. */
static struct unwind_piece copy_piece(const struct image *img, uint64_t addr, uint64_t len)
{
	const uint8_t *bytes = len <= STACK ? image_at(img, addr, len) : NULL;
	uint8_t *copy = malloc(len <= STACK ? len : 0);

	if (bytes)
		memcpy(copy, bytes, len);
	return (struct unwind_piece){addr, bytes ? len : 0, copy};
}

static void check_stack(const struct image *img, const struct taken *taken, size_t max)
{
	const struct unwind_module modules[] = {{img, 0, taken->morestack},
						{img, taken->bias, taken->morestack}};
	struct unwind_piece pieces[PIECES];
	struct unwind u = {modules, 2, pieces, PIECES, {0}};
	uint64_t *frames = malloc(max * sizeof(*frames));
	bool complete;
	size_t count;

	memcpy(u.regs, taken->regs, sizeof(u.regs));
	for (size_t i = 0; i < PIECES; i++)
		pieces[i] = copy_piece(img, taken->addrs[i], taken->lens[i]);
	count = unwind(&u, frames, max, &complete);
	expect(count <= max);
	for (size_t i = 0; i + 1 < count; i++) /* a return address is a call's, in a module */
		expect(unwind_module(&u, frames[i] - (i > 0)) != NULL);
	for (size_t i = 0; i < PIECES; i++)
		free((void *)pieces[i].bytes);
	free(frames);
}

static void walk_image(const struct image *img)
{
	const void *data = image_at(img, ELFFILE_DATA, sizeof(struct taken));
	struct taken taken;

	check_rows(img);
	if (!data)
		return;
	memcpy(&taken, data, sizeof(taken));
	for (size_t max = 1; max <= FRAMES; max *= FRAMES)
		check_stack(img, &taken, max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_image_file(data, size, walk_image);
}

/* --- seeds: a chain of functions, which call each other in this order --- */

enum { FUNCTIONS = 5 };

static void put_frames(struct elffile *f, bool large)
{
	const struct framefile_rules functions[FUNCTIONS] = {
		/* push %rbp; mov %rsp,%rbp; ... leave; ret in the middle */
		FRAMEFILE_RULES("\x41\x0e\x10\x86\x02\x43\x0d\x06\x60\x0a\x0c\x07\x08\xc6\x41\x0b"),
		/* saved far away, and given back */
		FRAMEFILE_RULES("\x04\x01\0\0\0\x0e\x18\x05\x0c\x02\x11\x03\x7f\x03\x02\0\x06\x0c"
				"\x08\x0d\x02\x01"),
		/* with factors, as values, in other registers and by expressions */
		FRAMEFILE_RULES(
			"\x12\x07\x7d\x13\x7e\x41\x14\x07\x00\x09\x0e\x0f\x10\x0d\x02\x77\x08"
			"\x16\x0f\x01\x9c\x2e\x10"),
		/* a table of jumps to other files */
		FRAMEFILE_RULES(
			"\x41\x0e\x10\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22\x0c"
			"\x07\x10"),
		/* nobody has called it */
		FRAMEFILE_RULES("\x07\x10"),
	};
	struct framefile w;

	/* CFA is rsp + 8, and there is the return address */
	framefile_make(&w, f, large, FRAMEFILE_RULES("\x0c\x07\x08\x90\x01"));
	for (unsigned i = 0; i < FUNCTIONS; i++)
		framefile_func(&w, functions[i]);
}

/* Every second word is the stack's own address, the others return to some function. */
static void put_stack(struct elffile *f, unsigned begin, unsigned at)
{
	uint64_t sp = ELFFILE_DATA + 0x200;
	struct taken taken = {
		.bias = 0x10000,
		.morestack = ELFFILE_TEXT + FUNCTION,
		.addrs = {sp, sp + STACK},
		.lens = {STACK, STACK},
	};

	for (unsigned i = 0; i < EHFRAME_REGS; i++)
		taken.regs[i] = sp + 0x10;
	taken.regs[AMD64_RSP] = sp;
	taken.regs[EHFRAME_RA] = ELFFILE_TEXT + begin * FUNCTION + at;
	elffile_bytes(f, ELFFILE_DATA, &taken, sizeof(taken));
	for (unsigned i = 0; i < 2 * STACK / 16; i++) {
		uint64_t func = (begin + 1 + i) % FUNCTIONS;

		elffile_u64(f, sp + 16 * i, i & 1 ? sp + 16 * i + 32 : sp + 16 * i + 16);
		elffile_u64(f, sp + 16 * i + 8,
			    ELFFILE_TEXT + func * FUNCTION + at + (i & 2 ? taken.bias : 0));
	}
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	static const unsigned places[] = {0, 1, 6, FUNCTION - 1};
	enum { PLACES = sizeof(places) / sizeof(*places) };

	if (index >= 2 * FUNCTIONS * PLACES)
		return NULL;

	struct elffile *f = elffile_new(EM_X86_64);

	put_frames(f, index & 1);
	put_stack(f, index / 2 % FUNCTIONS, places[index / 2 / FUNCTIONS]);

	uint8_t *data = malloc(f->size);

	memcpy(data, f->data, f->size);
	*size = f->size;
	elffile_free(f);
	return data;
}
