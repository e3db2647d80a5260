// SPDX-License-Identifier: Apache-2.0
/* Numbers of call frame information, in each encoding, and where they end. */
#include <inttypes.h>
#include <string.h>

#include "elf/ehframe_bytes_internal.h"
#include "steps.h"
#include "unit.h"

enum { ADDR = 0x1000 };

static struct ehframe_bytes of(const uint8_t *bytes, size_t len)
{
	return (struct ehframe_bytes){.at = bytes, .end = bytes + len, .addr = ADDR};
}

static void say(const struct ehframe_bytes *in, const uint8_t *bytes, uint64_t value)
{
	steps_are("%" PRIx64 " of %d%s", value, (int)(in->at - bytes), in->bad ? " bad" : "");
	assert_int_equal(in->addr - ADDR, in->at - bytes);
}

static void test_addresses(void **state)
{
	static const uint8_t bytes[] = {0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8};

	(void)state;
	for (unsigned encoding = 0; encoding < 0x100; encoding++) {
		struct ehframe_bytes in = of(bytes, sizeof(bytes));
		uint64_t value = ehframe_address(&in, (uint8_t)encoding);

		if (in.bad) {
			assert_int_equal(value, 0);
			continue;
		}
		steps_are("%02x", encoding);
		say(&in, bytes, value);
	}
	steps_expect("00; f8e7d6c5b4a39281 of 8; 02; 9281 of 2; 03; b4a39281 of 4; 04; "
		     "f8e7d6c5b4a39281 of 8; 0a; ffffffffffff9281 of 2; 0b; "
		     "ffffffffb4a39281 of 4; 0c; f8e7d6c5b4a39281 of 8; 10; "
		     "f8e7d6c5b4a3a281 of 8; 12; a281 of 2; 13; b4a3a281 of 4; 14; "
		     "f8e7d6c5b4a3a281 of 8; 1a; ffffffffffffa281 of 2; 1b; "
		     "ffffffffb4a3a281 of 4; 1c; f8e7d6c5b4a3a281 of 8; 90; "
		     "f8e7d6c5b4a3a281 of 8; 92; a281 of 2; 93; b4a3a281 of 4; 94; "
		     "f8e7d6c5b4a3a281 of 8; 9a; ffffffffffffa281 of 2; 9b; "
		     "ffffffffb4a3a281 of 4; 9c; f8e7d6c5b4a3a281 of 8; ");
}

static void test_lebs(void **state)
{
	static const uint8_t rows[][11] = {
		{0},
		{0x3f},
		{0x40},
		{0x7f},
		{0x80, 0x01},
		{0xff, 0x3f},
		{0x80, 0x40},
		{0x81, 0x82, 0x83, 0x04},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ehframe_bytes in = of(rows[i], sizeof(*rows));

		say(&in, rows[i], ehframe_uleb(&in));
		in = of(rows[i], sizeof(*rows));
		say(&in, rows[i], (uint64_t)ehframe_sleb(&in));
	}
	struct ehframe_bytes cut = of(rows[9], 9);

	say(&cut, rows[9], ehframe_uleb(&cut));
	steps_expect("0 of 1; 0 of 1; 3f of 1; 3f of 1; 40 of 1; ffffffffffffffc0 of 1; 7f "
		     "of 1; ffffffffffffffff of 1; 80 of 2; 80 of 2; 1fff of 2; 1fff of 2; "
		     "2000 of 2; ffffffffffffe000 of 2; 80c101 of 4; 80c101 of 4; "
		     "7fffffffffffffff of 9; ffffffffffffffff of 9; ffffffffffffffff of 10; "
		     "ffffffffffffffff of 10; 8000000000000000 of 10; 8000000000000000 of "
		     "10; 0 of 11 bad; 0 of 11 bad; 0 of 9 bad; ");
}

static void test_ends(void **state)
{
	static const uint8_t bytes[] = "abc\0defg";
	struct ehframe_bytes in = of(bytes, 8), part;

	(void)state;
	assert_string_equal(ehframe_text(&in), "abc");
	say(&in, bytes, ehframe_u16(&in));
	say(&in, bytes, ehframe_u8(&in));
	assert_null(ehframe_text(&in)); /* it does not end */
	say(&in, bytes, ehframe_u8(&in));
	say(&in, bytes, ehframe_u8(&in));
	assert_null(ehframe_text(&in));
	in = of(bytes, 8);
	part = ehframe_part(&in, 5);
	say(&part, bytes, ehframe_u32(&part));
	say(&part, bytes, ehframe_u16(&part));
	say(&in, bytes, 0);
	part = ehframe_part(&in, 4);
	say(&part, bytes, 0);
	say(&in, bytes, 0);
	steps_expect("6564 of 6; 66 of 7; 67 of 8; 0 of 8 bad; 636261 of 4; 0 of 4 bad; 0 "
		     "of 5; 0 of 5 bad; 0 of 5 bad; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_lebs),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
