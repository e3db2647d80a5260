// SPDX-License-Identifier: Apache-2.0
#include "kernel/late_internal.h"

#include <linux/bpf.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/bpfprog.h"

#define MARK 0x676f6c6174650000 /* "golate": no number that programs have */

/* What differs by the process, by the release of Go or by an option's number. The verifier knows
 * the value, and drops what is behind an `if` of it. Those that #if asks for cannot be here. */
static const char *const numbers[] = {
	"TGID",       "THREADS_TGID", "TLS_G",         "GOID_OFF",     "G_M",
	"G_SCHED_SP", "G_SCHED_BP",   "G_STATUS",      "G_WAITREASON", "G_WAITING",
	"G_GOPC",     "G_LABELS",     "G_PARENT_GOID", "M_CURG",       "SPLIT_BACKOFF",
	"REASONS",    "LATE_REASONS", "MIN_NS",        "MAX_NS",
};

/* What differs by how many functions are traced, or follows from the size of their arguments: any
 * number that is not one of ours, and so might be a multiple of a mark, has to be here. More than
 * CPUs, fewer than would take memory: the maps of this size are there while Clang compiles. */
static const struct room {
	const char *name;
	uint32_t mark;
} rooms[] = {{"ROWS", 1009},       {"COST_ROWS", 1013}, {"PLACES", 1019},
	     {"STATE_SUMS", 1021}, {"KEYS", 1031},      {"TLS_WORDS", 1033}};

/* 0: none */
static uint64_t mark_of(const char *define)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!strcmp(define, numbers[i]))
			return MARK + i;
	return 0;
}

/* 0: none */
static uint32_t room_of(const char *define)
{
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++)
		if (!strcmp(define, rooms[i].name))
			return rooms[i].mark;
	return 0;
}

bool late_is(const char *define)
{
	return mark_of(define) || room_of(define);
}

char *late_option(const struct bpfprog_define *def)
{
	uint64_t mark = mark_of(def->name);
	uint32_t room = room_of(def->name);

	if (mark)
		return mem_printf("-D%s=LATE(0x%llx)", def->name, (unsigned long long)mark);
	return mem_printf("-D%s=%lluULL", def->name, room ? room : (unsigned long long)def->value);
}

/* The definition whose mark the instruction loads; NULL: none */
static const struct bpfprog_define *loaded_by(const struct bpf_insn *insn,
					      const struct bpfprog_define *defs, size_t ndefs)
{
	if (insn->code != (BPF_LD | BPF_DW | BPF_IMM) || insn->src_reg)
		return NULL;
	uint64_t number = (uint64_t)(uint32_t)insn[1].imm << 32 | (uint32_t)insn->imm;

	if (number < MARK || number >= MARK + sizeof(numbers) / sizeof(*numbers))
		return NULL;
	for (size_t i = 0; i < ndefs; i++)
		if (mark_of(defs[i].name) == number)
			return &defs[i];
	return NULL;
}

void late_put(struct bpf_insn *insns, uint32_t count, const struct bpfprog_define *defs,
	      size_t ndefs)
{
	for (uint32_t i = 0; i + 1 < count; i++) {
		const struct bpfprog_define *def = loaded_by(&insns[i], defs, ndefs);

		if (!def)
			continue;
		insns[i].imm = (int32_t)def->value;
		insns[i + 1].imm = (int32_t)(def->value >> 32);
	}
}

uint32_t late_entries(uint32_t entries, const struct bpfprog_define *defs, size_t ndefs)
{
	for (size_t i = 0; entries && i < ndefs; i++) {
		uint32_t mark = room_of(defs[i].name);

		if (mark && entries % mark == 0)
			return entries / mark * (uint32_t)defs[i].value;
	}
	return entries;
}
