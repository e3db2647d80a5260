// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/heldfile.h"
#include "kernel/attach_kernel_internal.h"

/* kept for everything else that the tool opens */
enum { SPARE_FDS = 64 };

static int uprobe_pmu(struct errmsg *err)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (!f || fscanf(f, "%d", &type) != 1)
		errmsg_set(err, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)");
	if (f)
		fclose(f);
	return type;
}

/* one descriptor for each probe */
static int make_room(size_t count, struct errmsg *err)
{
	rlim_t need = count + SPARE_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= need)
		return 0;
	struct rlimit wanted = {need, limit.rlim_max > need ? limit.rlim_max : need};

	if (!setrlimit(RLIMIT_NOFILE, &wanted))
		return 0;
	errmsg_set(err, "%zu probes need %llu file descriptors; the limit is %llu", count,
		   (unsigned long long)need, (unsigned long long)limit.rlim_max);
	errmsg_hint(err, "trace fewer functions, or raise the limit (ulimit -n)");
	return -1;
}

/* For all processes, or for one: then for all of its threads, as the kernel looks only at the
 * memory of the event's own thread. For all CPUs: the kernel takes a named one only to choose a
 * list for the event. */
static int open_event(int pmu, const struct attach *at, uint64_t off)
{
	pid_t pid = at->way.pid;
	struct perf_event_attr attr = {
		.type = pmu,
		.size = sizeof(attr),
		.uprobe_path = (uintptr_t)heldfile_link(at->file),
		.probe_offset = off,
	};

	return syscall(SYS_perf_event_open, &attr, pid ? pid : -1, pid ? -1 : 0, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

/* The link keeps the event alive. Its descriptor, or -1. */
static int link_event(int event, int prog_fd, uint64_t cookie)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = prog_fd;
	attr.link_create.target_fd = event;
	attr.link_create.attach_type = BPF_PERF_EVENT;
	attr.link_create.perf_event.bpf_cookie = cookie;
	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static int bind_program(int event, int prog_fd)
{
	if (ioctl(event, PERF_EVENT_IOC_SET_BPF, prog_fd))
		return -1;
	return ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
}

/* The event keeps the program alive. */
static int bind_stub(int event, const struct attach *at, uint64_t cookie)
{
	int stub = attach_stub(&at->way, at->stub_array, cookie);

	if (stub < 0)
		return -1;
	int ret = bind_program(event, stub), error = errno;

	close(stub);
	errno = error;
	return ret;
}

/* What is to be kept open for this probe, or -1 with errno. */
static int attach_one(int pmu, const struct attach *at, const struct attach_probe *probe)
{
	int event = open_event(pmu, at, probe->off), kept = event;

	if (event < 0)
		return -1;
	if (at->way.how == ATTACH_PERF_COOKIE)
		kept = link_event(event, at->way.prog_fd, probe->cookie);
	else if (at->stub_array < 0 ? bind_program(event, at->way.prog_fd)
				    : bind_stub(event, at, probe->cookie))
		kept = -1;
	if (kept != event) {
		int error = errno;

		close(event);
		errno = error;
	}
	return kept;
}

int attach_perf(struct attach *at, struct attach_probe *probes, size_t count, struct errmsg *err)
{
	int pmu = uprobe_pmu(err);

	if (pmu < 0 || make_room(count, err))
		return -1;
	for (size_t i = 0; i < count; i++) {
		int fd = attach_one(pmu, at, &probes[i]);

		if (fd >= 0) {
			attach_keep(at, fd);
			continue;
		}
		int error = errno;

		probes[i].refused = attach_refusal(error);
		if (!probes[i].refused)
			return attach_fail(err, at->file, error);
	}
	if (count && !at->count)
		return errmsg_set(err, "cannot attach to \"%s\": %s", heldfile_path(at->file),
				  probes[0].refused);
	return 0;
}
