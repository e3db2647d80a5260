// SPDX-License-Identifier: Apache-2.0
#include "arguments/copyinfo.h"

#include <stdlib.h>

#include "arguments/copyinfo_located_internal.h"
#include "arguments/forwarder_internal.h"
#include "arguments/funcinfo_internal.h"
#include "base/errmsg.h"
#include "dwarf/debuginfo.h"
#include "golang/signature.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/inlining.h"

enum { PLACES_MAX = 16, STEPS_MAX = 1 << 18 }; /* for one copy; so many steps take 0.2 s */

static size_t count_known(const struct gofunc *sig, const struct abi_layout *layout)
{
	size_t known = 0;

	for (size_t i = 0; i < sig->param_count; i++)
		known += abi_covers(&layout->params[i], sig->params[i].type, 0);
	return known;
}

/* A copy that is timed over its one call ends right after that call: the results are there. */
static void take_forwarder(const struct copyinfo_asker *asker, const struct inlining_copy *copy,
			   struct copyinfo *out)
{
	struct signature_names names = funcinfo_names(asker->info);
	const struct gofunc *typed = out->sig.source != GOFUNC_NONE ? &out->sig : NULL;
	struct forwarder_call call;

	if (!forwarder_find(asker->finder, asker->prog->release, copy, asker->memory, &names, typed,
			    &call))
		return;
	size_t known = count_known(&call.sig, &call.layout);
	bool same_place = call.site.addr == out->entry.addr;

	if ((asker->timed && !same_place) || (typed && known <= out->known)) {
		abi_layout_free(&call.layout);
		return;
	}
	abi_layout_free(&out->layout);
	if (!asker->timed)
		out->entry = call.site;
	out->sig = call.sig;
	out->layout = call.layout;
	out->known = known;
}

/* Moves the probe to this site if more arguments can be read there, or as many at less cost. */
static void take_site(const struct copyinfo_vars *vars, const struct site *site,
		      struct copyinfo *out)
{
	struct abi_layout layout;

	copyinfo_located(vars, site->addr, &layout);
	size_t known = count_known(vars->sig, &layout);

	if (known < out->known || (known == out->known && out->entry.emulated >= site->emulated)) {
		abi_layout_free(&layout);
		return;
	}
	abi_layout_free(&out->layout);
	out->entry = *site;
	out->layout = layout;
	out->known = known;
}

/* Of a copy whose calls are timed the entry probe must not move. */
static void take_located(const struct copyinfo_vars *vars, bool timed, struct copyinfo *out)
{
	struct site_list places = {0};
	const char *reason;

	abi_layout_free(&out->layout);
	copyinfo_located(vars, out->entry.addr, &out->layout);
	out->known = count_known(vars->sig, &out->layout);
	if (timed || inlining_places(vars->finder, vars->copy, &places, &reason))
		places.count = 0;
	for (size_t i = 0;
	     i < places.count && i < PLACES_MAX && out->known < vars->sig->param_count; i++)
		take_site(vars, &places.items[i], out);
	free(places.items);
}

/* Replaces the parameters of `sig` by those the user typed, which must have the same sizes. */
static int retype(const struct copyinfo_asker *asker, const struct gofunc *typed,
		  struct gofunc *sig, struct errmsg *err)
{
	bool same = typed->param_count == sig->param_count;

	for (size_t i = 0; same && i < sig->param_count; i++)
		same = typed->params[i].type->size == sig->params[i].type->size;
	if (!same) {
		errmsg_set(err, "col %u: debug information has parameters of other sizes",
			   asker->col);
		errmsg_hint(err, "write all parameters, but not a method's receiver");
		return -1;
	}
	sig->params = typed->params;
	sig->source = GOFUNC_SIGNATURE;
	return 0;
}

static int find_located(const struct copyinfo_asker *asker, const struct inlining_copy *copy,
			struct copyinfo *out, struct errmsg *err)
{
	unsigned steps = STEPS_MAX;
	struct copyinfo_vars vars = {.finder = asker->finder, .copy = copy, .steps = &steps};
	struct debuginfo_variable *found;
	struct functab_func fn;
	struct gofunc sig;

	if (!functab_func(asker->prog->tab, copy->func, &fn) ||
	    funcinfo_inlined(asker->info, &fn, copy->name, copy->addr, &sig, &found))
		return 0;
	if (asker->signature && retype(asker, &out->sig, &sig, err))
		return -1;
	abi_layout_free(&out->layout);
	out->sig = sig;
	copyinfo_nowhere(&out->sig, &out->layout);
	vars.fn = &fn;
	vars.sig = &out->sig;
	vars.vars = found;
	if (!out->skipped)
		take_located(&vars, asker->timed, out);
	return 0;
}

int copyinfo_find(const struct copyinfo_asker *asker, const struct inlining_copy *copy,
		  struct site_list *exits, struct copyinfo *out, struct errmsg *err)
{
	const char *reason;

	*out = (struct copyinfo){.sig = {.dictionary = -1}};
	if (asker->signature &&
	    funcinfo_typed(asker->info, copy->name, asker->signature, asker->col, &out->sig, err))
		return -1;
	copyinfo_nowhere(&out->sig, &out->layout);
	if (inlining_sites(asker->finder, copy, asker->timed, &out->entry, exits, &reason))
		out->skipped = reason;
	if (find_located(asker, copy, out, err)) {
		abi_layout_free(&out->layout);
		return -1;
	}
	if (!out->skipped && (!out->sig.param_count || out->known < out->sig.param_count))
		take_forwarder(asker, copy, out);
	return 0;
}
