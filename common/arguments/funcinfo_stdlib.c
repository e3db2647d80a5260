// SPDX-License-Identifier: Apache-2.0
#include "arguments/funcinfo_stdlib_internal.h"

#include <string.h>

#include "golang/stdlib.h"
#include "golang/funcname.h"
#include "golang/signature.h"
#include "program/functab.h"

bool funcinfo_stdlib(struct gotypes *memory, const struct signature_names *names,
		     const struct functab_func *fn, struct gofunc *out)
{
	struct stdlib_types types = {names, memory, names->release};
	struct signature_names all = {stdlib_type, &types, names->release};
	struct funcname parts;

	/* assembly, and what calls it or is called by it, follow rules of their own */
	if (fn->is_asm || fn->is_wrapper)
		return false;
	const char *text = stdlib_text(memory, fn->name, names->release);

	if (!text || *text != '(' || signature_parse(memory, &all, text, out, NULL, NULL))
		return false;
	funcname_parse(fn->name, &parts);
	out->receiver = parts.receiver != NULL;
	out->dictionary = -1;
	out->source = GOFUNC_STDLIB;
	return true;
}

static bool are_alike(const struct goparam *a, const struct goparam *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i].type->size != b[i].type->size || a[i].type->kind != b[i].type->kind)
			return false;
	return true;
}

static struct goparam *renamed(struct gotypes *memory, const struct goparam *params,
			       const struct goparam *names, size_t count)
{
	struct goparam *out = gotypes_alloc(memory, count + 1, sizeof(*out));

	for (size_t i = 0; i < count; i++) {
		out[i] = params[i];
		if (!*out[i].name)
			out[i].name = names[i].name;
	}
	return out;
}

void funcinfo_stdlib_names(struct gotypes *memory, const struct signature_names *names,
			   const struct functab_func *fn, struct gofunc *sig)
{
	struct gofunc known;

	if (!funcinfo_stdlib(memory, names, fn, &known) || known.param_count != sig->param_count ||
	    known.result_count != sig->result_count ||
	    !are_alike(known.params, sig->params, sig->param_count) ||
	    !are_alike(known.results, sig->results, sig->result_count))
		return;
	sig->params = renamed(memory, sig->params, known.params, sig->param_count);
	sig->results = renamed(memory, sig->results, known.results, sig->result_count);
}
