// SPDX-License-Identifier: Apache-2.0
#include "elf/corefile_notes_internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/elfnote_internal.h"

/* struct elf_prstatus and, in it, struct user_regs_struct, of x86-64 whatever this is built for */
enum {
	STATUS_SIZE = 336,
	STATUS_PID = 32,
	STATUS_REGS = 112,
	REGS_ORIG_AX = 15 * 8,
	REGS_IP = 16 * 8,
	REGS_SP = 19 * 8,
	REGS_FS_BASE = 21 * 8,
	CALL_MAX = 1 << 12,
};

enum { MAPPINGS_HEAD = 16, MAPPING_SIZE = 24 }; /* count, page size; from, to, page of the file */

static uint64_t word_at(const uint8_t *data, uint64_t at)
{
	uint64_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static void add_thread(const uint8_t *desc, struct corefile_notes *out)
{
	const uint8_t *regs = desc + STATUS_REGS;
	uint64_t call = word_at(regs, REGS_ORIG_AX);
	struct corefile_thread thread = {.call = call < CALL_MAX ? (int)call : -1,
					 .pc = word_at(regs, REGS_IP),
					 .sp = word_at(regs, REGS_SP),
					 .tls = word_at(regs, REGS_FS_BASE)};
	int32_t tid;

	memcpy(&tid, desc + STATUS_PID, sizeof(tid));
	thread.tid = tid;
	if (!out->thread_count && !out->pid && tid > 0)
		out->pid = tid;
	out->threads =
		mem_grow(out->threads, out->thread_count, &out->thread_cap, sizeof(*out->threads));
	out->threads[out->thread_count++] = thread;
}

enum { PSINFO_PID = 24, PSINFO_SIZE = 136 }; /* struct elf_prpsinfo */

static void take_note(uint32_t type, const uint8_t *desc, uint64_t len, struct corefile_notes *out)
{
	int32_t pid;

	if (type == NT_PRSTATUS && len >= STATUS_SIZE) {
		add_thread(desc, out);
	} else if (type == NT_PRPSINFO && len >= PSINFO_SIZE) {
		memcpy(&pid, desc + PSINFO_PID, sizeof(pid));
		out->pid = pid;
	} else if (type == NT_AUXV && !out->auxv) {
		out->auxv = desc;
		out->auxv_len = len;
	} else if (type == NT_FILE && !out->mappings && len >= MAPPINGS_HEAD) {
		out->mappings = desc;
		out->mappings_len = len;
	}
}

void corefile_notes_read(const uint8_t *data, uint64_t len, struct corefile_notes *out)
{
	struct elfnote note;

	for (uint64_t off = 0; elfnote_next(data, len, &off, &note);)
		if (elfnote_is(&note, note.type, "CORE", sizeof("CORE")))
			take_note(note.type, note.desc, note.len, out);
}

bool corefile_notes_auxv(const struct corefile_notes *notes, uint64_t type, uint64_t *value)
{
	for (uint64_t at = 0; notes->auxv && notes->auxv_len - at >= 16; at += 16) {
		if (word_at(notes->auxv, at) != type)
			continue;
		*value = word_at(notes->auxv, at + 8);
		return true;
	}
	return false;
}

bool corefile_notes_mapping(const struct corefile_notes *notes, size_t number, uint64_t *addr,
			    uint64_t *off)
{
	if (!notes->mappings || number >= word_at(notes->mappings, 0) ||
	    number >= (notes->mappings_len - MAPPINGS_HEAD) / MAPPING_SIZE)
		return false;
	uint64_t at = MAPPINGS_HEAD + number * MAPPING_SIZE;

	*addr = word_at(notes->mappings, at);
	return !__builtin_mul_overflow(word_at(notes->mappings, at + 16),
				       word_at(notes->mappings, 8), off);
}
