// SPDX-License-Identifier: Apache-2.0
/* Files that their owners change while they are read. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/heldfile.h"
#include "files/heldfile_bytes_internal.h"
#include "unit.h"

enum { BLOCK = HELDFILE_BLOCK, SIZE = 5 * BLOCK + 77 };

struct opened {
	int fd; /* for writing */
	struct heldfile *file;
};

static struct opened open_memory(uint64_t size)
{
	struct opened o = {.fd = memfd_create("heldfile", MFD_CLOEXEC)};
	char path[32];

	assert_true(o.fd >= 0);
	assert_int_equal(ftruncate(o.fd, size), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", o.fd);
	o.file = heldfile_open(NULL, path, NULL);
	assert_non_null(o.file);
	return o;
}

static void close_it(struct opened *o)
{
	heldfile_close(o->file);
	close(o->fd);
}

static struct opened open_numbered(void)
{
	struct opened o = open_memory(SIZE);
	uint8_t byte;

	for (unsigned i = 0; i < SIZE; i++) {
		byte = i / 251;
		assert_int_equal(pwrite(o.fd, &byte, 1, i), 1);
	}
	return o;
}

static void expect_numbered(const uint8_t *bytes, unsigned from, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		assert_int_equal(bytes[i], (uint8_t)((from + i) / 251));
}

static void test_reads(void **state)
{
	static const unsigned spans[][2] = {{SIZE - 1, 1},          {3 * BLOCK - 1, 2}, {10, 20},
					    {BLOCK / 2, 4 * BLOCK}, {0, SIZE},          {7, 0}};
	struct opened o = open_numbered();

	(void)state;
	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
		const uint8_t *bytes = heldfile_at(o.file, spans[i][0], spans[i][1]);

		assert_non_null(bytes);
		expect_numbered(bytes, spans[i][0], spans[i][1]);
	}
	assert_null(heldfile_at(o.file, SIZE, 1));
	assert_null(heldfile_at(o.file, SIZE - 1, 2));
	assert_null(heldfile_at(o.file, UINT64_MAX, 2));
	assert_null(heldfile_at(o.file, 2, UINT64_MAX));
	assert_int_equal(heldfile_check(o.file, NULL), 0);
	close_it(&o);
}

/* what is there already comes from there, the rest from the file */
static void test_copies(void **state)
{
	struct opened o = open_numbered();
	uint8_t *out = malloc(SIZE);

	(void)state;
	assert_non_null(heldfile_at(o.file, 2 * BLOCK, BLOCK));
	assert_true(heldfile_read(o.file, 5, SIZE - 5, out));
	expect_numbered(out, 5, SIZE - 5);
	assert_false(heldfile_read(o.file, SIZE - 1, 2, out));
	free(out);
	close_it(&o);
}

/* What was looked at once stays as it was. */
static void test_written_to(void **state)
{
	struct opened o = open_numbered();
	const uint8_t *bytes = heldfile_at(o.file, 100, 50);

	(void)state;
	for (unsigned i = 0; i < SIZE; i++)
		assert_int_equal(pwrite(o.fd, "\xff", 1, i), 1);
	expect_numbered(bytes, 100, 50);
	expect_numbered(heldfile_at(o.file, 0, 200), 0, 200);
	assert_int_equal(*(const uint8_t *)heldfile_at(o.file, 3 * BLOCK, 1), 0xff);
	close_it(&o);
}

static void test_cut_off(void **state)
{
	struct opened o = open_numbered();
	struct errmsg err = {0};

	(void)state;
	assert_non_null(heldfile_at(o.file, BLOCK, 1));
	assert_int_equal(ftruncate(o.fd, 0), 0);
	assert_null(heldfile_at(o.file, 3 * BLOCK, 1));
	expect_numbered(heldfile_at(o.file, BLOCK, BLOCK), BLOCK, BLOCK);
	assert_int_equal(heldfile_check(o.file, &err), -1);
	assert_non_null(strstr(err.text, "was cut off while it was read"));
	close_it(&o);
}

static long memory_kb(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* A file of a terabyte with nothing in it takes no memory; all of it cannot be had. */
static void test_sparse(void **state)
{
	const uint64_t size = (uint64_t)BLOCK << 24;
	struct opened o = open_memory(size);
	struct errmsg err = {0};

	(void)state;
	assert_non_null(heldfile_at(o.file, 0, 1)); /* a sanitizer has its own memory for this */
	long before = memory_kb();

	for (uint64_t off = 0; off < size; off += size / 64)
		assert_non_null(heldfile_at(o.file, off, 8));
	assert_true(memory_kb() - before < 20 << 10);
	assert_null(heldfile_at(o.file, size / 4, size / 2));
	assert_int_equal(heldfile_check(o.file, &err), -1);
	assert_non_null(strstr(err.text, "more than 384 MB of it would have to be read"));
	assert_true(memory_kb() - before < 20 << 10);
	close_it(&o);
}

/* Inodes are numbered by each file system for itself. */
static void test_is(void **state)
{
	struct opened o = open_memory(10);
	struct stat st;

	(void)state;
	assert_int_equal(fstat(o.fd, &st), 0);
	assert_true(heldfile_is(o.file, &st));
	st.st_dev++;
	assert_false(heldfile_is(o.file, &st));
	st.st_dev--;
	st.st_ino++;
	assert_false(heldfile_is(o.file, &st));
	close_it(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is),      cmocka_unit_test(test_reads),
		cmocka_unit_test(test_copies),  cmocka_unit_test(test_written_to),
		cmocka_unit_test(test_cut_off), cmocka_unit_test(test_sparse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
