// SPDX-License-Identifier: Apache-2.0
/* Which values in a key are not whole. */
#include "gotrace/argdist_internal.h"

#include <string.h>

#include "bpf-src/shared/trace.h"
#include "values/shape.h"

static bool is_shape_cut(const struct traceprint_event *event, const struct shape *shape);

static uint64_t word_at(const struct traceprint_event *event, uint64_t at)
{
	uint64_t word = 0;

	if (at <= event->record_len && event->record_len - at >= sizeof(word))
		memcpy(&word, event->record + at, sizeof(word));
	return word;
}

static bool is_elements_cut(const struct traceprint_event *event, const struct shape *shape,
			    const struct shape_ref *ref)
{
	uint64_t count = word_at(event, shape->at + ref->off + 8);
	uint64_t size =
		ref->type->kind == GOTYPE_SLICE && ref->type->elem ? ref->type->elem->size : 1;
	uint64_t max = size ? ref->max / size : UINT64_MAX;

	if ((int64_t)word_at(event, ref->state_at) < 0)
		return false;
	return count > max || (ref->elem_count && count > ref->elem_count);
}

/* A string in an interface is known to be cut by the state of its bytes: it has as many as there is
 * room for. */
static bool is_dynamic_cut(const struct traceprint_event *event, const struct shape_ref *ref)
{
	uint32_t room = (ref->max / (ref->levels ? ref->levels : 1) -
			 (uint32_t)sizeof(struct trace_dynamic)) /
			TRACE_DYN_REFS;
	bool more = true;

	for (uint32_t level = 0; more && level < ref->levels; level++) {
		uint32_t at = ref->at + level * (uint32_t)(sizeof(struct trace_dynamic) +
							   TRACE_DYN_REFS * room);

		for (uint32_t i = 0; i < TRACE_DYN_REFS; i++) {
			uint32_t state_at = at + (uint32_t)sizeof(struct trace_dynamic) + i * room;
			int64_t state = (int64_t)word_at(event, state_at);

			if (state > 0 && state + 8 >= room)
				return true;
		}
		more = word_at(event, at + offsetof(struct trace_dynamic, element)) >> 32;
	}
	return false;
}

static bool is_ref_cut(const struct traceprint_event *event, const struct shape *shape,
		       const struct shape_ref *ref)
{
	if (ref->what == SHAPE_BYTES && is_elements_cut(event, shape, ref))
		return true;
	if (ref->what == SHAPE_DYNAMIC)
		return is_dynamic_cut(event, ref);
	for (size_t i = 0; i < ref->elem_count; i++)
		if (is_shape_cut(event, &ref->elems[i]))
			return true;
	return false;
}

static bool is_shape_cut(const struct traceprint_event *event, const struct shape *shape)
{
	for (size_t i = 0; i < shape->ref_count; i++)
		if (is_ref_cut(event, shape, &shape->refs[i]))
			return true;
	return false;
}

static bool is_arg_cut(const struct traceprint_event *event, const struct tracegen_arg *arg)
{
	if (arg->kind == TRACEGEN_VALUE)
		return (int64_t)word_at(event, arg->at) >= 0 && is_shape_cut(event, arg->shape);
	for (size_t i = 0; arg->kind == TRACEGEN_LIST && i < arg->count; i++)
		if (is_arg_cut(event, &arg->items[i]))
			return true;
	return false;
}

bool argdist_is_cut(const struct traceprint_event *event)
{
	for (size_t i = 0; i < event->item->arg_count; i++)
		if (is_arg_cut(event, &event->item->args[i]))
			return true;
	return false;
}
