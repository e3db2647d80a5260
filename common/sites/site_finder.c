// SPDX-License-Identifier: Apache-2.0
#include "sites/site_finder_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/mem.h"
#include "elf/image.h"
#include "golang/release.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/restart_internal.h"
#include "sites/site_internal.h"

enum { DECODING = 8 }; /* steps of the budget that decoding an instruction takes */

struct site_finder *site_finder_new_code(enum arch arch, const struct insn_code *code)
{
	struct site_finder *finder = mem_zalloc(1, sizeof(*finder));

	finder->arch = arch;
	finder->dec = insn_decoder_new(arch);
	finder->steps = mem_zalloc(1, sizeof(*finder->steps));
	*finder->steps = budget_new(0, BUDGET_CODE);
	if (code)
		finder->fixed = *code;
	return finder;
}

/* True before ABIInternal. If the release is not known, arguments may be anywhere. */
static bool has_stack_args(const struct program *prog)
{
	return image_arch(prog->img) == ARCH_AMD64 && prog->tab &&
	       !functab_toolchain(prog->tab)->c_abi && prog->release_told &&
	       prog->release < RELEASE_REGISTERS_AMD64;
}

struct site_finder *site_finder_new(const struct program *prog)
{
	struct site_finder *finder = site_finder_new_code(image_arch(prog->img), NULL);
	const struct functab *tab = prog->tab;

	finder->img = prog->img;
	finder->tab = tab;
	finder->stack_args = has_stack_args(prog);
	finder->split_stacks = tab && functab_toolchain(tab)->split_stacks;
	if (tab)
		*finder->steps = budget_new(functab_file_size(tab), BUDGET_CODE);
	if (tab)
		functab_fips(tab, &finder->fips_from, &finder->fips_to);
	return finder;
}

void site_finder_fips(struct site_finder *finder, bool take)
{
	finder->takes_fips = take;
}

void site_finder_endless(struct site_finder *finder, bool take)
{
	finder->takes_endless = take;
}

bool site_is_fips(const struct site_finder *finder, const struct functab_func *fn)
{
	return fn->addr < finder->fips_to && fn->end > finder->fips_from;
}

void site_finder_free(struct site_finder *finder)
{
	if (!finder)
		return;
	insn_decoder_free(finder->dec);
	free(finder->steps);
	graph_free(&finder->graph);
	inltree_free(&finder->tree);
	flow_free(&finder->flow);
	free(finder);
}

bool site_finder_code(const struct site_finder *finder, const struct functab_func *fn,
		      struct insn_code *out)
{
	if (fn->end <= fn->addr)
		return false;
	*out = (struct insn_code){.addr = fn->addr, .len = fn->end - fn->addr};
	if (!finder->img) {
		if (fn->addr < finder->fixed.addr ||
		    fn->addr - finder->fixed.addr > finder->fixed.len ||
		    finder->fixed.len - (fn->addr - finder->fixed.addr) < out->len)
			return false;
		out->bytes = finder->fixed.bytes + (fn->addr - finder->fixed.addr);
		return true;
	}
	if (out->len > image_left(finder->img, fn->addr))
		out->len = image_left(finder->img, fn->addr);
	out->bytes = image_at(finder->img, fn->addr, out->len);
	return out->bytes && out->len && image_is_text(finder->img, fn->addr);
}

bool site_finder_sp(const struct site_finder *finder, const struct functab_func *fn, uint64_t addr,
		    int32_t *bytes)
{
	*bytes = 0;
	if (!finder->tab || addr == fn->addr)
		return true;
	return functab_sp_delta(finder->tab, fn, addr, bytes) && *bytes % 8 == 0;
}

const char *site_finder_never(const struct site_finder *finder, const struct functab_func *fn)
{
	static const struct {
		const char *name, *reason;
	} list[] = {
		{"go:textfipsstart", "a mark of the linker, not a function"},
		{"go:textfipsend", "a mark of the linker, not a function"},
		{"runtime.abort", "a trap instruction, which ends the program"},
		{"runtime.duffzero", "calls may begin in the middle of the code"},
		{"runtime.duffcopy", "calls may begin in the middle of the code"},
	};

	for (size_t i = 0; fn->name && i < sizeof(list) / sizeof(*list); i++)
		if (!strcmp(fn->name, list[i].name))
			return list[i].reason;
	if (!finder->takes_fips && site_is_fips(finder, fn))
		return "FIPS mode checks the code when a program starts, and a probe would end "
		       "the program (--fips includes it)";
	return NULL;
}

const char *site_refusal(const struct insn *in, enum site_place place)
{
	static const char *const by_kernel[] = {
		[SITE_AT_START] = "the kernel cannot probe the start",
		[SITE_BEHIND_CHECK] = "the kernel cannot probe the place after the stack check",
		[SITE_AT_RETURN] = "the kernel cannot probe the return",
		[SITE_RUN_BEGINS] = "the kernel cannot probe the place where a run begins",
		[SITE_RUN_ENDS] = "the kernel cannot probe the place where a run ends",
	};

	if (in->long_nop) /* one of ten bytes is refused by older ones as well */
		return "newer kernels write to the stack when a long nop is probed";
	if (in->probe == INSN_REFUSED && in->breaks)
		return "a probe would make the kernel execute the instruction wrongly";
	return in->probe == INSN_REFUSED ? by_kernel[place] : NULL;
}

int site_finder_refuse(const char **reason, const char *why)
{
	*reason = why;
	return -1;
}

int site_finder_take(const struct site_finder *finder, uint64_t steps, const char **reason)
{
	if (budget_take(finder->steps, steps))
		return 0;
	return site_finder_refuse(reason, "the program's code takes too long to analyse");
}

int site_finder_flow(struct site_finder *finder, const struct functab_func *fn, const char **reason)
{
	struct insn_code code;

	graph_free(&finder->graph);
	inltree_free(&finder->tree);
	if (!site_finder_code(finder, fn, &code))
		return site_finder_refuse(reason, "the code is not in the file");
	if (flow_decode(&finder->flow, finder->dec, &code))
		return site_finder_refuse(reason, "the code cannot be decoded completely");
	if (!finder->flow.count)
		return site_finder_refuse(reason, "there is no code");
	if (finder->tab && finder->arch == ARCH_ARM64)
		restart_mark(finder->tab, fn, &finder->flow);
	return site_finder_take(finder, finder->flow.count * DECODING, reason);
}

/* what the compiler knows to end a goroutine or the program */
static bool never_returns(uint64_t callee, void *ctx)
{
	static const char *const prefixes[] = {"runtime.panic",   "runtime.gopanic",
					       "runtime.goPanic", "runtime.throw",
					       "runtime.fatal",   "runtime.block"};
	const struct site_finder *finder = ctx;
	struct functab_func fn;

	if (!finder->tab || !functab_find(finder->tab, callee, &fn) || !fn.name)
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(fn.name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool word(uint64_t addr, uint64_t *out, void *ctx)
{
	const struct site_finder *finder = ctx;

	return finder->img && image_u64(finder->img, addr, out);
}

struct graph_source site_finder_source(struct site_finder *finder)
{
	return (struct graph_source){never_returns, word, finder};
}

int site_finder_graph(struct site_finder *finder, const struct functab_func *fn,
		      const char **reason)
{
	struct graph_source src = site_finder_source(finder);

	if (finder->graph.flow && finder->flow.addr == fn->addr)
		return 0;
	if (site_finder_flow(finder, fn, reason))
		return -1;
	if (!graph_build(&finder->graph, &finder->flow, &src))
		return 0;
	graph_free(&finder->graph);
	inltree_free(&finder->tree);
	return site_finder_refuse(reason, "the table of a switch was not found");
}
