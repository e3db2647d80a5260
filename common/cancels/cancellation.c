// SPDX-License-Identifier: Apache-2.0
#include "cancels/cancellation_internal.h"

#include <string.h>

#include "blocked/alloc_types.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/cancels.h"

static const char deadline_type[] = "context.deadlineExceededError";
static const char deadline_text[] = "context deadline exceeded";

static bool is_outside(const char *func)
{
	static const char inside[] = "context.";

	return strncmp(func, inside, sizeof(inside) - 1) != 0;
}

static void note_outside(void *ctx, const struct frame *frame)
{
	struct frame *first = ctx;

	if (!first->func && is_outside(frame->func))
		*first = *frame;
}

void cancellation_outside(const struct stacks *stacks, uint64_t stack, uint64_t bias,
			  struct frame *out)
{
	*out = (struct frame){0};
	stacks_each(stacks, stack, bias, false, note_outside, out);
	/* a goroutine of package context: its frames are all, with what it returns to */
	if (out->func && !strncmp(out->func, "runtime.", strlen("runtime.")))
		*out = (struct frame){0};
}

struct callers { /* of cancel(), up to the first one outside of package context */
	size_t count;
	bool outside, joins, stops;
};

static void note_caller(void *ctx, const struct frame *frame)
{
	struct callers *callers = ctx;

	callers->outside |= is_outside(frame->func);
	if (callers->outside)
		return;
	callers->joins |= strstr(frame->func, "propagateCancel") != NULL;
	callers->stops |= !strcmp(frame->func, "context.(*afterFuncCtx).cancel");
	callers->count++;
}

static enum cancellation_how find_how(const struct callers *callers, const char *type)
{
	/* only where the parent is cancelled is this called within another call, or by it */
	if (callers->joins)
		return CANCELLATION_PARENT;
	if (callers->stops)
		return CANCELLATION_STOP;
	return type && !strcmp(type, deadline_type) ? CANCELLATION_DEADLINE : CANCELLATION_CALL;
}

static bool somebody_waited(const struct stacks *stacks, const struct cancellation *of)
{
	uint32_t told = of->event->woken;

	if (told > CANCEL_WOKEN)
		return true;
	for (uint32_t i = 0; i < told; i++) {
		const char *func = stacks_outermost(stacks, of->event->by[i].stack, of->bias);

		if (!func || is_outside(func))
			return true;
	}
	return false;
}

void cancellation_read(const struct cancel_event *event, uint64_t cancel,
		       const struct stacks *stacks, struct alloc_types *types,
		       struct cancellation *out)
{
	struct callers callers = {0};

	*out = (struct cancellation){.event = event, .bias = event->probe - cancel};
	stacks_each(stacks, event->stack, out->bias, false, note_caller, &callers);
	out->how = find_how(&callers, cancellation_type(out, &event->error, types));
	cancellation_outside(stacks, event->stack, out->bias, &out->by);
	cancellation_outside(stacks, event->created_stack, out->bias, &out->creator);
	out->waited = somebody_waited(stacks, out);
}

const char *cancellation_type(const struct cancellation *of, const struct cancel_error *error,
			      struct alloc_types *types)
{
	return error->type ? alloc_types_name(types, error->type - of->bias, false) : NULL;
}

const char *cancellation_text(const struct cancel_error *error, const char *type, size_t *len,
			      bool *cut)
{
	/* Their text is their first field: src/errors/errors.go, src/fmt/errors.go. */
	static const char *const with_text[] = {"*errors.errorString", "*fmt.wrapError",
						"*fmt.wrapErrors"};

	*cut = false;
	if (type && !strcmp(type, deadline_type)) {
		*len = strlen(deadline_text);
		return deadline_text;
	}
	*cut = error->len > CANCEL_TEXT;
	*len = *cut ? CANCEL_TEXT : error->len;
	for (size_t i = 0; type && i < sizeof(with_text) / sizeof(*with_text); i++)
		if (!strcmp(type, with_text[i]))
			return error->text;
	return NULL;
}
