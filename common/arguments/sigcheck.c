// SPDX-License-Identifier: Apache-2.0
#include "arguments/sigcheck_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"

enum {
	PADDING_MAX = 8, /* bytes of padding at a value's end, which tables omit */
	PLACE_TEXT = 24,
};

static bool is_left_out(const struct goparam *param)
{
	return !strcmp(param->name, "...");
}

static bool same_size(const struct gotype *type, const struct gotype *told)
{
	bool partly = !told->size && strstr(told->name, "...");

	return partly || (type->size >= told->size && type->size - told->size <= PADDING_MAX);
}

static bool same_piece(const struct abi_piece *piece, const struct abi_piece *told)
{
	return piece->where == told->where && piece->n == told->n &&
	       (piece->where == ABI_SLOT || piece->size == told->size);
}

/* On the stack, a value of several parts may be one piece. */
static bool same_place(const struct abi_value *value, const struct abi_value *told, bool partly)
{
	bool on_stack = told->pieces[0].where == ABI_SLOT;

	if (!value->count || !same_piece(&value->pieces[0], &told->pieces[0]))
		return false;
	if (on_stack)
		return true;
	for (size_t i = 1; i < told->count; i++)
		if (i >= value->count || !same_piece(&value->pieces[i], &told->pieces[i]))
			return false;
	return partly || value->count == told->count;
}

static bool same_param(const struct goparam *param, const struct abi_value *value,
		       const struct goparam *table, const struct abi_value *told)
{
	if (!same_size(param->type, table->type))
		return false;
	if (table->place < GOPARAM_READ || !told->count)
		return true;
	return same_place(value, told, !table->type->size);
}

bool sigcheck_agrees(const struct gofunc *sig, const struct abi_layout *layout,
		     const struct gofunc *table, const struct abi_layout *told)
{
	size_t count = table->param_count;
	bool open = count && is_left_out(&table->params[count - 1]);

	/* the last parameters may be left out: the places of the others do not change */
	for (size_t i = 0; i < count - open && i < sig->param_count; i++) {
		if (table->params[i].is_guess)
			return true;
		if (!is_left_out(&table->params[i]) &&
		    !same_param(&sig->params[i], &layout->params[i], &table->params[i],
				&told->params[i]))
			return false;
	}
	return open || sig->param_count <= count;
}

static void print_sizes(FILE *out, const struct goparam *param, const struct abi_value *value)
{
	bool is_table = param->type->kind == GOTYPE_UNKNOWN && param->type->size != 0;

	if (is_table) { /* the type's name is its sizes: "8+8" */
		fputs(param->type->name, out);
		return;
	}
	if (*param->name)
		fprintf(out, "%s ", param->name);
	escape_print(out, param->type->name);
	fputs(": ", out);
	if (value->count < 2) {
		fprintf(out, "%" PRIu64 " byte%s", param->type->size,
			param->type->size == 1 ? "" : "s");
		return;
	}
	for (size_t i = 0; i < value->count; i++)
		fprintf(out, "%s%" PRIu32, i ? "+" : "", value->pieces[i].size);
	fputs(" bytes", out);
}

char *sigcheck_text(enum arch arch, const struct gofunc *sig, const struct abi_layout *layout)
{
	char *text = NULL, place[PLACE_TEXT];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return mem_strdup("?");
	for (size_t i = 0; i < sig->param_count; i++) {
		const struct abi_value *value = &layout->params[i];

		fputs(i ? "; " : "", out);
		if (is_left_out(&sig->params[i])) {
			fputs("...", out);
			continue;
		}
		print_sizes(out, &sig->params[i], value);
		for (size_t j = 0; j < value->count; j++) {
			abi_place_text(arch, &value->pieces[j], place, sizeof(place));
			fprintf(out, "%s%s", j ? ", " : " in ", place);
		}
	}
	if (!sig->param_count)
		fputs("nothing", out);
	fclose(out);
	return text;
}
