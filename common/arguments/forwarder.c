// SPDX-License-Identifier: Apache-2.0
#include "arguments/forwarder_internal.h"

#include <stdlib.h>
#include <string.h>

#include "abi/evidence.h"
#include "base/mem.h"
#include "golang/funcname.h"
#include "golang/signature.h"
#include "golang/stdlib.h"
#include "machine/arch.h"
#include "program/functab.h"
#include "sites/inlining.h"
#include "sites/site_finder.h"

enum { CHAIN_MAX = 4, PARAMS_MAX = 16, NOT_PASSED = -1 };

/* What a copy passes on to the function that it calls in the end, through copies inlined in it. */
struct passing {
	const char *callee, *callee_signature, *signature; /* the latter: the copy's own */
	int to[PARAMS_MAX]; /* for each own parameter, which of the callee's it is passed as */
	size_t count;
	bool results;
};

static bool passing_begin(const struct stdlib_forwarder *row, const char *callee,
			  struct passing *out)
{
	*out = (struct passing){.callee = callee,
				.callee_signature = row->callee_signature,
				.signature = row->signature};
	for (const char *p = row->passes; *p; p++) {
		if (*p == '=')
			out->results = true;
		else if (out->count == PARAMS_MAX)
			return false;
		else
			out->to[out->count++] = *p == '-' ? NOT_PASSED : *p - '0';
	}
	return true;
}

/* Extends `inner` outwards: `row` describes the function whose copy contains inner's copy. */
static bool passing_through(const struct stdlib_forwarder *row, struct passing *inner)
{
	struct passing outer;

	if (!passing_begin(row, inner->callee, &outer))
		return false;
	for (size_t i = 0; i < outer.count; i++) {
		if (outer.to[i] == NOT_PASSED)
			continue;
		if ((size_t)outer.to[i] >= inner->count)
			return false;
		outer.to[i] = inner->to[outer.to[i]];
	}
	outer.results = outer.results && inner->results;
	outer.callee_signature = inner->callee_signature;
	*inner = outer;
	return true;
}

/* Follows the chain of forwarders from the node that makes the call, outwards to the copy. */
static bool follow_callee(struct gotypes *memory, const struct inltree *tree, int32_t node,
			  int32_t copy, const char *callee, int release, struct passing *out)
{
	for (int depth = 0; depth < CHAIN_MAX && node >= 0 && node < tree->count; depth++) {
		const char *name = tree->nodes[node].name;
		struct stdlib_forwarder row;

		if (!stdlib_forwarder(memory, name, callee, release, &row) ||
		    !(depth ? passing_through(&row, out) : passing_begin(&row, callee, out)))
			return false;
		if (node == copy)
			return true;
		callee = name;
		node = inltree_parent(tree, node);
	}
	return false;
}

static bool parse_signature(struct gotypes *memory, const struct signature_names *names,
			    const char *text, const char *function, struct gofunc *out)
{
	struct funcname parts;

	if (signature_parse(memory, names, text, out, NULL, NULL))
		return false;
	funcname_parse(function, &parts);
	out->receiver = parts.receiver != NULL;
	out->dictionary = -1;
	out->source = GOFUNC_STDLIB;
	return true;
}

static bool same_places(const struct abi_value *a, const struct abi_value *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct abi_piece *x = &a->pieces[i], *y = &b->pieces[i];

		if (x->where != y->where || x->n != y->n || x->off != y->off || x->size != y->size)
			return false;
	}
	return true;
}

/* Do the parameters of `typed` have the sizes and places of those in `own`? */
static bool same_params(const struct gofunc *own, const struct gofunc *typed, enum arch arch,
			enum abi_convention convention)
{
	struct abi_layout a, b;
	bool same = own->param_count == typed->param_count;

	abi_layout(own, arch, convention, &a);
	abi_layout(typed, arch, convention, &b);
	for (size_t i = 0; same && i < own->param_count; i++)
		same = own->params[i].type->size == typed->params[i].type->size &&
		       same_places(&a.params[i], &b.params[i]);
	abi_layout_free(&a);
	abi_layout_free(&b);
	return same;
}

/* Does nothing in the program contradict it? Its Go code calls the function by `layout`, even if
 * assembly calls it in another way. */
static bool is_credible(struct site_finder *finder, int release, const struct functab_func *fn,
			const struct gofunc *sig, const struct abi_layout *layout)
{
	struct evidence evidence;
	struct abi_layout fitting;

	evidence_read(finder->img, finder->tab, finder->dec, release, fn, &evidence);
	if (evidence.args < 0 || layout->args_size != (uint32_t)evidence.args)
		return false;
	bool fits = evidence_layout(&evidence, sig, &fitting);

	abi_layout_free(&fitting);
	return fits;
}

/* A place at a function's entry, as seen from the instruction that calls it. */
static struct abi_value at_call(const struct abi_value *value, enum arch arch)
{
	uint32_t above = arch == ARCH_ARM64 ? sizeof(uint64_t) : 0; /* the link register's room */
	struct abi_value out = *value;

	out.pieces = mem_zalloc(value->count + 1, sizeof(*out.pieces));
	for (size_t i = 0; i < value->count; i++) {
		out.pieces[i] = value->pieces[i];
		if (out.pieces[i].where != ABI_SLOT)
			continue;
		out.pieces[i].where = ABI_SP;
		out.pieces[i].n += above;
	}
	return out;
}

static void lay_out_call(const struct passing *passing, const struct abi_layout *callee,
			 enum arch arch, struct forwarder_call *out)
{
	out->layout = (struct abi_layout){.param_count = out->sig.param_count,
					  .result_count = out->sig.result_count};
	out->layout.params = mem_zalloc(out->sig.param_count + 1, sizeof(*out->layout.params));
	out->layout.results = mem_zalloc(out->sig.result_count + 1, sizeof(*out->layout.results));
	for (size_t i = 0; i < out->sig.param_count; i++)
		if (passing->to[i] != NOT_PASSED)
			out->layout.params[i] = at_call(&callee->params[passing->to[i]], arch);
	for (size_t i = 0; i < out->sig.result_count; i++)
		out->layout.results[i] = at_call(&callee->results[i], arch);
}

/* Does each argument that is passed on have the size of the callee's parameter? */
static bool is_sound(const struct passing *passing, const struct gofunc *own,
		     const struct gofunc *callee)
{
	if (passing->count != own->param_count)
		return false;
	for (size_t i = 0; i < passing->count; i++) {
		int to = passing->to[i];

		if (to == NOT_PASSED)
			continue;
		if ((size_t)to >= callee->param_count ||
		    own->params[i].type->size != callee->params[to].type->size)
			return false;
	}
	return !passing->results || own->result_count == callee->result_count;
}

static bool find_places(struct site_finder *finder, int release, const struct functab_func *fn,
			const struct passing *passing, const struct gofunc *callee,
			struct forwarder_call *out)
{
	enum arch arch = finder->arch;
	struct abi_layout layout;

	abi_layout(callee, arch, abi_convention(arch, release), &layout);
	bool known = is_credible(finder, release, fn, callee, &layout);

	if (known)
		lay_out_call(passing, &layout, arch, out);
	abi_layout_free(&layout);
	return known;
}

/* The one call that the copy makes, and the function that it calls. */
static bool find_call(struct site_finder *finder, int release, const struct inlining_copy *copy,
		      struct gotypes *memory, struct passing *passing, struct functab_func *callee,
		      struct site *site)
{
	struct inlining_call call;
	const char *reason;

	if (!finder->img || inlining_call(finder, copy, &call, &reason) ||
	    !functab_find(finder->tab, call.target, callee) || callee->addr != call.target ||
	    callee->is_asm)
		return false;
	*site = call.site;
	return follow_callee(memory, &finder->tree, call.node, copy->node, callee->name, release,
			     passing);
}

bool forwarder_find(struct site_finder *finder, int release, const struct inlining_copy *copy,
		    struct gotypes *memory, const struct signature_names *names,
		    const struct gofunc *typed, struct forwarder_call *out)
{
	struct stdlib_types types = {names, memory, release};
	struct signature_names both = {stdlib_type, &types, release};
	struct gofunc own, called;
	struct functab_func callee;
	struct passing passing;

	if (!find_call(finder, release, copy, memory, &passing, &callee, &out->site) ||
	    !parse_signature(memory, &both, passing.signature, copy->name, &own) ||
	    !parse_signature(memory, &both, passing.callee_signature, passing.callee, &called) ||
	    !is_sound(&passing, &own, &called))
		return false;
	if (typed && !same_params(&own, typed, finder->arch, abi_convention(finder->arch, release)))
		return false;
	out->callee = passing.callee;
	out->sig = typed ? *typed : own;
	if (!passing.results || out->sig.result_count != called.result_count) {
		out->sig.results = NULL;
		out->sig.result_count = 0;
	}
	return find_places(finder, release, &callee, &passing, &called, out);
}
