// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as a Go program: what its argument tables, its code and what that saves tell of
 * parameters must be within what they say themselves, and looking must end. */
#include <stdlib.h>
#include <string.h>

#include "abi/argtable.h"
#include "arguments/sigcheck_internal.h"
#include "elf/image.h"
#include "fuzz.h"
#include "gofile.h"
#include "machine/insn.h"
#include "program/functab_internal.h"
#include "values/shape.h"

enum { MAX_FUNCTIONS = 50, MAX_REGISTERS = 32, MAX_DEPTH = 16, OLDEST = 17 };

struct walk {
	const struct image *img;
	const struct functab *tab;
	struct insn_decoder *dec;
	int release;
};

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Parts lie in what they are part of. */
static void check_words(const struct gotype *type, unsigned depth)
{
	expect(depth < MAX_DEPTH);
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		expect(field->type != NULL);
		if (type->size <= INT16_MAX) /* what malformed tables turn back to the front */
			check_words(field->type, depth + 1);
	}
}

static void check_value(const struct abi_value *value)
{
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];

		expect(piece->where == ABI_SLOT || piece->n < MAX_REGISTERS);
		expect(piece->where == ABI_SLOT || piece->size <= 8);
	}
}

/* As gotrace lays values out in a record, which has an end */
static void check_shape(struct gotypes *memory, const struct gotype *type)
{
	const struct shape_limits limits = {.string_max = 80, .record_max = 16384};
	uint32_t end = 0;
	const struct shape *shape = shape_new(memory, type, &limits, &end);

	expect(end <= limits.record_max && shape->at <= end);
	for (size_t i = 0; i < shape->ref_count; i++)
		expect(shape->refs[i].at + shape->refs[i].max <= end);
}

static void walk_function(const struct walk *walk, const struct functab_func *fn)
{
	struct gotypes *memory = gotypes_new();
	struct evidence evidence;
	struct abi_layout layout;
	struct gofunc sig;

	evidence_read(walk->img, walk->tab, walk->dec, walk->release, fn, &evidence);
	if (argtable_read(walk->img, walk->tab, walk->dec, &evidence, fn, memory, &sig, &layout)) {
		expect(sig.param_count == layout.param_count && !sig.result_count);
		for (size_t i = 0; i < sig.param_count; i++) {
			const struct gotype *type = sig.params[i].type;

			check_value(&layout.params[i]);
			check_words(type, 0);
			if (type->elem) {
				check_words(type->elem, 0);
				check_shape(memory, type->elem);
			}
			expect(!layout.params[i].count || sig.params[i].place != GOPARAM_UNPLACED);
		}
		free(sigcheck_text(image_arch(walk->img), &sig, &layout));
		expect(sigcheck_agrees(&sig, &layout, &sig, &layout));
		abi_layout_free(&layout);
	}
	gotypes_free(memory);
}

static void walk_image(const struct image *img)
{
	struct walk walk = {.img = img, .tab = functab_open(img, NULL)};
	struct functab_func fn;

	if (!walk.tab)
		return;
	walk.dec = insn_decoder_new(image_arch(img));
	walk.release = functab_release_guess(walk.tab);
	if (walk.release < OLDEST)
		walk.release = OLDEST;
	for (size_t i = 0; i < functab_count(walk.tab) && i < MAX_FUNCTIONS; i++)
		if (functab_func(walk.tab, i, &fn))
			walk_function(&walk, &fn);
	insn_decoder_free(walk.dec);
	functab_close((struct functab *)walk.tab);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_image_file(data, size, walk_image);
}

/* --- seeds: main.b of gofile.h, whose inline tree's place is made that of ArgInfo --- */

struct bytes {
	const char *at;
	size_t len;
};

static const struct bytes tables[] = {
	/* int8, string, float64, [2]int; Big and what is left out; nothing in a struct; too far */
	{"\x10\x01\xfe\x18\x08\x20\x08\xfd\x28\x08\xfe\x00\x08\x08\x08\xfd\xff", 17},
	{"\xfe\x00\x08\x08\x08\x10\x08\x18\x08\x20\x08\xfc\xfd\xfc\xff", 15},
	{"\xfe\xfe\xfd\xfe\x08\x08\xfd\xfd\x10\x04\xfb\x14\x04\xff", 14},
	{"\x08\x08\x10\x08\x18\x08\x20\x08\x28\x08\x30\x08\x38\x08\x40\x08\x48\x08\x00\x08\xff",
	 21},
	{"\x00\x08\x08\x08\xff", 5},
};

static const uint32_t sizes[] = {48, 88, 32, 80, 16}; /* of all parameters, of each table */

static const struct bytes codes[] = {
	/* a stack check, and what is saved for it */
	{"\x49\x3b\x66\x10\x76\x06\x55\x5d\xc3\x90\x90\x90\x88\x44\x24\x18\x48\x89\x5c\x24\x20"
	 "\x48\x89\x4c\x24\x28\xf2\x0f\x11\x44\x24\x30\xe8\x00\x00\x00\x00\xeb\xd9",
	 39},
	/* registers and stack slots are read, before and after branches */
	{"\x48\x01\xd8\x48\x85\xc9\x74\x05\xf2\x0f\x58\xc1\x90\x48\x8b\x44\x24\x08\x48\x8d\x7c\x24"
	 "\x10\x48\x89\x5c\x24\x18\x0f\x10\x11\xeb\xdf\xc3",
	 34},
	{"\x48\x01\xd8\xc3", 4},
	{"\xc3", 1},
};

enum { TABLES = sizeof(tables) / sizeof(*tables), CODES = sizeof(codes) / sizeof(*codes) };

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	static const int releases[] = {20, 27};
	enum { RELEASES = sizeof(releases) / sizeof(*releases) };
	const struct bytes *table = &tables[index % TABLES];
	const struct bytes *code = &codes[index / TABLES % CODES];
	unsigned kind = index / (TABLES * CODES);
	struct gofile g;

	if (kind > RELEASES) /* of arm64 one is enough */
		return NULL;
	gofile_make(&g, releases[kind % RELEASES], kind < RELEASES ? EM_X86_64 : EM_AARCH64);
	uint64_t nfuncdata = gofile_record(&g, 1) + 4 + 9 * 4 + 3;

	elffile_u32(g.f, gofile_record(&g, 1) + 8, sizes[index % TABLES]);
	*elffile_at(g.f, nfuncdata) = 6;
	elffile_u32(g.f, nfuncdata + 1 + 3 * 4 + 5 * 4, GOFILE_TREE - GOFILE_GOFUNC);
	elffile_bytes(g.f, GOFILE_TREE, table->at, table->len);
	elffile_bytes(g.f, g.starts[1], code->at, code->len);
	uint8_t *data = malloc(g.f->size);

	memcpy(data, g.f->data, g.f->size);
	*size = g.f->size;
	elffile_free(g.f);
	return data;
}
