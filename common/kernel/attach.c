// SPDX-License-Identifier: Apache-2.0
#include "kernel/attach_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "kernel/attach_kernel_internal.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/kernelfeature_internal.h"

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
	return ATTACH_PERF_STUB;
}

bool attach_sleepable(void)
{
	const char *wish = getenv("GOTOOLS_SLEEPABLE");

	/* a stub cannot make a tail call to a program that may sleep */
	return (!wish || strcmp(wish, "no") != 0) && attach_how() != ATTACH_PERF_STUB &&
	       kernelfeature_sleepable();
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
	if (at->way.how == ATTACH_MULTI)
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

/* The array that stubs call through: kept open as long as the probes. */
static int prepare_stubs(struct attach *at, struct errmsg *err)
{
	at->stub_array = -1;
	if (at->way.how != ATTACH_PERF_STUB || at->way.cookies_fd < 0)
		return 0;
	attach_stub_room();
	at->stub_array = bpfcall_prog_array(at->way.prog_fd);
	if (at->stub_array >= 0)
		return 0;
	return attach_fail(err, at->file, errno);
}

struct attach *attach_new(const struct attach_way *way, struct heldfile *file,
			  struct attach_probe *probes, size_t count, struct errmsg *err)
{
	struct attach *at = mem_zalloc(1, sizeof(*at));

	at->way = *way;
	at->file = heldfile_share(file);
	if (!prepare_stubs(at, err) && !attach_probes(at, probes, count, err)) {
		if (way->pid)
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
	if (at->stub_array >= 0)
		close(at->stub_array);
	free(at->fds);
	free(at->taken);
	heldfile_close(at->file);
	free(at);
}
