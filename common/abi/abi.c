// SPDX-License-Identifier: Apache-2.0
#include "abi/abi_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "golang/release.h"
#include "machine/calls.h"

enum { PIECES_MAX = 32 /* all registers of a machine */ };

struct registers {
	unsigned ints, floats;
};

/* One value being spread over registers. */
struct spread {
	struct registers used, total;
	struct abi_piece pieces[PIECES_MAX];
	size_t count;
	unsigned steps;
};

static bool add_piece(struct spread *spread, enum abi_where where, uint64_t off, uint64_t size)
{
	bool is_int = where == ABI_INT;
	unsigned *used = is_int ? &spread->used.ints : &spread->used.floats;
	unsigned total = is_int ? spread->total.ints : spread->total.floats;

	if (*used >= total || spread->count >= PIECES_MAX || off > UINT32_MAX)
		return false;
	spread->pieces[spread->count++] = (struct abi_piece){where, (*used)++, off, size, 0};
	return true;
}

static bool add_words(struct spread *spread, uint64_t off, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		if (!add_piece(spread, ABI_INT, off + i * ABI_WORD, ABI_WORD))
			return false;
	return true;
}

static bool spread_type(struct spread *spread, const struct gotype *type, uint64_t off,
			unsigned depth);

static bool spread_fields(struct spread *spread, const struct gotype *type, uint64_t off,
			  unsigned depth)
{
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (!spread_type(spread, field->type, off + field->off, depth + 1))
			return false;
	}
	return type->field_count || !type->size;
}

/* A value that may be one number in an integer register: all that can be said of unknown types. */
static bool spread_number(struct spread *spread, const struct gotype *type, uint64_t off)
{
	if (type->size > ABI_WORD)
		return false;
	return !type->size || add_piece(spread, ABI_INT, off, type->size);
}

static bool spread_complex(struct spread *spread, const struct gotype *type, uint64_t off)
{
	uint64_t half = type->size / 2;

	return add_piece(spread, ABI_FLOAT, off, half) &&
	       add_piece(spread, ABI_FLOAT, off + half, half);
}

/* "Register-assignment" of abi-internal.md. */
static bool spread_type(struct spread *spread, const struct gotype *type, uint64_t off,
			unsigned depth)
{
	if (!type || depth > ABI_DEPTH_MAX || ++spread->steps > ABI_STEPS_MAX)
		return false;
	switch (type->kind) {
	case GOTYPE_UNKNOWN:
	case GOTYPE_BOOL:
	case GOTYPE_INT:
	case GOTYPE_UINT:
		return spread_number(spread, type, off);
	case GOTYPE_FLOAT:
		return add_piece(spread, ABI_FLOAT, off, type->size);
	case GOTYPE_COMPLEX:
		return spread_complex(spread, type, off);
	case GOTYPE_POINTER:
	case GOTYPE_MAP:
	case GOTYPE_CHAN:
	case GOTYPE_FUNC:
		return add_words(spread, off, 1);
	case GOTYPE_STRING:
	case GOTYPE_PAIR:
	case GOTYPE_INTERFACE:
		return add_words(spread, off, 2);
	case GOTYPE_SLICE:
		return add_words(spread, off, 3);
	case GOTYPE_ARRAY:
		return !type->count ||
		       (type->count == 1 && spread_type(spread, type->elem, off, depth + 1));
	case GOTYPE_STRUCT:
		return spread_fields(spread, type, off, depth);
	}
	return false;
}

/* Parameters or results being assigned, one after the other. */
struct assigner {
	struct registers used, total;
	uint64_t stack, spill; /* bytes so far */
};

/* abi-internal.md's "stack sequence": bytes so far, rounded to `align`. */
static uint64_t stack_aligned(uint64_t size, uint64_t align)
{
	return align > 1 ? (size + align - 1) / align * align : size;
}

/* A size far beyond any stack's is capped, lest it overflow. */
uint64_t abi_next(uint64_t *size, const struct gotype *type, uint32_t align)
{
	uint64_t slot = stack_aligned(*size, align);
	bool fits = slot <= GOTYPE_SIZE_MAX && type->size <= GOTYPE_SIZE_MAX - slot;

	*size = fits ? slot + type->size : GOTYPE_SIZE_MAX;
	return slot;
}

void abi_keep(struct abi_value *out, const struct abi_piece *pieces, size_t count)
{
	out->count = count;
	out->pieces = mem_zalloc(count ? count : 1, sizeof(*pieces));
	if (count)
		memcpy(out->pieces, pieces, count * sizeof(*pieces));
}

static void assign_slot(struct assigner *assigner, const struct gotype *type, struct abi_value *out)
{
	uint64_t slot = abi_next(&assigner->stack, type, type->align);
	struct abi_piece piece = {ABI_SLOT, slot, 0, type->size, 0};
	bool fits = assigner->stack <= UINT32_MAX;

	abi_keep(out, &piece, fits && type->size ? 1 : 0);
	out->slot = fits ? slot : 0;
}

static void assign_go(struct assigner *assigner, const struct gotype *type, bool is_result,
		      struct abi_value *out)
{
	struct spread spread = {.used = assigner->used, .total = assigner->total};

	if (!type->size || !spread_type(&spread, type, 0, 0)) {
		assign_slot(assigner, type, out);
		return;
	}
	assigner->used = spread.used;
	abi_keep(out, spread.pieces, spread.count);
	out->slot = is_result ? 0 : abi_next(&assigner->spill, type, type->align);
}

static void assign_params(struct assigner *assigner, const struct gofunc *fn,
			  struct abi_value *params)
{
	static const struct gotype pointer = {
		.kind = GOTYPE_POINTER, .size = ABI_WORD, .align = ABI_WORD};

	for (size_t i = 0; i <= fn->param_count; i++) {
		if (fn->dictionary >= 0 && (size_t)fn->dictionary == i) {
			struct abi_value hidden;

			assign_go(assigner, &pointer, false, &hidden);
			free(hidden.pieces);
		}
		if (i < fn->param_count)
			assign_go(assigner, fn->params[i].type, false, &params[i]);
	}
}

/* Slots of parameters in registers lie above all that is passed on the stack. */
static void move_spills(const struct abi_layout *layout)
{
	for (size_t i = 0; i < layout->param_count; i++) {
		struct abi_value *param = &layout->params[i];

		if (param->count && param->pieces[0].where != ABI_SLOT)
			param->slot += layout->stack_size;
	}
}

static struct registers registers_of(enum arch arch, enum abi_convention convention)
{
	if (convention == ABI_STACK)
		return (struct registers){0, 0};
	return (struct registers){registers_count(arch, REGISTERS_GO), registers_go_floats(arch)};
}

void abi_layout(const struct gofunc *fn, enum arch arch, enum abi_convention convention,
		struct abi_layout *out)
{
	struct assigner assigner = {.total = registers_of(arch, convention)};

	out->param_count = fn->param_count;
	out->result_count = fn->result_count;
	out->params = mem_zalloc(fn->param_count + 1, sizeof(*out->params));
	out->results = mem_zalloc(fn->result_count + 1, sizeof(*out->results));
	if (convention == ABI_SYSV) {
		abi_sysv(fn, out);
		return;
	}
	assign_params(&assigner, fn, out->params);
	assigner.stack = stack_aligned(assigner.stack, ABI_WORD);
	assigner.used = (struct registers){0, 0};
	for (size_t i = 0; i < fn->result_count; i++)
		assign_go(&assigner, fn->results[i].type, true, &out->results[i]);
	out->stack_size = stack_aligned(assigner.stack, ABI_WORD);
	out->args_size = out->stack_size + stack_aligned(assigner.spill, ABI_WORD);
	move_spills(out);
}

static void free_values(struct abi_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(values[i].pieces);
	free(values);
}

void abi_layout_free(struct abi_layout *layout)
{
	free_values(layout->params, layout->param_count);
	free_values(layout->results, layout->result_count);
}

void abi_keep_pieces(struct abi_value *out, const struct abi_piece *pieces, size_t count)
{
	free(out->pieces);
	abi_keep(out, pieces, count);
}

struct covering {
	const struct abi_value *value;
	unsigned steps;
};

static bool covers_bytes(const struct abi_value *value, uint64_t off, uint64_t size)
{
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];

		if (piece->off <= off && piece->size >= size &&
		    off - piece->off <= piece->size - size)
			return true;
	}
	return !size;
}

static bool covers_words(const struct abi_value *value, uint64_t off, uint64_t size)
{
	for (uint64_t at = 0; at < size; at += ABI_WORD)
		if (!covers_bytes(value, off + at, ABI_WORD))
			return false;
	return true;
}

static bool covers_type(struct covering *covering, const struct gotype *type, uint64_t off,
			unsigned depth)
{
	const struct abi_value *value = covering->value;

	if (covers_bytes(value, off, type->size))
		return true;
	if (depth > ABI_DEPTH_MAX || ++covering->steps > ABI_STEPS_MAX)
		return false;
	switch (type->kind) {
	case GOTYPE_STRING:
	case GOTYPE_SLICE:
	case GOTYPE_INTERFACE:
	case GOTYPE_PAIR:
		return covers_words(value, off, type->size);
	case GOTYPE_COMPLEX:
		return covers_bytes(value, off, type->size / 2) &&
		       covers_bytes(value, off + type->size / 2, type->size / 2);
	case GOTYPE_ARRAY:
		for (uint64_t i = 0; type->elem && i < type->count; i++)
			if (!covers_type(covering, type->elem, off + i * type->elem->size,
					 depth + 1))
				return false;
		return type->elem && type->count;
	case GOTYPE_STRUCT:
		for (size_t i = 0; i < type->field_count; i++)
			if (!covers_type(covering, type->fields[i].type, off + type->fields[i].off,
					 depth + 1))
				return false;
		return type->field_count;
	default:
		return false;
	}
}

const struct registers_general *abi_register(enum arch arch, const struct abi_piece *piece)
{
	if (piece->where == ABI_INT)
		return registers_nth(arch, REGISTERS_GO, piece->n);
	if (piece->where == ABI_HARDWARE || piece->where == ABI_AT)
		return registers_by_dwarf(arch, piece->n);
	return NULL;
}

bool abi_covers(const struct abi_value *value, const struct gotype *type, uint64_t off)
{
	struct covering covering = {.value = value};

	return covers_type(&covering, type, off, 0);
}

bool abi_layout_fitting(const struct gofunc *fn, enum arch arch, enum abi_convention usual,
			int32_t args, struct abi_layout *out)
{
	struct abi_layout on_stack;

	abi_layout(fn, arch, usual, out);
	if (args < 0 || out->args_size == (uint32_t)args) /* < 0: assembly that does not say */
		return true;
	abi_layout(fn, arch, ABI_STACK, &on_stack);
	bool fits = on_stack.args_size == (uint32_t)args;

	abi_layout_free(fits ? out : &on_stack);
	if (fits)
		*out = on_stack;
	return fits;
}

enum abi_convention abi_convention(enum arch arch, int release)
{
	return release >= calls_of(arch)->args_from ? ABI_REGISTERS : ABI_STACK;
}
