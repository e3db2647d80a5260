// SPDX-License-Identifier: Apache-2.0
#include <bcc/bcc_syms.h>
#include <dlfcn.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/signals.h"
#include "kernel/bpfprog_internal.h"
#include "kernel/headertree_internal.h"
#include "kernel/kernelfeature_internal.h"
#include "kernel/libbcc_internal.h"
#include "kernel/readhelpers_internal.h"
#include "unit.h"

static bool exists(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	bool there = !access(path, F_OK);

	free(path);
	return there;
}

static void check_tree(void)
{
	struct errmsg err = {0};
	struct headertree *tree = headertree_new(&err);
	const char *dir = headertree_dir(tree);
	char *copy = mem_strdup(dir);
	struct stat st;

	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_true(exists(dir, "include/uapi/linux/ptrace.h"));
	assert_true(exists(dir, "shared/cookie.h"));
	assert_false(exists(dir, "gofunccount.bpf.c"));
	headertree_free(tree);
	assert_int_equal(access(copy, F_OK), -1);
	free(copy);
}

static void drop_privileges(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capset, &header, data))
		_exit(2);
}

/* in a file system of its own, or, without privileges, in a folder that is removed */
static void test_tree(void **state)
{
	int status;

	(void)state;
	setenv("TMPDIR", "/nowhere", 1); /* whose it is, nobody knows */
	check_tree();
	pid_t pid = fork();

	if (pid == 0) {
		drop_privileges();
		check_tree();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	unsetenv("TMPDIR");
}

/* A signal that ends the tool removes the folder. */
static void test_tree_interrupted(void **state)
{
	char said[256] = "";
	int ends[2], status;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();

	if (pid == 0) {
		struct errmsg err;

		drop_privileges();
		close(STDERR_FILENO);
		signals_take("tool");
		dprintf(ends[1], "%s", headertree_dir(headertree_new(&err)));
		raise(SIGTERM);
		_exit(2);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	assert_int_equal(strncmp(said, "/dev/shm/", 9), 0);
	assert_int_equal(access(said, F_OK), -1);
	close(ends[0]);
	close(ends[1]);
}

static void test_sources(void **state)
{
	(void)state;
	assert_non_null(strstr(bpfprog_source("gofunccount.bpf.c"), "on_probe"));
	assert_non_null(bpfprog_source("gofunclatency.bpf.c"));
	assert_null(bpfprog_source("nothing.bpf.c"));
}

/* needs no privileges: it does not get as far as the kernel */
static void test_compile_error(void **state)
{
	struct bpfprog_define broken = {"row", 1};
	struct errmsg err = {0};

	(void)state;
	setenv("BCC_KERNEL_SOURCE", "/the/user's/own", 1);
	assert_null(bpfprog_compile("gofunccount.bpf.c", &broken, 1, NULL, 0, &err));
	assert_non_null(strstr(err.text, "gofunccount.bpf.c does not compile: "));
	assert_non_null(strstr(err.text, "error:"));
	assert_null(strchr(err.text, '\n'));
	assert_string_equal(getenv("BCC_KERNEL_SOURCE"), "/the/user's/own");
	unsetenv("BCC_KERNEL_SOURCE");
	assert_null(bpfprog_compile("nothing.bpf.c", NULL, 0, NULL, 0, &err));
	assert_string_equal(err.text, "no BPF program \"nothing.bpf.c\" in this tool");
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

/* C files stand where they are included, theirs too, once each; headers are left to the compiler */
static void test_files(void **state)
{
	static const char *const parts[] = {"parts/cost.bpf.c", "parts/find_cookie.bpf.c",
					    "parts/follow_exec.bpf.c", "parts/descendants.bpf.c"};
	char *text = bpfprog_text("gofunccount.bpf.c", NULL, 0), *last = text;

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *part = bpfprog_source(parts[i]);

		assert_non_null(part);
		last = strstr(last, part);
		assert_non_null(last);
		assert_int_equal(count_of(text, part), 1);
	}
	assert_null(strstr(text, ".bpf.c\"\n"));
	assert_int_equal(count_of(text, "#include \"parts/probe.h\"\n"), 1);
	assert_non_null(strstr(last, "int on_probe("));
	free(text);
}

/* A part that two others include stands where the first of them is. */
static void test_files_once(void **state)
{
	char *text = bpfprog_text("gofunclatency.bpf.c", NULL, 0);
	const char *losses = bpfprog_source("parts/losses.bpf.c");

	(void)state;
	assert_non_null(losses);
	assert_int_equal(count_of(text, losses), 1);
	free(text);
}

/* an insert follows the line of its mark; all else stays */
static void test_text(void **state)
{
	const struct bpfprog_insert inserts[] = {{"nowhere", "x"}, {"plans", "a\nb\n"}};
	char *plain = bpfprog_text("gotrace.bpf.c", NULL, 0);
	char *text = bpfprog_text("gotrace.bpf.c", inserts, 2);
	const char *mark = strstr(plain, "/* generated: plans */\n");

	(void)state;
	assert_non_null(mark);
	size_t before = strchr(mark, '\n') + 1 - plain;

	assert_memory_equal(text, plain, before);
	assert_memory_equal(text + before, "a\nb\n", 4);
	assert_string_equal(text + before + 4, plain + before);
	assert_null(bpfprog_text("nothing.bpf.c", inserts, 2));
	free(plain);
	free(text);
}

static bool libbcc_finds(const char *symbol)
{
	__typeof__(bcc_symcache_new) *open_symbols = dlsym(RTLD_DEFAULT, "bcc_symcache_new");
	__typeof__(bcc_symcache_resolve_name) *resolve =
		dlsym(RTLD_DEFAULT, "bcc_symcache_resolve_name");
	__typeof__(bcc_free_symcache) *free_symbols = dlsym(RTLD_DEFAULT, "bcc_free_symcache");
	void *symbols = open_symbols(-1, NULL);
	uint64_t addr;
	bool found = !resolve(symbols, NULL, symbol, &addr);

	free_symbols(symbols, -1);
	return found;
}

/* Linux 5.5 has both. Of the kernel's symbols libbcc sees no others: it did not read them. */
static void test_read_helpers(void **state)
{
	struct errmsg err;

	(void)state;
	assert_non_null(libbcc_open(&err));
	readhelpers_try();
	assert_true(libbcc_finds("bpf_probe_read_user"));
	assert_true(libbcc_finds("bpf_probe_read_kernel"));
	assert_false(libbcc_finds("bpf_map_update_elem"));
}

static void take_alarm(int number)
{
	(void)number;
}

/* A signal ends a trial before it is over: that says nothing of the kernel. */
static void test_trials_interrupted(void **state)
{
	const struct sigaction take = {.sa_handler = take_alarm, .sa_flags = SA_RESTART};
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	unsigned missed = 0;

	(void)state;
	sigaction(SIGALRM, &take, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (unsigned i = 0; i < 2000; i++)
		missed += !kernelfeature_probe_read_user();
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_DFL);
	assert_int_equal(missed, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_tree_interrupted),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_compile_error),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_files_once),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_read_helpers),
		cmocka_unit_test(test_trials_interrupted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
