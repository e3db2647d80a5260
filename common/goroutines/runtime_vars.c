// SPDX-License-Identifier: Apache-2.0
#include "goroutines/runtime_vars_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/image.h"
#include "goroutines/memory.h"
#include "machine/insn.h"
#include "machine/x86.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/goruntime.h"

enum { ADDRESSES = 64, REASON_MAX = 64 };

struct addresses {
	uint64_t at[ADDRESSES];
	size_t count;
};

static void add(struct addresses *set, uint64_t addr)
{
	if (addr && set->count < ADDRESSES)
		set->at[set->count++] = addr;
}

static bool has(const struct addresses *set, uint64_t addr)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->at[i] == addr)
			return true;
	return false;
}

/* Which variables the code loads, stores or compares (`values`), and which it takes the address of.
 */
static void find_addresses(const struct insn_code *code, struct addresses *values,
			   struct addresses *taken)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct insn_operands op;
	uint64_t addr = code->addr;
	struct insn in;

	for (; insn_decode(dec, code, addr, &in); addr += in.size) {
		if (insn_operands(code, addr, &op))
			add(values, op.addr);
		else if (in.kind == INSN_MOVE)
			add(taken, in.target);
	}
	insn_decoder_free(dec);
}

static bool named_code(const struct program *prog, const char *name, struct insn_code *code)
{
	struct functab_func fn;

	if (image_arch(prog->img) != ARCH_AMD64 || !functab_named(prog->tab, name, &fn))
		return false;
	*code = (struct insn_code){.addr = fn.addr, .len = fn.end - fn.addr};
	code->bytes = image_at(prog->img, fn.addr, code->len);
	return code->bytes;
}

/* allgs = append(allgs, gp): of all that it touches, only a slice is three words in a row. */
bool runtime_vars_parse_allgs(const struct insn_code *code, uint64_t *addr)
{
	struct addresses values = {0}, taken = {0};

	find_addresses(code, &values, &taken);
	for (size_t i = 0; i < values.count; i++) {
		*addr = values.at[i];
		if (has(&values, *addr + 8) && has(&values, *addr + 16))
			return true;
	}
	return false;
}

bool runtime_vars_allgs(const struct program *prog, uint64_t *addr)
{
	struct insn_code code;

	return named_code(prog, "runtime.allgadd", &code) && runtime_vars_parse_allgs(&code, addr);
}

size_t runtime_vars_semtables(const struct program *prog, uint64_t addrs[SEMTABLES_MAX])
{
	struct addresses values = {0}, taken = {0};
	struct insn_code code;
	size_t count = 0;

	if (!named_code(prog, "runtime.semacquire1", &code))
		return 0;
	find_addresses(&code, &values, &taken);
	for (size_t i = 0; i < taken.count && count < SEMTABLES_MAX; i++)
		if (taken.at[i] % 8 == 0)
			addrs[count++] = taken.at[i];
	return count;
}

/* --- struct g --- */

/* Among the small fields behind waitreason: a byte that is loaded, incremented and stored. */
static uint32_t small_field(const struct x86_op *op, const struct goruntime *rt)
{
	uint32_t first = rt->g_waitreason + 8;

	if (op->form != X86_LEGACY || !op->plain || op->prefixes || op->disp < (int32_t)first ||
	    op->disp >= (int32_t)first + 8)
		return 0;
	return op->disp;
}

uint32_t runtime_vars_parse_tracking_seq(const struct insn_code *code, const struct goruntime *rt)
{
	uint32_t loaded = 0, found = 0;
	uint8_t reg = 0, base = 0;
	struct x86_op op;

	for (size_t at = 0; x86_parse(code->bytes + at, code->len - at, &op); at += op.size) {
		uint32_t off = small_field(&op, rt);

		if (off && op.map == 1 && op.opcode == 0xb6) { /* movzx r32, byte */
			loaded = off;
			reg = x86_reg(&op);
			base = op.base;
		} else if (off && !op.map && op.opcode == 0x88) { /* mov byte, r8 */
			if (off != loaded || x86_reg(&op) != reg || op.base != base || found)
				return 0;
			found = off;
		}
	}
	return found;
}

uint32_t runtime_vars_tracking_seq(const struct program *prog, const struct goruntime *rt)
{
	struct insn_code code;

	return named_code(prog, "runtime.casgstatus", &code)
		       ? runtime_vars_parse_tracking_seq(&code, rt)
		       : 0;
}

/* --- wait reasons --- */

static char *read_reason(const struct memory *mem, uint64_t addr)
{
	uint64_t string[2];
	char text[REASON_MAX + 1];

	if (!mem->read(mem->ctx, addr, string, sizeof(string)) || !string[1] ||
	    string[1] > REASON_MAX || !mem->read(mem->ctx, string[0], text, string[1]))
		return NULL;
	for (size_t i = 0; i < string[1]; i++)
		if (!isprint((unsigned char)text[i]))
			return NULL;
	return mem_strndup(text, string[1]);
}

/* The first is empty, and the second has been the same ever since there are reasons (Go 1.11). */
static bool is_reasons(const struct memory *mem, uint64_t addr)
{
	uint64_t first_len;

	if (!memory_u64(mem, addr + 8, &first_len) || first_len)
		return false;
	char *second = read_reason(mem, addr + 16);
	bool same = second && !strcmp(second, "GC assist marking");

	free(second);
	return same;
}

/* waitReason.String returns waitReasonStrings[w]; it may be inlined into the other. */
static bool find_reasons(const struct program *prog, const struct memory *mem, uint64_t bias,
			 uint64_t *addr)
{
	static const char *const users[] = {"runtime.waitReason.String", "runtime.goroutineheader"};
	struct addresses values = {0}, taken = {0};
	struct insn_code code;

	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		if (named_code(prog, users[i], &code))
			find_addresses(&code, &values, &taken);
	for (size_t i = 0; i < taken.count; i++) {
		*addr = taken.at[i] + bias;
		if (is_reasons(mem, *addr))
			return true;
	}
	return false;
}

bool runtime_vars_wait_reasons(const struct program *prog, const struct memory *mem, uint64_t bias,
			       char *reasons[WAIT_REASONS])
{
	uint64_t addr;

	if (!find_reasons(prog, mem, bias, &addr))
		return false;
	for (size_t i = 1; i < WAIT_REASONS; i++)
		reasons[i] = read_reason(mem, addr + i * 16);
	return true;
}

static bool read_file(void *ctx, uint64_t addr, void *out, size_t len)
{
	const void *bytes = image_at(ctx, addr, len);

	if (bytes)
		memcpy(out, bytes, len);
	return bytes;
}

bool runtime_vars_wait_reasons_of(const struct program *prog, char *reasons[WAIT_REASONS])
{
	const struct memory file = {read_file, prog->img};

	return runtime_vars_wait_reasons(prog, &file, 0, reasons);
}
