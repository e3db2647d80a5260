// SPDX-License-Identifier: Apache-2.0
/* Which arguments are pointers in use, by the maps that the garbage collector goes by. */
#include "gofile_open.h"
#include "frames/frame_args.h"
#include "frames/frames.h"

enum { RECORD = 4 + 9 * 4, MAP_TABLE = 18, WORDS = 4 };

struct map {
	int32_t count, bits;
	uint8_t bytes[2];
};

/* main.b of gofile.h: its stack map is -1, 0, 1 and -1 from these bytes on, as its inline tree's
 * nodes are. */
static const unsigned begins[] = {0, 4, 24, 44};

static void check(const struct map *map, const bool want[4][WORDS])
{
	struct opened o;

	gofile_make(&o.g, 20, EM_X86_64);
	uint64_t tables = gofile_record(&o.g, 1) + RECORD + 4;

	elffile_u32(o.g.f, tables + 1 * 4, MAP_TABLE);
	elffile_u32(o.g.f, tables + 3 * 4, GOFILE_TREE - GOFILE_GOFUNC);
	elffile_bytes(o.g.f, GOFILE_TREE, map, sizeof(map->count) * 2 + sizeof(map->bytes));
	open_it(&o);
	struct frames frames = {.tab = o.tab, .img = o.img, .release = 20};

	for (unsigned i = 0; i < 4; i++)
		for (uint32_t word = 0; word < WORDS; word++) {
			uint64_t addr = o.g.starts[1] + begins[i];

			assert_int_equal(frame_args_points(&frames, addr, word * 8), want[i][word]);
			assert_false(frame_args_points(&frames, addr, word * 8 + 4));
		}
	assert_false(frame_args_points(&frames, o.g.starts[1] - 1, 0));
	assert_false(frame_args_points(&frames, 0, 0));
	close_it(&o);
}

static void test_maps(void **state)
{
	static const bool want[4][WORDS] = {{false, false, false, false},
					    {true, false, false, false},
					    {false, true, true, false},
					    {false, false, false, false}};

	(void)state;
	/* of the last bit, which is beyond the arguments, nothing is said */
	check(&(struct map){2, 3, {0x09, 0x0e}}, want);
}

static void test_malformed(void **state)
{
	static const bool none[4][WORDS] = {{false}},
			  first[4][WORDS] = {{false}, {true, true, true}};

	(void)state;
	check(&(struct map){1, 3, {0xff, 0xff}}, first);
	check(&(struct map){0, 3, {0xff, 0xff}}, none);
	check(&(struct map){-1, 3, {0xff, 0xff}}, none);
	check(&(struct map){2, 0, {0xff, 0xff}}, none);
	check(&(struct map){2, -8, {0xff, 0xff}}, none);
	/* the second map is where nothing is */
	check(&(struct map){2, INT32_MAX, {0x07, 0xff}}, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
