// SPDX-License-Identifier: Apache-2.0
/* Reads values into the record, by their shapes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bpf-src/shared/later.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_register_internal.h"
#include "gotrace/tracegen_step_internal.h"
#include "gotrace/tracegen_uses_internal.h"
#include "program/toolchain.h"

static void emit_refs(struct gen *gen, const struct shape *shape, bool first);

/* Sets a state for each reference, even for those that are never reached. */
static void emit_unread(struct gen *gen, const struct shape *shape)
{
	for (size_t i = 0; i < shape->ref_count; i++) {
		const struct shape_ref *ref = &shape->refs[i];
		uint32_t at = ref->what == SHAPE_DYNAMIC ? ref->at : ref->state_at;

		ctext_line(gen->out, "*(s64 *)(rec + %u) = %s;", at,
			   ref->what == SHAPE_DYNAMIC ? "0" : "TRACE_NIL");
		gen_step(gen, &(struct trace_step){
				      .what = TRACE_STEP_SET,
				      .at = at,
				      .n = ref->what == SHAPE_DYNAMIC ? 0 : (uint32_t)TRACE_NIL});
		for (size_t n = 0; n < ref->elem_count; n++)
			emit_unread(gen, &ref->elems[n]);
	}
}

/* Reads what a value refers to, if the state says that so many bytes were read. */
static void emit_refs_if(struct gen *gen, const struct shape *shape, uint32_t state_at,
			 uint32_t bytes)
{
	if (!shape->ref_count)
		return;
	ctext_open(gen->out, "if (*(s64 *)(rec + %u) >= %u)", state_at, bytes);
	size_t test = gen_step(
		gen, &(struct trace_step){.what = TRACE_STEP_IF, .state = state_at, .n = bytes});

	emit_refs(gen, shape, false);
	ctext_else(gen->out);
	size_t end = gen_step(gen, &(struct trace_step){.what = TRACE_STEP_SKIP});

	gen_step_skip(gen, test);
	emit_unread(gen, shape);
	ctext_close(gen->out);
	gen_step_skip_line(gen, end);
}

/* Reads what elements refer to, for as many elements as there are. */
static void emit_elems(struct gen *gen, const struct shape_ref *ref)
{
	for (size_t i = 0; i < ref->elem_count; i++)
		emit_refs_if(gen, &ref->elems[i], ref->state_at,
			     ref->elems[i].at - ref->at + ref->elems[i].size);
}

static uint64_t element_size(const struct shape_ref *ref)
{
	if (ref->type->kind == GOTYPE_STRING || ref->type->kind == GOTYPE_PAIR)
		return 1;
	return ref->type->elem ? ref->type->elem->size : 0;
}

/* gen_first_word() as a number (fetch.h) */
static unsigned first_word(const struct gen *gen, const struct gotype *type)
{
	enum { ITAB = 1, EITHER = 2, GCCGO = 4 };

	if (type->kind == GOTYPE_PAIR)
		return EITHER;
	return (type->has_methods ? ITAB : 0) | (gen->probe->toolchain->libgo ? GCCGO : 0);
}

/* The step for what was just written, which reads through the pointer at `own`. */
static void step_ref(struct gen *gen, enum trace_step_what what, const struct shape_ref *ref,
		     uint32_t own, unsigned how)
{
	uint64_t size = what == TRACE_STEP_ELEMENTS ? element_size(ref) : 0;

	if (size <= UINT32_MAX)
		gen_step(gen, &(struct trace_step){.what = what,
						   .how = how,
						   .own = own,
						   .at = ref->at,
						   .state = ref->state_at,
						   .max = ref->max,
						   .n = size});
}

static void step_dynamic(struct gen *gen, const struct shape_ref *ref, uint32_t own)
{
	gen_step(gen, &(struct trace_step){.what = TRACE_STEP_DYNAMIC,
					   .how = first_word(gen, ref->type),
					   .own = own,
					   .at = ref->at,
					   .max = ref->levels});
}

static void emit_map(struct gen *gen, const struct shape_ref *ref, uint32_t own)
{
	const struct shape_ref *group = ref->group;

	ctext_line(gen->out, "*(s64 *)(rec + %u) = fetch_object(rec + %u, %u, *(u64 *)(rec + %u));",
		   ref->state_at, ref->at, ref->max, own);
	step_ref(gen, TRACE_STEP_OBJECT, ref, own, 0);
	if (!group)
		return;
	ctext_line(gen->out, "*(s64 *)(rec + %u) = fetch_group(rec + %u, %u, rec + %u, %s);",
		   group->state_at, group->at, group->max, ref->at,
		   ref->type->swiss ? "true" : "false");
	step_ref(gen, TRACE_STEP_GROUP, group, ref->at, ref->type->swiss);
	emit_elems(gen, group);
}

const char *gen_first_word(const struct gen *gen, const struct gotype *type)
{
	if (type->kind == GOTYPE_PAIR)
		return "DYNAMIC_EITHER";
	if (gen->probe->toolchain->libgo)
		return type->has_methods ? "DYNAMIC_ITAB | DYNAMIC_GCCGO"
					 : "DYNAMIC_TYPE | DYNAMIC_GCCGO";
	return type->has_methods ? "DYNAMIC_ITAB" : "DYNAMIC_TYPE";
}

static void emit_ref(struct gen *gen, const struct shape_ref *ref, uint32_t own)
{
	switch (ref->what) {
	case SHAPE_BYTES:
		ctext_line(gen->out,
			   "*(s64 *)(rec + %u) = fetch_elements(rec + %u, %u, *(u64 *)(rec + %u), "
			   "*(u64 *)(rec + %u), %" PRIu64 ");",
			   ref->state_at, ref->at, ref->max, own, own + 8, element_size(ref));
		step_ref(gen, TRACE_STEP_ELEMENTS, ref, own, 0);
		emit_elems(gen, ref);
		break;
	case SHAPE_POINTEE:
	case SHAPE_CODE:
		ctext_line(gen->out,
			   "*(s64 *)(rec + %u) = fetch_object(rec + %u, %u, *(u64 *)(rec + %u));",
			   ref->state_at, ref->at, ref->max, own);
		step_ref(gen, TRACE_STEP_OBJECT, ref, own, 0);
		emit_elems(gen, ref);
		break;
	case SHAPE_MAP:
		emit_map(gen, ref, own);
		break;
	case SHAPE_DYNAMIC:
		ctext_line(gen->out,
			   "fetch_dynamic(rec + %u, *(u64 *)(rec + %u), *(u64 *)(rec + %u), %s, "
			   "%u, hit);",
			   ref->at, own, own + 8, gen_first_word(gen, ref->type), ref->levels);
		step_dynamic(gen, ref, own);
		break;
	case SHAPE_GROUP:
		break;
	}
}

/* Are element n and what it refers to as the first one and its, so much further on? */
static bool is_as_first(const struct shape_ref *ref, size_t n)
{
	const struct shape *elem = &ref->elems[n];
	const struct shape_ref *own = elem->refs, *first = ref->elems[0].refs;
	bool dynamic = own->what == SHAPE_DYNAMIC;

	if (elem->ref_count != 1 || own->off || own->elem_count || own->what != first->what)
		return false;
	uint64_t room = dynamic ? first->max : later_room(first->max);

	return own->max == first->max && own->levels == first->levels &&
	       (dynamic || (own->type->kind == GOTYPE_STRING && own->at == own->state_at + 8)) &&
	       (dynamic ? own->at - first->at : own->state_at - first->state_at) == n * room;
}

/* How many elements there may be, if one word can say how all of them are read: strings, or
 * interfaces. */
static size_t similar_elems(const struct shape_ref *ref)
{
	size_t count = ref->elem_count;
	bool similar = ref->what == SHAPE_BYTES && count && count <= LATER_COUNT_MAX &&
		       ref->type->elem->size == LATER_OWN;

	for (size_t n = 0; n < count && similar; n++)
		similar = ref->elems[n].ref_count == 1 && is_as_first(ref, n);
	return similar ? count : 0;
}

/* The word for a read that is put off, as the generated code computes it; "": there is none. */
static void later_word(const struct gen *gen, const struct shape_ref *ref, uint32_t own, char *out,
		       size_t size)
{
	uint64_t elem = element_size(ref);

	*out = '\0';
	if (ref->what == SHAPE_DYNAMIC)
		snprintf(out, size, "later_dynamic(%u, %u, %s, %u)", own, ref->at,
			 gen_first_word(gen, ref->type), ref->levels);
	else if (ref->what == SHAPE_BYTES && ref->at == ref->state_at + 8 && elem <= LATER_SIZE_MAX)
		snprintf(out, size, "later_elements(%u, %u, %u, %" PRIu64 ")", own, ref->state_at,
			 ref->max, elem);
}

enum { LATER_WORD = 128 }; /* bytes of a later_word() */

/* What the elements refer to is put off, too. */
static void emit_later_elems(struct gen *gen, const struct shape_ref *ref, unsigned *used)
{
	size_t before = gen->out->len;
	char word[LATER_WORD], line[LATER_WORD + 64];

	later_word(gen, ref->elems[0].refs, ref->at, word, sizeof(word));
	emit_elems(gen, ref);
	snprintf(line, sizeof(line), "hit->later[%u] = later_of_each(%zu, %s);", (*used)++,
		 ref->elem_count, word);
	gen_step_instead(gen, before, line);
}

/* Puts a read off, if nothing else depends on it: one loop does all such reads, with a tenth of the
 * code. False: it cannot be put off. */
static bool emit_later(struct gen *gen, const struct shape_ref *ref, uint32_t own)
{
	unsigned *used = gen->out == &gen->save ? &gen->saved_later : &gen->filled_later;
	size_t elems = similar_elems(ref);
	char word[LATER_WORD];

	later_word(gen, ref, own, word, sizeof(word));
	if (!*word || *used + (elems ? 2 : 1) > TRACE_LATER || (ref->elem_count && !elems))
		return false;
	ctext_line(gen->out, "hit->later[%u] = %s;", (*used)++, word);
	if (ref->what == SHAPE_DYNAMIC)
		step_dynamic(gen, ref, own);
	else
		step_ref(gen, TRACE_STEP_ELEMENTS, ref, own, 0);
	if (elems)
		emit_later_elems(gen, ref, used);
	return true;
}

/* `first`: they are the value's own, not those of what it refers to */
static void emit_refs(struct gen *gen, const struct shape *shape, bool first)
{
	for (size_t i = 0; i < shape->ref_count; i++) {
		const struct shape_ref *ref = &shape->refs[i];

		if (ref->what == SHAPE_DYNAMIC)
			gen->uses |= TRACEGEN_TYPES;
		if (!first || !emit_later(gen, ref, shape->at + ref->off))
			emit_ref(gen, ref, shape->at + ref->off);
	}
}

void gen_own(struct gen *gen, const struct place *place, struct shape *shape, uint32_t state_at)
{
	if (place->words) {
		for (uint32_t i = 0; i < shape->size / 8; i++)
			ctext_line(gen->out, "*(u64 *)(rec + %u) = %s;", shape->at + 8 * i,
				   place->words->word[i % 3]);
	} else if (place->value) {
		gen_copy_registers(gen, place->value, place->off, shape->size, shape->at,
				   &shape->holes);
	} else if (shape->size) {
		gen_copy_memory(gen, place->base, place->off, shape->size, shape->at);
	}
	ctext_line(gen->out, "*(s64 *)(rec + %u) = bad ? bad : %u;", state_at, shape->size);
	gen_step(gen,
		 &(struct trace_step){.what = TRACE_STEP_STATE, .at = state_at, .n = shape->size});
}

void gen_refs(struct gen *gen, const struct shape *shape)
{
	emit_refs(gen, shape, true);
}

/* Where a pointer that was known at entry is, as it would be when the call returns. */
static uint32_t moved(struct gen *gen, uint32_t pointer_at)
{
	uint32_t at = *gen_end(gen);

	*gen_end(gen) += 8;
	ctext_line(gen->out,
		   "*(u64 *)(rec + %u) = after_move(hit, *(u64 *)(rec + %u), *(u64 *)(rec + %u));",
		   at, gen->kept_sp_at, pointer_at);
	gen_step(gen, &(struct trace_step){.what = TRACE_STEP_MOVED,
					   .own = pointer_at,
					   .at = at,
					   .state = gen->kept_sp_at});
	return at;
}

struct shape *gen_target(struct gen *gen, const struct gotype *type, uint32_t pointer_at,
			 const struct shape_limits *limits, uint32_t *state_at)
{
	uint32_t from = gen->returning ? moved(gen, pointer_at) : pointer_at;

	*state_at = *gen_end(gen);
	*gen_end(gen) += 8;
	struct shape *shape = shape_new(gen->memory, type, limits, gen_end(gen));

	ctext_line(gen->out, "*(s64 *)(rec + %u) = fetch_object(rec + %u, %u, *(u64 *)(rec + %u));",
		   *state_at, shape->at, shape->size, from);
	gen_step(gen, &(struct trace_step){.what = TRACE_STEP_OBJECT,
					   .own = from,
					   .at = shape->at,
					   .state = *state_at,
					   .max = shape->size});
	emit_refs_if(gen, shape, *state_at, shape->size);
	return shape;
}

/* Reads from registers never fail, and failed reads from memory yield zeros, which refer to
 * nothing: so no branches are needed. Two for each value would be too many for the verifier, which
 * follows all combinations. */
void gen_value(struct gen *gen, const struct place *place, struct shape *shape, uint32_t state_at)
{
	gen_own(gen, place, shape, state_at);
	gen_refs(gen, shape);
}
