// SPDX-License-Identifier: Apache-2.0
#include "framefile.h"

#include "elffile.h"

enum { HEADER = ELFFILE_RODATA, HEADER_SIZE = 12, ENTRY = 8, RECORDS = ELFFILE_RODATA + 0x100 };

static void put(struct framefile *w, const void *bytes, size_t len)
{
	elffile_bytes(w->f, w->at, bytes, len);
	w->at += len;
}

static void put_u32(struct framefile *w, uint64_t value)
{
	elffile_u32(w->f, w->at, (uint32_t)value);
	w->at += sizeof(uint32_t);
}

/* Ends the record that begins at `start`: zeros (DW_CFA_nop) fill it up to 8 bytes. */
static void end_record(struct framefile *w, uint64_t start)
{
	w->at = (w->at + 7) / 8 * 8;
	elffile_u32(w->f, start, (uint32_t)(w->at - start - 4));
}

void framefile_make(struct framefile *w, struct elffile *f, bool large,
		    struct framefile_rules rules)
{
	*w = (struct framefile){.f = f, .large = large, .cie = RECORDS, .at = RECORDS};
	elffile_bytes(f, HEADER, "\x01\x1b\x03\x3b", 4);
	elffile_u32(f, HEADER + 4, RECORDS - HEADER - 4);
	*elffile_segment(f, elffile_header(f)->e_phnum++) = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME, .p_vaddr = HEADER, .p_filesz = RECORDS - HEADER};
	put_u32(w, 0);
	put_u32(w, 0);
	if (large)
		put(w, "\3zPLR\0\1\x78\x10\x07\x9b\0\0\0\0\0\0", 17);
	else
		put(w, "\1zR\0\1\x78\x10\x01\x1b", 9);
	put(w, rules.bytes, rules.len);
	end_record(w, RECORDS);
}

uint64_t framefile_func(struct framefile *w, struct framefile_rules rules)
{
	uint64_t start = w->at, addr = ELFFILE_TEXT + w->count * FRAMEFILE_FUNCTION;
	uint64_t entry = HEADER + HEADER_SIZE + w->count * ENTRY;

	elffile_u32(w->f, entry, (uint32_t)(addr - HEADER));
	elffile_u32(w->f, entry + 4, (uint32_t)(start - HEADER));
	elffile_u32(w->f, HEADER + 8, ++w->count);
	put_u32(w, 0);
	put_u32(w, w->at - w->cie);
	if (w->large) {
		put(w, &addr, sizeof(addr));
		put(w, &(uint64_t){FRAMEFILE_FUNCTION}, sizeof(uint64_t));
	} else {
		put_u32(w, addr - w->at);
		put_u32(w, FRAMEFILE_FUNCTION);
	}
	put(w, "\0", 1);
	put(w, rules.bytes, rules.len);
	end_record(w, start);
	return start;
}
