// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/fileroot_internal.h"
#include "files/heldfile.h"
#include "unit.h"

/* A stranger's tree, `folder`/in, and what lies beside it. */
static char folder[] = "/tmp/test-fileroot-XXXXXX";

static void make_file(const char *name)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, name, strlen(name)), strlen(name));
	close(fd);
}

static int make_tree(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder) || mkdir("in", 0755) || mkdir("in/lib", 0755) ||
	    mkdir("in/usr", 0755))
		return -1;
	make_file("secret");
	make_file("in/app");
	make_file("in/lib/liba.so.1");
	make_file("in/lib/liba.so.2");
	if (symlink("../../secret", "in/lib/up") || symlink("/secret", "in/outside") ||
	    symlink("../../../../../../../../app", "in/lib/clamped") ||
	    symlink("/lib/liba.so.2", "in/usr/library") || symlink("lib", "in/lib64") ||
	    symlink("/usr/../lib64/./up", "in/usr/long") || symlink("circle", "in/circle") ||
	    symlink("/proc/self/fd", "in/magic") || mkfifo("in/fifo", 0644))
		return -1;
	return 0;
}

static int remove_tree(void **state)
{
	char *command = mem_printf("rm -rf %s", folder);
	int ret = system(command);

	(void)state;
	free(command);
	return ret;
}

static struct fileroot *stranger(void)
{
	int fd = open("in", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fileroot_new(fd, "/proc/1/root");
}

/* what is found: its name in the stranger's tree, or an errno */
static const struct {
	const char *path, *found;
	int error;
} rows[] = {
	{"/app", "/app", 0},
	{"app", "/app", 0},
	{"//app", "/app", 0},
	{"/usr/library", "/lib/liba.so.2", 0},
	{"/lib64/liba.so.1", "/lib/liba.so.1", 0},
	{"/lib/clamped", "/app", 0},
	{"/../../../app", "/app", 0},
	{"/lib/../../../app", "/app", 0},
	{"/fifo", "/fifo", 0},
	{"/lib", "/lib", 0},
	{"/", "/", 0},
	{"/lib/up", NULL, ENOENT},
	{"/usr/long", NULL, ENOENT},
	{"/outside", NULL, ENOENT},
	{"/../secret", NULL, ENOENT},
	{"/magic/0", NULL, ENOENT},
	{"/circle", NULL, ELOOP},
	{"/app/x", NULL, ENOTDIR},
	{"", NULL, ENOENT},
};

static void check(int fd, int error, const char *path, const char *found, int expected)
{
	struct stat st, want;
	char *name = found ? mem_printf("in%s", found) : NULL;

	if (!found && (fd >= 0 || error != expected))
		fail_msg("\"%s\": %s", path, fd >= 0 ? "found" : strerror(error));
	if (found && fd < 0)
		fail_msg("\"%s\": %s", path, strerror(error));
	if (found) {
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(stat(name, &want), 0);
		assert_int_equal(st.st_ino, want.st_ino);
		close(fd);
	}
	free(name);
}

/* Nothing leads out of a stranger's tree, as the kernel resolves paths and as we do. */
static void test_stays_inside(void **state)
{
	struct fileroot *root = stranger();
	int dir = open("in", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int fd = fileroot_find(root, rows[i].path);

		check(fd, errno, rows[i].path, rows[i].found, rows[i].error);
		fd = fileroot_walk(dir, rows[i].path);
		check(fd, errno, rows[i].path, rows[i].found, rows[i].error);
	}
	close(dir);
	fileroot_close(root);
}

static void test_names(void **state)
{
	struct fileroot *root = stranger(), *own = fileroot_own();
	struct fileroot *same = fileroot_new(open("/", O_PATH | O_CLOEXEC), "/proc/1/root");
	int fd = fileroot_find(root, "/usr/library");
	char *whole = mem_printf("%s/in/lib/liba.so.2", folder);
	char *name = fileroot_name(root, fd), *own_name = fileroot_name(own, fd);
	char *same_name = fileroot_name(same, fd);

	(void)state;
	assert_string_equal(name, "/lib/liba.so.2");
	assert_string_equal(own_name, whole);
	assert_string_equal(same_name, whole);
	free(same_name);
	fileroot_close(same);
	free(name);
	free(own_name);
	free(whole);
	close(fd);
	fd = open("secret", O_PATH | O_CLOEXEC);
	assert_null(fileroot_name(root, fd));
	close(fd);
	fileroot_close(root);
	fileroot_close(own);
}

static void test_last_match(void **state)
{
	struct fileroot *root = stranger();
	char *last = fileroot_last_match(root, "/lib64", "liba.so.[0-9]*", NULL);
	char *before = fileroot_last_match(root, "/lib64", "liba.so.[0-9]*", last);

	(void)state;
	assert_string_equal(last, "liba.so.2");
	assert_string_equal(before, "liba.so.1");
	assert_null(fileroot_last_match(root, "/lib64", "liba.so.[0-9]*", before));
	assert_null(fileroot_last_match(root, "/fifo", "*", NULL));
	assert_null(fileroot_last_match(root, "/outside", "*", NULL));
	free(last);
	free(before);
	fileroot_close(root);
}

/* A FIFO would be waited for. */
static void test_only_regular_files(void **state)
{
	struct fileroot *root = stranger();
	struct errmsg err = {0};

	(void)state;
	assert_null(heldfile_open(root, "/fifo", &err));
	assert_string_equal(err.text, "\"/proc/1/root/fifo\": not a regular file");
	assert_null(heldfile_open(root, "/lib", &err));
	assert_string_equal(err.text, "\"/proc/1/root/lib\": is a directory");
	assert_null(heldfile_open(NULL, "/dev/zero", &err));
	assert_string_equal(err.text, "\"/dev/zero\": not a regular file");
	struct heldfile *file = heldfile_open(root, "/usr/library", &err);

	assert_non_null(file);
	assert_string_equal(heldfile_path(file), "/proc/1/root/usr/library");
	heldfile_close(file);
	fileroot_close(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stays_inside),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_last_match),
		cmocka_unit_test(test_only_regular_files),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
