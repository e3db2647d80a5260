// SPDX-License-Identifier: Apache-2.0
/* Finalizers and cleanups that have to run: found by code and read from memory that are made up. */
#include "unit.h"

#include <string.h>

#include "fakemem.h"
#include "goroutines/runtime_refs.h"
#include "objects/special_queues_internal.h"
#include "objects/specials_internal.h"
#include "program/program.h"

enum {
	SIZE = 0x8000,
	BIAS = FAKEMEM_BASE,
	FINALIZERS = 0x800, /* variables, with load bias 0 */
	CLEANUPS = 0xc00,
	BLOCKS = FAKEMEM_BASE + 0x1000,
	MANY = 101, /* finalizers of a block */
};

/* --- where they are --- */

static struct code {
	const char *func;
	struct coderef refs[4];
} codes[3];

bool runtime_refs_add(const struct program *prog, const char *func, struct runtime_refs *refs)
{
	(void)prog;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 4 && codes[i].func && !strcmp(codes[i].func, func); k++)
			if (codes[i].refs[k].addr)
				refs->all[refs->count++] = codes[i].refs[k];
	return refs->count;
}

static void set_codes(void)
{
	const struct code all[] = {
		{"runtime.markroot",
		 {{.addr = 8, .how = ACCESS_LOAD, .bytes = 8},
		  {.addr = FINALIZERS, .how = ACCESS_LOAD, .bytes = 8},
		  {.addr = CLEANUPS, .how = ACCESS_LOAD, .bytes = 8},
		  {.addr = 16, .how = ACCESS_LOAD, .bytes = 4}}},
		{"runtime.queuefinalizer",
		 {{.addr = 16, .how = ACCESS_LOAD, .bytes = 8},
		  {.addr = FINALIZERS, .how = ACCESS_STORE, .bytes = 8},
		  {.addr = FINALIZERS, .how = ACCESS_LOAD, .bytes = 8},
		  {.addr = 8, .how = ACCESS_STORE, .bytes = 8}}},
		{"runtime.runCleanups",
		 {{.addr = CLEANUPS - 128, .how = ACCESS_ADDRESS},
		  {.addr = 8, .how = ACCESS_ADDRESS},
		  {.addr = FINALIZERS - 8, .how = ACCESS_LOAD, .bytes = 8}}},
	};

	memcpy(codes, all, sizeof(all));
}

static struct special_queues find(int release)
{
	struct special_queues queues;

	special_queues_find(&(struct program){.release = release}, &queues);
	return queues;
}

static void test_found(void **state)
{
	struct special_queues queues;

	(void)state;
	set_codes();
	queues = find(27);
	assert_int_equal(queues.finalizers, FINALIZERS);
	assert_int_equal(queues.cleanups, CLEANUPS);
	assert_true(queues.has_cleanups);
	assert_false(find(24).has_cleanups);
	/* two that may be it */
	codes[1].refs[3].how = ACCESS_LOAD;
	assert_int_equal(find(27).finalizers, 0);
	codes[2].refs[0].addr = FINALIZERS - 8;
	assert_int_equal(find(27).cleanups, FINALIZERS);
	codes[2].refs[0].addr = CLEANUPS; /* it is not at its beginning */
	assert_int_equal(find(27).cleanups, 0);
	memset(codes, 0, sizeof(codes));
	assert_int_equal(find(27).finalizers, 0);
}

/* --- what is in them --- */

static struct specials specials;

static void read_queues(int release)
{
	const struct special_queues queues = {FINALIZERS, CLEANUPS, release >= 25};

	specials_free(&specials);
	special_queues_read(&queues, &fakemem_memory, BIAS, release, &specials);
}

static void put_finalizers(uint64_t block, uint64_t next, uint64_t count)
{
	fakemem_put(block, next);
	fakemem_put(block + 8, 0x99);                /* of another list */
	fakemem_put(block + 16, count | 7ull << 32); /* and what is not used */
	for (uint64_t i = 0; i < 5 * (count < MANY ? count : MANY); i++)
		fakemem_put(block + 24 + i * 8, block + i);
}

static void expect_special(size_t n, enum special_how how, const uint64_t words[SPECIAL_WORDS])
{
	const struct special *got = &specials.all[n];

	assert_true(n < specials.count);
	assert_int_equal(got->how, how);
	assert_int_equal(got->object, 0);
	assert_memory_equal(got->words, words, sizeof(got->words));
}

static int begin(void **state)
{
	(void)state;
	fakemem_begin(SIZE);
	specials = (struct specials){0};
	return 0;
}

static int end(void **state)
{
	(void)state;
	specials_free(&specials);
	return 0;
}

static void test_finalizers(void **state)
{
	const uint64_t block = BLOCKS + 0x1000, word = block + 5 * (MANY - 1);

	(void)state;
	fakemem_put(BIAS + FINALIZERS, BLOCKS);
	put_finalizers(BLOCKS, block, 2);
	put_finalizers(block, 0, MANY);
	fakemem_put(BLOCKS + 24 + 8, 0); /* a cleanup of Go 1.24 */
	read_queues(24);
	assert_false(specials.left_out);
	assert_int_equal(specials.count, 2 + MANY);
	expect_special(0, SPECIAL_QUEUED_CLEANUP, (uint64_t[]){BLOCKS, 0, BLOCKS + 3, BLOCKS + 4});
	expect_special(1, SPECIAL_QUEUED_FINALIZER,
		       (uint64_t[]){BLOCKS + 5, BLOCKS + 6, BLOCKS + 8, BLOCKS + 9});
	assert_int_equal(specials.all[1].typed, BLOCKS + 6);
	assert_int_equal(specials.all[1].type, BLOCKS + 9);
	expect_special(1 + MANY, SPECIAL_QUEUED_FINALIZER,
		       (uint64_t[]){word, word + 1, word + 3, word + 4});
}

static void put_cleanups(uint64_t block, uint64_t next, uint64_t count, size_t words)
{
	fakemem_put(block + 16, next);
	fakemem_put(block + 24, count);
	for (uint64_t i = 0; i < count * words; i++)
		fakemem_put(block + 32 + i * 8, block + i);
}

static void test_cleanups(void **state)
{
	const uint64_t block = BLOCKS + 0x200;

	(void)state;
	fakemem_put(BIAS + CLEANUPS, BLOCKS);
	put_cleanups(BLOCKS, block, 60, 1);
	put_cleanups(block, 0, 1, 1);
	read_queues(25);
	assert_false(specials.left_out);
	assert_int_equal(specials.count, 61);
	expect_special(59, SPECIAL_QUEUED_CLEANUP, (uint64_t[4]){BLOCKS + 59});
	expect_special(60, SPECIAL_QUEUED_CLEANUP, (uint64_t[4]){block});
	put_cleanups(BLOCKS, block, 20, 3);
	read_queues(26);
	assert_false(specials.left_out);
	assert_int_equal(specials.count, 21);
	expect_special(19, SPECIAL_QUEUED_CLEANUP,
		       (uint64_t[4]){BLOCKS + 57, BLOCKS + 58, BLOCKS + 59});
}

/* A circle, more than there is room for, and lists that lead nowhere or are not known */
static void test_lies(void **state)
{
	(void)state;
	fakemem_put(BIAS + FINALIZERS, BLOCKS);
	put_finalizers(BLOCKS, BLOCKS, 0);
	read_queues(24);
	assert_true(specials.left_out && !specials.count);
	put_finalizers(BLOCKS, 0, MANY + 1);
	read_queues(24);
	assert_true(specials.left_out && !specials.count);
	put_finalizers(BLOCKS, 8, 1);
	read_queues(24);
	assert_true(specials.left_out && specials.count == 1);
	fakemem_put(BIAS + FINALIZERS, 0);
	read_queues(24);
	assert_false(specials.left_out);
	fakemem_put(BIAS + CLEANUPS, BLOCKS);
	put_cleanups(BLOCKS, 0, 21, 3);
	read_queues(26);
	assert_true(specials.left_out && !specials.count);
	special_queues_read(&(struct special_queues){0}, &fakemem_memory, BIAS, 24, &specials);
	assert_true(specials.left_out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test_setup_teardown(test_finalizers, begin, end),
		cmocka_unit_test_setup_teardown(test_cleanups, begin, end),
		cmocka_unit_test_setup_teardown(test_lies, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
