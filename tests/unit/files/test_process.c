// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/heldfile.h"
#include "files/process.h"

/* Copies this program beside itself, to the same file system. */
static void copy_self(char *path, size_t size)
{
	char command[600];
	ssize_t len = readlink("/proc/self/exe", path, size - 8);

	assert_true(len > 0);
	snprintf(path + len, 8, ".copy");
	snprintf(command, sizeof(command), "cp /proc/%d/exe '%s'", getpid(), path);
	assert_int_equal(system(command), 0);
}

/* Of two files with the same contents, in one folder, one is what runs. */
static void test_maps(void **state)
{
	struct errmsg err = {0};
	struct process *self = process_open(getpid(), &err);
	char path[512];

	(void)state;
	assert_non_null(self);
	copy_self(path, sizeof(path));
	struct heldfile *exe = heldfile_open(NULL, "/proc/self/exe", &err);
	struct heldfile *copy = heldfile_open(NULL, path, &err);

	unlink(path);
	assert_non_null(exe);
	assert_non_null(copy);
	assert_true(process_maps(self, exe));
	assert_false(process_maps(self, copy));
	heldfile_close(exe);
	heldfile_close(copy);
	process_close(self);
}

static void test_mapped(void **state)
{
	struct process *self = process_open(getpid(), NULL);
	char *path = process_mapped(self, "libcmocka.so");

	(void)state;
	assert_non_null(path);
	assert_int_equal(*path, '/');
	assert_non_null(strstr(path, "/libcmocka.so"));
	assert_null(strchr(path, '\n'));
	assert_int_equal(access(path, R_OK), 0);
	assert_null(process_mapped(self, "cmocka.so"));
	free(path);
	process_close(self);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
