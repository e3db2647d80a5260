// SPDX-License-Identifier: Apache-2.0
#include "attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach_kernel.h"
#include "bpfmap.h"
#include "errmsg.h"
#include "kernelfeature.h"
#include "mem.h"

enum {
	TRACE_UPROBE_MULTI = 48, /* BPF_TRACE_UPROBE_MULTI of linux/bpf.h, from 6.6 */
};

enum attach_how attach_how(void)
{
	const char *wish = getenv("GOTOOLS_ATTACH");
	bool multi = !wish || !strcmp(wish, "multi");
	bool cookie = multi || !strcmp(wish, "perf");

	if (multi && kernelfeature_uprobe_multi())
		return ATTACH_MULTI;
	if (cookie && kernelfeature_cookies())
		return ATTACH_PERF_COOKIE;
	return ATTACH_PERF_ADDRESS;
}

bool attach_sleepable(void)
{
	const char *wish = getenv("GOTOOLS_SLEEPABLE");

	return (!wish || strcmp(wish, "no") != 0) && kernelfeature_sleepable();
}

int attach_prog_type(enum attach_how how)
{
	return how == ATTACH_MULTI ? TRACE_UPROBE_MULTI : 0;
}

struct attach *attach_new(enum attach_how how, int prog_fd, const char *path,
			  struct attach_probe *probes, size_t count, struct errmsg *err)
{
	struct attach *at = mem_zalloc(1, sizeof(*at));
	int ret;

	for (size_t i = 0; i < count; i++)
		probes[i].refused = NULL;
	if (how == ATTACH_MULTI)
		ret = attach_multi(at, prog_fd, path, probes, count, err);
	else
		ret = attach_perf(at, prog_fd, path, probes, count, how == ATTACH_PERF_COOKIE, err);
	if (!ret)
		return at;
	attach_free(at);
	return NULL;
}

void attach_free(struct attach *at)
{
	if (!at)
		return;
	attach_drop(at);
	free(at->fds);
	free(at);
}

int attach_fill_sites(int sites_fd, uint64_t start_code, const struct attach_probe *probes,
		      size_t count, struct errmsg *err)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t key = probes[i].addr - start_code;

		if (bpfmap_update(sites_fd, &key, &probes[i].cookie))
			return errmsg_set(err, "cannot tell the kernel side of %zu probes: %s",
					  count, strerror(errno));
	}
	return 0;
}
