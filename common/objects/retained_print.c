// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "elf/image.h"
#include "gostacks/goprocesses.h"
#include "objects/object_step_internal.h"
#include "objects/object_walk_internal.h"
#include "objects/objects_print_internal.h"
#include "objects/retained_internal.h"
#include "program/program.h"

enum { SHOWN_MAX = 20 }; /* chains, as text */

struct printing {
	FILE *out;
	const struct goprocesses_one *one;
	const struct object_walk *walk;
	const struct retained_chains *chains;
};

static int most_first(const void *a, const void *b)
{
	const struct retained_chain *x = *(struct retained_chain *const *)a,
				    *y = *(struct retained_chain *const *)b;

	if (x->kept_bytes != y->kept_bytes)
		return x->kept_bytes < y->kept_bytes ? 1 : -1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x < y ? -1 : x > y;
}

static size_t sort(struct retained *retained, struct retained_chain ***out)
{
	struct retained_chains *chains = &retained->chains;
	struct retained_chain **all = mem_zalloc(chains->count + 2, sizeof(void *));
	size_t count = 0;

	for (size_t i = 0; i < chains->count; i++)
		if (chains->all[i].objects)
			all[count++] = &chains->all[i];
	if (retained->others.objects)
		all[count++] = &retained->others;
	qsort(all, count, sizeof(void *), most_first);
	if (retained->unreached.objects)
		all[count++] = &retained->unreached;
	*out = all;
	return count;
}

/* The way to it, from the root on. Returns how many there are. */
static size_t way_of(const struct printing *p, const struct retained_chain *chain,
		     const struct retained_chain **way)
{
	size_t count = chain->depth + 1;

	for (size_t i = count; i--; chain = &p->chains->all[chain->before])
		way[i] = chain;
	return count;
}

static struct objects_row row_of(const struct printing *p, const struct retained_object *object)
{
	static const enum objects_what whats[OBJECT_FIRST] = {[OBJECT_UNKNOWN] = OBJECTS_UNKNOWN,
							      [OBJECT_SEVERAL] = OBJECTS_SEVERAL,
							      [OBJECT_TINY] = OBJECTS_TINY,
							      [OBJECT_STRING] = OBJECTS_STRING};

	if (object->kind < OBJECT_FIRST)
		return (struct objects_row){.what = whats[object->kind],
					    .size = object->size,
					    .pointers = object->pointers};
	return (struct objects_row){.what = OBJECTS_TYPE,
				    .name = object_kinds_get(&p->walk->kinds, object->kind)->name};
}

/* The field that leads on, to be freed; NULL: there is none. */
static char *field_of(const struct printing *p, const struct retained_object *object, uint64_t step)
{
	char *text = NULL;
	size_t len = 0;

	if (object->kind < OBJECT_FIRST)
		return NULL;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	object_step_print(out, object_kinds_get(&p->walk->kinds, object->kind), step);
	fclose(out);
	if (len)
		return text;
	free(text);
	return NULL;
}

/* Of variables without a name: bytes from where the program's file is in memory. */
static uint64_t offset_of(const struct printing *p, uint64_t addr)
{
	size_t count;
	const struct image_segment *segments = image_segments(p->walk->prog->img, &count);

	return count && addr >= segments[0].addr ? addr - segments[0].addr : addr;
}

static const char *const words_of[] = {
	[RETAINED_VARIABLE] = "variable",
	[RETAINED_STACK] = "stack",
	[RETAINED_FINALIZER] = "finalizer",
	[RETAINED_CLEANUP] = "cleanup",
	[RETAINED_WEAK_POINTER] = "weak pointer",
	[RETAINED_QUEUED_FINALIZER] = "queued finalizer",
	[RETAINED_QUEUED_CLEANUP] = "queued cleanup",
};

/* --- text --- */

static void print_root(const struct printing *p, const struct retained_chain *chain)
{
	const struct retained_root *root = &chain->root;

	fputs("        ", p->out);
	if (root->how > RETAINED_STACK) {
		fputs(words_of[root->how], p->out);
	} else if (root->how == RETAINED_STACK) {
		fprintf(p->out, "goroutine %" PRIu64 "%s, ", root->goid,
			chain->several ? " and others" : "");
		escape_print(p->out, root->name ? root->name : "in a frame that is not known");
	} else {
		fputs("variable ", p->out);
		escape_print(p->out, root->name ? root->name : p->one->name);
		if (!root->name)
			fprintf(p->out, "+0x%" PRIx64, offset_of(p, root->addr));
	}
	fputc('\n', p->out);
}

static void print_object(const struct printing *p, const struct retained_chain *at,
			 const struct retained_chain *next)
{
	const struct objects_row row = row_of(p, &at->object);
	char *field = next ? field_of(p, &at->object, next->step) : NULL;

	fputs("        ", p->out);
	objects_print_what(p->out, &row);
	if (field) {
		fputc(' ', p->out);
		escape_print(p->out, field);
	}
	fprintf(p->out, "%s\n", at->cut ? " ..." : at->repeated ? " (more than one)" : "");
	free(field);
}

static void print_way(const struct printing *p, const struct retained_chain *chain)
{
	const struct retained_chain *way[RETAINED_DEPTH_MAX + 2];
	size_t count = way_of(p, chain, way);

	print_root(p, way[0]);
	for (size_t i = 1; i < count; i++)
		print_object(p, way[i], i + 1 < count ? way[i + 1] : NULL);
}

static void print_chain(const struct printing *p, const struct retained *retained,
			const struct retained_chain *chain)
{
	if (chain == &retained->unreached)
		fprintf(p->out, "%12s", "-");
	else
		fprintf(p->out, "%12" PRIu64, chain->kept_bytes);
	fprintf(p->out, " %12" PRIu64 " %11" PRIu64 " 0x%" PRIx64 "\n", chain->bytes,
		chain->objects, chain->example);
	if (chain == &retained->unreached)
		fputs("        nothing that was found: garbage, until it is swept\n", p->out);
	else if (chain == &retained->others)
		fputs("        others: there are too many ways to them\n", p->out);
	else
		print_way(p, chain);
}

static void print_head(const struct printing *p, const struct retained_chain *const *all,
		       size_t count)
{
	uint64_t objects = 0, bytes = 0, kept = 0, kept_bytes = 0;

	for (size_t i = 0; i < count; i++) {
		objects += all[i]->objects;
		bytes += all[i]->bytes;
		kept += all[i]->kept;
		kept_bytes += all[i]->kept_bytes;
	}
	fprintf(p->out, "%d ", p->one->pid);
	escape_print(p->out, p->one->name);
	fprintf(p->out, " (go1.%d): %" PRIu64 " bytes in %" PRIu64 " objects\n",
		p->walk->prog->release, bytes, objects);
	fprintf(p->out, "without them, %" PRIu64 " bytes in %" PRIu64 " objects would be garbage\n",
		kept_bytes, kept);
	fputs("    RETAINED        BYTES     OBJECTS EXAMPLE, AND WHAT KEEPS THEM\n", p->out);
}

static void print_text(const struct printing *p, const struct retained *retained,
		       struct retained_chain **all, size_t count)
{
	uint64_t objects = 0, bytes = 0;

	print_head(p, (const struct retained_chain *const *)all, count);
	for (size_t i = 0; i < count; i++) {
		if (i < SHOWN_MAX || all[i] == &retained->unreached) {
			print_chain(p, retained, all[i]);
			continue;
		}
		objects += all[i]->objects;
		bytes += all[i]->bytes;
	}
	if (objects)
		fprintf(p->out,
			"and %" PRIu64 " bytes in %" PRIu64 " objects in other ways: -j has all\n",
			bytes, objects);
}

/* --- JSON --- */

static void json_root(struct json *json, const struct printing *p,
		      const struct retained_chain *chain)
{
	const struct retained_root *root = &chain->root;

	json_member_string(json, "root", words_of[root->how]);
	if (root->how == RETAINED_STACK) {
		json_member_u64(json, "goid", root->goid);
		json_member_bool(json, "others", chain->several);
		json_member_string(json, "func", root->name);
	} else if (root->how == RETAINED_VARIABLE) {
		json_member_string(json, "name", root->name);
		json_member_u64(json, "offset", offset_of(p, root->addr));
	}
}

static void json_object_of(struct json *json, const struct printing *p,
			   const struct retained_chain *at, const struct retained_chain *next)
{
	const struct objects_row row = row_of(p, &at->object);
	char *field = next ? field_of(p, &at->object, next->step) : NULL;

	json_object(json);
	objects_json_what(json, &row);
	if (next)
		json_member_string(json, "field", field);
	if (at->repeated)
		json_member_bool(json, "repeated", true);
	if (at->cut)
		json_member_bool(json, "cut", true);
	json_object_end(json);
	free(field);
}

static void json_way(struct json *json, const struct printing *p,
		     const struct retained_chain *chain)
{
	const struct retained_chain *way[RETAINED_DEPTH_MAX + 2];
	size_t count = way_of(p, chain, way);

	json_root(json, p, way[0]);
	json_key(json, "path");
	json_array(json);
	for (size_t i = 1; i < count; i++)
		json_object_of(json, p, way[i], i + 1 < count ? way[i + 1] : NULL);
	json_array_end(json);
}

static void json_chain(const struct printing *p, const struct retained *retained,
		       const struct retained_chain *chain)
{
	struct json json;

	json_init(&json, p->out);
	json_object(&json);
	json_member_string(&json, "type", "retained");
	json_member_i64(&json, "pid", p->one->pid);
	json_member_u64(&json, "objects", chain->objects);
	json_member_u64(&json, "bytes", chain->bytes);
	json_member_u64(&json, "retained_objects", chain->kept);
	json_member_u64(&json, "retained_bytes", chain->kept_bytes);
	json_member_u64(&json, "example", chain->example);
	if (chain == &retained->unreached)
		json_member_string(&json, "root", "none");
	else if (chain == &retained->others)
		json_member_string(&json, "root", "others");
	else
		json_way(&json, p, chain);
	json_object_end(&json);
}

size_t retained_print(FILE *out, const struct objects_look *look, const struct goprocesses_one *one,
		      const struct object_walk *walk, struct retained *retained)
{
	const struct printing p = {out, one, walk, &retained->chains};
	struct retained_chain **all;
	size_t count = sort(retained, &all);

	if (!look->json && look->has_printed)
		fputc('\n', out);
	if (!look->json)
		print_text(&p, retained, all, count);
	for (size_t i = 0; look->json && i < count; i++)
		json_chain(&p, retained, all[i]);
	free(all);
	return count;
}

void retained_say(FILE *err, const struct object_walk *walk, const struct retained *retained)
{
	if (retained->every_word)
		fputs("goheap: which of its variables have pointers is not known: what looks like "
		      "one counts\n",
		      err);
	if (retained->chains.full)
		fputs("goheap: there are too many ways to objects: some are not told apart\n", err);
	if (retained->specials_left_out)
		fputs("goheap: not all finalizers and cleanups could be read\n", err);
	if (walk->gave_up)
		fputs("goheap: not all pointers were followed: there are too many\n", err);
	if (walk->kinds.full)
		fputs("goheap: there are too many types: some are unknown\n", err);
}
