// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/heldfile.h"
#include "tracing/filewatch_internal.h"
#include "unit.h"

static char dir[] = "/tmp/filewatch.XXXXXX";
static char path[64], other[64];

static void write_file(const char *name, const char *text, int flags)
{
	int fd = open(name, O_WRONLY | O_CREAT | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	write_file(path, "one", O_TRUNC);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	return rmdir(dir);
}

static struct filewatch *watch_it(void)
{
	struct filewatch *watch = filewatch_new();
	struct heldfile *file = heldfile_open(NULL, path, NULL);

	assert_non_null(file);
	filewatch_add(watch, file);
	heldfile_close(file);
	assert_null(filewatch_lack(watch));
	assert_null(filewatch_written(watch));
	assert_null(filewatch_replaced(watch, 0));
	return watch;
}

static void test_written(void **state)
{
	struct filewatch *watch = watch_it();

	(void)state;
	write_file(path, "two!", O_TRUNC);
	assert_string_equal(filewatch_written(watch), path);
	assert_null(filewatch_replaced(watch, 0));
	filewatch_free(watch);
}

/* the way of installers and of the Go linker: the old inode is left alone */
static void test_replaced(void **state)
{
	struct filewatch *watch = watch_it();

	(void)state;
	write_file(other, "two", O_TRUNC);
	assert_int_equal(rename(other, path), 0);
	assert_null(filewatch_written(watch));
	assert_string_equal(filewatch_replaced(watch, 0), path);
	assert_null(filewatch_replaced(watch, 1));
	filewatch_free(watch);
}

/* The fd is readable as soon as the file is renamed, renamed over or removed, which is told once.
 */
static void test_told_at_once(void **state)
{
	(void)state;
	for (int way = 0; way < 3; way++) {
		write_file(path, "one", O_TRUNC);
		struct filewatch *watch = watch_it();
		struct pollfd fd = {filewatch_fd(watch), POLLIN, 0};

		write_file(other, "two", O_TRUNC);
		assert_int_equal(poll(&fd, 1, 0), 0);
		assert_null(filewatch_newly_replaced(watch));
		if (way == 0)
			assert_int_equal(rename(other, path), 0);
		else if (way == 1)
			assert_int_equal(rename(path, other), 0);
		else
			assert_int_equal(unlink(path), 0);
		assert_int_equal(poll(&fd, 1, 0), 1);
		assert_null(filewatch_written(watch));
		assert_string_equal(filewatch_newly_replaced(watch), path);
		assert_null(filewatch_newly_replaced(watch));
		assert_string_equal(filewatch_replaced(watch, 0), path);
		filewatch_free(watch);
	}
}

/* Who executes a file opens it first. */
static void test_opened(void **state)
{
	struct filewatch *watch = filewatch_new();
	struct heldfile *file = heldfile_open(NULL, path, NULL);
	char byte;

	(void)state;
	filewatch_add(watch, file);
	assert_false(filewatch_is_unopened(watch, file)); /* not known */
	filewatch_note_openings(watch);
	assert_int_equal(pread(heldfile_fd(file), &byte, 1, 0), 1);
	assert_int_equal(chmod(path, 0700), 0);
	assert_true(filewatch_is_unopened(watch, file));
	close(open(path, O_RDONLY));
	assert_false(filewatch_is_unopened(watch, file));
	assert_null(filewatch_written(watch));
	write_file(path, "two!", O_TRUNC);
	assert_string_equal(filewatch_written(watch), path);
	heldfile_close(file);
	filewatch_free(watch);
}

/* What has been noted stays, whatever is done to the file then: here with its size and time as they
 * were. */
static void test_several_events(void **state)
{
	struct filewatch *watch = filewatch_new();
	struct heldfile *file = heldfile_open(NULL, path, NULL);
	const struct stat *then = heldfile_then(file);
	const struct timespec times[2] = {then->st_atim, then->st_mtim};

	(void)state;
	filewatch_add(watch, file);
	filewatch_note_openings(watch);
	write_file(path, "two", 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_false(filewatch_is_unopened(watch, file));
	close(open(path, O_RDONLY));
	assert_string_equal(filewatch_written(watch), path);
	assert_false(filewatch_is_unopened(watch, file));
	assert_int_equal(chmod(path, 0700), 0);
	assert_string_equal(filewatch_written(watch), path);
	assert_false(filewatch_is_unopened(watch, file));
	heldfile_close(file);
	filewatch_free(watch);
}

static void test_removed(void **state)
{
	struct filewatch *watch = watch_it();

	(void)state;
	unlink(path);
	assert_null(filewatch_written(watch));
	assert_string_equal(filewatch_replaced(watch, 0), path);
	filewatch_free(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_told_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_removed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(test_several_events, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
