// SPDX-License-Identifier: Apache-2.0
/* goargdist's kernel side, run on this side: calls counted by what their records hold, what of that
 * does not tell values apart, and calls for which there was no room. */
#include <stdio.h>

#define STRING_MAX 16
#define SAVED_MAX 8
#define KEY_MAX 496
#define KEYS 4
#define KEY_BIAS
#define ROOMS 2
#define RING_PAGES 16
#define PLACES 24
#define CALLS 20
#define RETURNS
#define USER_FRAMES 0
#define KERNEL_FRAMES 0
#define KEYED

#include "traceplans.h"

#include "bpf-src/gotrace.bpf.c" /* NOLINT(bugprone-suspicious-include) */

#include "tracehits.h"

enum { FREE = FAKEGOROUTINE_FREE };

/* AX, and with r: what it was when the call began; of AX at FREE or above, what is there */
static inline struct trace_key *fill_event(struct pt_regs *ctx, struct hit *hit, char *saved,
					   u32 part)
{
	struct trace_key *key = tracehits_wants(ctx) ? key_room() : NULL;

	(void)part;
	if (!key) {
		if (ctx->ax != NO && ctx->ax != BAD)
			count(TRACE_ROOMS_FULL);
		return NULL;
	}
	*(u64 *)key->record = saved ? *(u64 *)saved : 0;
	*(u64 *)(key->record + 8) = ctx->ax;
	if (ctx->ax >= FREE) {
		*(u64 *)(key->record + 16) = 1;
		hit->later[0] = later_elements(8, 24, 8, 8);
	}
	hit->size = sizeof(*key);
	return key;
}

static inline void make_key(struct pt_regs *ctx, struct hit *hit, char *rec, u32 part)
{
	(void)ctx;
	(void)hit;
	(void)part;
	if (*(u64 *)(rec + 8) >= FREE)
		forget_pointer(rec + 8);
}

/* Each key, in the order in which they came, with its count */
static void expect_keys(const char *want)
{
	const struct trace_key *key;

	for (size_t i = 0; (key = fakemap_key(&keys_map, i)); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%llu of item %u how %u bias %llx:", *keys.lookup(key),
			 key->head.item, key->head.how, key->head.bias);
		eventtext_words(name, (const uint64_t *)key->record, 5);
		for (size_t k = 40; k < sizeof(key->record); k++)
			assert_int_equal(key->record[k], 0);
	}
	steps_expect(want);
}

static void test_calls(void **state)
{
	(void)state;
	place(0, 3, ENTRY_PLAN);
	place(1, 4, RETURN_PLAN);
	call(1, 64, 0, 7);
	call(2, 64, 0, 7);
	call(1, 64, 0, 8);
	call(1, 64, 0, NO);
	call(1, 64, 0, BAD);
	call(1, 64, 1, 5);
	call(1, 128, 0, 7);
	ret(1, 64, 1, 6);
	expect_keys("3 of item 3 how 0 bias 700000: 0 7 0 0 0; 1 of item 3 how 0 bias "
		    "700000: 0 8 0 0 0; 1 of item 4 how 1 bias 700000: 5 6 0 0 0; ");
	expect_counts("1 1; ");
	assert_int_equal(fakekernel.event_count, 0);
}

/* What was in the room before is in no key; it is read as in events. */
static void test_rooms(void **state)
{
	(void)state;
	place(0, 3, ENTRY_PLAN);
	fakemem_put(FREE, 0x55);
	call(1, 64, 0, FREE);
	call(1, 64, 0, 1);
	assert_int_equal(rooms_map.count, 1);
	fakekernel.ids++;
	call(1, 64, 0, 1);
	assert_int_equal(rooms_map.count, 2);
	fakekernel.ids++;
	call(1, 64, 0, 1);
	assert_int_equal(rooms_map.count, 2);
	expect_keys("1 of item 3 how 0 bias 700000: 0 1 1 8 55; 2 of item 3 how 0 bias "
		    "700000: 0 1 0 0 0; ");
	expect_counts("11 1; ");
}

static void test_losses(void **state)
{
	(void)state;
	place(0, 3, ENTRY_PLAN);
	for (u64 ax = 1; ax <= KEYS + 2; ax++)
		call(1, 64, 0, ax);
	call(1, 64, 0, 2);
	expect_keys("1 of item 3 how 0 bias 700000: 0 1 0 0 0; 2 of item 3 how 0 bias "
		    "700000: 0 2 0 0 0; 1 of item 3 how 0 bias 700000: 0 3 0 0 0; 1 of "
		    "item 3 how 0 bias 700000: 0 4 0 0 0; ");
	expect_counts("9 2; ");
	fakekernel.refuses = "keys";
	call(1, 64, 0, 9);
	expect_counts("9 2; 10 1; ");
}

/* Calls that did not return have no results, and are in no key. */
static void test_untested(void **state)
{
	u64 key = trace_untested(4, TRACE_EXITED);

	(void)state;
	place(1, 4, RETURN_PLAN);
	call(1, 64, 1, 5);
	call(1, 128, 1, 5);
	ret(1, 128, 1, 5);
	hit(1, 32, 0, COOKIE_GOEXIT, 0);
	expect_keys("1 of item 4 how 1 bias 700000: 5 5 0 0 0; ");
	expect_counts("6 1; ");
	assert_int_equal(*untested.lookup(&key), 1);
}

static void test_numbers(void **state)
{
	static const struct {
		u64 number;
		bool is_signed;
		s64 row;
	} rows[] = {{0, false, 1},      {1, false, 1},          {2, false, 2},
		    {3, true, 2},       {4, true, 3},           {7, false, 3},
		    {-1ULL, true, -1},  {-2ULL, true, -2},      {-4ULL, true, -3},
		    {-1ULL, false, 64}, {1ULL << 63, true, -64}};
	u64 word;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(log2_row(rows[i].number, rows[i].is_signed), rows[i].row);
	for (word = 3; word; word >>= 1) {
		u64 kept = word;

		forget_pointer((char *)&kept);
		assert_int_equal(kept, 1);
	}
	forget_pointer((char *)&word);
	assert_int_equal(word, 0);
	for (s64 bytes = -2; bytes < 2; bytes++)
		assert_int_equal(read_mask((char *)&bytes), bytes < 0 ? 0 : -1ULL);
}

/* --- what interfaces hold --- */

static void type_is(unsigned n, struct trace_dyntype type)
{
	u64 key = type_key_of(n, 0);

	assert_int_equal(dyntypes.update(&key, &type), 0);
}

/* Levels of the types of these numbers, the last of which is none's */
static void expect_kept(const unsigned *types, u32 levels, bool is_error, const char *want)
{
	static struct hit at;
	static char record[4 * LEVEL_ROOM];

	for (u32 i = 0; i < 4; i++) {
		struct trace_dynamic *dyn = (void *)(record + i * LEVEL_ROOM);

		memset(dyn, 0xa5, LEVEL_ROOM);
		dyn->rtype = types[i];
		dyn->more = i < 2;
	}
	forget_dynamic(record, levels, is_error, &at);
	for (u32 i = 0; i < 4; i++)
		eventtext_words("level", (const uint64_t *)(record + i * LEVEL_ROOM),
				sizeof(struct trace_dynamic) / 8);
	steps_expect(want);
}

static void test_dynamic(void **state)
{
	static const unsigned types[] = {1, 2, 3, 4}, lists[] = {5, 6, 1, 1}, none[] = {9, 1, 1, 1};

	(void)state;
	type_is(1, (struct trace_dyntype){.direct = 1, .inner = -1});
	type_is(2,
		(struct trace_dyntype){.refs = 2, .ref = {{0, 1}, {80, 1}, {16, 1}}, .inner = 32});
	type_is(3, (struct trace_dyntype){.direct = 1, .inner = 80, .inner_type = 2});
	type_is(5, (struct trace_dyntype){.inner = 8, .inner_type = TRACE_DYN_LIST});
	type_is(6,
		(struct trace_dyntype){.refs = 3, .ref = {{88, 1}, {40, 1}, {16, 1}}, .inner = 88});
	expect_kept(types, 4, false,
		    "level 1 ?2 1a5a5a5a5 0 0 a5a5a5a500000000 ?12; level 2 1 ? 1a5a5a5a5 "
		    "?3 1 ?3 1 1 ?4 1 ?; level 3 ?2 a5a5a5a5 ?13 1 1; level 4 ?2 a5a5a5a5 "
		    "?15; ");
	expect_kept(types, 2, true,
		    "level 1 1 ? 1a5a5a5a5 0 0 a5a5a5a500000000 ?12; level 2 1 ? 1a5a5a5a5 "
		    "?3 1 ?3 1 1 ?4 1 ?; level 3 ?2 a5a5a5a5 ?15; level 4 ?2 a5a5a5a5 ?15; ");
	expect_kept(lists, 4, false,
		    "level 5 1 ? 1a5a5a5a5 0 0 a5a5a5a500000000 ? 1 ?10; level 6 1 ? "
		    "1a5a5a5a5 ?5 1 ?2 1 ?6; level 1 ?2 a5a5a5a5 ?15; level 1 ?2 a5a5a5a5 "
		    "?15; ");
	expect_kept(none, 4, false,
		    "level 9 ?2 1a5a5a5a5 0 0 a5a5a5a500000000 ?12; level 1 ?2 1a5a5a5a5 "
		    "?15; level 1 ?2 a5a5a5a5 ?15; level 1 ?2 a5a5a5a5 ?15; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_calls, begin),
		cmocka_unit_test_setup(test_rooms, begin),
		cmocka_unit_test_setup(test_losses, begin),
		cmocka_unit_test_setup(test_untested, begin),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test_setup(test_dynamic, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
