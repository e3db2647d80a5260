// SPDX-License-Identifier: Apache-2.0
#include "fakebpf.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TEXT_MAX = 4096, TRACE_UPROBE_MULTI = 48 };

struct fakebpf fakebpf;

void fakebpf_begin(const char *fails, int error)
{
	memset(&steps, 0, sizeof(steps));
	fakebpf = (struct fakebpf){.error = error};
	steps.fails = fails;
}

static int answer(bool fails, bool makes)
{
	if (fails) {
		errno = fakebpf.error;
		return -1;
	}
	return makes ? FAKEBPF_FD + fakebpf.made++ : 0;
}

/* What is at an address of this process */
static void *memory(uint64_t addr)
{
	void *found;

	memcpy(&found, &addr, sizeof(found));
	return found;
}

static const char *string(uint64_t addr)
{
	return memory(addr);
}

static uint32_t number(uint64_t addr)
{
	return *(const uint32_t *)memory(addr);
}

/* CODE:DST,SRC+OFF=IMM, all of them but for the code only where they are not 0 */
static void insns_text(const struct bpf_insn *insns, size_t count, char *out, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < count; i++) {
		const struct bpf_insn *insn = &insns[i];

		len += snprintf(out + len, size - len, " %x:%d,%d", insn->code, insn->dst_reg,
				insn->src_reg);
		if (insn->off)
			len += snprintf(out + len, size - len, "%+d", insn->off);
		if (insn->imm)
			len += snprintf(out + len, size - len, "=%d", insn->imm);
		if (len >= size)
			abort();
	}
}

static int load(const union bpf_attr *attr)
{
	char text[TEXT_MAX] = "";

	insns_text(memory(attr->insns), attr->insn_cnt, text, sizeof(text));
	return answer(steps_are("prog of %u for %u, flags %u, %s%s", attr->prog_type,
				attr->expected_attach_type, attr->prog_flags, string(attr->license),
				text),
		      true);
}

/* the head of the kernel's union for such a link, which older headers lack */
struct multi {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, multi_flags, pid, pad;
};

static const char *path_of(uint64_t addr)
{
	const char *path = memory(addr);

	return strncmp(path, "/proc/self/fd/", 14) ? path : "fd";
}

static int link_multi(const struct multi *attr)
{
	const uint64_t *offs = memory(attr->offsets);
	const uint64_t *cookies = memory(attr->cookies);
	char text[TEXT_MAX] = "";
	size_t len = 0;

	/* what the tool attaches to itself is elsewhere in each build */
	for (uint32_t i = 0; i < attr->count && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, " %lx/%lx",
				offs[i] < 0x100 ? offs[i] : 0, cookies ? cookies[i] : 0);
	return answer(steps_are("link of %d to %s%s, flags %u %u, %s", attr->prog_fd,
				path_of(attr->path), text, attr->flags, attr->multi_flags,
				attr->pid ? "a process" : "all"),
		      true);
}

static int link_event(const union bpf_attr *attr)
{
	return answer(steps_are("link of %d to %d as %d, cookie %llx", attr->link_create.prog_fd,
				attr->link_create.target_fd, attr->link_create.attach_type,
				attr->link_create.perf_event.bpf_cookie),
		      true);
}

static int entry(const char *what, const union bpf_attr *attr, const char *value)
{
	uint32_t key = number(attr->key);

	return answer(steps_are("%s %d key %u%s", what, attr->map_fd, key, value), false);
}

static int lookup(const union bpf_attr *attr)
{
	memcpy(memory(attr->value), &fakebpf.value, sizeof(fakebpf.value));
	return entry("lookup", attr, "");
}

static int update(const union bpf_attr *attr)
{
	char text[32];

	snprintf(text, sizeof(text), " value %u", number(attr->value));
	return entry("update", attr, text);
}

static int info(const union bpf_attr *attr)
{
	struct bpf_prog_info *out = memory(attr->info.info);

	if (attr->info.info_len >= sizeof(*out)) {
		out->run_cnt = 3;
		out->run_time_ns = 500;
	}
	return answer(steps_are("info of %u", attr->info.bpf_fd), false);
}

static int fake_bpf(int cmd, const union bpf_attr *attr)
{
	switch (cmd) {
	case BPF_MAP_CREATE:
		return answer(steps_are("map of %u: %u %u %u, flags %u", attr->map_type,
					attr->key_size, attr->value_size, attr->max_entries,
					attr->map_flags),
			      true);
	case BPF_PROG_LOAD:
		return load(attr);
	case BPF_LINK_CREATE:
		return attr->link_create.attach_type == TRACE_UPROBE_MULTI
			       ? link_multi((const void *)attr)
			       : link_event(attr);
	case BPF_MAP_LOOKUP_ELEM:
		return lookup(attr);
	case BPF_MAP_UPDATE_ELEM:
		return update(attr);
	case BPF_MAP_DELETE_ELEM:
		return entry("delete", attr, "");
	case BPF_RAW_TRACEPOINT_OPEN:
		return answer(steps_are("tracepoint %s of %d", string(attr->raw_tracepoint.name),
					attr->raw_tracepoint.prog_fd),
			      true);
	case BPF_OBJ_GET_INFO_BY_FD:
		return info(attr);
	case BPF_ENABLE_STATS:
		return answer(steps_are("stats %u", attr->enable_stats.type), true);
	default:
		return answer(steps_are("call %d", cmd), false);
	}
}

static int fake_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return answer(steps_are("clock %llu %d at %llu, %d on %d", attr->config, attr->freq,
					attr->sample_freq, pid, cpu),
			      true);
	return answer(steps_are("event at %s+%llx, %s on %d", path_of(attr->uprobe_path),
				attr->probe_offset < 0x100 ? attr->probe_offset : 0,
				pid == -1 ? "all" : "a process", cpu),
		      true);
}

/* glibc names it otherwise: NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	va_list args;
	long a[6];

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf)
		return fake_bpf((int)a[0], memory(a[1]));
	if (number == SYS_perf_event_open)
		return fake_event(memory(a[0]), (pid_t)a[1], (int)a[2]);
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int ioctl(int fd, unsigned long request, ...)
{
	const char *what = request == PERF_EVENT_IOC_SET_BPF  ? "bind"
			   : request == PERF_EVENT_IOC_ENABLE ? "enable"
							      : "ioctl";
	va_list args;

	va_start(args, request);
	int value = va_arg(args, int);

	va_end(args);
	return answer(steps_are("%s %d %d", what, fd, value), false);
}
