// SPDX-License-Identifier: Apache-2.0
#include "sampling/vdso_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/image.h"
#include "elf/unwind.h"
#include "files/heldfile.h"

enum { FRAMES = 8, SIZE_MAX_BYTES = 1 << 20 };

struct vdso {
	struct heldfile *file;
	struct image *img;
};

/* The tool's own, which the kernel has mapped whole: its section headers come last. */
static struct heldfile *copy_own(void)
{
	unsigned long addr = getauxval(AT_SYSINFO_EHDR);
	const uint8_t *own;
	struct heldfile *file = NULL;
	struct errmsg err;
	Elf64_Ehdr head;

	if (!addr)
		return NULL;
	memcpy(&own, &addr, sizeof(own));
	memcpy(&head, own, sizeof(head));
	size_t size = head.e_shoff + (size_t)head.e_shnum * head.e_shentsize;
	int fd = size < SIZE_MAX_BYTES ? memfd_create("vdso", MFD_CLOEXEC) : -1;

	if (fd >= 0 && write(fd, own, size) == (ssize_t)size) {
		char *path = mem_printf("/proc/self/fd/%d", fd);

		file = heldfile_open(NULL, path, &err);
		free(path);
	}
	if (fd >= 0)
		close(fd);
	return file;
}

struct vdso *vdso_new(void)
{
	struct errmsg err;
	struct heldfile *file = copy_own();
	struct image *img = file ? image_open(file, &err) : NULL;

	if (!img || image_arch(img) != ARCH_AMD64) {
		image_close(img);
		heldfile_close(file);
		return NULL;
	}
	struct vdso *vdso = mem_zalloc(1, sizeof(*vdso));

	*vdso = (struct vdso){file, img};
	return vdso;
}

void vdso_free(struct vdso *vdso)
{
	if (!vdso)
		return;
	image_close(vdso->img);
	heldfile_close(vdso->file);
	free(vdso);
}

bool vdso_return(const struct vdso *vdso, const struct vdso_at *at, uint64_t *addr)
{
	const struct unwind_module module = {.img = vdso->img, .bias = at->base};
	const struct unwind_piece piece = {
		.addr = at->sp, .len = at->count * 8, .bytes = (const uint8_t *)at->top};
	struct unwind u = {
		.modules = &module, .module_count = 1, .pieces = &piece, .piece_count = 1};
	uint64_t frames[FRAMES];
	bool complete;

	u.regs[EHFRAME_RA] = at->pc;
	u.regs[AMD64_RSP] = at->sp;
	u.regs[AMD64_RBP] = at->bp;
	size_t count = unwind(&u, frames, FRAMES, &complete);

	*addr = count ? frames[count - 1] : 0;
	return count > 1 && !unwind_module(&u, *addr - 1);
}
