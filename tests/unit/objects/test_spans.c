// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/errmsg.h"
#include "fakemem.h"
#include "objects/spans_internal.h"
#include "steps.h"
#include "unit.h"

/* mheap_.allspans, its array, and spans of a made-up program */
enum {
	PLACE = FAKEMEM_BASE + 0x100,
	LIST = FAKEMEM_BASE + 0x200,
	SPANS = FAKEMEM_BASE + 0x1000,
	BITS = FAKEMEM_BASE + 0x4000,
	SIZE = 0x5000,
	EACH = 0x100,
	HEAP = 0xc000000,
};
enum { SWEEPGEN = 40 };

struct made {
	uint64_t base, pages, elem, count, free_from, bits, type;
	unsigned spanclass, state;
	uint32_t sweepgen;
};

static int release;

static void put_u8(uint64_t addr, uint8_t value)
{
	fakemem.bytes[addr - FAKEMEM_BASE] = value;
}

static void put_small(uint64_t addr, uint16_t value)
{
	memcpy(fakemem.bytes + (addr - FAKEMEM_BASE), &value, sizeof(value));
}

/* src/runtime/mheap.go of Go 1.15 to 1.20, of 1.21, and of 1.22 on */
static void put_span(unsigned number, const struct made *span)
{
	uint64_t at = SPANS + number * EACH, shift = release == 21 ? 8 : 0;

	fakemem_put(LIST + number * 8, at);
	fakemem_put(at + 24, span->base);
	fakemem_put(at + 32, span->pages);
	fakemem_put(at + (release >= 22 ? 64 : 72), BITS + number * 8);
	fakemem_put(BITS + number * 8, span->bits);
	if (release >= 22) {
		put_small(at + 48, (uint16_t)span->free_from);
		put_small(at + 50, (uint16_t)span->count);
		fakemem_put(at + 152, span->type);
	} else {
		fakemem_put(at + 48, span->free_from);
		fakemem_put(at + 56, span->count);
	}
	memcpy(fakemem.bytes + (at + 88 + shift - FAKEMEM_BASE), &span->sweepgen, 4);
	put_u8(at + 98 + shift, (uint8_t)span->spanclass);
	put_u8(at + 99 + shift, (uint8_t)span->state);
	fakemem_put(at + 104 + shift, span->elem);
}

static const struct made some[] = {
	{HEAP + 0x4000, 1, 48, 170, 3, 0x10, 0, 8, 1, SWEEPGEN},
	{HEAP, 1, 1024, 8, 8, 0, 0, 33, 1, SWEEPGEN - 2},
	{HEAP + 0x2000, 1, 0, 0, 0, 0, 0, 0, 2, SWEEPGEN}, /* a stack's */
	{HEAP + 0x8000, 5, 5 * 8192, 1, 1, 0, 0x600000, 0, 1, SWEEPGEN + 3},
};
enum { SOME = sizeof(some) / sizeof(*some) };

static void begin(int of)
{
	release = of;
	fakemem_begin(SIZE);
	fakemem_put(PLACE - (release >= 18 ? 8 : 16), SWEEPGEN);
	fakemem_put(PLACE, LIST);
	fakemem_put(PLACE + 8, SOME);
	fakemem_put(PLACE + 16, 64);
	for (unsigned i = 0; i < SOME; i++)
		put_span(i, &some[i]);
}

static const int releases[] = {15, 19, 21, 22, 27};

static void test_read(void **state)
{
	struct errmsg err = {0};
	struct spans spans;

	(void)state;
	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++) {
		begin(releases[i]);
		assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), 0);
		assert_int_equal(spans.count, 3);
		assert_int_equal(spans.slots, 170 + 8 + 1);
		const struct span *first = spans.all, *small = first + 1, *large = first + 2;

		assert_true(first->noscan && first->unswept && !first->large);
		assert_false(small->noscan || small->unswept || small->large);
		assert_true(large->large && !large->unswept);
		assert_int_equal(large->type, release >= 22 ? 0x600000 : 0);
		assert_int_equal(small->first, 8);
		assert_true(spans_is_allocated(&spans, small, 2));
		assert_false(spans_is_allocated(&spans, small, 3));
		assert_true(spans_is_allocated(&spans, small, 4));
		assert_false(spans_is_allocated(&spans, small, 5));
		spans_free(&spans);
	}
}

/* --- what is noted of single objects --- */

enum { SPECIALS = FAKEMEM_BASE + 0x4800 };

static void put_special(unsigned number, unsigned next, uint64_t off, int kind)
{
	uint64_t at = SPECIALS + number * 0x40;

	fakemem_put(at, next ? SPECIALS + next * 0x40 : 0);
	if (release >= 24) {
		fakemem_put(at + 8, off);
		fakemem_put(at + 16, (uint64_t)kind | 0xff00);
	} else {
		fakemem_put(at + 8, off | (uint64_t)kind << 16 | 0xff000000);
	}
	for (unsigned i = 0; i < 3; i++)
		fakemem_put(at + (release >= 24 ? 24 : 16) + i * 8, number * 16 + i);
}

static void expect_special(const struct special *got, enum special_how how, uint64_t object,
			   unsigned number, size_t words)
{
	assert_int_equal(got->how, how);
	assert_int_equal(got->object, object);
	for (unsigned i = 0; i < SPECIAL_WORDS; i++)
		assert_int_equal(got->words[i], i < words ? number * 16 + i : 0);
}

/* The numbers of what keeps something alive; 0: there is none. All others are passed by. */
static void test_specials(void **state)
{
	static const struct {
		int release, finalizer, weak, cleanup;
		size_t words;
	} rows[] = {{15, 1, 0, 0, 0}, {21, 1, 0, 0, 0}, {22, 1, 0, 0, 0}, {23, 1, 2, 0, 0},
		    {24, 1, 2, 6, 1}, {25, 2, 3, 7, 1}, {26, 2, 3, 7, 3}, {27, 2, 3, 7, 3}};
	struct errmsg err = {0};
	struct spans spans;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned known = 1 + !!rows[i].weak + !!rows[i].cleanup, n = 0;

		begin(rows[i].release);
		fakemem_put(SPANS + (release == 21 ? 136 : 128), SPECIALS + 0x40);
		for (unsigned kind = 1; kind < 12; kind++)
			put_special(kind, kind < 11 ? kind + 1 : 0, kind * 48, (int)kind);
		assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), 0);
		assert_int_equal(spans.specials.count, known);
		assert_false(spans.specials.left_out);
		const struct special *all = spans.specials.all;

		expect_special(&all[n++], SPECIAL_FINALIZER,
			       HEAP + 0x4000 + (uint64_t)rows[i].finalizer * 48,
			       (unsigned)rows[i].finalizer, 1);
		if (rows[i].weak)
			expect_special(&all[n++], SPECIAL_WEAK_POINTER, 0, (unsigned)rows[i].weak,
				       1);
		if (rows[i].cleanup)
			expect_special(&all[n++], SPECIAL_CLEANUP, 0, (unsigned)rows[i].cleanup,
				       rows[i].words);
		spans_free(&spans);
	}
}

/* Lists of programs that lie: a circle, and one that leads nowhere */
static void test_false_specials(void **state)
{
	struct errmsg err = {0};
	struct spans spans;

	(void)state;
	for (unsigned next = 0; next < 2; next++) {
		begin(27);
		fakemem_put(SPANS + 128, SPECIALS + 0x40);
		put_special(1, 1, 0, 4);
		if (!next)
			fakemem_put(SPECIALS + 0x40, 8);
		assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), 0);
		assert_int_equal(spans.count, 3);
		assert_int_equal(spans.specials.count, 0);
		assert_true(spans.specials.left_out);
		spans_free(&spans);
	}
}

static void test_at(void **state)
{
	struct errmsg err = {0};
	struct spans spans;

	(void)state;
	begin(27);
	assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), 0);
	assert_null(spans_at(&spans, HEAP - 1));
	assert_ptr_equal(spans_at(&spans, HEAP), &spans.all[0]);
	assert_ptr_equal(spans_at(&spans, HEAP + 8191), &spans.all[0]);
	assert_null(spans_at(&spans, HEAP + 8192));
	assert_ptr_equal(spans_at(&spans, HEAP + 0x8000 + 5 * 8192 - 1), &spans.all[2]);
	assert_null(spans_at(&spans, UINT64_MAX));
	spans_free(&spans);
}

static void test_there(void **state)
{
	struct errmsg err = {0};
	struct spans spans;

	(void)state;
	begin(27);
	assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), 0);
	assert_int_equal(spans_there(&spans, &fakemem_memory), 0);
	fakemem.again = HEAP - FAKEMEM_BASE;
	assert_int_equal(spans_there(&spans, &fakemem_memory), 4096); /* half of the small one */
	fakemem.size = 0x9800; /* all of it, a page and a half of the large one */
	assert_int_equal(spans_there(&spans, &fakemem_memory), 8192 + 2 * 4096);
	/* the list of spans has been read, which may now tell of any number of pages */
	spans.all[2].bytes = 1ull << 40;
	fakemem.reads = 0;
	assert_int_equal(spans_there(&spans, &fakemem_memory), 8192 + 2 * 4096);
	assert_true(fakemem.reads < 100);
	spans_free(&spans);
}

/* --- lies --- */

static void expect_refused(const struct made *lie)
{
	struct errmsg err = {0};
	struct spans spans;

	begin(19);
	put_span(0, lie);
	assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), -1);
	assert_string_equal(err.text, "its heap cannot be read: not as Go's runtime leaves it");
	assert_null(spans.all);
}

static void test_lies(void **state)
{
	static const struct made lies[] = {
		{HEAP + 0x4001, 1, 48, 170, 3, 0, 0, 8, 1, SWEEPGEN},
		{HEAP + 0x4000, 1ull << 60, 48, 170, 3, 0, 0, 8, 1, SWEEPGEN},
		{HEAP + 0x4000, 0, 48, 170, 3, 0, 0, 8, 1, SWEEPGEN},
		{HEAP + 0x4000, 1, 0, 170, 3, 0, 0, 8, 1, SWEEPGEN},
		{HEAP + 0x4000, 1, 49, 170, 3, 0, 0, 8, 1, SWEEPGEN},
		{HEAP + 0x4000, 1, 1, 1ull << 60, 3, 0, 0, 8, 1, SWEEPGEN},
		{HEAP + 0x4000, 1, 48, 170, 171, 0, 0, 8, 1, SWEEPGEN},
		{HEAP + 0x4000, 3, 48, 170, 3, 0, 0, 8, 1, SWEEPGEN}, /* into the next one */
		{HEAP, 1, 1024, 8, 8, 0, 0, 33, 1, SWEEPGEN},         /* twice the same */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++)
		expect_refused(&lies[i]);
}

static void test_list_lies(void **state)
{
	static const uint64_t lengths[] = {0, 65, 1ull << 60, UINT64_MAX};
	struct errmsg err = {0};
	struct spans spans;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		begin(27);
		fakemem_put(PLACE + 8, lengths[i]);
		assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), -1);
	}
	begin(27);
	fakemem_put(PLACE + 8, (1 << 22) + 1);
	fakemem_put(PLACE + 16, 1ull << 40);
	assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 0, &spans, &err), -1);
	assert_string_equal(err.text, "its heap has 4194305 spans, more than are read");
	begin(27);
	assert_int_equal(spans_read(&fakemem_memory, PLACE, release, 1, &spans, &err), -1);
	assert_string_equal(err.text, "to read its heap takes too long");
}

/* --- sizes --- */

/* Where the size that is taken changes: from how many bytes on it is how many. */
static void dump_classes(bool noscan, int release)
{
	uint64_t last = 0;

	for (uint64_t bytes = 0; bytes <= 41000; bytes++) {
		uint64_t rounded = spans_rounded(bytes, noscan, release);

		if (rounded != last)
			steps_are("%lu: %lu", bytes, rounded);
		last = rounded;
	}
}

static void test_classes(void **state)
{
	(void)state;
	memset(&steps, 0, sizeof(steps));
	dump_classes(true, 27);
	steps_expect(
		"0: 8; 9: 16; 17: 24; 25: 32; 33: 48; 49: 64; 65: 80; 81: 96; 97: 112; 113: 128; "
		"129: 144; 145: 160; 161: 176; 177: 192; 193: 208; 209: 224; 225: 240; 241: 256; "
		"257: 288; 289: 320; 321: 352; 353: 384; 385: 416; 417: 448; 449: 480; 481: 512; "
		"513: 576; 577: 640; 641: 704; 705: 768; 769: 896; 897: 1024; 1025: 1152; 1153: "
		"1280; 1281: 1408; 1409: 1536; 1537: 1792; 1793: 2048; 2049: 2304; 2305: 2688; "
		"2689: 3072; 3073: 3200; 3201: 3456; 3457: 4096; 4097: 4864; 4865: 5376; 5377: "
		"6144; 6145: 6528; 6529: 6784; 6785: 6912; 6913: 8192; 8193: 9472; 9473: 9728; "
		"9729: 10240; 10241: 10880; 10881: 12288; 12289: 13568; 13569: 14336; 14337: "
		"16384; 16385: 18432; 18433: 19072; 19073: 20480; 20481: 21760; 21761: 24576; "
		"24577: 27264; 27265: 28672; 28673: 32768; 32769: 40960; 40961: 49152; ");
	dump_classes(false, 22);
	steps_expect(
		"0: 8; 9: 16; 17: 24; 25: 32; 33: 48; 49: 64; 65: 80; 81: 96; 97: 112; 113: 128; "
		"129: 144; 145: 160; 161: 176; 177: 192; 193: 208; 209: 224; 225: 240; 241: 256; "
		"257: 288; 289: 320; 321: 352; 353: 384; 385: 416; 417: 448; 449: 480; 481: 512; "
		"513: 576; 569: 640; 633: 704; 697: 768; 761: 896; 889: 1024; 1017: 1152; 1145: "
		"1280; 1273: 1408; 1401: 1536; 1529: 1792; 1785: 2048; 2041: 2304; 2297: 2688; "
		"2681: 3072; 3065: 3200; 3193: 3456; 3449: 4096; 4089: 4864; 4857: 5376; 5369: "
		"6144; 6137: 6528; 6521: 6784; 6777: 6912; 6905: 8192; 8185: 9472; 9465: 9728; "
		"9721: 10240; 10233: 10880; 10873: 12288; 12281: 13568; 13561: 14336; 14329: "
		"16384; 16377: 18432; 18425: 19072; 19065: 20480; 20473: 21760; 21753: 24576; "
		"24569: 27264; 27257: 28672; 28665: 32768; 32769: 40960; 40961: 49152; ");
}

static void test_rounded(void **state)
{
	(void)state;
	assert_int_equal(spans_rounded(1, true, 27), 8);
	assert_int_equal(spans_rounded(17, true, 27), 24);
	assert_int_equal(spans_rounded(17, true, 15), 32);
	assert_int_equal(spans_rounded(512, false, 27), 512);
	assert_int_equal(spans_rounded(513, true, 27), 576);
	assert_int_equal(spans_rounded(570, false, 21), 576);
	assert_int_equal(spans_rounded(570, false, 22), 640);
	assert_int_equal(spans_rounded(32768, true, 19), 32768);
	assert_int_equal(spans_rounded(32761, false, 22), 40960 - 8192);
	assert_int_equal(spans_rounded(32769, true, 19), 40960);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),           cmocka_unit_test(test_specials),
		cmocka_unit_test(test_false_specials), cmocka_unit_test(test_at),
		cmocka_unit_test(test_there),          cmocka_unit_test(test_lies),
		cmocka_unit_test(test_list_lies),      cmocka_unit_test(test_rounded),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
