// SPDX-License-Identifier: Apache-2.0
/* Arbitrary bytes as a core file: opening it, and reading what it tells of threads and memory, must
 * neither crash nor hang. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coredump.h"
#include "elf/corefile_internal.h"
#include "files/heldfile.h"
#include "fuzz.h"

enum { STEPS = 64 };

static void walk(const struct corefile *core)
{
	uint64_t addr = COREDUMP_LOW_ADDR - 16, value, off, whole, sum = 0;
	uint8_t bytes[256];
	size_t count;
	const struct corefile_thread *all = corefile_threads(core, &count);

	for (size_t i = 0; i < count; i++)
		sum += all[i].pc + all[i].sp + (uint64_t)all[i].call;
	for (uint64_t type = 0; type < STEPS; type++)
		corefile_auxv(core, type, &value);
	for (size_t i = 0; i < STEPS && corefile_mapping(core, i, &value, &off); i++)
		sum += value + off;
	for (unsigned i = 0; i < STEPS; i++, addr += sum % 3 ? 256 : 512)
		if (corefile_read(core, addr, bytes, sizeof(bytes)) > sizeof(bytes))
			abort();
	corefile_read(core, UINT64_MAX - 100, bytes, sizeof(bytes));
	corefile_missing(core, &whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	struct heldfile *file = heldfile_open(NULL, path, NULL);

	fuzz_change(fd, data, size);
	struct corefile *core = corefile_open(file, NULL);

	if (core)
		walk(core);
	corefile_close(core);
	fuzz_change(-1, data, 0);
	close(fd);
	return 0;
}

uint8_t *fuzz_seed(unsigned index, size_t *size)
{
	struct coredump *core = index < 3 ? coredump_new() : NULL;
	uint8_t *data;

	if (!core)
		return NULL;
	if (index == 1)
		core->size = COREDUMP_HIGH + 100;
	if (index == 2) {
		coredump_header(core)->e_phnum = PN_XNUM;
		coredump_header(core)->e_shoff = 0x1f00;
		((Elf64_Shdr *)(core->data + 0x1f00))->sh_info = 4;
	}
	data = malloc(core->size);
	memcpy(data, core->data, core->size);
	*size = core->size;
	free(core);
	return data;
}
