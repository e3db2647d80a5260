// SPDX-License-Identifier: Apache-2.0
#include "attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach_kernel.h"
#include "bpfmap.h"
#include "errmsg.h"
#include "heldfile.h"
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

static int attach_probes(struct attach *at, struct attach_probe *probes, size_t count,
			 struct errmsg *err)
{
	for (size_t i = 0; i < count; i++)
		probes[i].refused = NULL;
	if (at->how == ATTACH_MULTI)
		return attach_multi(at, probes, count, err);
	return attach_perf(at, probes, count, err);
}

static void note_taken(struct attach *at, const struct attach_probe *probes, size_t count)
{
	at->taken = mem_zalloc(count, sizeof(*at->taken));
	for (size_t i = 0; i < count; i++)
		if (!probes[i].refused)
			at->taken[at->taken_count++] = probes[i];
}

struct attach *attach_new(enum attach_how how, int prog_fd, struct heldfile *file, pid_t pid,
			  struct attach_probe *probes, size_t count, struct errmsg *err)
{
	struct attach *at = mem_zalloc(1, sizeof(*at));

	*at = (struct attach){
		.how = how, .prog_fd = prog_fd, .file = heldfile_share(file), .pid = pid};
	if (!attach_probes(at, probes, count, err)) {
		if (pid)
			note_taken(at, probes, count);
		return at;
	}
	attach_free(at);
	return NULL;
}

int attach_again(struct attach *at, struct errmsg *err)
{
	attach_forget(at);
	at->old_fds = at->fds;
	at->old_count = at->count;
	at->fds = NULL;
	at->count = at->cap = 0;
	int ret = attach_probes(at, at->taken, at->taken_count, err);

	for (size_t i = 0; !ret && i < at->taken_count; i++)
		if (at->taken[i].refused)
			ret = errmsg_set(err, "%s", at->taken[i].refused);
	return ret;
}

void attach_forget(struct attach *at)
{
	while (at->old_count)
		close(at->old_fds[--at->old_count]);
	free(at->old_fds);
	at->old_fds = NULL;
}

void attach_free(struct attach *at)
{
	if (!at)
		return;
	attach_forget(at);
	attach_drop(at);
	free(at->fds);
	free(at->taken);
	heldfile_close(at->file);
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
