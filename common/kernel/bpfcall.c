// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpfcall_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/bpfmap.h"
#include "kernel/bytecode_internal.h"

enum { LOADS_MAX = 10 }; /* a signal ends the verifier with EAGAIN; the next load may get through */

static int call(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void put_name(char *out, const char *name)
{
	strncpy(out, name, BPF_OBJ_NAME_LEN - 1); /* the rest is zero already */
}

int bpfcall_named_map(const struct bytecode_map *map)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = map->type;
	attr.key_size = map->key_size;
	attr.value_size = map->value_size;
	attr.max_entries = map->entries;
	attr.map_flags = map->flags;
	if (map->name)
		put_name(attr.map_name, map->name);
	return call(BPF_MAP_CREATE, &attr);
}

int bpfcall_map(enum bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t entries,
		uint32_t flags)
{
	const struct bytecode_map map = {.type = type,
					 .key_size = key_size,
					 .value_size = value_size,
					 .entries = entries,
					 .flags = flags};

	return bpfcall_named_map(&map);
}

int bpfcall_prog_array(int prog_fd)
{
	uint32_t first = 0, value = prog_fd;
	int fd = bpfcall_map(BPF_MAP_TYPE_PROG_ARRAY, sizeof(first), sizeof(value), 1, 0);

	if (fd < 0 || prog_fd < 0 || !bpfmap_update(fd, &first, &value))
		return fd;
	close(fd);
	return -1;
}

int bpfcall_prog(const struct bpfcall_prog *prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = prog->type ? prog->type : BPF_PROG_TYPE_KPROBE;
	if (prog->name)
		put_name(attr.prog_name, prog->name);
	attr.insns = (uintptr_t)prog->insns;
	attr.insn_cnt = prog->count;
	attr.license = (uintptr_t) "GPL";
	attr.expected_attach_type = prog->attach_type;
	attr.prog_flags = prog->flags;
	attr.log_buf = (uintptr_t)prog->log;
	attr.log_size = prog->log ? prog->log_size : 0;
	attr.log_level = prog->log ? 1 : 0;
	for (int i = 1;; i++) {
		int fd = call(BPF_PROG_LOAD, &attr);

		if (fd >= 0 || errno != EAGAIN || i == LOADS_MAX)
			return fd;
	}
}

int bpfcall_insns(const struct bpf_insn *insns, size_t count, uint32_t attach_type, uint32_t flags)
{
	const struct bpfcall_prog prog = {
		.insns = insns,
		.count = count,
		.attach_type = attach_type,
		.flags = flags,
	};

	return bpfcall_prog(&prog);
}

int bpfcall_raw_tracepoint(const char *name, int prog_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)name;
	attr.raw_tracepoint.prog_fd = prog_fd;
	return call(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

int bpfcall_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr;

	memset(info, 0, size);
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = fd;
	attr.info.info_len = size;
	attr.info.info = (uintptr_t)info;
	return call(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

int bpfcall_measure_runs(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.enable_stats.type = BPF_STATS_RUN_TIME;
	return call(BPF_ENABLE_STATS, &attr);
}
