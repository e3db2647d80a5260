/* SPDX-License-Identifier: Apache-2.0 */
/* The bpf system call's view of a uprobe_multi link (Linux 6.6, uapi/linux/bpf.h), which older
 * headers lack. */
#ifndef UPROBE_LINK_H
#define UPROBE_LINK_H

#include <stdint.h>

enum { BPF_CMD_LINK_CREATE = 28, ATTACH_UPROBE_MULTI = 48 };

struct uprobe_link {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies; /* addresses */
	uint32_t count, multi_flags, pid;
	uint32_t padding;
};

#endif
