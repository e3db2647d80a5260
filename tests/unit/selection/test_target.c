// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "selection/target.h"
#include "unit.h"

/* A folder, which tests run in: a program `prog` (in PATH too), a library, names with colons. */
static char folder[] = "/tmp/test-target-XXXXXX";

static void make_file(const char *name, int mode)
{
	int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
}

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	mkdir("bin", 0755);
	mkdir("a:b", 0755);
	make_file("bin/prog", 0755);
	make_file("bin/data", 0644);
	make_file("a:b/prog:1", 0755);
	make_file("here", 0755);
	make_file("here:too", 0755);
	char *path = mem_printf("/nonexistent:%s/bin:/usr/bin:/bin", folder);

	setenv("PATH", path, 1);
	free(path);
	return 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"bin/prog", "bin/data", "a:b/prog:1", "here",
					    "here:too", "bin",      "a:b",        folder};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(names[i]);
	return 0;
}

static void test_parse(void **state)
{
	static const struct {
		const char *arg;
		bool has_process;
		const char *binary, *pattern;
	} rows[] = {
		{"/bin/x:main.*", false, "/bin/x", "main.*"},
		{"p:/bin/x:main.*", false, "/bin/x", "main.*"},
		{"prog:main.(*T).Foo", false, "prog", "main.(*T).Foo"},
		{"p:main.*", false, "p", "main.*"},
		{"prog:type:.eq.main.T", false, "prog", "type:.eq.main.T"},
		{"./a:b/prog:1:main.main", false, "./a:b/prog:1", "main.main"},
		{"./a:c:main.main", false, "./a", "c:main.main"},
		{"./here:too:main.main", false, "./here", "too:main.main"}, /* both are there */
		{":main.*", true, NULL, "main.*"},
		{"main.*", true, NULL, "main.*"},
		{"p::main.*", true, NULL, "main.*"},
		{"p:main.*", true, NULL, "main.*"},
		{"type:.eq.main.T", true, NULL, "type:.eq.main.T"},
		{":type:.eq.main.T", true, NULL, "type:.eq.main.T"},
		{"prog:main.*", true, "prog", "main.*"},
		{"here:main.*", true, "here", "main.*"},
		{"/no/such:main.*", true, "/no/such", "main.*"},
		/* lines of files, with or without a colon before */
		{"prog:@a.go:7", false, "prog", "@a.go:7"},
		{"prog@x/a.go:7", false, "prog", "@x/a.go:7"},
		{"p:./here@a.go:12", false, "./here", "@a.go:12"},
		{"./a:b/prog:1:@a.go:7", false, "./a:b/prog:1", "@a.go:7"},
		{"prog:@a@b.go:7", false, "prog:@a", "@b.go:7"},
		{"@a.go:7", true, NULL, "@a.go:7"},
		{":@a.go:7", true, NULL, "@a.go:7"},
		{"prog@a.go:7", true, "prog", "@a.go:7"},
		/* none */
		{"prog:f@a:x7", false, "prog", "f@a:x7"},
		{"prog:f@a:", false, "prog", "f@a:"},
		{"prog:f@7", false, "prog", "f@7"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct target_spec spec;
		struct errmsg err = {0};

		if (target_spec_parse(rows[i].arg, rows[i].has_process, &spec, &err))
			fail_msg("\"%s\": %s", rows[i].arg, err.text);
		assert_string_equal(spec.pattern, rows[i].pattern);
		assert_int_equal(!!spec.binary, !!rows[i].binary);
		if (spec.binary)
			assert_string_equal(spec.binary, rows[i].binary);
		target_spec_free(&spec);
	}
}

static void test_parse_errors(void **state)
{
	static const struct {
		const char *arg;
		bool has_process;
		const char *text, *hint;
	} rows[] = {
		{"main.*", false, "no BINARY in \"main.*\"", "-p PID"},
		{":main.*", false, "no BINARY in \":main.*\"", "-p PID"},
		{"", false, "no BINARY in \"\"", "-p PID"},
		{"20273", false, "no BINARY in \"20273\"", "PID: -p 20273"},
		{"./here", false, "no BINARY in \"./here\"", "'./here:*'"},
		{"/bin/x:", false, "no PATTERN in \"/bin/x:\"", "'/bin/x:*'"},
		{":", true, "no PATTERN in \":\"", "':*'"},
		{"", true, "no PATTERN in \"\"", "'*'"},
		{"@a.go:7", false, "no BINARY in \"@a.go:7\"", "-p PID"},
		{":@a.go:7", false, "no BINARY in \":@a.go:7\"", "-p PID"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct target_spec spec;
		struct errmsg err = {0};

		assert_int_equal(target_spec_parse(rows[i].arg, rows[i].has_process, &spec, &err),
				 -1);
		assert_string_equal(err.text, rows[i].text);
		assert_non_null(strstr(err.hint, rows[i].hint));
	}
}

static void check_resolved(const char *binary, pid_t pid, const char *expected)
{
	struct errmsg err = {0};
	struct process *proc = pid ? process_open(pid, &err) : NULL;
	struct heldfile *file = target_resolve(binary, proc, &err);

	if (!file)
		fail_msg("\"%s\": %s", binary, err.text);
	assert_string_equal(heldfile_path(file), expected);
	heldfile_close(file);
	process_close(proc);
}

static void test_resolve(void **state)
{
	char *prog = mem_printf("%s/bin/prog", folder);
	char exe[64];

	(void)state;
	check_resolved(prog, 0, prog);
	check_resolved("./here", 0, "./here");
	check_resolved("prog", 0, prog);
	check_resolved("here", 0, "./here");
	snprintf(exe, sizeof(exe), "/proc/%d/exe", getpid());
	check_resolved(NULL, getpid(), exe);
	/* same root and mounts: no need to look through /proc */
	check_resolved(prog, getpid(), prog);
	check_resolved("./here", getpid(), "./here");
	free(prog);
}

static void test_resolve_library(void **state)
{
	struct heldfile *file = target_resolve("c", NULL, NULL);

	(void)state;
	assert_non_null(file);
	assert_non_null(strstr(heldfile_path(file), "/libc.so"));
	heldfile_close(file);
}

/* Probes of bcc's trace and of bpftrace, and names that only look like them. */
static void test_foreign(void **state)
{
	static const struct {
		const char *arg, *text, *hint;
	} rows[] = {
		{"uprobe:/bin/x:f", "\"uprobe:/bin/x:f\" is a probe of other tools",
		 "for the function: '/bin/x:f'"},
		{"uretprobe:./x:f {@=count()}",
		 "\"uretprobe:./x:f {@=count()}\" is a probe of other tools",
		 "for the function: './x:f'"},
		{"u:/bin/x:f", "\"u:/bin/x:f\" is a probe of other tools",
		 "for the function: '/bin/x:f'; for USDT probes use bcc's own tools"},
		{"p::f", "no BINARY in \"p::f\"",
		 "name the program, as in 'BINARY:f', or give a process with -p PID or "
		 "-- COMMAND; for functions of the kernel use bcc's own tools"},
	};
	struct target_spec spec;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct errmsg err = {0};

		assert_int_equal(target_spec_parse(rows[i].arg, false, &spec, &err), -1);
		assert_string_equal(err.text, rows[i].text);
		assert_string_equal(err.hint, rows[i].hint);
	}
	assert_int_equal(target_spec_parse("u:main.f", false, &spec, NULL), 0);
	assert_string_equal(spec.binary, "u");
	target_spec_free(&spec);
	assert_int_equal(target_spec_parse("p::f", true, &spec, NULL), 0);
	target_spec_free(&spec);
}

static void test_resolve_errors(void **state)
{
	static const struct {
		const char *binary, *text;
	} rows[] = {
		{"/no/such", "\"/no/such\": No such file or directory"},
		{"./bin", "\"./bin\": is a directory"},
		{"nosuch", "\"nosuch\": no such program in PATH, and no such library"},
		{"data",
		 "\"data\": no such program in PATH, and no such library"}, /* not executable */
		{"", "\"\": no such program in PATH, and no such library"},
		{"*", "\"*\": no such program in PATH, and no such library"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct errmsg err = {0};

		assert_null(target_resolve(rows[i].binary, NULL, &err));
		assert_string_equal(err.text, rows[i].text);
		assert_string_equal(err.hint, "");
	}
	struct errmsg err = {0};
	char *hint = mem_printf("process %d runs and has this name: -p %d", getpid(), getpid());

	prctl(PR_SET_NAME, "a server");
	assert_null(target_resolve("a server", NULL, &err));
	assert_string_equal(err.hint, hint);
	free(hint);
	assert_null(target_resolve("kprobe", NULL, &err));
	assert_string_equal(err.hint, "for tracepoints and USDT probes use bcc's own tools");
	assert_null(target_resolve("t", NULL, &err));
	assert_string_equal(err.hint, "for tracepoints and USDT probes use bcc's own tools");
}

/* A copy of sleep(1) that has been running since before `path` was removed. */
static pid_t start_sleeper(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(path, path, "60", NULL);
		_exit(127);
	}
	for (int i = 0; i < 500; i++) {
		char link[64], exe[256] = "";

		snprintf(link, sizeof(link), "/proc/%d/exe", pid);
		if (readlink(link, exe, sizeof(exe) - 1) > 0 && !strcmp(exe, path))
			return pid;
		usleep(10000);
	}
	fail_msg("%s does not start", path);
	return -1;
}

static void test_resolve_deleted(void **state)
{
	char *path = mem_printf("%s/sleeper", folder);
	char *copy = mem_printf("cp /bin/sleep %s", path);
	char exe[64];

	(void)state;
	assert_int_equal(system(copy), 0);
	pid_t pid = start_sleeper(path);

	remove(path);
	make_file(path, 0755); /* the upgrade */
	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	check_resolved(NULL, pid, exe);
	check_resolved(path, pid, exe);
	check_resolved(path, 0, path);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	remove(path);
	free(path);
	free(copy);
}

/* A child that has done `change` to its view of the files, and waits. */
static pid_t start_elsewhere(int (*change)(void))
{
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();

	if (pid == 0) {
		if (change() || write(fds[1], "", 1) != 1)
			_exit(1);
		close(fds[0]);
		close(fds[1]);
		pause();
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static int change_root(void)
{
	return chroot(folder);
}

static int change_mounts(void)
{
	return unshare(CLONE_NEWNS);
}

static void test_resolve_in_containers(void **state)
{
	char *own = mem_printf("%s/bin/prog", folder);

	(void)state;
	if (geteuid())
		skip();
	for (int i = 0; i < 2; i++) {
		pid_t pid = start_elsewhere(i ? change_mounts : change_root);
		char *theirs = mem_printf("/proc/%d/root%s", pid, i ? own : "/bin/prog");

		check_resolved(i ? own : "/bin/prog", pid, theirs);
		check_resolved("./here", pid, "./here");
		if (!i) /* not there in its view, but in that of the tool */
			check_resolved(own, pid, own);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		free(theirs);
	}
	free(own);
}

static void test_pid(void **state)
{
	struct errmsg err = {0};
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		pause();
		_exit(0);
	}
	struct process *proc = process_open(pid, &err);

	assert_non_null(proc);
	assert_true(process_runs(proc));
	kill(pid, SIGKILL);
	struct pollfd pfd = {process_fd(proc), POLLIN, 0};

	assert_int_equal(poll(&pfd, 1, 5000), 1);
	assert_false(process_runs(proc));
	assert_null(target_resolve(NULL, proc, &err)); /* a zombie */
	assert_non_null(strstr(err.text, "has no executable"));
	waitpid(pid, NULL, 0);
	assert_null(target_resolve(NULL, proc, &err));
	assert_non_null(strstr(err.text, "has no executable"));
	process_close(proc);
	char text[64];

	snprintf(text, sizeof(text), "no process with PID %d", pid);
	assert_null(process_open(pid, &err));
	assert_string_equal(err.text, text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_errors),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_resolve_library),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_resolve_errors),
		cmocka_unit_test(test_resolve_deleted),
		cmocka_unit_test(test_resolve_in_containers),
		cmocka_unit_test(test_pid),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
