// SPDX-License-Identifier: Apache-2.0
/* What is said of signatures and places, as text and as JSON: the signatures are the test's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "arguments/copyinfo.h"
#include "arguments/funcinfo.h"
#include "base/json.h"
#include "base/mem.h"
#include "elf/image.h"
#include "gofuncs/funclist_types_internal.h"
#include "program/functab.h"
#include "program/program.h"
#include "steps.h"
#include "unit.h"

static int anything;
static struct gofunc signature;
static struct abi_layout places;
static bool has_table;
static int32_t args_size;

static struct abi_value *copies_of(const struct abi_value *given, size_t count)
{
	struct abi_value *out = mem_zalloc(count, sizeof(*out));

	for (size_t i = 0; i < count; i++)
		if (given[i].count)
			abi_keep_pieces(&out[i], given[i].pieces, given[i].count);
	return out;
}

/* what abi_layout_free() frees */
static struct abi_layout layout_now(void)
{
	struct abi_layout out = places;

	out.params = copies_of(places.params, places.param_count);
	out.results = copies_of(places.results, places.result_count);
	return out;
}

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum arch image_arch(const struct image *img)
{
	return ARCH_AMD64;
}

struct funcinfo *funcinfo_new(const struct program *prog, struct gotypes *memory)
{
	return (struct funcinfo *)(void *)&anything;
}

void funcinfo_free(struct funcinfo *info)
{
}

uint64_t funcinfo_type_names(struct funcinfo *info)
{
	return 77;
}

void funcinfo_find(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out)
{
	*out = signature;
	if (has_table)
		out->source = GOFUNC_NONE;
}

uint64_t funcinfo_layout(struct funcinfo *info, const struct functab_func *fn,
			 const struct gofunc *sig, struct abi_layout *out)
{
	*out = layout_now();
	return 0;
}

bool funcinfo_table(struct funcinfo *info, const struct functab_func *fn, struct gofunc *sig,
		    struct abi_layout *layout)
{
	*sig = signature;
	*layout = has_table ? layout_now() : (struct abi_layout){0};
	return has_table;
}

void funcinfo_type_receiver(struct funcinfo *info, const struct functab_func *fn,
			    struct gofunc *sig)
{
	steps_are("receiver");
}

int copyinfo_find(const struct copyinfo_asker *asker, const struct inlining_copy *copy,
		  struct site_list *exits, struct copyinfo *out, struct errmsg *err)
{
	return -1;
}

bool functab_args_size(const struct functab *tab, const struct functab_func *fn, int32_t *size)
{
	*size = args_size;
	return args_size >= 0;
}

/* NOLINTEND(misc-unused-parameters) */

static const struct gotype number = {.kind = GOTYPE_INT, .name = "int", .size = 8},
			   text = {.kind = GOTYPE_STRING, .name = "string", .size = 16},
			   none = {.kind = GOTYPE_STRUCT, .name = "struct {}"},
			   byte = {.kind = GOTYPE_UNKNOWN, .name = "?", .size = 1},
			   bytes = {.kind = GOTYPE_UNKNOWN, .name = "?", .size = 12},
			   unknown = {.kind = GOTYPE_UNKNOWN, .name = "?"},
			   size = {.kind = GOTYPE_UNKNOWN, .name = "8+8 bytes", .size = 16},
			   odd = {.kind = GOTYPE_INT, .name = "a\x1b", .size = 8};

static struct abi_piece pieces[] = {{ABI_INT, 0, 0, 8, 0},
				    {ABI_INT, 1, 8, 8, 0},
				    {ABI_FLOAT, 2, 0, 8, 0},
				    {ABI_SLOT, 24, 0, 8, 0}};
static struct abi_value values[] = {{pieces, 1, 0}, {pieces, 2, 0},     {NULL, 0, 0},
				    {NULL, 0, 0},   {pieces + 2, 1, 0}, {pieces + 3, 1, 0},
				    {NULL, 0, 0},   {NULL, 0, 0}};
static struct goparam params[] = {
	{.name = "n", .type = &number, .place = GOPARAM_UNPLACED},
	{.name = "s", .type = &text, .place = GOPARAM_GUESSED},
	{.name = "gone", .type = &odd, .place = GOPARAM_GUESSED},
	{.name = "empty", .type = &none, .place = GOPARAM_READ},
	{.name = "", .type = &byte, .place = GOPARAM_SAVED},
	{.name = "b\x1b", .type = &bytes, .place = GOPARAM_SAVED},
	{.name = "u", .type = &unknown, .place = GOPARAM_ON_STACK},
	{.name = "...", .type = &size, .place = GOPARAM_ON_STACK},
};

static void say(void)
{
	const struct program prog = {.path = "/bin/app"};
	const struct functab_func fn = {.name = "main.f"};
	const struct copyinfo copy = {.sig = signature, .layout = places};
	struct funclist_types *types = funclist_types_new(&prog, NULL);
	struct abi_layout layout;
	struct gofunc sig;
	struct json json;
	char *said;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	funclist_types_print(out, types, &fn);
	fputs("copy\n", out);
	funclist_types_print_copy(out, types, &copy);
	json_init(&json, out);
	json_object(&json);
	funclist_types_json(&json, types, &fn);
	json_object_end(&json);
	json_init(&json, out);
	json_object(&json);
	funclist_types_json_copy(&json, types, &copy);
	json_object_end(&json);
	funclist_types_find(types, &fn, &sig, &layout);
	for (size_t i = 0; i < sig.param_count; i++)
		fprintf(out, "%zu ", layout.params[i].count);
	abi_layout_free(&layout);
	fclose(out);
	steps_are("%s", said);
	free(said);
	funclist_types_free(types);
}

static int setup(void **state)
{
	(void)state;
	signature = (struct gofunc){.params = params,
				    .param_count = 8,
				    .results = params,
				    .result_count = 2,
				    .source = GOFUNC_DEBUGINFO};
	places = (struct abi_layout){
		.params = values, .param_count = 8, .results = values, .result_count = 2};
	has_table = false;
	args_size = 40;
	return 0;
}

static const char known_said[] =
	"    args     n int (rax), ?s string (rax, rbx), ?gone a\\x1b (place not known),\n"
	"             empty struct {}, 1 byte (xmm2), b\\x1b 12 bytes ([sp+32]),\n"
	"             u 0 bytes, ...\n"
	"    results  n int (rax), ?s string (rax, rbx)\n"
	"    types    debug information\n"
	"    places   goarg1 to goarg4: debug information\n"
	"             goarg5 to goarg7: argument tables\n"
	"             goarg8: not told\n"
	"copy\n"
	"    args     n int (rax), ?s string (rax, rbx), ?gone a\\x1b (optimised out),\n"
	"             empty struct {}, 1 byte (xmm2), b\\x1b 12 bytes ([sp+32]),\n"
	"             u 0 bytes, ...\n"
	"    types    debug information\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],\"from\":"
	"\"debuginfo\"},{\"name\":\"s\",\"type\":\"string\",\"size\":16,\"in\":[\"rax\","
	"\"rbx\"],\"from\":\"debuginfo\"},{\"name\":\"gone\",\"type\":\"a\\u001b\","
	"\"size\":8,\"in\":[],\"from\":\"debuginfo\"},{\"name\":\"empty\",\"type\":"
	"\"struct "
	"{}\",\"size\":0,\"in\":[],\"from\":\"debuginfo\"},{\"name\":\"\",\"type\":null,"
	"\"size\":1,\"in\":[\"xmm2\"],\"from\":\"argtables\"},{\"name\":\"b\\u001b\","
	"\"type\":null,\"size\":12,\"in\":[\"[sp+32]\"],\"from\":\"argtables\"},{\"name\":"
	"\"u\",\"type\":null,\"size\":null,\"in\":[],\"from\":\"argtables\"},{\"name\":\".."
	".\",\"type\":null,\"size\":16,\"in\":[],\"from\":\"none\"}],\"results\":[{"
	"\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"]},{\"name\":\"s\","
	"\"type\":\"string\",\"size\":16,\"in\":[\"rax\",\"rbx\"]}],\"types_from\":"
	"\"debuginfo\"}\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],\"from\":"
	"\"debuginfo\"},{\"name\":\"s\",\"type\":\"string\",\"size\":16,\"in\":[\"rax\","
	"\"rbx\"],\"from\":\"debuginfo\"},{\"name\":\"gone\",\"type\":\"a\\u001b\","
	"\"size\":8,\"in\":[],\"from\":\"debuginfo\"},{\"name\":\"empty\",\"type\":"
	"\"struct "
	"{}\",\"size\":0,\"in\":[],\"from\":\"debuginfo\"},{\"name\":\"\",\"type\":null,"
	"\"size\":1,\"in\":[\"xmm2\"],\"from\":\"argtables\"},{\"name\":\"b\\u001b\","
	"\"type\":null,\"size\":12,\"in\":[\"[sp+32]\"],\"from\":\"argtables\"},{\"name\":"
	"\"u\",\"type\":null,\"size\":null,\"in\":[],\"from\":\"argtables\"},{\"name\":\".."
	".\",\"type\":null,\"size\":16,\"in\":[],\"from\":\"none\"}],\"types_from\":"
	"\"debuginfo\"}\n"
	"1 0 0 0 1 1 0 0 ; ";

static void test_known(void **state)
{
	(void)state;
	say();
	steps_expect(known_said);
}

static const char sources_said[] =
	"    args     40 bytes in all, stack results included\n"
	"    types    not known\n"
	"copy\n"
	"    types    not known\n"
	"{\"args\":null,\"results\":null,\"types_from\":\"none\"}\n"
	"{\"args\":null,\"types_from\":\"none\"}\n"
	";     args     n int (rax)\n"
	"    results  none\n"
	"    types    not known\n"
	"copy\n"
	"    args     n int (rax)\n"
	"    types    not known\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],"
	"\"from\":\"none\"}],\"results\":[],\"types_from\":\"none\"}\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],"
	"\"from\":\"none\"}],\"types_from\":\"none\"}\n"
	"1 ;     args     n int (rax)\n"
	"    results  none\n"
	"    types    run-time type information\n"
	"copy\n"
	"    args     n int (rax)\n"
	"    types    run-time type information\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],"
	"\"from\":\"rtti\"}],\"results\":[],\"types_from\":\"rtti\"}\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],"
	"\"from\":\"rtti\"}],\"types_from\":\"rtti\"}\n"
	"1 ;     args     n int (rax)\n"
	"    results  none\n"
	"    types    Go's standard library\n"
	"copy\n"
	"    args     n int (rax)\n"
	"    types    Go's standard library\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],"
	"\"from\":\"library\"}],\"results\":[],\"types_from\":\"library\"}\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],"
	"\"from\":\"library\"}],\"types_from\":\"library\"}\n"
	"1 ;     types    not known\n"
	"copy\n"
	"    types    not known\n"
	"{\"args\":null,\"results\":null,\"types_from\":\"none\"}\n"
	"{\"args\":null,\"types_from\":\"none\"}\n"
	";     types    not known\n"
	"copy\n"
	"    types    not known\n"
	"{\"args\":null,\"results\":null,\"types_from\":\"none\"}\n"
	"{\"args\":null,\"types_from\":\"none\"}\n"
	"; ";

static void test_sources(void **state)
{
	static const enum gofunc_source sources[] = {GOFUNC_NONE, GOFUNC_SIGNATURE, GOFUNC_RTTI,
						     GOFUNC_STDLIB};

	(void)state;
	signature.param_count = 1;
	signature.result_count = 0;
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		signature.source = sources[i];
		say();
	}
	signature.source = GOFUNC_NONE;
	args_size = 0;
	say();
	args_size = -1;
	say();
	steps_expect(sources_said);
}

static const char table_said[] =
	"receiver; receiver; receiver;     args     n int (rax), ?s string (rax, rbx), "
	"?gone a\\x1b (place not known),\n"
	"             empty struct {}, 1 byte (xmm2), b\\x1b 12 bytes ([sp+32]),\n"
	"             u 0 bytes, ...\n"
	"    types    argument tables: sizes only\n"
	"    places   goarg1: place not known\n"
	"             goarg2, goarg3: the likeliest place, a guess\n"
	"             goarg4: what the code reads\n"
	"             goarg5, goarg6: saved registers\n"
	"             goarg7: all on the stack\n"
	"             goarg8: not told\n"
	"copy\n"
	"    args     n int (rax), ?s string (rax, rbx), ?gone a\\x1b (optimised out),\n"
	"             empty struct {}, 1 byte (xmm2), b\\x1b 12 bytes ([sp+32]),\n"
	"             u 0 bytes, ...\n"
	"    types    argument tables: sizes only\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],\"from\":"
	"\"table\"},{\"name\":\"s\",\"type\":\"string\",\"size\":16,\"in\":[\"rax\","
	"\"rbx\"],\"from\":\"guess\"},{\"name\":\"gone\",\"type\":\"a\\u001b\",\"size\":8,"
	"\"in\":[],\"from\":\"guess\"},{\"name\":\"empty\",\"type\":\"struct "
	"{}\",\"size\":0,\"in\":[],\"from\":\"code\"},{\"name\":\"\",\"type\":null,"
	"\"size\":1,\"in\":[\"xmm2\"],\"from\":\"saved\"},{\"name\":\"b\\u001b\",\"type\":"
	"null,\"size\":12,\"in\":[\"[sp+32]\"],\"from\":\"saved\"},{\"name\":\"u\","
	"\"type\":null,\"size\":null,\"in\":[],\"from\":\"stack\"},{\"name\":\"...\","
	"\"type\":null,\"size\":16,\"in\":[],\"from\":\"none\"}],\"results\":null,\"types_"
	"from\":\"argtables\"}\n"
	"{\"args\":[{\"name\":\"n\",\"type\":\"int\",\"size\":8,\"in\":[\"rax\"],\"from\":"
	"\"table\"},{\"name\":\"s\",\"type\":\"string\",\"size\":16,\"in\":[\"rax\","
	"\"rbx\"],\"from\":\"guess\"},{\"name\":\"gone\",\"type\":\"a\\u001b\",\"size\":8,"
	"\"in\":[],\"from\":\"guess\"},{\"name\":\"empty\",\"type\":\"struct "
	"{}\",\"size\":0,\"in\":[],\"from\":\"code\"},{\"name\":\"\",\"type\":null,"
	"\"size\":1,\"in\":[\"xmm2\"],\"from\":\"saved\"},{\"name\":\"b\\u001b\",\"type\":"
	"null,\"size\":12,\"in\":[\"[sp+32]\"],\"from\":\"saved\"},{\"name\":\"u\","
	"\"type\":null,\"size\":null,\"in\":[],\"from\":\"stack\"},{\"name\":\"...\","
	"\"type\":null,\"size\":16,\"in\":[],\"from\":\"none\"}],\"types_from\":"
	"\"argtables\"}\n"
	"1 0 0 0 1 1 0 0 ; ";

/* By argument tables each parameter's place is from somewhere else. */
static void test_table(void **state)
{
	(void)state;
	has_table = true;
	signature.source = GOFUNC_ARGINFO;
	say();
	steps_expect(table_said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_known, setup),
		cmocka_unit_test_setup(test_sources, setup),
		cmocka_unit_test_setup(test_table, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
