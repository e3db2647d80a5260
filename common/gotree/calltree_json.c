// SPDX-License-Identifier: Apache-2.0
#include "gotree/calltree_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "gotree/calltree_internal.h"
#include "gotree/calltree_print_internal.h"

static uint64_t start_of(const struct calltree *root, const struct tree_call *call)
{
	uint64_t from = root->calls[0].start_ns;

	return call->start_ns > from ? call->start_ns - from : 0;
}

static void json_times(struct json *json, const struct calltree *root, const struct tree_call *call)
{
	json_member_u64(json, "start", start_of(root, call));
	json_member_u64(json, "latency", call->latency_ns);
	json_member_string(json, "how", calltree_how(call));
}

static void json_call(struct json *json, const struct calltree *root, const struct tree_call *call,
		      uint32_t depth)
{
	json_object(json);
	json_member_string(json, "func", calltree_func(root, call));
	json_member_u64(json, "depth", depth);
	json_times(json, root, call);
	json_object_end(json);
}

static void json_cut(struct json *json, const struct calltree *tree)
{
	json_member_u64(json, "cut", tree->head.cut);
	json_key(json, "cut_funcs");
	json_array(json);
	for (size_t i = 0; i < TREE_CUT_FUNCS && tree->head.cut_funcs[i].calls; i++) {
		struct tree_call call = {.row = tree->head.cut_funcs[i].row};

		json_object(json);
		json_member_string(json, "func", calltree_func(tree, &call));
		json_member_u64(json, "calls", tree->head.cut_funcs[i].calls);
		json_object_end(json);
	}
	json_array_end(json);
}

static void json_comm(struct json *json, const char *key, const struct calltree *tree)
{
	json_key(json, key);
	json_bytes(json, tree->head.comm, strnlen(tree->head.comm, sizeof(tree->head.comm)));
}

/* All calls but the first, and what was cut. */
static void json_calls(struct json *json, const struct calltree *root, const struct calltree *tree)
{
	uint32_t *depths = calltree_depths(tree);

	json_key(json, "calls");
	json_array(json);
	for (uint32_t i = 1; i < tree->head.count; i++)
		json_call(json, root, &tree->calls[i], depths[i]);
	json_array_end(json);
	json_cut(json, tree);
	if (root->followed)
		json_member_u64(json, "cut_goroutines", tree->head.cut_started);
	free(depths);
}

static void json_goroutine(struct json *json, const struct calltree *root,
			   const struct calltree_goroutine *goroutine)
{
	const struct calltree *tree = &goroutine->tree;

	json_object(json);
	json_member_u64(json, "goid", tree->head.who.id);
	json_member_string(json, "func", goroutine->func);
	json_member_u64(json, "by", tree->head.by);
	json_member_u64(json, "parent", goroutine->starter);
	json_member_u64(json, "call", goroutine->caller);
	json_times(json, root, &tree->calls[0]);
	json_calls(json, root, tree);
	json_object_end(json);
}

void calltree_json(struct json *json, const struct calltree *tree)
{
	json_member_u64(json, "pid", tree->head.pid);
	json_member_u64(json, "goid", tree->head.who.id);
	json_comm(json, "comm", tree);
	json_member_string(json, "func", calltree_func(tree, &tree->calls[0]));
	json_member_u64(json, "latency", tree->calls[0].latency_ns);
	json_member_string(json, "how", calltree_how(&tree->calls[0]));
	json_calls(json, tree, tree);
	if (!tree->followed)
		return;
	json_key(json, "goroutines");
	json_array(json);
	for (size_t i = 0; i < tree->goroutine_count; i++)
		json_goroutine(json, tree, &tree->goroutines[i]);
	json_array_end(json);
}

/* The format's times are in microseconds, with a fraction. */
static void member_micros(struct json *json, const char *key, uint64_t ns)
{
	char *text = mem_printf("%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));

	json_key(json, key);
	json_number(json, text);
	free(text);
}

static void begin_event(struct json *json, const struct calltree *tree, const char *name,
			const char *phase)
{
	json_object(json);
	json_member_string(json, "name", name);
	json_member_string(json, "ph", phase);
	json_member_u64(json, "pid", tree->head.pid);
	json_member_u64(json, "tid", tree->head.who.id);
}

static void trace_call(FILE *out, const struct calltree *tree, const struct tree_call *call,
		       const char *name)
{
	struct json json;

	fputc(',', out);
	json_init(&json, out);
	begin_event(&json, tree, name, "X");
	member_micros(&json, "ts", call->start_ns);
	member_micros(&json, "dur", call->latency_ns);
	json_key(&json, "args");
	json_object(&json);
	json_member_string(&json, "how", calltree_how(call));
	json_object_end(&json);
	json_object_end(&json);
}

/* A metadata event: names the process or the thread. */
static void trace_name(FILE *out, const struct calltree *tree, const char *what, const char *name)
{
	struct json json;

	json_init(&json, out);
	begin_event(&json, tree, what, "M");
	json_key(&json, "args");
	json_object(&json);
	if (name)
		json_member_string(&json, "name", name);
	else
		json_comm(&json, "name", tree);
	json_object_end(&json);
	json_object_end(&json);
}

/* The goroutine's name, and its calls from this one on. */
static void trace_calls(FILE *out, const struct calltree *tree, uint32_t first)
{
	char *goroutine = mem_printf("goroutine %llu", tree->head.who.id);

	fputc(',', out);
	trace_name(out, tree, "thread_name", goroutine);
	for (uint32_t i = first; i < tree->head.count; i++)
		trace_call(out, tree, &tree->calls[i], calltree_func(tree, &tree->calls[i]));
	free(goroutine);
}

/* A track of its own, with all of it as the outermost slice. */
static void trace_goroutine(FILE *out, const struct calltree_goroutine *goroutine)
{
	char *name =
		goroutine->func ? mem_printf("go %s", goroutine->func) : mem_strdup("received");

	trace_call(out, &goroutine->tree, &goroutine->tree.calls[0], name);
	trace_calls(out, &goroutine->tree, 1);
	free(name);
}

void calltree_trace(FILE *out, const struct calltree *tree, bool more)
{
	if (more)
		fputc(',', out);
	trace_name(out, tree, "process_name", NULL);
	trace_calls(out, tree, 0);
	for (size_t i = 0; i < tree->goroutine_count; i++)
		trace_goroutine(out, &tree->goroutines[i]);
}
