// SPDX-License-Identifier: Apache-2.0
/* Memory cgroups in a folder that looks like /proc and /sys/fs/cgroup. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "fakeproc.h"
#include "files/memcgroup.h"
#include "unit.h"

enum { MB = 1 << 20 };

static void put_v2(const char *dir)
{
	fakeproc_put(
		dir, "self/mountinfo",
		"22 1 0:20 / /proc rw - proc proc rw\n"
		"30 22 0:26 / @/cg\\040two rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
	fakeproc_put(dir, "meminfo", "MemTotal: 9000000 kB\nMemAvailable:    4096 kB\n");
	fakeproc_put(dir, "7/cgroup", "0::/pod/app\n");
	fakeproc_put(dir, "8/cgroup", "0::/pod/other\n");
	fakeproc_put(dir, "cg two/pod/app/memory.max", "max\n");
	fakeproc_put(dir, "cg two/pod/app/memory.current", "1000000\n");
	fakeproc_put(dir, "cg two/pod/other/memory.max", "104857600\n");
	fakeproc_put(dir, "cg two/pod/other/memory.current", "4096\n");
	fakeproc_put(dir, "cg two/pod/memory.max", "8388608\n");
	fakeproc_put(dir, "cg two/pod/memory.high", "max\n");
	fakeproc_put(dir, "cg two/pod/memory.current", "7340032\n");
	fakeproc_put(dir, "cg two/pod/memory.stat",
		     "anon 4194304\nfile 3145728\ninactive_file 1048576\nactive_file 1048576\n");
}

static void expect_tightest(struct memcgroups *groups, const char *dir, const char *path,
			    uint64_t wanted, uint64_t room)
{
	char *full = path ? mem_printf("%s/%s", dir, path) : NULL;
	struct memcgroup_room got;

	assert_true(memcgroup_tightest(groups, &got));
	if (full)
		assert_string_equal(got.path, full);
	else
		assert_null(got.path);
	assert_int_equal(got.wanted, wanted);
	assert_int_equal(got.room, room);
	free(full);
}

/* A group without a limit of its own has that above it, for all below it together. */
static void test_up_the_tree(void **state)
{
	put_v2(*state);
	struct memcgroups *groups = memcgroup_new(*state);

	memcgroup_charge(groups, 7, 100);
	expect_tightest(groups, *state, "cg two/pod", 100, 1 * MB + 1 * MB + MB / 2);
	memcgroup_charge(groups, 8, 200);
	expect_tightest(groups, *state, "cg two/pod", 300, 1 * MB + 1 * MB + MB / 2);
	memcgroup_free(groups);
}

/* What throttles counts as what kills; a full group has room for nothing. */
static void test_high(void **state)
{
	put_v2(*state);
	fakeproc_put(*state, "cg two/pod/memory.high", "5000000\n");
	fakeproc_put(*state, "cg two/pod/memory.stat", "anon 7340032\n");
	struct memcgroups *groups = memcgroup_new(*state);

	memcgroup_charge(groups, 7, 100);
	expect_tightest(groups, *state, "cg two/pod", 100, 0);
	memcgroup_free(groups);
}

/* a limit larger than what the machine has */
static void test_machine(void **state)
{
	put_v2(*state);
	fakeproc_put(*state, "cg two/pod/memory.max", "max\n");
	struct memcgroups *groups = memcgroup_new(*state);

	memcgroup_charge(groups, 7, 100);
	expect_tightest(groups, *state, NULL, 100, 4096 << 10);
	memcgroup_free(groups);
}

/* Both hierarchies are mounted, and version 1 has the memory; a part of it is mounted only. */
static void test_v1(void **state)
{
	put_v2(*state);
	fakeproc_put(*state, "self/mountinfo",
		     "35 31 0:32 /docker/12 @/mem rw - cgroup cgroup rw,hugetlb,memory\n"
		     "36 31 0:33 / @/cpu rw - cgroup cgroup rw,cpu\n"
		     "41 31 0:38 / @/cg\\040two rw - cgroup2 cgroup2 rw\n");
	fakeproc_put(*state, "7/cgroup", "9:cpu:/x\n4:hugetlb,memory:/docker/12/in\n0::/nowhere\n");
	fakeproc_put(*state, "8/cgroup", "4:hugetlb,memory:/docker/123/in\n");
	fakeproc_put(*state, "9/cgroup", "4:hugetlb,memory:/../other\n");
	fakeproc_put(*state, "mem/in/memory.limit_in_bytes", "3145728\n");
	fakeproc_put(*state, "mem/in/memory.usage_in_bytes", "2097152\n");
	fakeproc_put(*state, "mem/in/memory.stat",
		     "inactive_file 1048576\ntotal_inactive_file 4096\ntotal_active_file 8192\n");
	fakeproc_put(*state, "mem/memory.limit_in_bytes", "9223372036854771712\n");
	fakeproc_put(*state, "mem/memory.usage_in_bytes", "2097152\n");
	struct memcgroups *groups = memcgroup_new(*state);

	memcgroup_charge(groups, 8, 1);
	memcgroup_charge(groups, 9, 1);
	expect_tightest(groups, *state, NULL, 2, 4096 << 10);
	memcgroup_charge(groups, 7, 100);
	expect_tightest(groups, *state, "mem/in", 100, MB + 4096 + 4096);
	memcgroup_free(groups);
}

static void expect_fullest(const struct memcgroups *groups, const char *dir, const char *path,
			   uint64_t used, uint64_t limit)
{
	char *full = path ? mem_printf("%s/%s", dir, path) : NULL;
	struct memcgroup_use got;

	assert_true(memcgroup_fullest(groups, &got));
	if (full)
		assert_string_equal(got.path, full);
	else
		assert_null(got.path);
	assert_int_equal(got.used, used);
	assert_int_equal(got.limit, limit);
	free(full);
}

/* The group above is the fuller one; the machine, once it has less left. */
static void test_fullest(void **state)
{
	put_v2(*state);
	fakeproc_put(*state, "meminfo", "MemTotal: 8192 kB\nMemAvailable: 4096 kB\n");
	struct memcgroups *groups = memcgroup_new(*state);

	memcgroup_charge(groups, 7, 1);
	expect_fullest(groups, *state, "cg two/pod", 7 * MB - MB - MB / 2, 8 * MB);
	fakeproc_put(*state, "cg two/pod/app/memory.max", "1100000\n");
	expect_fullest(groups, *state, "cg two/pod/app", 1000000, 1100000);
	fakeproc_put(*state, "meminfo", "MemTotal: 8192 kB\nMemAvailable: 4 kB\n");
	expect_fullest(groups, *state, NULL, 8188 << 10, 8 * MB);
	memcgroup_free(groups);
}

/* Those of its own group, not of groups above it, whose counts have them, too */
static void test_kills(void **state)
{
	uint64_t kills;

	put_v2(*state);
	fakeproc_put(*state, "cg two/pod/memory.events", "oom 9\noom_kill 9\n");
	struct memcgroups *groups = memcgroup_new(*state);

	memcgroup_charge(groups, 7, 1);
	assert_false(memcgroup_kills(groups, &kills));
	fakeproc_put(*state, "cg two/pod/app/memory.events", "max 7\noom 4\noom_kill 3\n");
	assert_true(memcgroup_kills(groups, &kills));
	assert_int_equal(kills, 3);
	memcgroup_free(groups);
}

/* nothing can be read */
static void test_nothing(void **state)
{
	struct memcgroups *groups = memcgroup_new(*state);
	struct memcgroup_room room;
	struct memcgroup_use use;

	memcgroup_charge(groups, 7, 100);
	assert_false(memcgroup_tightest(groups, &room));
	assert_false(memcgroup_fullest(groups, &use));
	memcgroup_free(groups);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_up_the_tree, fakeproc_setup,
						fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_high, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_machine, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_v1, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_fullest, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_kills, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_nothing, fakeproc_setup, fakeproc_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
