// SPDX-License-Identifier: Apache-2.0
/* Signatures of methods. The tables that reflection and type assertions use give the code of each
 * method that the linker kept, and its type without the receiver. */
#include "rtti.h"

#include <stdlib.h>
#include <string.h>

#include "pclntab.h"
#include "rtti_parts.h"

static int compare(const void *a, const void *b)
{
	const struct rtti_method *x = a, *y = b;

	return (x->code > y->code) - (x->code < y->code);
}

static void sort_methods(struct rtti *rtti)
{
	rtti_search(rtti);
	if (!rtti->methods_sorted && rtti->method_count)
		qsort(rtti->methods, rtti->method_count, sizeof(*rtti->methods), compare);
	rtti->methods_sorted = true;
}

static size_t first_of(const struct rtti *rtti, uint64_t code)
{
	size_t low = 0, high = rtti->method_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (rtti->methods[mid].code < code)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Is it what the function table says? "main.(*T).Name" ends so. */
static bool is_name_of(const struct rtti *rtti, const struct rtti_method *method, const char *func)
{
	size_t len = strlen(func);
	struct rtti_text name;

	return rtti_desc_name(&rtti->mod, method->name, &name) && name.len < len &&
	       func[len - name.len - 1] == '.' &&
	       memcmp(func + len - name.len, name.text, name.len) == 0;
}

/* The one method of that code; NULL: there is none, or they contradict each other. */
static const struct rtti_method *method_at(struct rtti *rtti, const struct pclntab_func *fn)
{
	const struct rtti_method *found = NULL;
	uint64_t code = fn->addr - rtti->mod.text;

	sort_methods(rtti);
	for (size_t i = first_of(rtti, code);
	     i < rtti->method_count && rtti->methods[i].code == code; i++) {
		const struct rtti_method *method = &rtti->methods[i];

		if (!is_name_of(rtti, method, fn->name))
			continue;
		if (found && (found->type != method->type || found->receiver != method->receiver))
			return NULL;
		found = method;
	}
	return found;
}

/* false: one of them has no known type, so that those after it may be anywhere. */
static bool set_params(struct rtti *rtti, struct goparam *params, const struct rtti_desc *desc,
		       size_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct gotype *type = rtti_type(rtti, rtti_desc_u64(desc->list, from + i));

		if (!type || type->kind == GOTYPE_UNKNOWN)
			return false;
		params[i] = (struct goparam){.name = "", .type = type};
	}
	return true;
}

static bool set_func(struct rtti *rtti, const struct gotype *receiver, const struct rtti_desc *desc,
		     struct gofunc *out)
{
	size_t results = desc->listed - desc->in;

	*out = (struct gofunc){
		.params = gotypes_alloc(rtti->types, desc->in + 1, sizeof(*out->params)),
		.param_count = desc->in + 1,
		.results = gotypes_alloc(rtti->types, results, sizeof(*out->results)),
		.result_count = results,
		.receiver = true,
		.dictionary = -1,
		.source = GOFUNC_RTTI,
	};
	out->params[0] = (struct goparam){.name = "", .type = receiver};
	return receiver->kind != GOTYPE_UNKNOWN &&
	       set_params(rtti, out->params + 1, desc, 0, desc->in) &&
	       set_params(rtti, out->results, desc, desc->in, results);
}

int rtti_func(struct rtti *rtti, uint64_t addr, struct gofunc *out)
{
	const struct rtti_method *method;
	struct pclntab_func fn;
	struct rtti_desc desc;

	if (!pclntab_find(rtti->tab, addr, &fn) || fn.addr != addr)
		return -1;
	method = method_at(rtti, &fn);
	if (!method ||
	    !rtti_desc_read(&rtti->mod, rtti_desc_resolve(&rtti->mod, method->type), &desc) ||
	    desc.kind != RTTI_FUNC ||
	    !set_func(rtti, rtti->entries[method->receiver].type, &desc, out))
		return -1;
	return 0;
}
