// SPDX-License-Identifier: Apache-2.0
#include "kernel/attach_kernel_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/heldfile.h"

enum { KERNEL_ENOTSUPP = 524 }; /* not in errno.h: the kernel cannot probe such an instruction */

void attach_keep(struct attach *at, int fd)
{
	at->fds = mem_grow(at->fds, at->count, &at->cap, sizeof(*at->fds));
	at->fds[at->count++] = fd;
}

void attach_drop(struct attach *at)
{
	while (at->count)
		close(at->fds[--at->count]);
}

const char *attach_refusal(int error)
{
	switch (error) {
	case KERNEL_ENOTSUPP:
	case EOPNOTSUPP:
		return "the kernel cannot probe this instruction";
	case EINVAL:
		return "the kernel refuses it: another tracer holds a probe there with a "
		       "reference counter (bcc's own tools do until they end)";
	case EIO:
		return "the kernel cannot read the file there";
	case EEXIST:
		return "another tracer holds a probe there";
	}
	return NULL;
}

int attach_fail(struct errmsg *err, const struct heldfile *file, int error)
{
	const char *refusal = attach_refusal(error);

	errmsg_set(err, "cannot attach to \"%s\": %s", heldfile_path(file),
		   refusal ? refusal : strerror(error));
	if (error == EPERM || error == EACCES)
		errmsg_hint(err, "run as root, or with CAP_BPF and CAP_PERFMON");
	return -1;
}
