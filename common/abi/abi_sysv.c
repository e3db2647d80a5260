// SPDX-License-Identifier: Apache-2.0
/* C's calling convention on amd64, as GCC applies it to Go: what has at most 16 bytes goes, eight
 * bytes at a time, into integer or vector registers, or else as a whole on the stack. Several
 * results are one struct. A receiver that is no pointer is passed by its address, unless it has a
 * pointer's shape. */
#include <string.h>

#include "abi/abi_internal.h"

enum {
	EIGHTBYTES = 2,
	PIECES_MAX = 8, /* 7 bytes are 4, 2 and 1 */
	VECTORS = 8,
};

/* DWARF's number of the register of the n-th integer parameter; -1: there are fewer registers. */
static int param_reg(unsigned n)
{
	const struct registers_general *reg = registers_nth(ARCH_AMD64, REGISTERS_C, n);

	return reg ? reg->dwarf : -1;
}

enum class { CLASS_NONE, CLASS_VECTOR, CLASS_INTEGER }; /* the greater one wins */

struct classes {
	enum class of[EIGHTBYTES];
	unsigned steps;
};

static bool classify(struct classes *classes, const struct gotype *type, uint64_t off,
		     unsigned depth);

static bool merge(struct classes *classes, uint64_t off, uint64_t size, enum class class)
{
	size_t n = off / ABI_WORD;

	if (n >= EIGHTBYTES || size > ABI_WORD - off % ABI_WORD)
		return false;
	if (class > classes->of[n])
		classes->of[n] = class;
	return true;
}

static bool classify_array(struct classes *classes, const struct gotype *type, uint64_t off,
			   unsigned depth)
{
	if (!type->elem || !type->elem->size)
		return type->elem && !type->size;
	for (uint64_t i = 0; i < type->count; i++)
		if (!classify(classes, type->elem, off + i * type->elem->size, depth + 1))
			return false;
	return true;
}

static bool classify_struct(struct classes *classes, const struct gotype *type, uint64_t off,
			    unsigned depth)
{
	for (size_t i = 0; i < type->field_count; i++)
		if (!classify(classes, type->fields[i].type, off + type->fields[i].off, depth + 1))
			return false;
	/* a last field without a size is followed by a byte that gccgo adds, lest its address be
	 * that of what comes next */
	const struct gotype_field *last =
		type->field_count ? &type->fields[type->field_count - 1] : NULL;

	if (last && !last->type->size && type->size > last->off)
		return merge(classes, off + last->off, 1, CLASS_INTEGER);
	return last || !type->size;
}

/* The ABI's "Classification" of a type of at most 16 bytes. false: its class is not known. */
static bool classify(struct classes *classes, const struct gotype *type, uint64_t off,
		     unsigned depth)
{
	uint64_t half = type->size / 2;

	if (depth > ABI_DEPTH_MAX || ++classes->steps > ABI_STEPS_MAX)
		return false;
	switch (type->kind) {
	case GOTYPE_UNKNOWN:
		return false;
	case GOTYPE_FLOAT:
		return merge(classes, off, type->size, CLASS_VECTOR);
	case GOTYPE_COMPLEX:
		return merge(classes, off, half, CLASS_VECTOR) &&
		       merge(classes, off + half, half, CLASS_VECTOR);
	case GOTYPE_STRING:
	case GOTYPE_INTERFACE:
		return merge(classes, off, half, CLASS_INTEGER) &&
		       merge(classes, off + half, half, CLASS_INTEGER);
	case GOTYPE_ARRAY:
		return classify_array(classes, type, off, depth);
	case GOTYPE_STRUCT:
		return classify_struct(classes, type, off, depth);
	default:
		return merge(classes, off, type->size, CLASS_INTEGER);
	}
}

/* Bytes [off, off + size) of what is passed in registers. */
struct spread {
	const struct classes *classes;
	unsigned regs[EIGHTBYTES]; /* of each: a DWARF number, or the number of a vector register */
	struct abi_piece pieces[PIECES_MAX];
	size_t count;
};

static uint32_t part_size(uint64_t off, uint64_t end)
{
	uint32_t size = ABI_WORD;

	while (off % size || off + size > end)
		size /= 2;
	return size;
}

/* In parts that can be read at once. */
static void add_parts(struct spread *spread, size_t n, uint64_t from, uint64_t to, uint64_t off)
{
	bool is_vector = spread->classes->of[n] == CLASS_VECTOR;

	while (from < to && spread->count < PIECES_MAX) {
		uint32_t size = part_size(from, to);

		spread->pieces[spread->count++] =
			(struct abi_piece){is_vector ? ABI_FLOAT : ABI_HARDWARE, spread->regs[n],
					   from - off, size, from % ABI_WORD};
		from += size;
	}
}

static void spread_over(struct spread *spread, uint64_t off, uint64_t size)
{
	uint64_t end = off + size;

	spread->count = 0;
	for (size_t n = 0; n < EIGHTBYTES; n++) {
		uint64_t from = n * ABI_WORD > off ? n * ABI_WORD : off;
		uint64_t to = (n + 1) * ABI_WORD < end ? (n + 1) * ABI_WORD : end;

		if (spread->classes->of[n] != CLASS_NONE)
			add_parts(spread, n, from, to, off);
	}
}

struct assigner {
	unsigned ints, vectors; /* in use */
	uint64_t stack;         /* bytes */
	bool is_lost;           /* where the rest is depends on what is not known */
};

/* false: there are not enough registers left. */
static bool take_registers(struct assigner *assigner, struct spread *spread)
{
	unsigned ints = assigner->ints, vectors = assigner->vectors;

	for (size_t n = 0; n < EIGHTBYTES; n++) {
		if (spread->classes->of[n] == CLASS_INTEGER && param_reg(ints) < 0)
			return false;
		if (spread->classes->of[n] == CLASS_VECTOR && vectors == VECTORS)
			return false;
		if (spread->classes->of[n] == CLASS_INTEGER)
			spread->regs[n] = param_reg(ints++);
		else if (spread->classes->of[n] == CLASS_VECTOR)
			spread->regs[n] = vectors++;
	}
	assigner->ints = ints;
	assigner->vectors = vectors;
	return true;
}

static void assign_slot(struct assigner *assigner, const struct gotype *type, struct abi_value *out)
{
	uint32_t align = type->align > ABI_WORD ? type->align : ABI_WORD;
	uint64_t slot = abi_next(&assigner->stack, type, align);
	struct abi_piece piece = {ABI_SLOT, slot, 0, type->size, 0};
	bool fits = assigner->stack <= UINT32_MAX;

	abi_keep(out, &piece, fits ? 1 : 0);
	out->slot = fits ? slot : 0;
}

static void assign_c(struct assigner *assigner, const struct gotype *type, struct abi_value *out)
{
	struct classes classes = {0};
	struct spread spread = {.classes = &classes};
	bool in_memory = type->size > EIGHTBYTES * ABI_WORD;

	if (!in_memory && !classify(&classes, type, 0, 0))
		assigner->is_lost = true;
	if (assigner->is_lost || !type->size) {
		abi_keep(out, NULL, 0);
	} else if (in_memory || !take_registers(assigner, &spread)) {
		assign_slot(assigner, type, out);
	} else {
		spread_over(&spread, 0, type->size);
		abi_keep(out, spread.pieces, spread.count);
	}
}

/* A type that is nothing but one pointer is passed as that pointer, as in interfaces. */
static bool has_pointer_shape(const struct gotype *type, unsigned depth)
{
	if (depth > ABI_DEPTH_MAX)
		return false;
	switch (type->kind) {
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
		return true;
	case GOTYPE_ARRAY:
		return type->count == 1 && type->elem && has_pointer_shape(type->elem, depth + 1);
	case GOTYPE_STRUCT:
		return type->field_count == 1 && has_pointer_shape(type->fields[0].type, depth + 1);
	default:
		return false;
	}
}

static void assign_param(struct assigner *assigner, const struct goparam *param,
			 struct abi_value *out)
{
	const struct gotype *type = param->type;

	int reg = param_reg(assigner->ints);

	if (!param->by_address || reg < 0 || has_pointer_shape(type, 0)) {
		assign_c(assigner, type, out);
		return;
	}
	struct abi_piece piece = {ABI_AT, reg, 0, type->size, 0};
	bool fits = type->size <= UINT32_MAX;

	assigner->ints++;
	abi_keep(out, &piece, fits && type->size ? 1 : 0);
}

/* Results as one struct: where each is in it, and how large that is. false: not known. */
static bool place_results(const struct gofunc *fn, struct abi_value *results, uint64_t *size)
{
	*size = 0;
	for (size_t i = 0; i < fn->result_count; i++) {
		const struct gotype *type = fn->results[i].type;
		uint64_t off = abi_next(size, type, type->align);

		if (type->kind == GOTYPE_UNKNOWN || off > UINT32_MAX || type->size > UINT32_MAX)
			return false;
		results[i].slot = off;
	}
	return true;
}

static bool classify_results(const struct gofunc *fn, const struct abi_value *results,
			     struct spread *spread, struct classes *classes)
{
	unsigned ints = 0, vectors = 0;

	for (size_t i = 0; i < fn->result_count; i++)
		if (!classify(classes, fn->results[i].type, results[i].slot, 0))
			return false;
	for (size_t n = 0; n < EIGHTBYTES; n++)
		if (classes->of[n] == CLASS_INTEGER)
			spread->regs[n] =
				registers_nth(ARCH_AMD64, REGISTERS_C_RESULT, ints++)->dwarf;
		else if (classes->of[n] == CLASS_VECTOR)
			spread->regs[n] = vectors++;
	return true;
}

static void assign_results(struct assigner *assigner, const struct gofunc *fn,
			   struct abi_value *results)
{
	struct classes classes = {0};
	struct spread spread = {.classes = &classes};
	uint64_t size;
	bool is_known = place_results(fn, results, &size);
	bool in_memory = size > EIGHTBYTES * ABI_WORD;

	if (is_known && !in_memory)
		is_known = classify_results(fn, results, &spread, &classes);
	assigner->is_lost = !is_known;
	assigner->ints = in_memory; /* the first argument is the address to store them at */
	for (size_t i = 0; i < fn->result_count; i++) {
		uint32_t bytes = fn->results[i].type->size, off = results[i].slot;

		spread_over(&spread, off, in_memory ? 0 : bytes);
		if (in_memory)
			spread.pieces[spread.count++] =
				(struct abi_piece){ABI_AT, AMD64_RAX, 0, bytes, off};
		abi_keep(&results[i], spread.pieces, is_known && bytes ? spread.count : 0);
		results[i].slot = 0;
	}
}

void abi_sysv(const struct gofunc *fn, struct abi_layout *out)
{
	struct assigner assigner = {0};

	assign_results(&assigner, fn, out->results);
	for (size_t i = 0; i < fn->param_count; i++)
		assign_param(&assigner, &fn->params[i], &out->params[i]);
	out->stack_size = (assigner.stack + ABI_WORD - 1) / ABI_WORD * ABI_WORD;
	out->args_size = out->stack_size;
}

struct abi_piece abi_c_word(unsigned n)
{
	unsigned ints = registers_count(ARCH_AMD64, REGISTERS_C);

	if (n < ints)
		return (struct abi_piece){ABI_HARDWARE, param_reg(n), 0, ABI_WORD, 0};
	return (struct abi_piece){ABI_SLOT, (n - ints) * ABI_WORD, 0, ABI_WORD, 0};
}
