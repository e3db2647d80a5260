// SPDX-License-Identifier: Apache-2.0
/* Where the list of spans is: by the fields that code reaches, and by what there is in memory. */
#include <string.h>

#include "base/errmsg.h"
#include "elf/image.h"
#include "fakemem.h"
#include "goroutines/runtime_refs.h"
#include "machine/coderefs.h"
#include "machine/insn.h"
#include "objects/spans_internal.h"
#include "program/functab.h"
#include "program/program.h"
#include "steps.h"
#include "unit.h"

enum {
	OFF = 0x5000,
	BIAS = 0x800,
	HEAP = FAKEMEM_BASE - BIAS - OFF, /* mheap_ in the file, so that its list is in memory */
	LIST = FAKEMEM_BASE + 0x200,
	SPAN = FAKEMEM_BASE + 0x400,
};

static const struct program prog = {.path = "/bin/app"};
static const int32_t *fields; /* that recordspan reaches; 0 ends them */
static const char *user;      /* which function refers to the heap */
static enum access_how how;   /* ... and how */
static bool has_code, has_func;

enum arch image_arch(const struct image *img)
{
	(void)img;
	return ARCH_AMD64;
}

const void *image_at(const struct image *img, uint64_t addr, uint64_t len)
{
	(void)img;
	steps_are("code %lx %lu", addr, len);
	return has_code ? &prog : NULL;
}

bool functab_named(const struct functab *tab, const char *name, struct functab_func *out)
{
	(void)tab;
	steps_are("%s", name);
	*out = (struct functab_func){.addr = 0x1000, .end = 0x1040};
	return has_func;
}

void coderefs_fields(enum arch arch, const struct insn_code *code,
		     void (*fn)(int32_t off, void *ctx), void *ctx)
{
	(void)arch;
	assert_int_equal(code->addr, 0x1000);
	for (size_t i = 0; fields[i]; i++)
		fn(fields[i], ctx);
}

bool runtime_refs_add(const struct program *of, const char *func, struct runtime_refs *refs)
{
	assert_ptr_equal(of, &prog);
	steps_are("%s", func);
	if (strcmp(func, user) != 0)
		return false;
	refs->all[refs->count++] = (struct coderef){.addr = HEAP + 8, .how = ACCESS_ADDRESS};
	refs->all[refs->count++] = (struct coderef){.addr = HEAP, .how = how};
	return true;
}

static int setup(void **state)
{
	static const int32_t all[] = {OFF + 16, 24, OFF, 8, OFF + 8, 0};

	(void)state;
	fakemem_begin(0x1000);
	fakemem_put(FAKEMEM_BASE, LIST);
	fakemem_put(FAKEMEM_BASE + 8, 3);
	fakemem_put(FAKEMEM_BASE + 16, 4);
	fakemem_put(LIST, SPAN);
	fakemem_put(SPAN + 24, 0xc000000);
	fields = all;
	user = "runtime.mallocinit";
	how = ACCESS_ADDRESS;
	has_code = has_func = true;
	return 0;
}

static void say(void)
{
	struct errmsg err = {0};
	uint64_t place = 0;
	int ret = spans_find(&prog, &fakemem_memory, BIAS, &place, &err);

	if (ret)
		steps_are("%s", err.text);
	else
		steps_are("at %lx", place - FAKEMEM_BASE);
}

static void test_users(void **state)
{
	static const char *const users[] = {"runtime.mallocinit", "runtime.(*mcentral).grow",
					    "runtime.sweepone", "runtime.largeAlloc", "runtime.f"};

	(void)state;
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++) {
		user = users[i];
		say();
	}
	user = users[0];
	how = ACCESS_LOAD;
	say();
	has_code = false;
	say();
	has_func = false;
	say();
	steps_expect("runtime.recordspan; code 1000 64; runtime.mallocinit; "
		     "runtime.(*mcentral).grow; runtime.sweepone; runtime.largeAlloc; at 0; "
		     "runtime.recordspan; code 1000 64; runtime.mallocinit; "
		     "runtime.(*mcentral).grow; runtime.sweepone; runtime.largeAlloc; at 0; "
		     "runtime.recordspan; code 1000 64; runtime.mallocinit; "
		     "runtime.(*mcentral).grow; runtime.sweepone; runtime.largeAlloc; at 0; "
		     "runtime.recordspan; code 1000 64; runtime.mallocinit; "
		     "runtime.(*mcentral).grow; runtime.sweepone; runtime.largeAlloc; at 0; "
		     "runtime.recordspan; code 1000 64; runtime.mallocinit; "
		     "runtime.(*mcentral).grow; runtime.sweepone; runtime.largeAlloc; "
		     "/bin/app: the list of the heap's spans was not found in the code of "
		     "its runtime; runtime.recordspan; code 1000 64; runtime.mallocinit; "
		     "runtime.(*mcentral).grow; runtime.sweepone; runtime.largeAlloc; "
		     "/bin/app: the list of the heap's spans was not found in the code of "
		     "its runtime; runtime.recordspan; code 1000 64; /bin/app: the list of "
		     "the heap's spans was not found in the code of its runtime; "
		     "runtime.recordspan; /bin/app: the list of the heap's spans was not "
		     "found in the code of its runtime; ");
}

/* three words in a row, far inside of a struct */
static void test_fields(void **state)
{
	static const int32_t rows[][5] = {{OFF, OFF + 8, OFF + 16},
					  {OFF, OFF + 8},
					  {OFF, OFF + 16},
					  {OFF + 8, OFF + 16},
					  {4096, 4104, 4112},
					  {0},
					  {OFF - 8, OFF, OFF + 8, OFF + 16}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		fields = rows[i];
		say();
	}
	steps_expect("runtime.recordspan; code 1000 64; runtime.mallocinit; "
		     "runtime.(*mcentral).grow; runtime.sweepone; runtime.largeAlloc; at 0; "
		     "runtime.recordspan; code 1000 64; /bin/app: the list of the heap's "
		     "spans was not found in the code of its runtime; runtime.recordspan; "
		     "code 1000 64; /bin/app: the list of the heap's spans was not found in "
		     "the code of its runtime; runtime.recordspan; code 1000 64; /bin/app: "
		     "the list of the heap's spans was not found in the code of its "
		     "runtime; runtime.recordspan; code 1000 64; /bin/app: the list of the "
		     "heap's spans was not found in the code of its runtime; "
		     "runtime.recordspan; code 1000 64; /bin/app: the list of the heap's "
		     "spans was not found in the code of its runtime; runtime.recordspan; "
		     "code 1000 64; runtime.mallocinit; runtime.(*mcentral).grow; "
		     "runtime.sweepone; runtime.largeAlloc; at 0; ");
}

/* what stands there is to be a list of spans */
static void test_lists(void **state)
{
	static const struct {
		uint64_t at, value;
	} rows[] = {
		{FAKEMEM_BASE + 8, 0},
		{FAKEMEM_BASE + 8, 4},
		{FAKEMEM_BASE + 8, 5},
		{FAKEMEM_BASE + 16, 1ul << 44},
		{FAKEMEM_BASE + 16, (1ul << 44) - 1},
		{FAKEMEM_BASE, 8},
		{LIST, 8},
		{SPAN + 24, 0},
		{SPAN + 24, 0x1000},
		{SPAN + 24, 0x2000},
		{SPAN + 24, 1ul << 47},
		{SPAN + 24, (1ul << 47) - 0x2000},
	};

	(void)state;
	char said[sizeof(rows) / sizeof(*rows) + 1] = "";

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct errmsg err = {0};
		uint64_t place;

		setup(NULL);
		fakemem_put(rows[i].at, rows[i].value);
		said[i] = spans_find(&prog, &fakemem_memory, BIAS, &place, &err) ? '-' : '1';
	}
	memset(&steps, 0, sizeof(steps));
	steps_are("%s", said);
	steps_expect("-1--1----1-1; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_users, setup),
		cmocka_unit_test_setup(test_fields, setup),
		cmocka_unit_test_setup(test_lists, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
