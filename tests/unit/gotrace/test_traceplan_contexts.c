// SPDX-License-Identifier: Apache-2.0
/* Which types are contexts and spans, and what the kernel side is told of them: with a program of
 * this test's own. */
#include <stdio.h>
#include <string.h>

#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "bpf-src/shared/trace.h"
#include "golang/gotype.h"
#include "golang/signature.h"
#include "gotrace/tracegen_context_internal.h"
#include "gotrace/traceplan_contexts_internal.h"
#include "kernel/bpfmap.h"
#include "steps.h"
#include "unit.h"

static int program;
static unsigned searches, room;

#define FIELDS(...)                                                                                \
	(struct gotype_field[]){__VA_ARGS__},                                                      \
		.field_count =                                                                     \
			sizeof((struct gotype_field[]){__VA_ARGS__}) / sizeof(struct gotype_field)

enum {
	CONTEXT,
	ANY,
	BYTE,
	ID,
	SHORT_ID,
	SPAN_CONTEXT,
	KEY,
	STRING,
	EMPTY,
	VALUE,
	CANCEL,
	TIMER,
	WITHOUT,
	BACKGROUND,
	TODO,
	MINE,
	NAMED,
	HELD,
	RECORDING,
	REMOTE,
	PARENT,
	NOOP,
	NO_SPAN,
	VALUE_POINTER,
	TIMER_POINTER,
	RECORDING_POINTER,
	CONTEXT_POINTER,
	UNSAFE,
	TYPES,
};

/* clang-format off */
static struct gotype types[TYPES] = {
	[CONTEXT] = {.kind = GOTYPE_INTERFACE, .has_methods = true, .name = "context.Context"},
	[ANY] = {.kind = GOTYPE_INTERFACE, .name = "interface {}"},
	[BYTE] = {.kind = GOTYPE_UINT, .name = "uint8", .size = 1},
	[ID] = {.kind = GOTYPE_ARRAY, .name = "trace.TraceID", .size = 16},
	[SHORT_ID] = {.kind = GOTYPE_ARRAY, .name = "trace.TraceID", .size = 8},
	[SPAN_CONTEXT] = {.kind = GOTYPE_STRUCT, .name = "trace.SpanContext",
			  .fields = FIELDS({"remote", &types[BYTE], 0, false}, {"traceID", &types[ID], 4, false})},
	[KEY] = {.kind = GOTYPE_INT, .name = "trace.traceContextKeyType"},
	[STRING] = {.kind = GOTYPE_STRING, .name = "string"},
	[EMPTY] = {.kind = GOTYPE_STRUCT, .name = "context.emptyCtx"},
	[VALUE] = {.kind = GOTYPE_STRUCT, .name = "context.valueCtx",
		   .fields = FIELDS({"Context", &types[CONTEXT], 8, true}, {"key", &types[ANY], 24, false}, {"val", &types[ANY], 40, false})},
	[CANCEL] = {.kind = GOTYPE_STRUCT, .name = "context.cancelCtx",
		    .fields = FIELDS({"mu", &types[BYTE], 0, false}, {"Context", &types[CONTEXT], 16, true})},
	[TIMER] = {.kind = GOTYPE_STRUCT, .name = "context.timerCtx",
		   .fields = FIELDS({"n", &types[BYTE], 0, true}, {"cancelCtx", &types[CANCEL], 32, true})},
	[WITHOUT] = {.kind = GOTYPE_STRUCT, .name = "context.withoutCancelCtx", .fields = FIELDS({"c", &types[CONTEXT], 0, false})},
	[BACKGROUND] = {.kind = GOTYPE_STRUCT, .name = "context.backgroundCtx", .fields = FIELDS({"emptyCtx", &types[EMPTY], 0, true})},
	[TODO] = {.kind = GOTYPE_STRUCT, .name = "context.todoCtx"},
	[MINE] = {.kind = GOTYPE_STRUCT, .name = "main.ctx",
		  .fields = FIELDS({"a", &types[ANY], 0, true}, {"Context", &types[CONTEXT], 16, true}, {"more", &types[CONTEXT], 32, true})},
	[NAMED] = {.kind = GOTYPE_STRUCT, .name = "main.named", .fields = FIELDS({"c", &types[CONTEXT], 0, false})},
	[HELD] = {.kind = GOTYPE_STRUCT, .name = "main.held", .fields = FIELDS({"Context", &types[CONTEXT], 0, true})},
	[RECORDING] = {.kind = GOTYPE_STRUCT, .name = "trace.recordingSpan",
		       .fields = FIELDS({"first", &types[SPAN_CONTEXT], 0, false}, {"spanContext", &types[SPAN_CONTEXT], 48, false}, {"last", &types[SPAN_CONTEXT], 96, false})},
	[REMOTE] = {.kind = GOTYPE_STRUCT, .name = "trace.nonRecordingSpan",
		    .fields = FIELDS({"parent", &types[SPAN_CONTEXT], 0, false}, {"sc", &types[SPAN_CONTEXT], 40, false})},
	[PARENT] = {.kind = GOTYPE_STRUCT, .name = "main.child", .fields = FIELDS({"parent", &types[SPAN_CONTEXT], 0, false})},
	[NOOP] = {.kind = GOTYPE_STRUCT, .name = "trace.noopSpan"},
	[NO_SPAN] = {.kind = GOTYPE_STRUCT, .name = "noop.Span"},
	[VALUE_POINTER] = {.kind = GOTYPE_POINTER, .name = "*context.valueCtx", .elem = &types[VALUE]},
	[TIMER_POINTER] = {.kind = GOTYPE_POINTER, .name = "*context.timerCtx", .elem = &types[TIMER]},
	[RECORDING_POINTER] = {.kind = GOTYPE_POINTER, .name = "*trace.recordingSpan", .elem = &types[RECORDING]},
	[CONTEXT_POINTER] = {.kind = GOTYPE_POINTER, .name = "*context.Context", .elem = &types[CONTEXT]},
	[UNSAFE] = {.kind = GOTYPE_POINTER, .name = "unsafe.Pointer"},
};
/* clang-format on */

/* --- of arguments/ and kernel/ --- */

static const struct gotype *find(void *ctx, const char *name)
{
	assert_ptr_equal(ctx, &program);
	if (!strcmp(name, "go.opentelemetry.io/otel/trace.SpanContext"))
		return &types[SPAN_CONTEXT];
	if (!strcmp(name, "go.opentelemetry.io/otel/trace.traceContextKeyType"))
		return &types[KEY];
	return strcmp(name, "string") != 0 ? NULL : &types[STRING];
}

struct signature_names funcinfo_names(struct funcinfo *info)
{
	return (struct signature_names){.find = find, .ctx = info};
}

void funcinfo_each_rtype(struct funcinfo *info,
			 bool (*fn)(const struct gotype *type, bool direct, void *ctx), void *ctx)
{
	assert_ptr_equal(info, &program);
	searches++;
	for (size_t i = 0; i < TYPES; i++)
		if (types[i].rtype &&
		    !fn(&types[i], types[i].kind == GOTYPE_POINTER || i == HELD, ctx))
			return;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	const struct trace_context *holds = value;
	uint64_t type;

	assert_int_equal(fd, 9);
	memcpy(&type, key, sizeof(type));
	assert_int_equal(type >> 48, 3);
	if (!room--)
		return -1;
	steps_are("%u: %u at %u", (unsigned)(type & 0xff), holds->what, holds->off);
	return 0;
}

/* --- */

static int setup(void **state)
{
	(void)state;
	for (size_t i = 0; i < TYPES; i++)
		types[i].rtype = 0x1000 + i;
	searches = 0;
	room = 100;
	return 0;
}

static struct traceplan_contexts *make(void)
{
	return traceplan_contexts_new((struct funcinfo *)&program);
}

/* What there is at 4 in a SpanContext is at 52 and 44 of spans. */
static void test_all(void **state)
{
	struct traceplan_contexts *contexts = make();

	(void)state;
	traceplan_contexts_fill(contexts, 9, 3); /* nothing was asked for */
	steps_expect("");
	const struct program_contexts *found = traceplan_contexts_find(contexts);

	assert_ptr_equal(traceplan_contexts_find(contexts), found);
	assert_int_equal(searches, 1);
	assert_int_equal(found->trace_key, types[KEY].rtype);
	assert_ptr_equal(found->trace_id, &types[ID]);
	assert_ptr_equal(found->text, &types[STRING]);
	traceplan_contexts_fill(contexts, 9, 3);
	steps_expect("8: 0 at 0; 9: 2 at 8; 10: 1 at 16; 11: 1 at 48; 12: 1 at 0; 13: 0 at 0; "
		     "14: 0 at 0; 15: 1 at 16; 18: 3 at 52; 19: 3 at 44; 21: 0 at 0; 22: 0 at 0; "
		     "23: 2 at 8; 24: 1 at 48; 25: 3 at 52; ");
	room = 2;
	traceplan_contexts_fill(contexts, 9, 3);
	steps_expect("8: 0 at 0; 9: 2 at 8; ");
	traceplan_contexts_free(contexts);
	traceplan_contexts_free(NULL);
}

/* A program of which some types are not there, or are otherwise than is known. */
static const struct program_contexts *find_anew(struct traceplan_contexts **contexts)
{
	traceplan_contexts_free(*contexts);
	*contexts = make();
	return traceplan_contexts_find(*contexts);
}

static void test_missing(void **state)
{
	struct traceplan_contexts *contexts = NULL;
	const struct program_contexts *found;

	(void)state;
	types[SPAN_CONTEXT].fields[1].type = &types[SHORT_ID];
	found = find_anew(&contexts);
	assert_int_equal(found->trace_key, types[KEY].rtype);
	assert_null(found->trace_id);
	types[SPAN_CONTEXT].fields[1].type = &types[BYTE];
	assert_null(find_anew(&contexts)->trace_id);
	types[SPAN_CONTEXT].fields[1].type = &types[ID];
	types[SPAN_CONTEXT].fields[1].name = "other";
	assert_null(find_anew(&contexts)->trace_id);
	types[SPAN_CONTEXT].fields[1].name = "traceID";
	types[SPAN_CONTEXT].kind = GOTYPE_UNKNOWN;
	assert_int_equal(find_anew(&contexts)->trace_key, 0);
	types[SPAN_CONTEXT].kind = GOTYPE_STRUCT;
	types[KEY].rtype = 0;
	assert_int_equal(find_anew(&contexts)->trace_key, 0);
	/* a value's context of another layout only hands on: no value is known */
	types[VALUE].fields[2].off = 48;
	assert_null(find_anew(&contexts));
	types[VALUE].fields[2].off = 40;
	types[VALUE].fields[1].off = 32;
	assert_null(find_anew(&contexts));
	types[VALUE].fields[1].off = 24;
	assert_non_null(find_anew(&contexts));
	types[VALUE].rtype = types[VALUE_POINTER].rtype = 0;
	assert_null(find_anew(&contexts));
	traceplan_contexts_free(contexts);
}

/* Lies of a program: what contains itself, once and many times */
static void test_endless(void **state)
{
	struct traceplan_contexts *contexts = NULL;

	(void)state;
	types[BACKGROUND].name = "main.endless";
	types[BACKGROUND].fields[0].type = &types[BACKGROUND];
	assert_non_null(find_anew(&contexts));
	struct gotype_field *one = types[BACKGROUND].fields;
	struct gotype_field many[1000];

	for (size_t i = 0; i < 1000; i++)
		many[i] = *one;
	types[BACKGROUND].fields = many;
	types[BACKGROUND].field_count = 1000;
	assert_non_null(find_anew(&contexts));
	types[BACKGROUND].name = "context.backgroundCtx";
	types[BACKGROUND].fields = one;
	types[BACKGROUND].field_count = 1;
	types[BACKGROUND].fields[0].type = &types[EMPTY];
	traceplan_contexts_free(contexts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_all, setup),
		cmocka_unit_test_setup(test_missing, setup),
		cmocka_unit_test_setup(test_endless, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
