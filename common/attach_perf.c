// SPDX-License-Identifier: Apache-2.0
#include "attach.h"

#include "attach_kernel.h"
#include "errmsg.h"

int attach_perf(struct attach *at, int prog_fd, const char *path, struct attach_probe *probes,
		size_t count, bool cookies, struct errmsg *err)
{
	(void)at, (void)prog_fd, (void)path, (void)probes, (void)count, (void)cookies;
	return errmsg_set(err, "no perf events yet");
}

bool attach_perf_cookie_supported(void)
{
	return true;
}
