// SPDX-License-Identifier: Apache-2.0
#include "arguments/funcinfo_gccgo_internal.h"

#include <string.h>

#include "dwarf/debuginfo.h"
#include "machine/arch.h"
#include "golang/funcname.h"
#include "program/functab.h"

void funcinfo_add_receiver(struct gotypes *memory, const struct goparam *receiver,
			   struct gofunc *out)
{
	struct goparam *params = gotypes_alloc(memory, out->param_count + 1, sizeof(*params));

	if (out->param_count)
		memcpy(params + 1, out->params, out->param_count * sizeof(*params));
	params[0] = *receiver;
	out->params = params;
	out->param_count++;
	out->receiver = true;
}

void funcinfo_gccgo_typed(struct gotypes *memory, const char *name, const struct gofunc *known,
			  struct gofunc *out)
{
	struct goparam word = {.name = "", .type = gotypes_basic(memory, "unsafe.Pointer")};
	bool is_known = known->source == GOFUNC_DEBUGINFO;
	struct funcname parts;

	funcname_parse(name, &parts);
	if (parts.receiver)
		funcinfo_add_receiver(memory, is_known && known->receiver ? known->params : &word,
				      out);
	if (is_known && !out->result_count) {
		out->results = known->results;
		out->result_count = known->result_count;
	}
}

static void forget_places(struct abi_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		values[i].count = 0;
}

void funcinfo_clone_layout(struct debuginfo *dbg, const struct functab_func *fn,
			   const struct gofunc *sig, struct abi_layout *out)
{
	abi_layout(sig, ARCH_AMD64, ABI_SYSV, out);
	forget_places(out->params, out->param_count);
	forget_places(out->results, out->result_count);
	for (size_t i = 0; dbg && sig->source == GOFUNC_DEBUGINFO && i < out->param_count; i++)
		debuginfo_place(dbg, fn->addr, sig, i, &out->params[i]);
}
