// SPDX-License-Identifier: Apache-2.0
#include "coredump.h"

#include <stdlib.h>
#include <string.h>

enum { SEGMENTS = 4, STATUS_SIZE = 336, PSINFO_SIZE = 136 };

Elf64_Ehdr *coredump_header(struct coredump *core)
{
	return (Elf64_Ehdr *)core->data;
}

Elf64_Phdr *coredump_segment(struct coredump *core, unsigned i)
{
	return (Elf64_Phdr *)(core->data + sizeof(Elf64_Ehdr)) + i;
}

static size_t add_note(struct coredump *core, size_t at, uint32_t type, const void *desc,
		       uint32_t len)
{
	const Elf64_Nhdr note = {sizeof("CORE"), len, type};

	memcpy(core->data + at, &note, sizeof(note));
	memcpy(core->data + at + sizeof(note), "CORE", sizeof("CORE"));
	memcpy(core->data + at + sizeof(note) + 8, desc, len);
	return at + sizeof(note) + 8 + ((len + 3) & ~3u);
}

static size_t add_thread(struct coredump *core, size_t at, int i)
{
	uint8_t status[STATUS_SIZE] = {0};
	const int32_t tid = COREDUMP_PID + i;
	const uint64_t words[] = {i, 0x1000 + i, 0, 0, 0x2000 + i, 0, 0x3000 + i};

	memcpy(status + 32, &tid, sizeof(tid));
	memcpy(status + 112 + 15 * 8, words, sizeof(words)); /* orig_rax and what follows */
	return add_note(core, at, NT_PRSTATUS, status, sizeof(status));
}

static size_t add_notes(struct coredump *core)
{
	const uint64_t auxv[] = {AT_PAGESZ, 4096, AT_ENTRY, COREDUMP_BIAS + 0x401000, AT_NULL, 0};
	const uint64_t files[] = {1, 4096, COREDUMP_BIAS + 0x401000, COREDUMP_BIAS + 0x402000, 1};
	const int32_t pid = COREDUMP_PID;
	uint8_t psinfo[PSINFO_SIZE] = {0};
	size_t at = add_thread(core, COREDUMP_NOTES, 0);

	memcpy(psinfo + 24, &pid, sizeof(pid));
	at = add_note(core, at, NT_PRPSINFO, psinfo, sizeof(psinfo));
	at = add_note(core, at, NT_AUXV, auxv, sizeof(auxv));
	at = add_note(core, at, NT_FILE, files, sizeof(files));
	for (int i = 1; i < COREDUMP_THREADS; i++)
		at = add_thread(core, at, i);
	return at - COREDUMP_NOTES;
}

struct coredump *coredump_new(void)
{
	struct coredump *core = calloc(1, sizeof(*core));

	core->size = COREDUMP_SIZE;
	*coredump_header(core) =
		(Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = sizeof(Elf64_Ehdr),
			     .e_ehsize = sizeof(Elf64_Ehdr),
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = SEGMENTS};
	*coredump_segment(core, 0) = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = COREDUMP_NOTES, .p_filesz = add_notes(core)};
	for (unsigned i = 1; i < SEGMENTS; i++)
		*coredump_segment(core, i) =
			(Elf64_Phdr){.p_type = PT_LOAD,
				     .p_offset = COREDUMP_LOW + (i - 1) * 0x1000,
				     .p_vaddr = COREDUMP_LOW_ADDR + (i - 1) * 0x1000,
				     .p_filesz = i == 3 ? 0 : 0x1000,
				     .p_memsz = 0x1000};
	for (uint64_t at = COREDUMP_LOW; at < COREDUMP_SIZE; at += 8)
		memcpy(core->data + at, &at, sizeof(at));
	return core;
}
