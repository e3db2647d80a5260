// SPDX-License-Identifier: Apache-2.0
#include "goroutines/runtime_refs_internal.h"

#include "elf/image.h"
#include "machine/insn.h"
#include "program/functab.h"
#include "program/program.h"

static void add(const struct coderef *ref, void *ctx)
{
	struct runtime_refs *refs = ctx;

	if (refs->count < RUNTIME_REFS)
		refs->all[refs->count++] = *ref;
}

void runtime_refs_parse(enum arch arch, const struct insn_code *code, struct runtime_refs *refs)
{
	coderefs_each(arch, code, add, refs);
}

bool runtime_refs_add(const struct program *prog, const char *func, struct runtime_refs *refs)
{
	struct functab_func fn;

	if (!functab_named(prog->tab, func, &fn))
		return false;
	struct insn_code code = {.addr = fn.addr, .len = fn.end - fn.addr};

	code.bytes = image_at(prog->img, fn.addr, code.len);
	if (!code.bytes)
		return false;
	runtime_refs_parse(image_arch(prog->img), &code, refs);
	return true;
}

bool runtime_refs_has(const struct runtime_refs *refs, uint64_t addr)
{
	for (size_t i = 0; i < refs->count; i++)
		if (refs->all[i].addr == addr)
			return true;
	return false;
}

bool runtime_refs_only(const struct runtime_refs *refs, int how, unsigned bytes, uint64_t *addr)
{
	bool found = false;

	for (size_t i = 0; i < refs->count; i++) {
		const struct coderef *ref = &refs->all[i];

		if ((int)ref->how != how || ref->bytes != bytes || (found && ref->addr == *addr))
			continue;
		if (found)
			return false;
		found = true;
		*addr = ref->addr;
	}
	return found;
}
