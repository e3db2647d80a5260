// SPDX-License-Identifier: Apache-2.0
#include "kernel/attach_self_internal.h"

#include <link.h>
#include <stddef.h>
#include <unistd.h>

#include "files/heldfile.h"
#include "kernel/attach.h"

struct place {
	uintptr_t addr;
	uint64_t off; /* in the file; 0: not found */
};

static int find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *seg = &info->dlpi_phdr[i];
		uintptr_t at = place->addr - info->dlpi_addr;

		if (seg->p_type == PT_LOAD && at - seg->p_vaddr < seg->p_filesz)
			place->off = at - seg->p_vaddr + seg->p_offset;
	}
	return 1; /* the program itself comes first; libraries are of no interest */
}

struct attach *attach_self(uintptr_t addr, int prog_fd)
{
	struct place place = {.addr = addr};
	struct heldfile *self = heldfile_open(NULL, "/proc/self/exe", NULL);

	dl_iterate_phdr(find_place, &place);
	struct attach_probe probe = {.off = place.off, .addr = addr};
	const struct attach_way way = {
		.how = attach_how(), .prog_fd = prog_fd, .cookies_fd = -1, .pid = getpid()};
	struct attach *at = self ? attach_new(&way, self, &probe, place.off != 0, NULL) : NULL;

	heldfile_close(self);
	return at;
}
