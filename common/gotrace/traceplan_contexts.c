// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceplan_contexts_internal.h"

#include <stdlib.h>
#include <string.h>

#include "arguments/funcinfo.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "bpf-src/shared/type_key.h"
#include "golang/signature.h"
#include "gotrace/tracegen_context_internal.h"
#include "kernel/bpfmap.h"

enum {
	EMBEDDED_MAX = 8,  /* levels */
	FIELDS_MAX = 4096, /* that are looked at in one type, with all that it embeds */
	TRACE_ID_SIZE = 16
};

struct item {
	uint64_t rtype;
	struct trace_context holds;
};

struct traceplan_contexts {
	struct funcinfo *info;
	struct program_contexts program;
	const struct gotype *span_context; /* OpenTelemetry's SpanContext; NULL: none */
	uint32_t trace_off;                /* bytes, of the ID in it */
	bool searched, has_values;
	struct item *items;
	size_t count, cap;
};

struct traceplan_contexts *traceplan_contexts_new(struct funcinfo *info)
{
	struct traceplan_contexts *contexts = mem_zalloc(1, sizeof(*contexts));

	contexts->info = info;
	return contexts;
}

void traceplan_contexts_free(struct traceplan_contexts *contexts)
{
	if (!contexts)
		return;
	free(contexts->items);
	free(contexts);
}

/* --- what a type holds --- */

/* Where a struct embeds another context, which then answers for what it does not have itself;
 * context.withoutCancelCtx gives it a name. */
static bool find_within(const struct gotype *type, int depth, unsigned *fields, uint32_t *off)
{
	bool named = !strcmp(type->name, "context.withoutCancelCtx");
	uint32_t inner = 0;

	if (type->kind != GOTYPE_STRUCT || depth > EMBEDDED_MAX)
		return false;
	for (size_t i = 0; i < type->field_count && *fields < FIELDS_MAX; i++, ++*fields) {
		const struct gotype_field *field = &type->fields[i];

		if (!field->embedded && !named)
			continue;
		if (!gen_is_context(field->type) &&
		    !find_within(field->type, depth + 1, fields, &inner))
			continue;
		*off = (uint32_t)field->off + inner;
		return true;
	}
	return false;
}

static const struct gotype_field *find_field(const struct gotype *type, const char *name)
{
	for (size_t i = 0; i < type->field_count; i++)
		if (!strcmp(type->fields[i].name, name))
			return &type->fields[i];
	return NULL;
}

/* Go's src/context/context.go: valueCtx. Does it have the layout that the kernel side knows? */
static bool is_value(const struct gotype *type, uint32_t off)
{
	const struct gotype_field *key, *value;

	if (strcmp(type->name, "context.valueCtx") != 0)
		return false;
	key = find_field(type, "key");
	value = find_field(type, "val");
	return key && value && key->off == off + 16 && value->off == off + 32;
}

/* Spans of the last two are of no trace. */
static bool is_root(const struct gotype *type)
{
	static const char *const names[] = {"context.emptyCtx", "context.backgroundCtx",
					    "context.todoCtx", "trace.noopSpan", "noop.Span"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(type->name, names[i]))
			return true;
	return false;
}

/* A span: what has a SpanContext of its own, beside which there may be its parent's. */
static bool find_span(const struct traceplan_contexts *contexts, const struct gotype *type,
		      uint32_t *off)
{
	const struct gotype *wanted = contexts->span_context;
	const struct gotype_field *own = NULL;

	for (size_t i = 0; wanted && type->kind == GOTYPE_STRUCT && i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (field->type->rtype == wanted->rtype && strcmp(field->name, "parent") != 0 &&
		    (!own || !strcmp(field->name, "spanContext")))
			own = field;
	}
	if (own)
		*off = (uint32_t)own->off + contexts->trace_off;
	return own;
}

static bool holds(const struct traceplan_contexts *contexts, const struct gotype *type,
		  struct trace_context *out)
{
	unsigned fields = 0;

	*out = (struct trace_context){0};
	if (is_root(type))
		out->what = TRACE_CONTEXT_ROOT;
	else if (find_within(type, 0, &fields, &out->off))
		out->what = is_value(type, out->off) ? TRACE_CONTEXT_VALUE : TRACE_CONTEXT_WITHIN;
	else if (find_span(contexts, type, &out->off))
		out->what = TRACE_CONTEXT_SPAN;
	else
		return false;
	return true;
}

/* An interface with a pointer to a struct has that in its data word, one with the struct itself the
 * address of a copy: it is the same. */
static bool on_type(const struct gotype *type, bool direct, void *ctx)
{
	struct traceplan_contexts *contexts = ctx;
	bool is_pointer = type->kind == GOTYPE_POINTER && type->elem;
	struct trace_context found;

	if (!holds(contexts, is_pointer ? type->elem : type, &found) || (direct && !is_pointer))
		return true;
	contexts->has_values |= found.what == TRACE_CONTEXT_VALUE;
	contexts->items = mem_grow(contexts->items, contexts->count, &contexts->cap,
				   sizeof(*contexts->items));
	contexts->items[contexts->count++] = (struct item){type->rtype, found};
	return true;
}

/* --- OpenTelemetry --- */

#define OTEL_TRACE "go.opentelemetry.io/otel/trace."

static const struct gotype *named(const struct traceplan_contexts *contexts, const char *name)
{
	const struct signature_names names = funcinfo_names(contexts->info);
	const struct gotype *type = names.find(names.ctx, name);

	return type && type->rtype ? type : NULL;
}

/* go.opentelemetry.io/otel/trace: context.go, trace.go. Its key has a type of its own. */
static void find_tracing(struct traceplan_contexts *contexts)
{
	const struct gotype *key = named(contexts, OTEL_TRACE "traceContextKeyType");
	const struct gotype *span = named(contexts, OTEL_TRACE "SpanContext");
	const struct gotype_field *id;

	if (!key || !span || span->kind != GOTYPE_STRUCT)
		return;
	contexts->program.trace_key = key->rtype;
	id = find_field(span, "traceID");
	if (!id || id->type->kind != GOTYPE_ARRAY || id->type->size != TRACE_ID_SIZE)
		return;
	contexts->span_context = span;
	contexts->trace_off = (uint32_t)id->off;
	contexts->program.trace_id = id->type;
}

const struct program_contexts *traceplan_contexts_find(void *ctx)
{
	struct traceplan_contexts *contexts = ctx;

	if (!contexts->searched) {
		contexts->searched = true;
		find_tracing(contexts);
		contexts->program.text = named(contexts, "string");
		funcinfo_each_rtype(contexts->info, on_type, contexts);
	}
	return contexts->has_values ? &contexts->program : NULL;
}

void traceplan_contexts_fill(const struct traceplan_contexts *contexts, int fd, uint64_t program)
{
	for (size_t i = 0; i < contexts->count; i++) {
		uint64_t key = type_key_of(contexts->items[i].rtype, program);

		/* where the table is full, what a type holds counts as not known */
		if (bpfmap_update(fd, &key, &contexts->items[i].holds))
			return;
	}
}
