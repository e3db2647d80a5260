// SPDX-License-Identifier: Apache-2.0
#include "tracing/pidspace.h"

#include "base/errmsg.h"
#include "kernel/bpfprog.h"
#include "kernel/btf.h"
#include "selection/target.h"

static void add_nested(const struct btf_pids *pids, struct bpfprog_define *defs, size_t *count)
{
	const struct bpfprog_define all[] = {
		{"PIDNS_LEADER", pids->task_leader}, {"TASK_PID", pids->task_pid},
		{"PID_LEVEL", pids->pid_level},      {"PID_NUMBERS", pids->pid_numbers},
		{"UPID_SIZE", pids->upid_size},      {"UPID_NR", pids->upid_nr},
		{"UPID_NS", pids->upid_ns},          {"NS_INUM", pids->ns_inum},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		defs[(*count)++] = all[i];
}

int pidspace_define(pid_t pid, struct bpfprog_define *defs, size_t *count, struct errmsg *err)
{
	unsigned long dev, ino;
	struct btf_pids pids;

	if (pid)
		defs[(*count)++] = (struct bpfprog_define){"TGID", (uint64_t)pid};
	if (!target_pid_namespace(&dev, &ino))
		return 0;
	defs[(*count)++] = (struct bpfprog_define){"PIDNS_DEV", dev};
	defs[(*count)++] = (struct bpfprog_define){"PIDNS_INO", ino};
	if (!btf_pids(&pids, err)) {
		add_nested(&pids, defs, count);
		return 0;
	}
	errmsg_hint(err, "process %d is in another PID namespace: trace it from there", pid);
	return pid && target_in_other_namespace(pid) ? -1 : 0;
}
