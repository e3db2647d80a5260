// SPDX-License-Identifier: Apache-2.0
#include "kernel/btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/errmsg.h"

/* members of anonymous members count as the outer struct's own, to this depth */
enum { DEPTH_MAX = 3 };

static const struct btf_type *skip_names(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);

	return resolved < 0 ? NULL : btf__type_by_id(btf, resolved);
}

/* Byte offset of member `name`, its type's ID in *id; -1: there is none. */
static int64_t find_member(const struct btf *btf, const struct btf_type *type, const char *name,
			   uint32_t *id, int depth)
{
	if (!type || !btf_is_composite(type))
		return -1;
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *m = &btf_members(type)[i];
		const char *own = btf__name_by_offset(btf, m->name_off);
		int64_t off = btf_member_bit_offset(type, i) / 8, inner = -1;

		if (own && !strcmp(own, name)) {
			*id = m->type;
			return off;
		}
		if ((!own || !own[0]) && depth < DEPTH_MAX)
			inner = find_member(btf, skip_names(btf, m->type), name, id, depth + 1);
		if (inner >= 0)
			return off + inner;
	}
	return -1;
}

static int64_t member(const struct btf *btf, const char *type, const char *name, uint32_t *id)
{
	int found = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	if (found < 0)
		return -1;
	return find_member(btf, btf__type_by_id(btf, found), name, id, 0);
}

static struct btf *open_kernel(struct errmsg *err)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		errmsg_set(err, "the kernel's type information (BTF) cannot be read: %s",
			   strerror(errno));
	return btf;
}

static int no_member(const char *name, struct errmsg *err)
{
	return errmsg_set(err, "the kernel's type information (BTF) has no %s", name);
}

/* byte offset in task_struct of a member of its member `thread`; -1 */
static int64_t find_in_thread(const struct btf *btf, const char *name)
{
	uint32_t id = 0;
	int64_t thread = member(btf, "task_struct", "thread", &id), off = -1;

	if (thread >= 0)
		off = find_member(btf, skip_names(btf, id), name, &id, 0);
	return off < 0 ? -1 : thread + off;
}

int btf_thread_fsbase(uint32_t *off, struct errmsg *err)
{
	struct btf *btf = open_kernel(err);
	int64_t fsbase = btf ? find_in_thread(btf, "fsbase") : -1;

	if (!btf)
		return -1;
	btf__free(btf);
	if (fsbase < 0)
		return no_member("task_struct.thread.fsbase", err);
	*off = fsbase;
	return 0;
}

uint32_t btf_thread_features(void)
{
	struct btf *btf = open_kernel(NULL);
	int64_t features = btf ? find_in_thread(btf, "features") : -1;

	btf__free(btf);
	return features < 0 ? 0 : features;
}

/* start_boottime was called real_start_time up to Linux 5.4, and in kernels derived from that */
static int64_t find_start(const struct btf *btf)
{
	uint32_t id;
	int64_t off = member(btf, "task_struct", "start_boottime", &id);

	return off < 0 ? member(btf, "task_struct", "real_start_time", &id) : off;
}

int btf_process(struct btf_process *out, struct errmsg *err)
{
	struct btf *btf = open_kernel(err);
	uint32_t id;

	if (!btf)
		return -1;
	int64_t leader = member(btf, "task_struct", "group_leader", &id), start = find_start(btf);
	int64_t exec = member(btf, "task_struct", "self_exec_id", &id);
	int64_t signal = member(btf, "task_struct", "signal", &id);
	int64_t live = member(btf, "signal_struct", "live", &id);
	int64_t flags = member(btf, "signal_struct", "flags", &id);

	btf__free(btf);
	if (leader < 0 || start < 0 || exec < 0 || signal < 0 || live < 0 || flags < 0)
		return no_member("task_struct's start, self_exec_id or signal", err);
	*out = (struct btf_process){leader, start, exec, signal, live, flags};
	return 0;
}

struct wanted {
	const char *type, *name;
	uint32_t *off;
};

static int find_all(const struct btf *btf, const struct wanted *wanted, size_t count,
		    struct errmsg *err)
{
	uint32_t id;

	for (size_t i = 0; i < count; i++) {
		int64_t off = member(btf, wanted[i].type, wanted[i].name, &id);

		if (off < 0)
			return errmsg_set(err, "the kernel's type information (BTF) has no %s.%s",
					  wanted[i].type, wanted[i].name);
		*wanted[i].off = off;
	}
	return 0;
}

int btf_pids(struct btf_pids *pids, struct errmsg *err)
{
	uint32_t inum = 0;
	const struct wanted wanted[] = {
		{"task_struct", "group_leader", &pids->task_leader},
		{"task_struct", "thread_pid", &pids->task_pid},
		{"pid", "level", &pids->pid_level},
		{"pid", "numbers", &pids->pid_numbers},
		{"upid", "nr", &pids->upid_nr},
		{"upid", "ns", &pids->upid_ns},
		{"pid_namespace", "ns", &pids->ns_inum},
		{"ns_common", "inum", &inum},
	};
	struct btf *btf = open_kernel(err);

	if (!btf)
		return -1;
	int ret = find_all(btf, wanted, sizeof(wanted) / sizeof(wanted[0]), err);
	int upid = btf__find_by_name_kind(btf, "upid", BTF_KIND_STRUCT);

	if (!ret) {
		pids->ns_inum += inum;
		pids->upid_size = btf__type_by_id(btf, upid)->size;
	}
	btf__free(btf);
	return ret;
}

int btf_task_ids(struct btf_ids *out, struct errmsg *err)
{
	const struct wanted wanted[] = {
		{"task_struct", "pid", &out->tid},
		{"task_struct", "tgid", &out->tgid},
	};
	struct btf *btf = open_kernel(err);

	if (!btf)
		return -1;
	int ret = find_all(btf, wanted, sizeof(wanted) / sizeof(wanted[0]), err);

	btf__free(btf);
	return ret;
}
