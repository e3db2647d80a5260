// SPDX-License-Identifier: Apache-2.0
#include "elffile.h"
#include "program/buildinfo_internal.h"
#include "program/buildsettings.h"
#include "unit.h"

enum { INFO = ELFFILE_DATA + 0x40, TEXT = ELFFILE_RODATA + 0x10 };

static bool read_and_free(struct elffile *f, struct buildinfo *out)
{
	struct image *img = elffile_open(f, NULL);

	assert_non_null(img);

	bool found = buildinfo_read(img, out);

	image_close(img);
	elffile_free(f);
	return found;
}

static void put_header(struct elffile *f, uint8_t flags)
{
	elffile_bytes(f, INFO, "\xff Go buildinf:\x08", 15);
	*elffile_at(f, INFO + 15) = flags;
}

/* as from 1.18 */
static struct elffile *with_inline(const char *version)
{
	struct elffile *f = elffile_new(EM_X86_64);

	put_header(f, 2);
	*elffile_at(f, INFO + 32) = strlen(version);
	elffile_bytes(f, INFO + 33, version, strlen(version));
	return f;
}

/* as up to 1.17 */
static struct elffile *with_pointers(const char *version)
{
	struct elffile *f = elffile_new(EM_X86_64);

	put_header(f, 0);
	elffile_u64(f, INFO + 16, ELFFILE_DATA + 0x200);
	elffile_u64(f, ELFFILE_DATA + 0x200, TEXT);
	elffile_u64(f, ELFFILE_DATA + 0x208, strlen(version));
	elffile_bytes(f, TEXT, version, strlen(version));
	return f;
}

/* It is the string that the header points to, whatever other strings there are. */
static void test_others_strings(void **state)
{
	struct elffile *f = with_pointers("go1.17.3");
	struct buildinfo info;

	(void)state;
	elffile_u64(f, ELFFILE_DATA + 0x100, TEXT + 0x20);
	elffile_u64(f, ELFFILE_DATA + 0x108, 6);
	elffile_bytes(f, TEXT + 0x20, "go1.16", 6);
	assert_true(read_and_free(f, &info));
	assert_string_equal(info.version, "go1.17.3");
}

struct version_case {
	const char *text;
	bool found;
	int release, patch;
};

static const struct version_case cases[] = {
	{"go1.19.8", true, 19, 8},
	{"go1.22", true, 22, 0},
	{"go1.27rc1", true, 27, 0},
	{"go1.9beta2", true, 9, 0},
	{"go1.22.2 X:nocoverageredesign", true, 22, 2},
	{"go1.24.1-custom", true, 24, 1},
	{"devel go1.24-abcdef Tue", true, 24, 0},
	{"go1.99999999999999999999.3", true, 9999, 0}, /* none is so high: four digits are read */
	{"devel +a1b2c3 Mon Jan 1", true, -1, 0},
	{"go1", false, -1, 0},
	{"go2.1", false, -1, 0},
	{"go1.x", false, -1, 0},
	{"go1.22.", false, -1, 0},
	{"1.22", false, -1, 0},
	{"", false, -1, 0},
};

static void test_versions(void **state)
{
	struct buildinfo info;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct version_case *c = &cases[i];

		assert_int_equal(read_and_free(with_inline(c->text), &info), c->found);
		assert_string_equal(info.version, c->found ? c->text : "");
		assert_int_equal(info.release, c->release);
		assert_int_equal(info.patch, c->patch);
	}
}

static void test_section(void **state)
{
	struct elffile *f = with_inline("go1.21.3");
	struct buildinfo info;

	(void)state;
	/* not aligned to 16: found by name only */
	memmove(elffile_at(f, INFO + 8), elffile_at(f, INFO), 64);
	elffile_section(f, ".go.buildinfo", INFO + 8, 64);
	assert_true(read_and_free(f, &info));
	assert_string_equal(info.version, "go1.21.3");
}

static void test_pointers(void **state)
{
	struct elffile *f = with_pointers("go1.15.15");
	struct buildinfo info;

	(void)state;
	assert_true(read_and_free(f, &info));
	assert_string_equal(info.version, "go1.15.15");
	assert_int_equal(info.release, 15);
	assert_int_equal(info.patch, 15);
	f = with_pointers("go1.15");
	elffile_u64(f, INFO + 16, 0x10);
	elffile_u64(f, ELFFILE_DATA + 0x208, 0);
	assert_false(read_and_free(f, &info));
}

/* no header at all: runtime.buildVersion */
static void test_string_variable(void **state)
{
	struct elffile *f = with_pointers("go1.20.4 more");
	struct buildinfo info;

	(void)state;
	memset(elffile_at(f, INFO), 0, 32);
	elffile_u64(f, ELFFILE_DATA + 0x208, 8);
	assert_true(read_and_free(f, &info));
	assert_string_equal(info.version, "go1.20.4");
	f = with_pointers("go1.20.4");
	memset(elffile_at(f, INFO), 0, 32);
	elffile_u64(f, ELFFILE_DATA + 0x200, 0x10); /* points nowhere */
	assert_false(read_and_free(f, &info));
	assert_string_equal(info.version, "");
	assert_int_equal(info.release, -1);
}

static void test_long_version(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct buildinfo info;

	(void)state;
	put_header(f, 2);
	elffile_bytes(f, INFO + 32, "\xc8\x01go1.22.1 X:", 13); /* 200 bytes */
	memset(elffile_at(f, INFO + 45), 'x', 200);
	assert_true(read_and_free(f, &info));
	assert_int_equal(strlen(info.version), sizeof(info.version) - 1);
	assert_int_equal(info.patch, 1);
}

static void test_malformed(void **state)
{
	struct elffile *f = elffile_new(EM_X86_64);
	struct buildinfo info;

	(void)state;
	put_header(f, 2);
	memset(elffile_at(f, INFO + 32), 0xff, 32); /* a length that never ends */
	assert_false(read_and_free(f, &info));

	f = elffile_new(EM_X86_64);
	put_header(f, 2);
	elffile_bytes(f, INFO + 32, "\xff\xff\xff\x7fgo1.22", 10); /* longer than the segment */
	assert_false(read_and_free(f, &info));

	f = elffile_new(EM_X86_64);
	elffile_bytes(f, ELFFILE_DATA_END - 16, "\xff Go buildinf:\x08\x02", 16);
	assert_false(read_and_free(f, &info));
	assert_false(read_and_free(elffile_new(EM_X86_64), &info));
}

/* `key`: NULL: the module */
static void assert_read(const char *settings, const char *key, const char *expected)
{
	struct elffile *f = with_inline("go1.27.4");
	uint64_t at = INFO + 33 + strlen("go1.27.4");

	if (strlen(settings) >= 0x80)
		*elffile_at(f, at++) = 0x80 | strlen(settings);
	*elffile_at(f, at) = strlen(settings) >= 0x80 ? strlen(settings) >> 7 : strlen(settings);
	elffile_bytes(f, at + 1, settings, strlen(settings));
	struct image *img = elffile_open(f, NULL);

	assert_non_null(img);
	char *got = key ? buildsettings_value(img, key) : buildsettings_module(img);

	if (expected)
		assert_string_equal(got, expected);
	else
		assert_null(got);
	free(got);
	image_close(img);
	elffile_free(f);
}

static void assert_setting(const char *settings, const char *expected)
{
	assert_read(settings, "Key", expected);
}

static void test_settings(void **state)
{
	(void)state;
	assert_setting("0123456789abcdefpath\tx\nbuild\tKey=a=1,b=2\nbuild\tKey=3\n", "a=1,b=2");
	assert_setting("path\tx\nbuild\tKey=last", "last");
	assert_setting("path\tx\nbuild\tKey=\n", "");
	assert_setting(
		"path\texample.org/a/path/that/is/so/long/that/the/length/of/all/lines/"
		"takes/two/bytes/as/that/of/any/real/programs/lines/does\nbuild\tKey=to its end",
		"to its end");
	assert_setting("build\tKey", NULL);
	assert_setting("build\tKeys=1\ndep\tKey=2\n", NULL);
	assert_setting("", NULL);
}

static void test_module(void **state)
{
	(void)state;
	assert_read("0123456789abcdefpath\ta.org/x/cmd/y\nmod\ta.org/x\t(devel)\t\n", NULL,
		    "a.org/x");
	assert_read("0123456789abcdefpath\ta.org/x\nbuild\tKey=1\n", NULL, "a.org/x");
	assert_read("path\tx", NULL, "x");
	assert_read("dep\tx\tv1\n", NULL, NULL);
	assert_read("", NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),        cmocka_unit_test(test_others_strings),
		cmocka_unit_test(test_section),         cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_string_variable), cmocka_unit_test(test_long_version),
		cmocka_unit_test(test_malformed),       cmocka_unit_test(test_settings),
		cmocka_unit_test(test_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
