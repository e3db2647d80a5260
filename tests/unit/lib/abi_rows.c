// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_rows.h"
#include "base/errmsg.h"
#include "golang/signature.h"
#include "unit.h"

static void print_value(FILE *out, const struct abi_value *value)
{
	static const char letters[] = {'i', 'f', 0, 'h', 0, '@'};

	if (!value->count)
		fprintf(out, "-%u", value->slot);
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];

		fprintf(out, "%s", i ? "+" : "");
		if (piece->where == ABI_SLOT)
			fprintf(out, "[%u]", piece->n);
		else
			fprintf(out, "%c%u", letters[piece->where], piece->n);
		if (piece->from)
			fprintf(out, ".%u", piece->from);
	}
}

char *abi_rows_describe(const struct abi_layout *layout)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < layout->param_count; i++) {
		fprintf(out, "%s", i ? " " : "");
		print_value(out, &layout->params[i]);
	}
	for (size_t i = 0; i < layout->result_count; i++) {
		fprintf(out, "%s", i ? " " : " -> ");
		print_value(out, &layout->results[i]);
	}
	fclose(out);
	return text;
}

void abi_rows_check_one(const struct abi_row *row, enum arch arch, enum abi_convention convention,
			int dictionary)
{
	struct gotypes *types = gotypes_new();
	struct errmsg err = {0};
	struct gofunc fn;

	if (signature_parse(types, NULL, row->signature, &fn, NULL, &err))
		fail_msg("%s: %s", row->signature, err.text);
	fn.dictionary = dictionary;
	struct abi_layout layout;

	abi_layout(&fn, arch, convention, &layout);
	char *said = abi_rows_describe(&layout);

	if (strcmp(said, row->expected) || layout.stack_size != row->stack_size ||
	    layout.args_size != row->args_size)
		fail_msg("%s: %s, %u bytes, with spills %u", row->signature, said,
			 layout.stack_size, layout.args_size);
	free(said);
	abi_layout_free(&layout);
	gotypes_free(types);
}

void abi_rows_check(const struct abi_row *rows, size_t count, enum arch arch,
		    enum abi_convention convention)
{
	for (size_t i = 0; i < count; i++)
		abi_rows_check_one(&rows[i], arch, convention, -1);
}
