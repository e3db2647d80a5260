// SPDX-License-Identifier: Apache-2.0
#include "argwords.h"

#include "funcinfo.h"

/* A struct without names; a single word stays what it is. */
static const struct gotype *words_type(struct gotypes *memory, const struct gotype *type,
				       const struct abi_value *value)
{
	struct gotype *words;

	if (value->count < 2)
		return type;
	words = gotypes_add(memory, GOTYPE_STRUCT, "");
	words->size = type->size;
	words->align = type->align;
	words->field_count = value->count;
	words->fields = gotypes_alloc(memory, value->count, sizeof(*words->fields));
	for (size_t i = 0; i < value->count; i++) {
		struct gotype *word = gotypes_add(memory, GOTYPE_UNKNOWN, "");

		word->size = value->pieces[i].size;
		word->align = word->size;
		words->fields[i].name = "";
		words->fields[i].type = word;
		words->fields[i].off = value->pieces[i].off;
	}
	return words;
}

static bool is_whole(const struct gofunc *sig, const struct abi_layout *abi)
{
	for (size_t i = 0; i < sig->param_count; i++)
		if (sig->params[i].type->size && !abi->params[i].count)
			return false;
	return true;
}

bool argwords_find(struct funcinfo *info, const struct pclntab_func *fn, struct gotypes *memory,
		   bool whole, struct gofunc *sig, struct abi_layout *abi)
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
		sig->params[i].type = words_type(memory, sig->params[i].type, &abi->params[i]);
	return true;
}
