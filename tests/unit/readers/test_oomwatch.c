// SPDX-License-Identifier: Apache-2.0
/* When a process is read that comes near the limit of its memory cgroup, and what is said at its
 * end: in a folder that looks like /proc and /sys/fs/cgroup. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "readers/oomwatch.h"

#define SECOND_NS UINT64_C(1000000000)

static const struct oomwatch_options text = {0}, json = {.json = true};

static void put(const char *dir, const char *name, const char *what)
{
	char *path = mem_printf("%s/%s", dir, name);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(what, out);
	fclose(out);
	free(path);
}

static void use(const char *dir, unsigned used)
{
	char bytes[16];

	snprintf(bytes, sizeof(bytes), "%u\n", used);
	put(dir, "memory.current", bytes);
}

static int setup(void **state)
{
	char dir[] = "/tmp/test-oomwatch-XXXXXX";

	if (!mkdtemp(dir))
		return -1;
	char *self = mem_printf("%s/self", dir), *pid = mem_printf("%s/7", dir);
	char *mounts = mem_printf("30 22 0:26 / %s rw - cgroup2 cgroup2 rw\n", dir);

	mkdir(self, 0700);
	mkdir(pid, 0700);
	put(dir, "self/mountinfo", mounts);
	put(dir, "7/cgroup", "0::/\n");
	put(dir, "meminfo", "MemTotal: 9000 kB\nMemAvailable: 9000 kB\n");
	put(dir, "memory.max", "1000\n");
	put(dir, "memory.events", "oom 5\noom_kill 3\n");
	free(self);
	free(pid);
	free(mounts);
	*state = mem_strdup(dir);
	return 0;
}

static int teardown(void **state)
{
	char *command = mem_printf("rm -rf '%s'", (char *)*state);
	int status = system(command);

	free(command);
	free(*state);
	return status;
}

/* What it prints; "": it is not due. `want` ends with the folder, or stands for all. */
static void expect_due(struct oomwatch *watch, uint64_t second, const char *want)
{
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);
	bool due = oomwatch_due(watch, second * SECOND_NS, &text, out);

	fclose(out);
	assert_int_equal(due, *want != '\0');
	assert_int_equal(strncmp(said, want, strlen(want)), 0);
	assert_int_equal(due, *said != '\0');
	free(said);
}

/* Each step once; what falls and rises again, not before a minute has passed. */
static void test_steps(void **state)
{
	const char *dir = *state;
	struct oomwatch *watch = oomwatch_new(dir, 7, "a\x1bp");

	use(dir, 100);
	expect_due(watch, 1000, "a\\x1bp (7): 100 of 1000 in use, 10%, in /tmp/");
	expect_due(watch, 1100, "");
	use(dir, 499);
	expect_due(watch, 1101, "");
	use(dir, 500);
	expect_due(watch, 1102, "a\\x1bp (7): 500 of 1000 in use, 50%, in /tmp/");
	expect_due(watch, 1103, "");
	use(dir, 760);
	expect_due(watch, 1104, "a\\x1bp (7): 760 ");
	use(dir, 600);
	expect_due(watch, 1105, "");
	use(dir, 770);
	expect_due(watch, 1106, "");
	use(dir, 600);
	expect_due(watch, 1170, "");
	use(dir, 770);
	expect_due(watch, 1171, "a\\x1bp (7): 770 ");
	use(dir, 899);
	expect_due(watch, 1172, "");
	use(dir, 900);
	expect_due(watch, 1173, "a\\x1bp (7): 900 ");
	use(dir, 919);
	expect_due(watch, 1174, "");
	use(dir, 995);
	expect_due(watch, 1175, "a\\x1bp (7): 995 ");
	oomwatch_free(watch);
}

/* Near the limit, each minute; farther away, no more. */
static void test_stays_near(void **state)
{
	const char *dir = *state;
	struct oomwatch *watch = oomwatch_new(dir, 7, "app");

	use(dir, 900);
	expect_due(watch, 1, "app (7): 900 of 1000 in use, 90%, in /tmp/");
	expect_due(watch, 60, "");
	expect_due(watch, 61, "app (7): 900 ");
	use(dir, 899);
	expect_due(watch, 200, "");
	expect_due(watch, 300, "");
	oomwatch_free(watch);
}

static void test_machine(void **state)
{
	const char *dir = *state;
	struct oomwatch *watch = oomwatch_new(dir, 8, "app"), *other;

	put(dir, "meminfo", "MemTotal: 8192 kB\nMemAvailable: 4096 kB\n");
	expect_due(watch, 1, "app (8): 4.0M of 8.0M in use, 50%, in this machine\n");
	oomwatch_free(watch);
	put(dir, "meminfo", "");
	other = oomwatch_new(dir, 8, "app");
	expect_due(other, 1, "app (8): has no limit that can be seen from here\n");
	expect_due(other, 100, "");
	oomwatch_free(other);
}

static void expect_json(struct oomwatch *watch, uint64_t second, const char *want)
{
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	assert_true(oomwatch_due(watch, second * SECOND_NS, &json, out));
	fclose(out);
	assert_string_equal(said, want);
	free(said);
}

static void test_json(void **state)
{
	const char *dir = *state;
	struct oomwatch *watch = oomwatch_new(dir, 8, "app"), *other;

	put(dir, "meminfo", "MemTotal: 8192 kB\nMemAvailable: 4096 kB\n");
	expect_json(watch, 1,
		    "{\"type\":\"oom\",\"pid\":8,\"comm\":\"app\",\"event\":\"start\",\"used_"
		    "bytes\":4194304,\"limit_bytes\":8388608,\"cgroup\":null}\n");
	put(dir, "meminfo", "MemTotal: 8192 kB\nMemAvailable: 80 kB\n");
	expect_json(watch, 2,
		    "{\"type\":\"oom\",\"pid\":8,\"comm\":\"app\",\"event\":\"near\",\"used_"
		    "bytes\":8306688,\"limit_bytes\":8388608,\"cgroup\":null}\n");
	oomwatch_free(watch);
	put(dir, "meminfo", "");
	other = oomwatch_new(dir, 8, "app");
	expect_json(other, 1,
		    "{\"type\":\"oom\",\"pid\":8,\"comm\":\"app\",\"event\":\"start\"}\n");
	oomwatch_free(other);
}

static void expect_end(struct oomwatch *watch, const struct oomwatch_options *opts,
		       const char *want)
{
	char *said = NULL;
	size_t len;
	FILE *out = open_memstream(&said, &len);

	oomwatch_ended(watch, 12 * SECOND_NS + SECOND_NS / 2, opts, out);
	fclose(out);
	assert_string_equal(said, want);
	free(said);
}

static void test_end(void **state)
{
	const char *dir = *state;
	struct oomwatch *watch = oomwatch_new(dir, 7, "app");

	use(dir, 900);
	expect_due(watch, 10, "app (7): 900 ");
	expect_end(watch, &text, "app (7): has ended, but not for want of memory\n");
	put(dir, "memory.events", "oom 6\noom_kill 4\n");
	expect_end(watch, &text,
		   "app (7): has ended: the kernel has killed a process of its cgroup for want of "
		   "memory. The last reading is 2.5 s old.\n");
	expect_end(watch, &json,
		   "{\"type\":\"oom\",\"pid\":7,\"comm\":\"app\",\"event\":\"killed\"}\n");
	put(dir, "memory.events", "");
	expect_end(watch, &text, "app (7): has ended; its cgroup does not tell why\n");
	oomwatch_free(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_steps, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stays_near, setup, teardown),
		cmocka_unit_test_setup_teardown(test_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
