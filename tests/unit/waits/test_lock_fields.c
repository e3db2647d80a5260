// SPDX-License-Identifier: Apache-2.0
/* Names of locks by variables, by functions' parameters, and by the code of their callers. What
 * tells signatures and follows code is of this test's own. */
#include <stdlib.h>
#include <string.h>

#include "abi/arginfo.h"
#include "arguments/funcinfo.h"
#include "arguments/origin.h"
#include "base/mem.h"
#include "elf/image.h"
#include "golang/release.h"
#include "golang/signature.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/site.h"
#include "steps.h"
#include "unit.h"
#include "waits/lock_fields_internal.h"
#include "waits/lock_path_internal.h"

enum { FUNC = 0x1000, FUNCS = 12 };

static int anything;
#define SOME ((void *)&anything)

/* function n is at n * FUNC */
static const char *const names[FUNCS] = {NULL,
					 "main.(*Store).Get",
					 "main.f",
					 "sync.(*Mutex).Lock",
					 "main.T.M",
					 "main.(*Box[...]).M",
					 "main.(*Store).Get.func1",
					 "main.(*None).M",
					 "internal/sync.(*Mutex).lockSlow",
					 "main.g",
					 "main.(*Far).M",
					 "main.h"};

static struct program subject = {.release = 21, .release_told = true};
static struct gofunc signature; /* of main.f; source NONE: not known */
static struct abi_layout places;
static struct arginfo told; /* count 0: there is none */
static const struct gotype store = {.kind = GOTYPE_STRUCT, .name = "main.Store"},
			   number = {.kind = GOTYPE_INT, .name = "int"},
			   other = {.kind = GOTYPE_STRUCT, .name = "main.Other"},
			   nameless = {.kind = GOTYPE_STRUCT},
			   pointer = {.kind = GOTYPE_POINTER,
				      .name = "*main.Store",
				      .elem = &store},
			   to_other = {.kind = GOTYPE_POINTER, .elem = &other},
			   to_number = {.kind = GOTYPE_POINTER, .name = "*int", .elem = &number},
			   to_nameless = {.kind = GOTYPE_POINTER, .elem = &nameless};

/* where the lock comes from, for each caller in turn */
static struct origin origins[10];
static size_t origin_count, followed;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

void image_each_symbol(const struct image *img, bool (*fn)(const struct image_symbol *, void *),
		       void *ctx)
{
	static const struct image_symbol symbols[] = {{"main.last", 0x9000, 0x10, false, false},
						      {"main.mu", 0x5000, 8, false, false},
						      {"main.cache", 0x6000, 0x40, false, false},
						      {"main.main", 0x7000, 0x40, true, false},
						      {"main.tls", 0x7100, 0x40, false, true},
						      {"main.empty", 0x7200, 0, false, false},
						      {"main", 0x7300, 0x40, false, false},
						      {"main..stmp_1", 0x7400, 8, false, false},
						      {"go:main.x", 0x7500, 8, false, false}};

	steps_are("symbols");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (!fn(&symbols[i], ctx))
			return;
}

bool functab_find(const struct functab *tab, uint64_t addr, struct functab_func *out)
{
	size_t n = addr / FUNC;

	if (!n || n >= FUNCS)
		return false;
	*out = (struct functab_func){.addr = n * FUNC, .end = (n + 1) * FUNC, .name = names[n]};
	return true;
}

struct funcinfo *funcinfo_new(const struct program *prog, struct gotypes *memory)
{
	steps_are("funcinfo_new");
	return SOME;
}

void funcinfo_free(struct funcinfo *info)
{
}

void funcinfo_find(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out)
{
	steps_are("signature of %s", fn->name);
	*out = fn->addr == 2 * FUNC ? signature : (struct gofunc){.source = GOFUNC_NONE};
	if (fn->addr == 7 * FUNC)
		out->source = GOFUNC_ARGINFO;
}

uint64_t funcinfo_layout(struct funcinfo *info, const struct functab_func *fn,
			 const struct gofunc *sig, struct abi_layout *out)
{
	*out = places;
	return 0;
}

void abi_layout_free(struct abi_layout *layout)
{
}

static const struct gotype *find_type(void *ctx, const char *name)
{
	steps_are("type %s", name);
	return strcmp(name, "main.Store") ? NULL : &store;
}

struct signature_names funcinfo_names(struct funcinfo *info)
{
	return (struct signature_names){.find = find_type};
}

bool arginfo_read(const struct image *img, const struct functab *tab, const struct functab_func *fn,
		  struct arginfo *out)
{
	*out = told;
	return told.count || told.truncated;
}

struct site_finder *site_finder_new(const struct program *prog)
{
	steps_are("site_finder_new");
	return SOME;
}

void site_finder_free(struct site_finder *finder)
{
}

bool origin_of(struct site_finder *finder, const struct functab_func *fn, uint64_t ret,
	       uint64_t callee, struct origin *origin)
{
	steps_are("%s %ld%+ld by %s, which returns to %lx from %lx",
		  origin->in_register ? "register" : "stack", origin->n,
		  origin->adds[origin->loads], fn->name, ret, callee);
	if (followed == origin_count)
		return false;
	*origin = origins[followed++];
	return true;
}

char *lock_path_along(const struct gotype *type, const struct origin *origin, enum wait_kind kind)
{
	steps_are("along %s as %d", type->name, kind);
	return origin->adds[0] == 8 ? mem_strdup("main.(*Store).mu") : NULL;
}

/* NOLINTEND(misc-unused-parameters) */

static void begin(int release)
{
	memset(&steps, 0, sizeof(steps));
	subject.release = release;
	subject.release_told = true;
	signature = (struct gofunc){.source = GOFUNC_NONE};
	told = (struct arginfo){.items = {{ARGINFO_VALUE, 8, 24}}, .count = 1};
	origin_count = followed = 0;
}

static void test_variables(void **state)
{
	static const uint64_t addrs[] = {0x4fff, 0x5000, 0x5007, 0x5008, 0x6000, 0x6018,
					 0x603f, 0x6040, 0x7000, 0x7100, 0x7200, 0x7300,
					 0x7400, 0x7500, 0x900f, 0x9010};
	struct lock_fields *fields = lock_fields_new(&subject);

	(void)state;
	begin(21);
	for (size_t i = 0; i < sizeof(addrs) / sizeof(*addrs); i++) {
		char *name = lock_fields_variable(fields, addrs[i]);

		steps_are("%lx: %s", addrs[i], name ? name : "-");
		free(name);
	}
	lock_fields_free(fields);
	lock_fields_free(NULL);
	steps_expect("symbols; 4fff: -; 5000: main.mu; 5007: main.mu+0x7; 5008: -; 6000: "
		     "main.cache; 6018: main.cache+0x18; 603f: main.cache+0x3f; 6040: -; 7000: -; "
		     "7100: -; 7200: -; 7300: -; 7400: -; 7500: -; 900f: main.last+0xf; 9010: -; ");
}

static void param(struct lock_fields *fields, uint64_t at, uint32_t off)
{
	const struct gotype *type = lock_fields_param(fields, at, off);

	steps_are("%lx, %u: %s", at, off, type ? type->name : "-");
}

/* By the function's name alone: where its receiver is, ArgInfo tells. */
static void test_receivers(void **state)
{
	struct lock_fields *fields = lock_fields_new(&subject);

	(void)state;
	begin(21);
	param(fields, FUNC - 1, 24);
	for (unsigned n = 1; n < FUNCS; n++)
		param(fields, n * FUNC + 4, 24);
	param(fields, FUNC, 24);
	param(fields, FUNC, 0);
	lock_fields_free(fields);
	steps_expect("fff, 24: -; funcinfo_new; signature of main.(*Store).Get; type main.Store; "
		     "1004, 24: main.Store; signature of main.f; 2004, 24: -; signature of "
		     "sync.(*Mutex).Lock; type sync.Mutex; 3004, 24: -; signature of main.T.M; "
		     "4004, 24: -; signature of main.(*Box[...]).M; 5004, 24: -; signature of "
		     "main.(*Store).Get.func1; 6004, 24: -; signature of main.(*None).M; type "
		     "main.None; 7004, 24: -; signature of internal/sync.(*Mutex).lockSlow; type "
		     "internal/sync.Mutex; 8004, 24: -; signature of main.g; 9004, 24: -; "
		     "signature of main.(*Far).M; type main.Far; a004, 24: -; signature of main.h; "
		     "b004, 24: -; 1000, 24: main.Store; 1000, 0: -; ");
}

static void test_receiver_places(void **state)
{
	static const struct arginfo infos[] = {
		{.items = {{ARGINFO_OPEN, 8, 0}}, .count = 1},
		{.items = {{ARGINFO_VALUE, 4, 0}}, .count = 1},
		{.items = {{ARGINFO_VALUE, 8, -1}}, .count = 1},
		{.items = {{ARGINFO_VALUE, 8, 0}}, .count = 1},
		{.items = {{ARGINFO_VALUE, 8, 0}}, .truncated = true},
		{.count = 0}};

	(void)state;
	begin(21);
	for (size_t i = 0; i < sizeof(infos) / sizeof(*infos); i++) {
		struct lock_fields *fields = lock_fields_new(&subject);

		told = infos[i];
		steps_are("info %zu", i);
		param(fields, FUNC, 0);
		lock_fields_free(fields);
	}
	for (int release = 15; release <= 17; release++) {
		struct lock_fields *fields = lock_fields_new(&subject);

		subject.release = release;
		told.count = 0;
		param(fields, FUNC, 0);
		lock_fields_free(fields);
	}
	steps_expect(
		"info 0; funcinfo_new; signature of main.(*Store).Get; 1000, 0: -; info 1; "
		"funcinfo_new; signature of main.(*Store).Get; 1000, 0: -; info 2; funcinfo_new; "
		"signature of main.(*Store).Get; 1000, 0: -; info 3; funcinfo_new; signature of "
		"main.(*Store).Get; type main.Store; 1000, 0: main.Store; info 4; funcinfo_new; "
		"signature of main.(*Store).Get; 1000, 0: -; info 5; funcinfo_new; signature of "
		"main.(*Store).Get; 1000, 0: -; funcinfo_new; signature of main.(*Store).Get; type "
		"main.Store; 1000, 0: main.Store; funcinfo_new; signature of main.(*Store).Get; "
		"type main.Store; 1000, 0: main.Store; funcinfo_new; signature of "
		"main.(*Store).Get; 1000, 0: -; ");
}

static struct abi_piece pieces[] = {{ABI_INT, 0, 0, 8, 0},
				    {ABI_INT, 3, 0, 8, 0},
				    {ABI_SLOT, 16, 0, 8, 0},
				    {ABI_FLOAT, 3, 0, 8, 0}};
static struct abi_value values[] = {{pieces, 1, 0},      {pieces, 1, 8},  {pieces + 1, 1, 16},
				    {pieces + 2, 2, 24}, {pieces, 1, 32}, {pieces + 2, 1, 40},
				    {pieces + 3, 1, 48}};
static struct goparam params[] = {{.name = "n", .type = &number},
				  {.name = "p", .type = &to_number},
				  {.name = "s", .type = &pointer},
				  {.name = "two", .type = &pointer},
				  {.name = "guess", .type = &pointer, .is_guess = true},
				  {.name = "t", .type = &pointer},
				  {.name = "f", .type = &to_other},
				  {.name = "x", .type = &to_nameless}};

static void know_signature(void)
{
	signature = (struct gofunc){.params = params, .param_count = 8, .source = GOFUNC_DEBUGINFO};
	places = (struct abi_layout){.params = values, .param_count = 7};
}

static void test_params(void **state)
{
	struct lock_fields *fields = lock_fields_new(&subject);

	(void)state;
	begin(21);
	know_signature();
	for (unsigned off = 0; off <= 56; off += 8)
		param(fields, 2 * FUNC, off);
	lock_fields_free(fields);
	steps_expect("funcinfo_new; signature of main.f; 2000, 0: -; 2000, 8: -; 2000, 16: "
		     "main.Store; 2000, 24: -; 2000, 32: -; 2000, 40: main.Store; 2000, 48: "
		     "main.Other; 2000, 56: -; ");
}

static void called(const struct lock_callee *callee, const uint64_t *stack, size_t count)
{
	struct lock_fields *fields = lock_fields_new(&subject);
	char *name = lock_fields_called(fields, stack, count, callee);

	steps_are("%s", name ? name : "-");
	free(name);
	lock_fields_free(fields);
}

static const uint64_t callers[] = {3 * FUNC + 5, 8 * FUNC + 1,  2 * FUNC + 9, FUNC + 7,
				   9 * FUNC + 2, 11 * FUNC + 2, 2 * FUNC + 1, 9 * FUNC,
				   2 * FUNC + 9, 2 * FUNC + 9};
enum { CALLERS = 10 };

/* rdi is the fourth of Go's integer registers */
static const struct origin there[] = {{.in_register = true, .n = 5, .adds = {8}},
				      {.n = 24, .adds = {8}},
				      {.in_register = true, .n = 4, .adds = {8}}};

static void come_from(const struct origin *origin)
{
	begin(21);
	know_signature();
	for (origin_count = 0; origin_count < 9; origin_count++)
		origins[origin_count] = *origin;
}

static void test_called(void **state)
{
	const struct lock_callee callee = {.addr = 0x777, .before = 16, .kind = WAIT_MUTEX};
	struct lock_callee in_sync = callee;

	(void)state;
	in_sync.in_sync = true;
	begin(16);
	know_signature();
	called(&callee, callers, CALLERS);
	steps_expect("site_finder_new; stack 8-16 by sync.(*Mutex).Lock, which returns to 3005 "
		     "from 777; -; ");
	begin(21);
	know_signature();
	called(&callee, callers, CALLERS);
	steps_expect("site_finder_new; register 0-16 by sync.(*Mutex).Lock, which returns to 3005 "
		     "from 777; -; ");
	begin(21);
	subject.release_told = false;
	called(&callee, callers, CALLERS);
	steps_expect("-; ");
	come_from(&there[0]);
	called(&callee, callers, CALLERS);
	steps_expect(
		"site_finder_new; register 0-16 by sync.(*Mutex).Lock, which returns to 3005 from "
		"777; register 5+8 by internal/sync.(*Mutex).lockSlow, which returns to 8001 from "
		"3000; register 5+8 by main.f, which returns to 2009 from 8000; funcinfo_new; "
		"signature of main.f; along main.Store as 5; main.(*Store).mu; ");
	come_from(&there[1]);
	called(&in_sync, callers, CALLERS);
	steps_expect("site_finder_new; register 0-16 by sync.(*Mutex).Lock, which returns to 3005 "
		     "from 777; funcinfo_new; signature of sync.(*Mutex).Lock; type sync.Mutex; "
		     "stack 24+8 by internal/sync.(*Mutex).lockSlow, which returns to 8001 from "
		     "3000; signature of internal/sync.(*Mutex).lockSlow; type "
		     "internal/sync.Mutex; stack 24+8 by main.f, which returns to 2009 from 8000; "
		     "signature of main.f; along main.Store as 5; main.(*Store).mu; ");
	come_from(&there[2]);
	called(&callee, callers, CALLERS);
	steps_expect(
		"site_finder_new; register 0-16 by sync.(*Mutex).Lock, which returns to 3005 from "
		"777; register 4+8 by internal/sync.(*Mutex).lockSlow, which returns to 8001 from "
		"3000; register 4+8 by main.f, which returns to 2009 from 8000; funcinfo_new; "
		"signature of main.f; register 4+8 by main.(*Store).Get, which returns to 1007 "
		"from 2000; signature of main.(*Store).Get; type main.Store; register 4+8 by "
		"main.g, which returns to 9002 from 1000; signature of main.g; register 4+8 by "
		"main.h, which returns to b002 from 9000; signature of main.h; register 4+8 by "
		"main.f, which returns to 2001 from b000; register 4+8 by "
		"internal/sync.(*Mutex).lockSlow, which returns to 9000 from 2000; -; ");
}

static void test_in_sync(void **state)
{
	(void)state;
	assert_true(lock_fields_in_sync("sync.f"));
	assert_true(lock_fields_in_sync("internal/sync.f"));
	assert_false(lock_fields_in_sync("synca.f"));
	assert_false(lock_fields_in_sync("main.sync.f"));
}

static void offsets(const int64_t *adds, size_t count, size_t loads_from, size_t max)
{
	const struct lock_callee callee = {.addr = 0x777, .before = 16, .kind = WAIT_MUTEX};
	struct lock_fields *fields = lock_fields_new(&subject);
	uint64_t out[CALLERS];

	begin(21);
	for (origin_count = 0; origin_count < count; origin_count++) {
		size_t loads = origin_count >= loads_from;

		origins[origin_count] = (struct origin){.n = 1, .loads = loads};
		origins[origin_count].adds[loads] = adds[origin_count];
	}
	size_t found = lock_fields_offsets(fields, callers, CALLERS, &callee, out, max);

	memset(&steps, 0, sizeof(steps));
	for (size_t i = 0; i < found; i++)
		steps_are("%lu", out[i]);
	lock_fields_free(fields);
}

static void test_offsets(void **state)
{
	static const int64_t adds[] = {8, 8, 0, -8, 16, 1 << 20, (1 << 20) - 1, 24, 32, 40};

	(void)state;
	offsets(adds, 10, 10, 10);
	steps_expect("8; 16; 1048575; 24; ");
	offsets(adds, 10, 4, 10);
	steps_expect("8; 16; ");
	offsets(adds, 10, 10, 2);
	steps_expect("8; 16; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_variables),       cmocka_unit_test(test_receivers),
		cmocka_unit_test(test_receiver_places), cmocka_unit_test(test_params),
		cmocka_unit_test(test_called),          cmocka_unit_test(test_in_sync),
		cmocka_unit_test(test_offsets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
