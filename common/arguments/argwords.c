// SPDX-License-Identifier: Apache-2.0
#include "arguments/argwords.h"

#include "arguments/funcinfo.h"

static bool is_whole(const struct gofunc *sig, const struct abi_layout *abi)
{
	for (size_t i = 0; i < sig->param_count; i++)
		if (sig->params[i].type->size && !abi->params[i].count)
			return false;
	return true;
}

/* A single word stays what it is. */
static bool is_word(const struct gotype *type)
{
	static const unsigned nesting = 5; /* that argument tables tell of */
	const struct gotype *part = type->elem;

	if (!part)
		return true;
	for (unsigned depth = 0; depth < nesting && part->field_count == 1; depth++)
		part = part->fields[0].type;
	return part->kind == GOTYPE_UNKNOWN && part->size;
}

bool argwords_find(struct funcinfo *info, const struct pclntab_func *fn, bool whole,
		   struct gofunc *sig, struct abi_layout *abi)
{
	struct gofunc table;

	if (!funcinfo_table(info, fn, &table, abi))
		return false;
	if (whole && !is_whole(&table, abi)) {
		abi_layout_free(abi);
		return false;
	}
	*sig = table;
	for (size_t i = 0; i < sig->param_count; i++)
		if (abi->params[i].count && !is_word(sig->params[i].type))
			sig->params[i].type = sig->params[i].type->elem;
	return true;
}
