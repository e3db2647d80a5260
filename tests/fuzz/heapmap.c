// SPDX-License-Identifier: Apache-2.0
/* Linked with --wrap=mmap,--wrap=munmap: mapped files become heap blocks of exactly the file's
 * size, so that ASan sees what reads past their ends. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __wrap_munmap(void *addr, size_t len);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int __real_munmap(void *addr, size_t len);

static void *mapped;

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	if (fd < 0)
		return __real_mmap(addr, len, prot, flags, fd, off);
	mapped = malloc(len);
	if (pread(fd, mapped, len, off) != (ssize_t)len)
		abort();
	return mapped;
}

int __wrap_munmap(void *addr, size_t len)
{
	if (addr != mapped)
		return __real_munmap(addr, len);
	free(mapped);
	mapped = NULL;
	return 0;
}
