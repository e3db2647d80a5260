// SPDX-License-Identifier: Apache-2.0
#include "goroutines/runtime_vars_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/image.h"
#include "goroutines/memory.h"
#include "goroutines/runtime_refs_internal.h"
#include "machine/access.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/goruntime.h"

enum { REASON_MAX = 64 };

static bool named_code(const struct program *prog, const char *name, struct insn_code *code)
{
	struct functab_func fn;

	if (!functab_named(prog->tab, name, &fn))
		return false;
	*code = (struct insn_code){.addr = fn.addr, .len = fn.end - fn.addr};
	code->bytes = image_at(prog->img, fn.addr, code->len);
	return code->bytes;
}

/* allgs = append(allgs, gp): of all that it touches, only a slice is three words in a row. */
bool runtime_vars_parse_allgs(enum arch arch, const struct insn_code *code, uint64_t *addr)
{
	struct runtime_refs refs = {0};

	runtime_refs_parse(arch, code, &refs);
	for (size_t i = 0; i < refs.count; i++) {
		*addr = refs.all[i].addr;
		if (refs.all[i].how != ACCESS_ADDRESS && runtime_refs_has(&refs, *addr + 8) &&
		    runtime_refs_has(&refs, *addr + 16))
			return true;
	}
	return false;
}

bool runtime_vars_allgs(const struct program *prog, uint64_t *addr)
{
	struct insn_code code;

	return named_code(prog, "runtime.allgadd", &code) &&
	       runtime_vars_parse_allgs(image_arch(prog->img), &code, addr);
}

size_t runtime_vars_semtables(const struct program *prog, uint64_t addrs[SEMTABLES_MAX])
{
	struct runtime_refs refs = {0};
	size_t count = 0;

	runtime_refs_add(prog, "runtime.semacquire1", &refs);
	for (size_t i = 0; i < refs.count && count < SEMTABLES_MAX; i++)
		if (refs.all[i].how == ACCESS_ADDRESS && refs.all[i].addr % 8 == 0)
			addrs[count++] = refs.all[i].addr;
	return count;
}

/* --- struct g --- */

/* Among the small fields behind waitreason: a byte that is loaded, incremented and stored. */
static uint32_t small_field(const struct access *access, const struct goruntime *rt)
{
	uint32_t first = rt->g_waitreason + 8;

	if (!access->plain || access->bytes != 1 || access->constant ||
	    access->disp < (int32_t)first || access->disp >= (int32_t)first + 8)
		return 0;
	return access->disp;
}

uint32_t runtime_vars_parse_tracking_seq(enum arch arch, const struct insn_code *code,
					 const struct goruntime *rt)
{
	uint32_t loaded = 0, found = 0;
	uint8_t reg = 0, base = 0;
	struct access access;

	for (size_t at = 0; access_parse(arch, code, at, &access); at += access.size) {
		uint32_t off = small_field(&access, rt);

		if (off && access.how == ACCESS_LOAD) {
			loaded = off;
			reg = access.reg;
			base = access.base;
		} else if (off && access.how == ACCESS_STORE && off == loaded &&
			   access.reg == reg && access.base == base) {
			if (found)
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
		       ? runtime_vars_parse_tracking_seq(image_arch(prog->img), &code, rt)
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
	struct runtime_refs refs = {0};

	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		runtime_refs_add(prog, users[i], &refs);
	for (size_t i = 0; i < refs.count; i++) {
		*addr = refs.all[i].addr + bias;
		if (refs.all[i].how == ACCESS_ADDRESS && is_reasons(mem, *addr))
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
