// SPDX-License-Identifier: Apache-2.0
/* Where a separate file with debug information is looked for, by build ID or name, and what is said
 * where there is none. */
#include "gofile_open.h"

#include "base/errmsg.h"
#include "base/mem.h"
#include "dwarf/debuginfo_file_internal.h"
#include "elf/debuglink.h"

static struct debuglink_id id;
static const char *name; /* NULL: the program names none */

void debuglink_read_id(const struct image_sections *secs, struct debuglink_id *out)
{
	(void)secs;
	*out = id;
}

char *debuglink_read_name(const struct image_sections *secs, uint32_t *checksum)
{
	(void)secs;
	*checksum = 7;
	return name ? mem_strdup(name) : NULL;
}

bool debuglink_checksum(struct heldfile *file, uint32_t *out)
{
	(void)file;
	*out = 8;
	return true;
}

#define NONE "no debug information (DWARF) in it"

static void test_tried(void **state)
{
	static const struct {
		struct debuglink_id id;
		const char *name, *said;
	} rows[] = {
		{{{0}, 0}, NULL, NONE ", and it names no separate file"},
		{{{0xab}, 1}, NULL, NONE ", and it names no separate file"},
		{{{0xab, 0x0c}, 2},
		 NULL,
		 NONE ", nor in a separate file (\"/usr/lib/debug/.build-id/ab/0c.debug\", ...)"},
		{{{1, 2, 0xfe}, 3},
		 "no-such.debug",
		 NONE ", nor in a separate file (\"/usr/lib/debug/.build-id/01/02fe.debug\", ...)"},
		{{{1}, 1},
		 "no-such.debug",
		 "no debug information (DWARF) in it, nor in a separate file "
		 "(\"/no-such.debug\", ...)"},
	};
	struct opened o;

	(void)state;
	gofile_make(&o.g, 27, EM_X86_64);
	open_it(&o);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct debuginfo_file file;
		struct errmsg err = {0};

		id = rows[i].id;
		name = rows[i].name;
		assert_int_equal(debuginfo_file_find(o.img, false, &file, &err), -1);
		assert_string_equal(err.text, rows[i].said);
		assert_string_equal(err.hint, "build without -ldflags=-w or -s, or give the "
					      "signature in the probe");
	}
	close_it(&o);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
