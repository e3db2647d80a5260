// SPDX-License-Identifier: Apache-2.0
/* Calls that a function makes. */
#include "sites/site.h"

#include <string.h>

#include "program/functab.h"
#include "sites/site_finder_internal.h"

static bool is_call_of(const struct site_finder *finder, const struct insn *in, const char *callee)
{
	struct functab_func called;

	return in->kind == INSN_CALL && in->probe != INSN_REFUSED &&
	       functab_find(finder->tab, in->target, &called) && !strcmp(called.name, callee);
}

static struct site site_at(struct site_finder *finder, const struct functab_func *fn,
			   const struct insn *in, enum site_kind kind)
{
	int32_t below = 0;

	site_finder_sp(finder, fn, in->addr, &below);
	return (struct site){.addr = in->addr,
			     .kind = kind,
			     .emulated = in->probe == INSN_EMULATED,
			     .sp_adjust = below};
}

/* The number of the first call's instruction; -1: there is none */
static long first_call(struct site_finder *finder, const struct functab_func *fn,
		       const char *callee)
{
	const struct flow *flow = &finder->flow;
	const char *reason;

	if (!finder->tab || site_finder_flow(finder, fn, &reason))
		return -1;
	for (size_t i = 0; i < flow->count; i++)
		if (is_call_of(finder, &flow->insns[i], callee))
			return (long)i;
	return -1;
}

int site_call(struct site_finder *finder, const struct functab_func *fn, const char *callee,
	      struct site *out)
{
	long i = first_call(finder, fn, callee);

	if (i < 0)
		return -1;
	*out = site_at(finder, fn, &finder->flow.insns[i], SITE_CALL);
	return 0;
}

static bool is_probed(const struct insn *in)
{
	return in->probe != INSN_REFUSED && !in->long_nop && !in->breaks;
}

/* Does it leave all that a call has left, and is the one behind it executed next? */
static bool is_harmless(const struct site_finder *finder, const struct functab_func *fn,
			const struct insn *in)
{
	struct insn_code code;
	struct insn full;

	return !in->may_fault && !flow_ends_block(in) && site_finder_code(finder, fn, &code) &&
	       insn_decode_writes(finder->dec, &code, in->addr, &full) && !full.writes;
}

/* Comparing a result is single-stepped, and the branch that follows is emulated: it is as good. */
int site_behind_call(struct site_finder *finder, const struct functab_func *fn, const char *callee,
		     struct site *out)
{
	const struct flow *flow = &finder->flow;
	long i = first_call(finder, fn, callee);
	const struct insn *first, *second;

	if (i < 0 || (size_t)i + 1 >= flow->count)
		return -1;
	first = &flow->insns[i + 1];
	second = (size_t)i + 2 < flow->count ? first + 1 : first;
	if (second->probe != INSN_EMULATED || !is_probed(second) || !is_harmless(finder, fn, first))
		second = first;
	if (!is_probed(second))
		return -1;
	*out = site_at(finder, fn, second, SITE_BEHIND_CALL);
	return 0;
}

/* The call that is made next after instruction `i`, whatever comes; NULL: that depends, or none. */
static const struct insn *next_call(const struct flow *flow, size_t i)
{
	long at = (long)i + 1;

	for (size_t steps = 0; steps < flow->count; steps++) {
		if (at < 0 || (size_t)at >= flow->count)
			return NULL;
		const struct insn *in = &flow->insns[at];

		if (in->kind == INSN_CALL)
			return in;
		if (in->kind == INSN_JUMP)
			at = flow_at(flow, in->target);
		else if (flow_ends_block(in))
			return NULL;
		else
			at++;
	}
	return NULL;
}

/* What is wanted, if instruction `i` is what leads to it; NULL: it is not. */
static const struct insn *wanted_at(const struct site_finder *finder, size_t i,
				    const struct site_callee *want)
{
	const struct flow *flow = &finder->flow;
	const struct insn *in = &flow->insns[i], *next;

	if (!is_call_of(finder, in, want->after ? want->after : want->callee))
		return NULL;
	next = next_call(flow, i);
	if (want->after)
		return next && is_call_of(finder, next, want->callee) ? next : NULL;
	return next && is_call_of(finder, next, want->not_before) ? NULL : in;
}

int site_one_call(struct site_finder *finder, const struct functab_func *fn,
		  const struct site_callee *want, struct site *out)
{
	const struct insn *only = NULL;
	const char *reason;

	if (!finder->tab || site_finder_flow(finder, fn, &reason))
		return -1;
	for (size_t i = 0; i < finder->flow.count; i++) {
		const struct insn *found = wanted_at(finder, i, want);

		if (found && only && found != only)
			return -1;
		only = found ? found : only;
	}
	if (!only)
		return -1;
	*out = site_at(finder, fn, only, SITE_CALL);
	return 0;
}
