// SPDX-License-Identifier: Apache-2.0
/* Reads values into the record, by their shapes. */
#include <inttypes.h>
#include <stdlib.h>

#include "bpf-src/shared/later.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/tracegen_after_internal.h"
#include "gotrace/tracegen_internal.h"
#include "gotrace/tracegen_register_internal.h"
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
		for (size_t n = 0; n < ref->elem_count; n++)
			emit_unread(gen, &ref->elems[n]);
	}
}

/* Reads what elements refer to, for as many elements as there are. */
static void emit_elems(struct gen *gen, const struct shape_ref *ref)
{
	for (size_t i = 0; i < ref->elem_count; i++) {
		const struct shape *elem = &ref->elems[i];

		if (!elem->ref_count)
			continue;
		ctext_open(gen->out, "if (*(s64 *)(rec + %u) >= %u)", ref->state_at,
			   elem->at - ref->at + elem->size);
		emit_refs(gen, elem, false);
		ctext_else(gen->out);
		emit_unread(gen, elem);
		ctext_close(gen->out);
	}
}

static void emit_map(struct gen *gen, const struct shape_ref *ref, uint32_t own)
{
	const struct shape_ref *group = ref->group;

	ctext_line(gen->out, "*(s64 *)(rec + %u) = fetch_object(rec + %u, %u, *(u64 *)(rec + %u));",
		   ref->state_at, ref->at, ref->max, own);
	if (!group)
		return;
	ctext_line(gen->out, "*(s64 *)(rec + %u) = fetch_group(rec + %u, %u, rec + %u, %s);",
		   group->state_at, group->at, group->max, ref->at,
		   ref->type->swiss ? "true" : "false");
	emit_elems(gen, group);
}

static uint64_t element_size(const struct shape_ref *ref)
{
	if (ref->type->kind == GOTYPE_STRING || ref->type->kind == GOTYPE_PAIR)
		return 1;
	return ref->type->elem ? ref->type->elem->size : 0;
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
		emit_elems(gen, ref);
		break;
	case SHAPE_POINTEE:
	case SHAPE_CODE:
		ctext_line(gen->out,
			   "*(s64 *)(rec + %u) = fetch_object(rec + %u, %u, *(u64 *)(rec + %u));",
			   ref->state_at, ref->at, ref->max, own);
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
		break;
	case SHAPE_GROUP:
		break;
	}
}

/* Puts a read off, if nothing else depends on it: one loop does all such reads, with a tenth of the
 * code. False: it cannot be put off. */
static bool emit_later(struct gen *gen, const struct shape_ref *ref, uint32_t own)
{
	unsigned *used = gen->out == &gen->save ? &gen->saved_later : &gen->filled_later;
	uint64_t size = element_size(ref);

	if (*used == TRACE_LATER || ref->elem_count || size > LATER_SIZE_MAX ||
	    (ref->what == SHAPE_DYNAMIC && ref->levels != TRACE_DYN_LEVELS))
		return false;
	if (ref->what == SHAPE_DYNAMIC)
		ctext_line(gen->out, "hit->later[%u] = later_dynamic(%u, %u, %s);", (*used)++, own,
			   ref->at, gen_first_word(gen, ref->type));
	else if (ref->what == SHAPE_BYTES && ref->at == ref->state_at + 8)
		ctext_line(gen->out, "hit->later[%u] = later_elements(%u, %u, %u, %" PRIu64 ");",
			   (*used)++, own, ref->state_at, ref->max, size);
	else
		return false;
	return true;
}

/* `first`: they are the value's own, not those of what it refers to */
static void emit_refs(struct gen *gen, const struct shape *shape, bool first)
{
	for (size_t i = 0; i < shape->ref_count; i++) {
		const struct shape_ref *ref = &shape->refs[i];

		gen->uses_types |= ref->what == SHAPE_DYNAMIC;
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
		ctext_line(gen->out, "must(&bad, fetch(rec + %u, %u, %s + %" PRIu64 "));",
			   shape->at, shape->size, place->base, place->off);
	}
	ctext_line(gen->out, "*(s64 *)(rec + %u) = bad ? bad : %u;", state_at, shape->size);
}

void gen_refs(struct gen *gen, const struct shape *shape)
{
	emit_refs(gen, shape, true);
}

/* Reads from registers never fail, and failed reads from memory yield zeros, which refer to
 * nothing: so no branches are needed. Two for each value would be too many for the verifier, which
 * follows all combinations. */
void gen_value(struct gen *gen, const struct place *place, struct shape *shape, uint32_t state_at)
{
	gen_own(gen, place, shape, state_at);
	gen_refs(gen, shape);
}
