// SPDX-License-Identifier: Apache-2.0
/* Offsets in the kernel's structs, from type information that is made up. */
#include "unit.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "kernel/btf.h"

struct field {
	const char *name;
	unsigned byte; /* offset */
	int type;
};

/* made anew at each call, as the code under test frees it */
static struct btf *(*make)(void);
static const char *without, *renamed; /* a member that is not there; that has another name */

struct btf *btf__load_vmlinux_btf(void)
{
	struct btf *made = make ? make() : NULL;

	errno = ENOENT;
	return made;
}

static int add_struct(struct btf *btf, const char *name, unsigned size, const struct field *fields,
		      size_t count)
{
	int id = btf__add_struct(btf, name, size);

	assert_true(id > 0);
	for (size_t i = 0; i < count; i++)
		if (!without || !fields[i].name || strcmp(without, fields[i].name) != 0)
			assert_int_equal(btf__add_field(btf, fields[i].name, fields[i].type,
							fields[i].byte * 8, 0),
					 0);
	return id;
}

#define ADD(name, size, ...)                                                                       \
	add_struct(btf, name, size, (const struct field[]){__VA_ARGS__},                           \
		   sizeof((const struct field[]){__VA_ARGS__}) / sizeof(struct field))

/* Like the kernel's, but for where things are: members of anonymous members, names of types, and
 * structs of a name that others have, too. */
static struct btf *make_kernel(void)
{
	struct btf *btf = btf__new_empty();
	int word = btf__add_int(btf, "unsigned int", 4, 0), in, deeper, thread, ns, numbers;

	assert_true(word > 0);
	in = ADD(NULL, 8, {"pad", 0, word}, {"fsbase", 4, word});
	deeper = ADD(NULL, 16, {"x", 0, word}, {NULL, 8, in});
	in = btf__add_typedef(btf, "anonymous_t", deeper);
	thread = ADD("thread_struct", 64, {"sp", 0, word}, {NULL, 16, in}, {"features", 40, word});
	thread = btf__add_const(btf, btf__add_typedef(btf, "thread_t", thread));
	numbers = ADD("upid", 24, {"nr", 2, word}, {"ns", 12, word});
	ADD("pid", 96, {"count", 0, word}, {"level", 4, word}, {"numbers", 80, numbers});
	ns = ADD("ns_common", 24, {"stashed", 0, word}, {"inum", 20, word});
	ADD("pid_namespace", 200, {"idr", 0, word}, {"ns", 100, ns});
	ADD("signal_struct", 300, {"live", 8, word}, {"flags", 120, word});
	ADD("task_struct", 4000, {"state", 0, word}, {"thread", 1000, thread},
	    {"group_leader", 72, word}, {renamed ? renamed : "start_boottime", 80, word},
	    {"self_exec_id", 88, word}, {"signal", 96, word}, {"pid", 104, word},
	    {"tgid", 108, word}, {"thread_pid", 112, word});
	return btf;
}

static int begin(void **state)
{
	(void)state;
	make = make_kernel;
	without = renamed = NULL;
	return 0;
}

static void test_thread(void **state)
{
	struct errmsg err = {0};
	uint32_t off = 0;

	(void)state;
	assert_int_equal(btf_thread_fsbase(&off, &err), 0);
	assert_int_equal(off, 1000 + 16 + 8 + 4);
	assert_int_equal(btf_thread_features(), 1040);
	without = "fsbase";
	assert_int_equal(btf_thread_fsbase(&off, &err), -1);
	assert_string_equal(err.text, "the kernel's type information (BTF) has no "
				      "task_struct.thread.fsbase");
	without = "thread";
	assert_int_equal(btf_thread_fsbase(&off, &err), -1);
	assert_int_equal(btf_thread_features(), 0);
	without = "features";
	assert_int_equal(btf_thread_features(), 0);
}

static void test_process(void **state)
{
	static const char *const needed[] = {"group_leader", "start_boottime", "self_exec_id",
					     "signal",       "live",           "flags"};
	struct btf_process out;
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(btf_process(&out, &err), 0);
	assert_int_equal(out.leader, 72);
	assert_int_equal(out.start_ns, 80);
	assert_int_equal(out.exec, 88);
	assert_int_equal(out.signal, 96);
	assert_int_equal(out.signal_live, 8);
	assert_int_equal(out.signal_flags, 120);
	renamed = "real_start_time";
	assert_int_equal(btf_process(&out, &err), 0);
	assert_int_equal(out.start_ns, 80);
	renamed = NULL;
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		without = needed[i];
		assert_int_equal(btf_process(&out, &err), -1);
		assert_string_equal(err.text, "the kernel's type information (BTF) has no "
					      "task_struct's start, self_exec_id or signal");
	}
}

static void test_pids(void **state)
{
	struct btf_pids pids;
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(btf_pids(&pids, &err), 0);
	assert_int_equal(pids.task_leader, 72);
	assert_int_equal(pids.task_pid, 112);
	assert_int_equal(pids.pid_level, 4);
	assert_int_equal(pids.pid_numbers, 80);
	assert_int_equal(pids.upid_size, 24);
	assert_int_equal(pids.upid_nr, 2);
	assert_int_equal(pids.upid_ns, 12);
	assert_int_equal(pids.ns_inum, 120);
	without = "inum";
	assert_int_equal(btf_pids(&pids, &err), -1);
	assert_string_equal(err.text, "the kernel's type information (BTF) has no ns_common.inum");
}

static void test_ids(void **state)
{
	struct btf_ids ids;
	struct errmsg err = {0};

	(void)state;
	assert_int_equal(btf_task_ids(&ids, &err), 0);
	assert_int_equal(ids.tid, 104);
	assert_int_equal(ids.tgid, 108);
	without = "tgid";
	assert_int_equal(btf_task_ids(&ids, &err), -1);
	assert_string_equal(err.text,
			    "the kernel's type information (BTF) has no task_struct.tgid");
}

/* A kernel without type information */
static void test_none(void **state)
{
	struct btf_process process;
	struct btf_pids pids;
	struct btf_ids ids;
	struct errmsg err[4] = {0};
	uint32_t off;

	(void)state;
	make = NULL;
	assert_int_equal(btf_thread_fsbase(&off, &err[0]), -1);
	assert_int_equal(btf_process(&process, &err[1]), -1);
	assert_int_equal(btf_pids(&pids, &err[2]), -1);
	assert_int_equal(btf_task_ids(&ids, &err[3]), -1);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(err[i].text, "the kernel's type information (BTF) cannot be "
						 "read: No such file or directory");
	assert_int_equal(btf_thread_features(), 0);
	make = btf__new_empty;
	assert_int_equal(btf_process(&process, &err[1]), -1);
	assert_int_equal(btf_pids(&pids, &err[2]), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_thread, begin),
		cmocka_unit_test_setup(test_process, begin),
		cmocka_unit_test_setup(test_pids, begin),
		cmocka_unit_test_setup(test_ids, begin),
		cmocka_unit_test_setup(test_none, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
