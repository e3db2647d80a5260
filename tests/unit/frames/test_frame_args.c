// SPDX-License-Identifier: Apache-2.0
/* Frames' arguments as tracebacks print them, and which of them are pointers in use, by the maps
 * that the garbage collector goes by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gofile_open.h"
#include "frames/frame_args_internal.h"
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

/* --- printed --- */

enum { ARGINFO = GOFILE_TREE, LIVE = GOFILE_TREE + 0x40, LIVE_TABLE = 18 };

struct printed_case {
	const char *what;
	const char *info; /* the table of arguments */
	size_t info_len;
	const char *live; /* of which are alive; NULL: none */
	size_t live_len;
	size_t len; /* of the bytes that there are: 1, 2, 3 and so on */
	unsigned at;
	const char *wanted;
	uint16_t size;
	bool first;
};

#define BYTES(text) text, sizeof(text) - 1

/* The table of liveness is -1, 0, 1 and -1 from `begins` on, and an index of 0 says nothing. */
static const struct printed_case printed_cases[] = {
	{"two words", BYTES("\0\10\10\10\377"), NULL, 0, 16, 0,
	 "0x807060504030201, 0x100f0e0d0c0b0a09", 16, true},
	{"of any size", BYTES("\0\1\2\2\4\4\377"), NULL, 0, 8, 0, "0x1, 0x403, 0x8070605", 8,
	 false},
	{"some is missing", BYTES("\0\10\10\10\377"), NULL, 0, 15, 0, "0x807060504030201, _", 16,
	 true},
	{"aggregates", BYTES("\376\0\1\1\1\375\2\1\376\375\376\3\1\375\377"), NULL, 0, 8, 0,
	 "{0x1, 0x2}, 0x3, {}, {0x4}", 4, false},
	{"more", BYTES("\0\1\373\374\377"), NULL, 0, 8, 0, "0x1, _, ...", 1, false},
	{"none", BYTES("\377"), NULL, 0, 8, 0, "", 0, false},
	{"second first", BYTES("\10\10\0\10\377"), NULL, 0, 16, 0,
	 "0x100f0e0d0c0b0a09, 0x807060504030201", 16, false},
	/* places from 1 byte on are alive by the bits: one of three */
	{"alive", BYTES("\0\1\1\1\2\1\3\1\377"), BYTES("\1\2"), 8, 24, "0x1, 0x2?, 0x3, 0x4?", 4,
	 false},
	{"all before any is told", BYTES("\0\1\1\1\2\1\3\1\377"), BYTES("\1\2"), 8, 0,
	 "0x1, 0x2, 0x3, 0x4", 4, false},
	{"index 0", BYTES("\0\1\1\1\2\1\3\1\377"), BYTES("\1\2"), 8, 4, "0x1, 0x2, 0x3, 0x4", 4,
	 false},
	{"the first is dead", BYTES("\0\10\10\1\377"), BYTES("\0\2"), 16, 24,
	 "0x807060504030201?, 0x9", 9, false},
	{"the first is alive", BYTES("\0\10\10\1\377"), BYTES("\0\1"), 16, 24,
	 "0x807060504030201, 0x9?", 9, true},
};

static void open_printed(struct opened *o, const struct printed_case *c, int release,
			 struct frames *frames)
{
	gofile_make(&o->g, release, EM_X86_64);
	uint64_t record = gofile_record(&o->g, 1), count = record + RECORD,
		 tables = count + 4 + 4 * 4;

	/* 4 tables of values, of which the last is of liveness, and 7 addresses */
	elffile_u32(o->g.f, record + 4 + 6 * 4, 4);
	*elffile_at(o->g.f, count + 3) = 7;
	elffile_u32(o->g.f, tables - 4, LIVE_TABLE);
	for (unsigned i = 0; i < 7; i++)
		elffile_u32(o->g.f, tables + i * 4, UINT32_MAX);
	elffile_u32(o->g.f, tables + 5 * 4, ARGINFO - GOFILE_GOFUNC);
	if (c->live)
		elffile_u32(o->g.f, tables + 6 * 4, LIVE - GOFILE_GOFUNC);
	elffile_bytes(o->g.f, ARGINFO, c->info, c->info_len);
	elffile_bytes(o->g.f, LIVE, c->live ? c->live : "", c->live_len);
	open_it(o);
	*frames = (struct frames){.tab = o->tab, .img = o->img, .release = release};
}

static void check_printed(const struct printed_case *c)
{
	uint8_t bytes[32];
	struct frames frames;
	struct functab_func fn;
	struct opened o;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	open_printed(&o, c, 20, &frames);
	uint64_t addr = o.g.starts[1] + c->at;

	frame_args_print(out, &frames, addr, bytes, c->len);
	fclose(out);
	if (strcmp(text, c->wanted) != 0)
		fail_msg("%s: %s", c->what, text);
	free(text);
	get(&o, 1, &fn);
	if (frame_args_size(&frames, &fn) != c->size)
		fail_msg("%s: %u bytes", c->what, frame_args_size(&frames, &fn));
	if (frame_args_first(&frames, addr) != c->first)
		fail_msg("%s: first: %d", c->what, !c->first);
	assert_false(frame_args_first(&frames, 0x10));
	close_it(&o);
}

static void test_printed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(printed_cases) / sizeof(*printed_cases); i++)
		check_printed(&printed_cases[i]);
}

/* Before Go 1.17: words, as many as the function says that it has, but ten at most */
static void test_words(void **state)
{
	static const struct {
		int32_t args;
		uint16_t size;
		const char *wanted; /* of 24 bytes */
	} rows[] = {
		{16, 16, "0x1, 0x2, 0x3"},
		{0, 0, "0x1, 0x2, 0x3"},
		{80, 80, "0x1, 0x2, 0x3"},
		{88, 80, "0x1, 0x2, 0x3, ..."},
		{-0x80000000, 80, "0x1, 0x2, 0x3, ..."},
		{7, 7, "0x1, 0x2, 0x3"},
		{8, 8, "0x1, 0x2, 0x3"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		static const uint64_t words[] = {1, 2, 3};
		struct functab_func fn;
		struct opened o;
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);

		gofile_make(&o.g, 15, EM_X86_64);
		elffile_u32(o.g.f, gofile_record(&o.g, 1) + 12, (uint32_t)rows[i].args);
		open_it(&o);
		struct frames frames = {.tab = o.tab, .img = o.img, .release = 15};

		frame_args_print(out, &frames, o.g.starts[1], (const uint8_t *)words, 24);
		fclose(out);
		assert_string_equal(text, rows[i].wanted);
		get(&o, 1, &fn);
		assert_int_equal(frame_args_size(&frames, &fn), rows[i].size);
		assert_int_equal(frame_args_first(&frames, o.g.starts[1]), rows[i].args >= 8);
		free(text);
		close_it(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_printed),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
