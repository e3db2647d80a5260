// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/outfile.h"
#include "unit.h"

static const struct outfile_spec shared = {.option = "--metrics", .folder = "", .shared = true};

struct place {
	char folder[64], file[80], target[80];
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	strcpy(place->folder, "/tmp/test-outfile-XXXXXX");
	if (!place || !mkdtemp(place->folder))
		return -1;
	snprintf(place->file, sizeof(place->file), "%s/a.prom", place->folder);
	snprintf(place->target, sizeof(place->target), "%s/target", place->folder);
	*state = place;
	return 0;
}

static unsigned entries(const struct place *place)
{
	DIR *dir = opendir(place->folder);
	unsigned count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

static int remove_place(void **state)
{
	struct place *place = *state;

	unlink(place->file);
	unlink(place->target);
	rmdir(place->file);
	int ret = rmdir(place->folder);

	free(place);
	return ret;
}

static void expect_file(const char *path, const char *wanted)
{
	char text[64] = "";
	FILE *in = fopen(path, "r");

	assert_non_null(in);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, in), strlen(wanted));
	fclose(in);
	assert_string_equal(text, wanted);
}

/* What is said names the option and the file as it was given. */
static void says_why(void **state)
{
	struct place *place = *state;
	struct errmsg err = {0};
	char want[200];

	assert_int_equal(mkfifo(place->file, 0600), 0);
	assert_null(outfile_open(place->file, &shared, &err));
	snprintf(want, sizeof(want), "--metrics: \"%s\" is there and is no regular file",
		 place->file);
	assert_string_equal(err.text, want);
	unlink(place->file);
	assert_int_equal(mkdir(place->file, 0700), 0);
	assert_null(outfile_open(place->file, &shared, &err));
	snprintf(want, sizeof(want), "--metrics: cannot write \"%s\": Is a directory", place->file);
	assert_string_equal(err.text, want);
	assert_null(outfile_open("/nowhere/a.prom", &shared, &err));
	assert_string_equal(err.text, "--metrics: cannot open the folder of \"/nowhere/a.prom\": "
				      "No such file or directory");
	assert_null(outfile_open("/tmp/", &shared, &err));
	assert_string_equal(err.text, "--metrics: \"/tmp/\" names a folder, not a file in it");
}

static void replaces_the_whole(void **state)
{
	struct place *place = *state;
	struct errmsg err = {0};
	mode_t before = umask(077);
	struct outfile *file = outfile_open(place->file, &shared, &err);
	struct stat st, next;

	assert_non_null(file);
	assert_int_equal(entries(place), 0);
	assert_int_equal(outfile_write(file, "one and a half\n", 15, &err), 0);
	expect_file(place->file, "one and a half\n");
	assert_int_equal(stat(place->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(outfile_write(file, "two\n", 4, &err), 0);
	expect_file(place->file, "two\n");
	assert_int_equal(stat(place->file, &next), 0);
	assert_int_not_equal(st.st_ino, next.st_ino);
	assert_int_equal(entries(place), 1);
	outfile_close(file);
	umask(before);
}

/* What a link that stands at the file's name leads to stays as it is. */
static void follows_no_link(void **state)
{
	struct place *place = *state;
	struct errmsg err = {0};
	struct outfile *file;
	struct stat st;
	FILE *out = fopen(place->target, "w");

	fputs("precious", out);
	fclose(out);
	assert_int_equal(symlink(place->target, place->file), 0);
	file = outfile_open(place->file, &shared, &err);
	assert_non_null(file);
	assert_int_equal(outfile_write(file, "x\n", 2, &err), 0);
	expect_file(place->target, "precious");
	assert_int_equal(lstat(place->file, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	outfile_close(file);
}

/* Of a file that is the user's alone: the umask says who reads it, and it takes the place of
 * nothing but such a file. */
static void takes_no_place_of_others(void **state)
{
	const struct outfile_spec own = {.option = "--pprof", .folder = ""};
	struct place *place = *state;
	struct errmsg err = {0};
	mode_t before = umask(077);
	struct outfile *file;
	struct stat st;

	assert_int_equal(symlink(place->target, place->file), 0);
	assert_null(outfile_open(place->file, &own, &err));
	assert_non_null(strstr(err.text, "--pprof: "));
	assert_non_null(strstr(err.text, "no regular file"));
	unlink(place->file);
	assert_int_equal(mkfifo(place->file, 0600), 0);
	assert_null(outfile_open(place->file, &own, &err));
	unlink(place->file);
	file = outfile_open(place->file, &own, &err);
	assert_non_null(file);
	assert_int_equal(outfile_write(file, "x\n", 2, &err), 0);
	assert_int_equal(stat(place->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	outfile_close(file);
	umask(before);
}

static void refuses_folders(void **state)
{
	struct place *place = *state;
	struct errmsg err = {0};
	char path[160];

	assert_int_equal(mkdir(place->file, 0700), 0);
	assert_null(outfile_open(place->file, &shared, &err));
	assert_non_null(strstr(err.text, "Is a directory"));
	snprintf(path, sizeof(path), "%s/", place->folder);
	assert_null(outfile_open(path, &shared, &err));
	snprintf(path, sizeof(path), "%s/no/a.prom", place->folder);
	assert_null(outfile_open(path, &shared, &err));
	assert_non_null(strstr(err.text, "No such file"));
	assert_string_equal(err.hint, "make its folder first");
	err.hint[0] = '\0';
	assert_null(outfile_open("/sys/kernel/a.prom", &shared, &err));
	assert_string_equal(err.hint, "name a folder where this user may make files");
	assert_null(outfile_open("/sys/kernel/no/a.prom", &shared, &err));
	assert_string_equal(err.hint, "make its folder first");
	err.hint[0] = '\0';
	assert_null(outfile_open("/dev/null/a.prom", &shared, &err));
	assert_string_equal(err.hint, "");
}

/* A disk that is full, played by a limit of the size of files. */
static void leaves_nothing_half(void **state)
{
	struct place *place = *state;
	struct errmsg err = {0};
	struct outfile *file = outfile_open(place->file, &shared, &err);
	struct rlimit all, few = {.rlim_cur = 4};

	assert_int_equal(outfile_write(file, "one\n", 4, &err), 0);
	getrlimit(RLIMIT_FSIZE, &all);
	few.rlim_max = all.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &few);
	int ret = outfile_write(file, "one and more\n", 13, &err);

	setrlimit(RLIMIT_FSIZE, &all);
	assert_int_equal(ret, -1);
	assert_non_null(strstr(err.text, "File too large"));
	expect_file(place->file, "one\n");
	assert_int_equal(entries(place), 1);
	outfile_close(file);
}

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* However often it is written, and whether that succeeds or not. */
static void keeps_no_descriptors(void **state)
{
	struct place *place = *state;
	struct errmsg err = {0};
	struct outfile *file = outfile_open(place->file, &shared, &err);
	unsigned before = descriptors();

	for (int i = 0; i < 5; i++)
		assert_int_equal(outfile_write(file, "one\n", 4, &err), 0);
	assert_int_equal(descriptors(), before);
	unlink(place->file);
	assert_int_equal(mkdir(place->file, 0700), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(outfile_write(file, "one\n", 4, &err), -1);
	assert_int_equal(descriptors(), before);
	assert_int_equal(entries(place), 1);
	outfile_close(file);
	assert_int_equal(descriptors(), before - 1);
}

/* A folder that is removed and made again is another, of the same name. */
static void finds_its_folder_again(void **state)
{
	struct place *place = *state;
	struct errmsg err = {0};
	struct outfile *file = outfile_open(place->file, &shared, &err);
	unsigned before = descriptors();

	for (int i = 0; i < 2; i++) {
		assert_int_equal(outfile_write(file, "one\n", 4, &err), 0);
		assert_int_equal(unlink(place->file) || rmdir(place->folder), 0);
		assert_int_equal(outfile_write(file, "two\n", 4, &err), -1);
		assert_non_null(strstr(err.text, "No such file"));
		assert_int_equal(mkdir(place->folder, 0700), 0);
	}
	assert_int_equal(outfile_write(file, "three\n", 6, &err), 0);
	expect_file(place->file, "three\n");
	assert_int_equal(descriptors(), before);
	outfile_close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_why, make_place, remove_place),
		cmocka_unit_test_setup_teardown(replaces_the_whole, make_place, remove_place),
		cmocka_unit_test_setup_teardown(follows_no_link, make_place, remove_place),
		cmocka_unit_test_setup_teardown(takes_no_place_of_others, make_place, remove_place),
		cmocka_unit_test_setup_teardown(refuses_folders, make_place, remove_place),
		cmocka_unit_test_setup_teardown(leaves_nothing_half, make_place, remove_place),
		cmocka_unit_test_setup_teardown(keeps_no_descriptors, make_place, remove_place),
		cmocka_unit_test_setup_teardown(finds_its_folder_again, make_place, remove_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
