// SPDX-License-Identifier: Apache-2.0
#include "tracing/descendants_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/dynlink.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/btf.h"
#include "kernel/kernelfeature.h"
#include "tracing/command_internal.h"

struct descendants {
	int fork, exit; /* links; -1: none */
	int map, lost;
};

/* "libgo.so" of ".../libgo.so.21.0.0", malloc'd; NULL: no library is called so */
static char *library_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *end = strstr(name, ".so");

	return end ? mem_strndup(name, end + strlen(".so") - name) : NULL;
}

static bool needs(struct heldfile *program, const struct heldfile *library)
{
	char *name = library_name(heldfile_path(library));
	struct image *img = name ? image_open(program, NULL) : NULL;
	bool needed = img && dynlink_needs(img, name);

	image_close(img);
	free(name);
	return needed;
}

bool descendants_wanted(struct command *cmd, const struct heldfile *file)
{
	struct heldfile *own = command_open(cmd, NULL);
	bool wanted = own && !heldfile_is(file, heldfile_then(own)) && !needs(own, file);

	heldfile_close(own);
	return wanted;
}

int descendants_layout(struct descendants_layout *out, struct errmsg *err)
{
	const char *wish = getenv("GOTOOLS_DESCENDANTS");
	struct btf_process proc;
	struct btf_ids ids;

	if ((wish && !strcmp(wish, "no")) || !kernelfeature_exec_watch())
		return errmsg_set(err, "this kernel does not report each fork");
	if (btf_process(&proc, err) || btf_task_ids(&ids, err))
		return -1;
	out->tgid = ids.tgid;
	out->signal = proc.signal;
	out->live = proc.signal_live;
	return 0;
}

struct descendants *descendants_begin(struct bpfprog *bpf, struct errmsg *err)
{
	struct descendants *desc = mem_zalloc(1, sizeof(*desc));

	desc->map = bpfprog_map(bpf, "descendants");
	desc->lost = bpfprog_map(bpf, "unfollowed");
	/* exits first: the exit of a process must not be missed whose fork was seen */
	desc->exit = bpfprog_at_tracepoint(bpf, "on_descendant_exit", "sched_process_exit", err);
	desc->fork = desc->exit < 0
			     ? -1
			     : bpfprog_at_tracepoint(bpf, "on_fork", "sched_process_fork", err);
	if (desc->fork >= 0)
		return desc;
	descendants_free(desc);
	return NULL;
}

static int count_one(const void *key, const void *value, void *arg)
{
	size_t *count = arg;

	(void)key;
	(void)value;
	(*count)++;
	return 0;
}

size_t descendants_running(const struct descendants *desc)
{
	size_t count = 0;

	bpfmap_each(desc->map, sizeof(uint32_t), sizeof(uint32_t), count_one, &count);
	return count;
}

uint64_t descendants_lost(const struct descendants *desc)
{
	uint32_t key = 0;
	uint64_t lost = 0;

	bpfmap_lookup(desc->lost, &key, &lost);
	return lost;
}

void descendants_free(struct descendants *desc)
{
	if (!desc)
		return;
	if (desc->fork >= 0)
		close(desc->fork);
	if (desc->exit >= 0)
		close(desc->exit);
	free(desc);
}
