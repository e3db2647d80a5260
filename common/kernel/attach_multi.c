// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "kernel/attach_kernel_internal.h"

/* The head of union bpf_attr for BPF_LINK_CREATE with BPF_TRACE_UPROBE_MULTI, as Linux 6.6 defines
 * it (include/uapi/linux/bpf.h); older headers lack it. Arrays and path are addresses. */
struct multi_link {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, multi_flags, pid, pad;
};

enum { TRACE_UPROBE_MULTI = 48 };

enum {
	LINKS_MAX = 4,       /* more of them are replaced by a single one in the end */
	REFUSALS_MAX = 1000, /* each takes some hundredths of a second */
};

struct multi {
	const struct attach *at;
	uint64_t *offs, *cookies;
	struct attach_probe *probes;
	size_t *index;   /* of the probe, for each place in offs and cookies */
	size_t refusals; /* of spans of any length */
};

/* a link for `count` probes from `first` on; its fd, or -1 with errno */
static int make_link(const struct multi *m, size_t first, size_t count)
{
	struct multi_link attr = {
		.prog_fd = m->at->way.prog_fd,
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)heldfile_link(m->at->file),
		.offsets = (uintptr_t)(m->offs + first),
		.cookies = (uintptr_t)(m->cookies + first),
		.count = count,
		.pid = m->at->way.pid,
	};

	return syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

struct span {
	size_t first, count;
};

/* Attaches those of the given probes that the kernel takes, in order: a span that it refuses is
 * halved, down to single probes. The stack holds at most one span for each halving. 0, or the errno
 * that ended it. */
static int attach_pieces(struct attach *at, struct multi *m, size_t count)
{
	struct span stack[2 * 64] = {{0, count}};
	size_t depth = 1;

	while (depth) {
		struct span s = stack[--depth];
		int fd = make_link(m, s.first, s.count);

		if (fd >= 0) {
			attach_keep(at, fd);
			continue;
		}
		const char *refusal = attach_refusal(errno);

		if (!refusal || ++m->refusals > REFUSALS_MAX)
			return errno;
		if (s.count == 1) {
			m->probes[m->index[s.first]].refused = refusal;
			continue;
		}
		stack[depth++] = (struct span){s.first + s.count / 2, s.count - s.count / 2};
		stack[depth++] = (struct span){s.first, s.count / 2};
	}
	return 0;
}

/* Fills offs and cookies with the probes that are not refused, in order. */
static size_t gather(struct multi *m, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (m->probes[i].refused)
			continue;
		m->offs[n] = m->probes[i].off;
		m->cookies[n] = m->probes[i].cookie;
		m->index[n++] = i;
	}
	return n;
}

/* One link in place of many: detaching takes time for each. */
static int attach_together(struct attach *at, struct multi *m, size_t count)
{
	attach_drop(at);
	return attach_pieces(at, m, gather(m, count));
}

static int attach_all(struct attach *at, struct multi *m, size_t count)
{
	int error = attach_pieces(at, m, gather(m, count));

	if (!error && at->count > LINKS_MAX)
		error = attach_together(at, m, count);
	return error;
}

int attach_multi(struct attach *at, struct attach_probe *probes, size_t count, struct errmsg *err)
{
	struct multi m = {
		.at = at,
		.offs = mem_zalloc(count, sizeof(uint64_t)),
		.cookies = mem_zalloc(count, sizeof(uint64_t)),
		.probes = probes,
		.index = mem_zalloc(count, sizeof(size_t)),
	};
	int error = count ? attach_all(at, &m, count) : 0;

	free(m.offs);
	free(m.cookies);
	free(m.index);
	if (error)
		return attach_fail(err, at->file, error);
	if (count && !at->count)
		return errmsg_set(err, "cannot attach to \"%s\": %s", heldfile_path(at->file),
				  probes[0].refused);
	return 0;
}
