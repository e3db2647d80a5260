// SPDX-License-Identifier: Apache-2.0
/* Which bytes are characters, and which of these are controls: all of them. */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "ranges.h"
#include "steps.h"
#include "unit.h"

enum { CHARACTERS = 0x110000 };

static size_t encode(uint32_t c, unsigned char *out)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (n == 1) {
		out[0] = (unsigned char)c;
		return 1;
	}
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = 0x80 | (c & 0x3f);
	out[0] = (unsigned char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return n;
}

static const char *decoded(void *ctx, unsigned number)
{
	unsigned char bytes[4];
	size_t len = encode(number, bytes), n;
	uint32_t c = UINT32_MAX;

	(void)ctx;
	n = utf8_decode((const char *)bytes, len, &c);
	if (!n)
		return "none";
	if (n != len || c != number || utf8_decode((const char *)bytes, len - 1, &c))
		return "wrong";
	return (const char *[]){"", "one", "two", "three", "four"}[n];
}

static void test_characters(void **state)
{
	(void)state;
	ranges_are("characters", CHARACTERS + 0x100, decoded, NULL);
	steps_expect("characters: 0-7f one, 80-7ff two, 800-d7ff three, d800-dfff none, e000-ffff "
		     "three, 10000-10ffff four, 110000-1100ff none; ");
}

/* The first two bytes, with two more that could belong to them */
static const char *begun(void *ctx, unsigned number)
{
	const char bytes[4] = {(char)(number >> 8), (char)number, (char)0x80, (char)0xbf};
	uint32_t c;

	(void)ctx;
	return (const char *[]){"", "1", "2", "3", "4"}[utf8_decode(bytes, 4, &c)];
}

static void test_bytes(void **state)
{
	static const char *const cut[] = {"\xe2\x82\x2c", "\xe2\x82\xff", "\xf0\x90\x80\x7f",
					  "\xf0\x90\xc0\x80"};
	uint32_t c;

	(void)state;
	ranges_are("from 7f00 on", 0x10000, begun, NULL);
	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++)
		assert_int_equal(utf8_decode(cut[i], strlen(cut[i]), &c), 0);
	assert_int_equal(utf8_decode("", 0, &c), 0);
	steps_expect(
		"from 7f00 on: 0-7fff 1, c280-c2bf 2, c380-c3bf 2, c480-c4bf 2, c580-c5bf 2, "
		"c680-c6bf 2, c780-c7bf 2, c880-c8bf 2, c980-c9bf 2, ca80-cabf 2, cb80-cbbf 2, "
		"cc80-ccbf 2, cd80-cdbf 2, ce80-cebf 2, cf80-cfbf 2, d080-d0bf 2, d180-d1bf 2, "
		"d280-d2bf 2, d380-d3bf 2, d480-d4bf 2, d580-d5bf 2, d680-d6bf 2, d780-d7bf 2, "
		"d880-d8bf 2, d980-d9bf 2, da80-dabf 2, db80-dbbf 2, dc80-dcbf 2, dd80-ddbf 2, "
		"de80-debf 2, df80-dfbf 2, e0a0-e0bf 3, e180-e1bf 3, e280-e2bf 3, e380-e3bf 3, "
		"e480-e4bf 3, e580-e5bf 3, e680-e6bf 3, e780-e7bf 3, e880-e8bf 3, e980-e9bf 3, "
		"ea80-eabf 3, eb80-ebbf 3, ec80-ecbf 3, ed80-ed9f 3, ee80-eebf 3, ef80-efbf 3, "
		"f090-f0bf 4, f180-f1bf 4, f280-f2bf 4, f380-f3bf 4, f480-f48f 4; ");
}

static const char *control(void *ctx, unsigned number)
{
	(void)ctx;
	return utf8_is_control(number) ? "yes" : "";
}

static void test_controls(void **state)
{
	(void)state;
	ranges_are("controls", CHARACTERS, control, NULL);
	steps_expect("controls: 0-1f yes, 7f-9f yes, 61c yes, 200e-200f yes, 2028-202e yes, "
		     "2066-2069 yes, feff yes; ");
}

static void put(FILE *out, const char *bytes, size_t len, uint32_t c)
{
	fprintf(out, "[%zu %x %x]", len, c, (unsigned char)*bytes);
}

static void test_write(void **state)
{
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	static const char bytes[] = "a \"b\\~\x7f\x1f!\xc3\xa9\xff\xe2\x82\xac z\0y";

	(void)state;
	utf8_write(out, bytes, sizeof(bytes) - 1, put);
	fclose(out);
	steps_are("%s", text);
	steps_expect("a [1 22 22]b[1 5c 5c]~[1 7f 7f][1 1f 1f]![2 e9 c3][0 0 ff][3 20ac e2] z[1 0 "
		     "0]y; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_controls),
		cmocka_unit_test(test_write),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
