// SPDX-License-Identifier: Apache-2.0
#include "kernel/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfmap.h"

struct sampler {
	int *fds;
	size_t count;
};

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t i = 0; i < sampler->count; i++)
		close(sampler->fds[i]);
	free(sampler->fds);
	free(sampler);
}

static void set_error(int error, uint32_t hz, struct errmsg *err)
{
	if (error == EINVAL)
		errmsg_set(err,
			   "the kernel refuses %u samples a second: "
			   "kernel.perf_event_max_sample_rate is the most",
			   hz);
	else
		errmsg_set(err, "cannot sample what runs: %s", strerror(error));
	if (error == EPERM || error == EACCES)
		errmsg_hint(err, "run as root, or with CAP_PERFMON and CAP_BPF");
}

static int open_event(int cpu, uint32_t hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 0, or an error; of a CPU that is not there or off, there is no event. */
static int add_cpu(struct sampler *sampler, int prog_fd, int cpu, uint32_t hz)
{
	int fd = open_event(cpu, hz);

	if (fd < 0)
		return errno == ENODEV ? 0 : errno;
	sampler->fds[sampler->count++] = fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return errno;
	return 0;
}

struct sampler *sampler_new(int prog_fd, uint32_t hz, struct errmsg *err)
{
	struct sampler *sampler = mem_zalloc(1, sizeof(*sampler));
	unsigned cpus = bpfmap_cpus();
	int error = 0;

	sampler->fds = mem_zalloc(cpus, sizeof(*sampler->fds));
	for (unsigned i = 0; !error && i < cpus; i++)
		error = add_cpu(sampler, prog_fd, (int)i, hz);
	if (!error && !sampler->count)
		error = ENODEV;
	if (!error)
		return sampler;
	set_error(error, hz, err);
	sampler_free(sampler);
	return NULL;
}
