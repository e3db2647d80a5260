// SPDX-License-Identifier: Apache-2.0
/* Cgroups that are frozen, in a folder that looks like /proc and /sys/fs/cgroup. */
#include <stdio.h>
#include <unistd.h>

#include "fakeproc.h"
#include "files/process.h"
#include "files/process_state.h"
#include "unit.h"

static struct process *self;

static void put_own(const char *dir, const char *text)
{
	char name[32];

	snprintf(name, sizeof(name), "%d/cgroup", getpid());
	fakeproc_put(dir, name, text);
}

static void test_v2(void **state)
{
	const char *dir = *state;

	assert_false(process_is_frozen(self, dir));
	fakeproc_put(dir, "self/mountinfo", "30 22 0:26 / @/cg rw - cgroup2 cgroup2 rw\n");
	put_own(dir, "0::/app\n");
	fakeproc_put(dir, "cg/app/cgroup.events", "populated 1\nfrozen 0\n");
	fakeproc_put(dir, "cg/cgroup.events", "populated 1\nfrozen 1\n"); /* tells of itself */
	assert_false(process_is_frozen(self, dir));
	fakeproc_put(dir, "cg/app/cgroup.events", "populated 1\nfrozen 1\n");
	assert_true(process_is_frozen(self, dir));
}

static void test_v1(void **state)
{
	const char *dir = *state;

	fakeproc_put(dir, "self/mountinfo",
		     "30 22 0:26 / @/unified rw - cgroup2 cgroup2 rw\n"
		     "31 22 0:27 / @/freezer rw - cgroup cgroup rw,freezer\n");
	put_own(dir, "6:freezer:/app\n0::/\n");
	fakeproc_put(dir, "freezer/app/freezer.state", "THAWED\n");
	assert_false(process_is_frozen(self, dir));
	fakeproc_put(dir, "freezer/app/freezer.state", "FROZEN\n");
	assert_true(process_is_frozen(self, dir));
	fakeproc_put(dir, "unified/cgroup.events", "populated 1\nfrozen 0\n");
	assert_true(process_is_frozen(self, dir));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_v2, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_v1, fakeproc_setup, fakeproc_teardown),
	};

	self = process_hold(getpid(), NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	process_close(self);
	return failed;
}
