// SPDX-License-Identifier: Apache-2.0
#include "elf/debuglink.h"
#include "elf/image.h"
#include "elffile.h"
#include "unit.h"

/* What is read of a section with these bytes; NULL: nothing. malloc'd */
static char *name_of(const void *bytes, size_t len, uint32_t *checksum)
{
	struct elffile *f = elffile_new(EM_X86_64);

	elffile_section(f, ".gnu_debuglink", ELFFILE_DATA, len);
	elffile_bytes(f, ELFFILE_DATA, bytes, len);
	struct image *img = elffile_open(f, NULL);
	char *name = debuglink_read_name(image_sections(img), checksum);

	image_close(img);
	elffile_free(f);
	return name;
}

static void test_names(void **state)
{
	static const struct {
		const char bytes[17];
		size_t len;
		const char *name;
	} cases[] = {
		{"app\0\1\2\3\4", 8, "app"},
		{"app.debug\0\0\0\1\2\3\4", 16, "app.debug"},
		{"app\0\1\2\3", 7, NULL},          /* no room for the checksum */
		{"app.debug\0\1\2\3\4", 14, NULL}, /* nor after the padding */
		{"app", 3, NULL},
		{"\0\0\0\0\1\2\3\4", 8, NULL},
		{"../app\0\0\1\2\3\4", 12, NULL}, /* a name is no path */
		{"/a\0\0\1\2\3\4", 8, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t checksum = 0;
		char *name = name_of(cases[i].bytes, cases[i].len, &checksum);

		if (!cases[i].name) {
			if (name)
				fail_msg("case %zu: \"%s\"", i, name);
			continue;
		}
		assert_non_null(name);
		assert_string_equal(name, cases[i].name);
		assert_int_equal(checksum, 0x04030201);
		free(name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
