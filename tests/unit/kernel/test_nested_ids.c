// SPDX-License-Identifier: Apache-2.0
/* IDs of processes in PID namespaces below the tool's, as the kernel side finds them: the kernel's
 * structs are this test's. */
#include "fakekernel.h"
#include "unit.h"

#define TASK_PID 8
#define PIDNS_LEADER 16
#define PIDNS_DEV 1
#define PIDNS_INO 4026
#define PID_LEVEL 4
#define PID_NUMBERS 16
#define UPID_SIZE 24
#define UPID_NR 4
#define UPID_NS 8
#define NS_INUM 12

#include "bpf-src/parts/probe.h"

__attribute__((unused)) static inline u64 probe_cookie(struct pt_regs *ctx)
{
	(void)ctx;
	return 0;
}

static unsigned outside;

static inline void probe_note_outside(void)
{
	outside++;
}

static u64 leader[4], task[4];
static u32 namespaces[40][4];
static struct {
	u32 none, level;
	u64 more;
	struct {
		u32 none, nr;
		u32 *ns;
		u64 more;
	} numbers[40];
} leader_pid, task_pid;

/* The namespace of level `own` is the tool's; IDs there are 100 and 200 and the level. */
static void begin(u32 levels, u32 own)
{
	fakekernel_begin();
	outside = 0;
	fakekernel.task = task;
	task[1] = (u64)&task_pid;
	task[2] = (u64)leader;
	leader[1] = (u64)&leader_pid;
	leader_pid.level = task_pid.level = levels;
	for (u32 i = 0; i < 40; i++) {
		namespaces[i][3] = i == own ? PIDNS_INO : 7;
		leader_pid.numbers[i].nr = 100 + i;
		task_pid.numbers[i].nr = 200 + i;
		leader_pid.numbers[i].ns = task_pid.numbers[i].ns = namespaces[i];
	}
}

static void test_levels(void **state)
{
	(void)state;
	for (u32 own = 0; own < 5; own++) {
		begin(3, own);
		assert_int_equal(probe_ids(), own <= 3 ? (u64)(100 + own) << 32 | (200 + own) : 0);
		assert_int_equal(probe_wanted(), own <= 3);
		assert_int_equal(outside, own > 3);
	}
	/* so deep, and no deeper */
	begin(39, 32);
	assert_int_equal(probe_ids(), (u64)132 << 32 | 232);
	begin(39, 33);
	assert_int_equal(probe_ids(), 0);
	/* the kernel's own helper knows those of the tool's namespace */
	begin(3, 2);
	fakekernel.ns_ids = (u64)5 << 32 | 6;
	assert_int_equal(probe_ids(), (u64)5 << 32 | 6);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
