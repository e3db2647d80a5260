// SPDX-License-Identifier: Apache-2.0
#include "elffile.h"

#include "files/heldfile.h"

Elf64_Ehdr *elffile_header(struct elffile *f)
{
	return (Elf64_Ehdr *)f->data;
}

Elf64_Phdr *elffile_segment(struct elffile *f, unsigned i)
{
	return (Elf64_Phdr *)(f->data + sizeof(Elf64_Ehdr)) + i;
}

Elf64_Shdr *elffile_section_header(struct elffile *f, unsigned i)
{
	return (Elf64_Shdr *)(f->data + 0x6000) + i;
}

uint8_t *elffile_at(struct elffile *f, uint64_t addr)
{
	return f->data + (addr - 0x400000);
}

void elffile_u32(struct elffile *f, uint64_t addr, uint32_t value)
{
	memcpy(elffile_at(f, addr), &value, sizeof(value));
}

void elffile_u64(struct elffile *f, uint64_t addr, uint64_t value)
{
	memcpy(elffile_at(f, addr), &value, sizeof(value));
}

void elffile_bytes(struct elffile *f, uint64_t addr, const void *bytes, size_t len)
{
	memcpy(elffile_at(f, addr), bytes, len);
}

static void elffile_load(struct elffile *f, uint64_t addr, uint64_t end, unsigned flags)
{
	*elffile_segment(f, elffile_header(f)->e_phnum++) = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = flags,
		.p_offset = addr - 0x400000,
		.p_vaddr = addr,
		.p_filesz = end - addr,
		.p_memsz = end - addr,
	};
}

struct elffile *elffile_new(unsigned machine)
{
	struct elffile *f = calloc(1, sizeof(*f));
	Elf64_Ehdr *ehdr = elffile_header(f);

	f->size = ELFFILE_SIZE;
	f->fd = -1;
	memcpy(ehdr->e_ident, ELFMAG, SELFMAG);
	ehdr->e_ident[EI_CLASS] = ELFCLASS64;
	ehdr->e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr->e_ident[EI_VERSION] = EV_CURRENT;
	ehdr->e_type = ET_EXEC;
	ehdr->e_machine = machine;
	ehdr->e_version = EV_CURRENT;
	ehdr->e_phoff = sizeof(*ehdr);
	ehdr->e_ehsize = sizeof(*ehdr);
	ehdr->e_phentsize = sizeof(Elf64_Phdr);
	ehdr->e_shentsize = sizeof(Elf64_Shdr);
	elffile_load(f, ELFFILE_TEXT, ELFFILE_RODATA, PF_R | PF_X);
	elffile_load(f, ELFFILE_RODATA, ELFFILE_DATA, PF_R);
	elffile_load(f, ELFFILE_DATA, ELFFILE_DATA_END, PF_R | PF_W);
	return f;
}

Elf64_Shdr *elffile_section(struct elffile *f, const char *name, uint64_t addr, uint64_t size)
{
	char *names = (char *)f->data + 0x6800;
	Elf64_Shdr *strtab = elffile_section_header(f, 1);

	if (!f->nsections) {
		*strtab = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = 0x6800, .sh_size = 1};
		elffile_header(f)->e_shoff = 0x6000;
		elffile_header(f)->e_shstrndx = 1;
		f->nsections = 2;
	}

	Elf64_Shdr *sh = elffile_section_header(f, f->nsections++);

	elffile_header(f)->e_shnum = f->nsections;
	*sh = (Elf64_Shdr){
		.sh_name = strtab->sh_size,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_addr = addr,
		.sh_offset = addr - 0x400000,
		.sh_size = size,
	};
	memcpy(names + strtab->sh_size, name, strlen(name) + 1);
	strtab->sh_size += strlen(name) + 1;
	return sh;
}

struct image *elffile_open(struct elffile *f, struct errmsg *err)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = memfd_create("elffile", MFD_CLOEXEC);
	if (f->fd < 0 || write(f->fd, f->data, f->size) != (ssize_t)f->size)
		abort();
	if (f->sparse_size && ftruncate(f->fd, f->sparse_size))
		abort();
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	return elffile_again(f, err);
}

struct image *elffile_again(const struct elffile *f, struct errmsg *err)
{
	struct heldfile *file = heldfile_open(NULL, f->path, err);
	struct image *img = file ? image_open(file, err) : NULL;

	heldfile_close(file);
	return img;
}

void elffile_free(struct elffile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}
