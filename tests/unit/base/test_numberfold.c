// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/numberfold_internal.h"
#include "unit.h"

/* Two texts, and what they have in common; NULL: their keys differ. */
static const struct {
	const char *a, *b, *common;
} rows[] = {
	{"constraint violated: 17", "constraint violated: 4", "constraint violated: N"},
	{"code 404: key 1", "code 404: key 22", "code 404: key N"},
	{"404", "500", "N"},
	{"no key", "no key", "no key"},
	{"sha256 of 1", "sha256 of 2", "sha256 of N"},
	{"sha256 of 1", "sha512 of 1", NULL},
	{"took 1.5ms", "took 10.25ms", "took Nms"},
	{"10.0.0.1:80: refused", "10.0.0.2:80: refused", "N:80: refused"},
	{"10.0.0.1:81", "10.0.0.2:82", "N:N"},
	{"key -1.", "key -22.", "key -N."},
	{"id 550e8400-e29b-41d4-a716-446655440000 gone",
	 "id f50e8400-e29b-41d4-a716-44665544000f gone", "id N gone"},
	{"commit abcdef01", "commit abcdef02ff", "commit N"},
	{"commit abcdef0", "commit abcdef1", NULL},     /* too short: a word */
	{"facade deadbeefs", "facade deadbeefz", NULL}, /* no digit */
	{"beadfeed", "deadbeef", NULL},
	{"x 12345678g", "x 12345679g", "x Ng"},
	{"on 2026-11-22", "on 2026-11-23", "on N"},
	{"a\xc3\xa9"
	 "1",
	 "a\xc3\xa9"
	 "2",
	 NULL}, /* a digit of a word in UTF-8 */
	{"N", "5", NULL},
	{"key 1\n\tmain.f +0x1", "key 2\n\tmain.f +0x1", "key N\n\tmain.f +0x1"},
	{"key 1\n 1", "key 1\n 2", NULL}, /* stacks are not folded */
	{"1 2", "1", NULL},
	{"", "", ""},
	{"- 1", "- 2", "- N"},
};

static void test_common(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *a = numberfold_key(rows[i].a), *b = numberfold_key(rows[i].b);

		if (rows[i].common) {
			uint64_t bits = numberfold_differing(rows[i].a, rows[i].b);
			char *common = numberfold_text(rows[i].a, bits);

			assert_string_equal(a, b);
			assert_string_equal(common, rows[i].common);
			free(common);
		} else {
			assert_string_not_equal(a, b);
		}
		free(a);
		free(b);
	}
}

/* More numbers than there are bits: those after the 63rd are one. */
static void test_many(void **state)
{
	char a[401] = "", b[401] = "";

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		strcat(a, "1 ");
		strcat(b, i == 2 || i == 150 ? "2 " : "1 ");
	}
	uint64_t bits = numberfold_differing(a, b);
	char *common = numberfold_text(a, bits);

	assert_int_equal(bits, UINT64_C(1) << 63 | 4);
	assert_int_equal(strncmp(common, "1 1 N 1 ", 8), 0);
	assert_int_equal(strspn(common + 8, "1 "), 2 * 59);
	assert_int_equal(strspn(common + 2 * 63, "N "), 2 * 137);
	free(common);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_common),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
