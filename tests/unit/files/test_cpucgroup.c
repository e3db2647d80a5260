// SPDX-License-Identifier: Apache-2.0
/* Quotas of CPU cgroups, in a folder that looks like /proc and /sys/fs/cgroup. */
#include "fakeproc.h"
#include "files/cpucgroup.h"
#include "unit.h"

static void put_v2(const char *dir)
{
	fakeproc_put(dir, "self/mountinfo",
		     "30 22 0:26 / @/cg rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
	fakeproc_put(dir, "7/cgroup", "0::/pod/app\n");
	fakeproc_put(dir, "cg/pod/app/cpu.max", "max 100000\n");
	fakeproc_put(dir, "cg/pod/cpu.max", "50000 200000\n");
	fakeproc_put(dir, "cg/pod/cpu.stat",
		     "usage_usec 5000\nnr_periods 40\nnr_throttled 30\nthrottled_usec 700000\n");
}

static void expect_quota(const char *dir, int pid, const struct cpucgroup_quota *want)
{
	struct cpucgroup *group = cpucgroup_find(dir, pid);
	struct cpucgroup_quota got;

	assert_int_equal(!group, !want);
	if (!want)
		return;
	assert_true(cpucgroup_quota(group, &got));
	assert_int_equal(got.us, want->us);
	assert_int_equal(got.period_us, want->period_us);
	assert_int_equal(got.periods, want->periods);
	assert_int_equal(got.throttled, want->throttled);
	assert_int_equal(got.throttled_us, want->throttled_us);
	cpucgroup_free(group);
}

static void test_v2(void **state)
{
	const char *dir = *state;

	put_v2(dir);
	expect_quota(dir, 7, &(struct cpucgroup_quota){50000, 200000, 40, 30, 700000});
	/* the smallest share counts, not the smallest time */
	fakeproc_put(dir, "cg/pod/app/cpu.max", "20000 100000\n");
	fakeproc_put(dir, "cg/pod/app/cpu.stat", "nr_periods 4\n");
	expect_quota(dir, 7, &(struct cpucgroup_quota){20000, 100000, 4, 0, 0});
	fakeproc_put(dir, "cg/pod/app/cpu.max", "30000 100000\n");
	expect_quota(dir, 7, &(struct cpucgroup_quota){50000, 200000, 40, 30, 700000});
}

static void test_v1(void **state)
{
	const char *dir = *state;

	fakeproc_put(dir, "self/mountinfo",
		     "31 22 0:27 / @/memory rw - cgroup cgroup rw,memory\n"
		     "32 22 0:28 / @/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
	fakeproc_put(dir, "7/cgroup", "5:memory:/other\n4:cpu,cpuacct:/app\n");
	fakeproc_put(dir, "cpu/app/cpu.cfs_quota_us", "25000\n");
	fakeproc_put(dir, "cpu/app/cpu.cfs_period_us", "100000\n");
	fakeproc_put(dir, "cpu/app/cpu.stat",
		     "nr_periods 9\nnr_throttled 8\nthrottled_time 7000999\n");
	fakeproc_put(dir, "cpu/cpu.cfs_quota_us", "-1\n");
	fakeproc_put(dir, "cpu/cpu.cfs_period_us", "100000\n");
	expect_quota(dir, 7, &(struct cpucgroup_quota){25000, 100000, 9, 8, 7000});
	fakeproc_put(dir, "cpu/app/cpu.cfs_quota_us", "-1\n");
	expect_quota(dir, 7, NULL);
}

static void test_none(void **state)
{
	const char *dir = *state;
	struct cpucgroup_quota got;

	expect_quota(dir, 7, NULL);
	put_v2(dir);
	expect_quota(dir, 8, NULL);
	struct cpucgroup *group = cpucgroup_find(dir, 7);

	fakeproc_put(dir, "cg/pod/cpu.max", "max 100000\n"); /* taken away meanwhile */
	assert_false(cpucgroup_quota(group, &got));
	cpucgroup_free(group);
	expect_quota(dir, 7, NULL);
	fakeproc_put(dir, "cg/pod/cpu.max", "50000 0\n"); /* what no kernel says */
	expect_quota(dir, 7, NULL);
	cpucgroup_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_v2, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_v1, fakeproc_setup, fakeproc_teardown),
		cmocka_unit_test_setup_teardown(test_none, fakeproc_setup, fakeproc_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
