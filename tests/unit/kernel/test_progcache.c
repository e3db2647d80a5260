// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfprog.h"
#include "kernel/bytecode_internal.h"
#include "kernel/compile_internal.h"
#include "kernel/progcache_internal.h"
#include "unit.h"

static struct bpf_insn insns[] = {{.code = BPF_JMP | BPF_EXIT}};
static struct bytecode_map maps[] = {{"calls", 1, 2, 3, 4, 5}};
static struct bytecode_func funcs[] = {{"on_probe", insns, 1}};
static struct bytecode code = {maps, funcs, 1, 1};
static struct compiled compiled = {&code, "", ""};
static const struct bpfprog_define defs[] = {{"ROOM", 5}, {"ROOM", 6}};
static char dir[] = "/tmp/progcache.XXXXXX";
static char *folder;

enum { HEAD = 32 }; /* bytes of a file that are not packed */

static void forget(const char *path)
{
	char *command = mem_printf("rm -rf '%s'", path);

	assert_int_equal(system(command), 0);
	free(command);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(strrchr(dir, '.'), ".XXXXXX");
	assert_non_null(mkdtemp(dir));
	folder = mem_printf("%s/a/programs", dir);
	setenv("GOTOOLS_CACHE", folder, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	forget(dir);
	free(folder);
	return 0;
}

static bool finds(const char *text, const struct bpfprog_define *define)
{
	struct progcache *kept = progcache_open(text, define, 1);
	struct bytecode *found = progcache_find(kept);
	bool whole = found && found->nmaps == 1 && found->nfuncs == 1 &&
		     !strcmp(found->funcs[0].name, "on_probe") && found->maps[0].flags == 5;

	assert_true(whole || !found);
	bytecode_free(found);
	progcache_close(kept);
	return whole;
}

static void keep(const char *text)
{
	struct progcache *kept = progcache_open(text, defs, 1);

	progcache_keep(kept, &compiled);
	progcache_close(kept);
}

/* The path of the only file; caller frees. */
static char *only_file(void)
{
	DIR *all = opendir(folder);
	const struct dirent *entry;
	char *found = NULL;

	while ((entry = readdir(all)))
		if (entry->d_name[0] != '.') {
			assert_null(found);
			found = mem_printf("%s/%s", folder, entry->d_name);
		}
	closedir(all);
	assert_non_null(found);
	return found;
}

/* Of all that the outcome depends on, nothing may differ. */
static void test_kept(void **state)
{
	struct stat st;

	(void)state;
	assert_false(finds("text", defs));
	keep("text");
	assert_true(finds("text", defs));
	assert_false(finds("texts", defs));
	assert_false(finds("text", defs + 1));
	setenv("LD_LIBRARY_PATH", "/elsewhere", 1);
	assert_false(finds("text", defs));
	unsetenv("LD_LIBRARY_PATH");
	assert_true(finds("text", defs));
	assert_int_equal(stat(folder, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	char *path = only_file();

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_string_equal(path + strlen(path) - 4, ".bpf");
	free(path);
}

/* What is used stays longest. */
static void test_used(void **state)
{
	static const struct timespec old[2] = {{1, 0}, {1, 0}};
	struct stat st;

	(void)state;
	keep("text");
	char *path = only_file();

	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	assert_true(finds("text", defs));
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_mtim.tv_sec > 1);
	free(path);
}

/* The PID is another one at each start. */
static void test_number_of_one_start(void **state)
{
	static const struct bpfprog_define pids[] = {{"TGID", 5}, {"TGID", 6}};
	struct progcache *kept = progcache_open("text", pids, 1);

	(void)state;
	progcache_keep(kept, &compiled);
	progcache_close(kept);
	assert_true(finds("text", pids));
	assert_true(finds("text", pids + 1));
	assert_false(finds("text", defs));
}

static void test_folder_is_told(void **state)
{
	struct progcache *kept = progcache_open("text", defs, 1);

	(void)state;
	assert_string_equal(progcache_folder(kept), folder);
	progcache_close(kept);
}

static void change_byte(const char *path, off_t at)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte;

	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

/* Any bit of the file that is not as it was written, and it is no longer taken. */
static void test_damaged(void **state)
{
	struct stat st;

	(void)state;
	keep("text");
	char *path = only_file();

	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += at < 64 ? 1 : 7) {
		change_byte(path, at);
		assert_false(finds("text", defs));
		change_byte(path, at);
	}
	assert_true(finds("text", defs));
	assert_int_equal(truncate(path, st.st_size - 1), 0);
	assert_false(finds("text", defs));
	assert_int_equal(truncate(path, 3), 0);
	assert_false(finds("text", defs));
	free(path);
}

/* Another text whose sum is the same would be in the same file: the whole text is compared. */
static void test_same_name(void **state)
{
	(void)state;
	keep("text");
	char *path = only_file();

	keep("tent");
	DIR *all = opendir(folder);
	const struct dirent *entry;

	while ((entry = readdir(all))) {
		char *other = mem_printf("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.' && strcmp(other, path) != 0)
			assert_int_equal(rename(path, other), 0);
		free(other);
	}
	closedir(all);
	assert_false(finds("tent", defs));
	free(path);
}

/* What others could have written is not run in the kernel. */
static void test_others(void **state)
{
	(void)state;
	keep("text");
	assert_int_equal(chmod(folder, 0777), 0);
	assert_false(finds("text", defs));
	assert_int_equal(chmod(folder, 0700), 0);
	assert_true(finds("text", defs));
	assert_int_equal(chown(folder, 1, 1), 0);
	assert_false(finds("text", defs));
	assert_int_equal(chown(folder, 0, 0), 0);
	char *path = only_file();

	assert_int_equal(chmod(path, 0620), 0);
	assert_false(finds("text", defs));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(chown(path, 1, 1), 0);
	assert_false(finds("text", defs));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0); /* and nobody waits for it */
	assert_false(finds("text", defs));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_false(finds("text", defs));
	free(path);
}

static void test_link_to_a_folder(void **state)
{
	char *real = mem_printf("%s/real", dir);

	(void)state;
	keep("text");
	assert_int_equal(rename(folder, real), 0);
	assert_int_equal(symlink(real, folder), 0);
	assert_false(finds("text", defs));
	free(real);
}

static void test_nowhere(void **state)
{
	static const char *const wishes[] = {"no", "", "relative/folder", "/proc/nowhere/programs"};

	(void)state;
	for (size_t i = 0; i < sizeof(wishes) / sizeof(*wishes); i++) {
		setenv("GOTOOLS_CACHE", wishes[i], 1);
		assert_null(progcache_open("text", defs, 1));
		keep("text");
		assert_false(finds("text", defs));
	}
}

/* A text of a hundred thousand bytes that are much alike takes far less room. */
static void test_packed(void **state)
{
	char *text = mem_zalloc(1, 100001);
	struct stat st;

	(void)state;
	memset(text, 'a', 100000);
	keep(text);
	assert_true(finds(text, defs));
	char *path = only_file();

	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 100, 2000);
	free(path);
	free(text);
}

/* A process that has begun to compile "text": it has said so, and keeps it, when told, after a
 * while */
struct compiler {
	pid_t pid;
	int told, go;
};

static struct compiler another_compiles(bool has_warnings)
{
	int told[2], go[2];
	char byte = 0;

	assert_int_equal(pipe2(told, O_CLOEXEC) | pipe2(go, O_CLOEXEC), 0);
	struct compiler other = {fork(), told[0], go[1]};

	if (!other.pid) {
		struct progcache *kept = progcache_open("text", defs, 1);
		bool found = progcache_find(kept);

		if (found || write(told[1], "b", 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		usleep(100000);
		if (!has_warnings)
			progcache_keep(kept, &compiled);
		progcache_close(kept);
		_exit(0);
	}
	close(told[1]);
	close(go[0]);
	assert_int_equal(read(other.told, &byte, 1), 1);
	return other;
}

static void end(struct compiler *other)
{
	int status;

	assert_int_equal(waitpid(other->pid, &status, 0), other->pid);
	assert_true(status == 0 || WIFSIGNALED(status));
	close(other->told);
	close(other->go);
}

static void test_another_compiles(void **state)
{
	struct compiler other = another_compiles(false);

	(void)state;
	assert_int_equal(write(other.go, "g", 1), 1);
	assert_true(finds("text", defs)); /* waited for */
	end(&other);
	free(only_file());
}

/* It had a warning, or was killed: what it has begun is left to the next */
static void test_another_keeps_nothing(void **state)
{
	struct compiler other = another_compiles(true);

	(void)state;
	assert_int_equal(write(other.go, "g", 1), 1);
	assert_false(finds("text", defs));
	end(&other);
	other = another_compiles(false);
	assert_int_equal(kill(other.pid, SIGKILL), 0);
	assert_false(finds("text", defs));
	end(&other);
	keep("text");
	assert_true(finds("text", defs));
	free(only_file());
}

/* Written by a compiler that is another one by now */
static void test_library_changes(void **state)
{
	static const struct timespec then[2] = {{1, 0}, {1, 5}}, now[2] = {{1, 0}, {2, 0}};
	char *path = mem_printf("%s/libLLVM-0.so", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct stat st;
	size_t len;

	(void)state;
	assert_int_equal(write(fd, "abc", 3), 3);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
	assert_int_equal(stat(path, &st), 0);
	FILE *out = open_memstream(&compiled.libraries, &len);

	compile_note_library(out, path, &st);
	fclose(out);
	char *line = mem_printf("3 1.000000005 %s\n", path);

	assert_string_equal(compiled.libraries, line);
	free(line);
	keep("text");
	assert_true(finds("text", defs));
	assert_int_equal(utimensat(AT_FDCWD, path, now, 0), 0);
	assert_false(finds("text", defs));
	assert_int_equal(utimensat(AT_FDCWD, path, then, 0), 0);
	assert_true(finds("text", defs));
	assert_int_equal(unlink(path), 0);
	assert_false(finds("text", defs));
	free(compiled.libraries);
	compiled.libraries = "";
	free(path);
}

static off_t size_of_all(size_t *count)
{
	DIR *all = opendir(folder);
	const struct dirent *entry;
	struct stat st;
	off_t sum = 0;

	*count = 0;
	while ((entry = readdir(all)))
		if (!fstatat(dirfd(all), entry->d_name, &st, 0) && S_ISREG(st.st_mode)) {
			sum += st.st_size;
			++*count;
		}
	closedir(all);
	return sum;
}

static char *make_big(const char *name, off_t size, time_t used)
{
	const struct timespec times[2] = {{used, 0}, {used, 0}};
	char *path = mem_printf("%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
	return path;
}

/* Above 64 MiB what was used last stays, up to three quarters of that; files of others stay. */
static void test_room(void **state)
{
	enum { MIB = 1 << 20 };
	char *paths[5];
	size_t count;

	(void)state;
	keep("first");
	char *other = make_big("notes", 100 * MIB, 1);

	paths[0] = make_big("0123456789abcdef.bpf", 15 * MIB, 1000);
	paths[1] = make_big("0000000000000001.bpf", 15 * MIB, 3000);
	paths[2] = make_big("0000000000000002.new", 15 * MIB, 2000);
	paths[3] = make_big("0000000000000003.bpf", 15 * MIB, 5000);
	keep("second");
	size_of_all(&count);
	assert_int_equal(count, 7);
	paths[4] = make_big("0000000000000004.bpf", 15 * MIB, 4000);
	keep("third");
	assert_true(size_of_all(&count) <= 148 * MIB);
	assert_int_equal(access(other, F_OK), 0);
	assert_int_equal(access(paths[0], F_OK), -1);
	assert_int_equal(access(paths[1], F_OK), 0);
	assert_int_equal(access(paths[2], F_OK), -1);
	assert_int_equal(access(paths[3], F_OK), 0);
	assert_int_equal(access(paths[4], F_OK), 0);
	assert_true(finds("first", defs));
	assert_true(finds("second", defs));
	assert_true(finds("third", defs));
	for (size_t i = 0; i < 5; i++)
		free(paths[i]);
	free(other);
}

/* A tool that was killed while it wrote does not keep others from it, and nothing of it stays. */
static void test_killed_while_writing(void **state)
{
	(void)state;
	keep("text");
	char *path = only_file(), *new = mem_printf("%.*s.new", (int)strlen(path) - 4, path);

	assert_int_equal(rename(path, new), 0);
	assert_int_equal(truncate(new, 100000), 0);
	keep("text");
	assert_true(finds("text", defs));
	assert_int_equal(access(new, F_OK), -1);
	free(path);
	free(new);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(test_kept),
		CASE(test_folder_is_told),
		CASE(test_used),
		CASE(test_number_of_one_start),
		CASE(test_damaged),
		CASE(test_same_name),
		CASE(test_others),
		CASE(test_link_to_a_folder),
		CASE(test_nowhere),
		CASE(test_library_changes),
		CASE(test_room),
		CASE(test_killed_while_writing),
		CASE(test_packed),
		CASE(test_another_compiles),
		CASE(test_another_keeps_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
