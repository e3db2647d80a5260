// SPDX-License-Identifier: Apache-2.0
#include "site.h"

#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "image.h"
#include "insn.h"
#include "mem.h"
#include "pclntab.h"
#include "prologue.h"

struct site_finder {
	const struct image *img;
	const struct pclntab *tab;
	struct insn_code fixed; /* instead of img */
	int arch;
	struct insn_decoder *dec;
	struct flow flow; /* of the function last looked at; its memory is used again */
};

enum { COND_JBE = 6 };

const char *site_kind_name(enum site_kind kind)
{
	static const char *const names[] = {
		[SITE_FIRST] = "first",
		[SITE_ENTRY_BLOCK] = "entry-block",
		[SITE_AFTER_CHECK] = "after-check",
		[SITE_CHECK_BRANCH] = "check-branch",
		[SITE_RET] = "ret",
		[SITE_TAIL_JUMP] = "tail-jump",
		[SITE_INLINED] = "inlined",
		[SITE_INLINED_CALL] = "inlined-call",
		[SITE_INLINED_EXIT] = "inlined-exit",
		[SITE_CALL] = "call",
	};

	return names[kind];
}

struct site_finder *site_finder_new_code(int arch, const struct insn_code *code)
{
	struct site_finder *finder = mem_zalloc(1, sizeof(*finder));

	finder->arch = arch;
	finder->dec = insn_decoder_new(arch);
	if (code)
		finder->fixed = *code;
	return finder;
}

struct site_finder *site_finder_new(const struct image *img, const struct pclntab *tab)
{
	struct site_finder *finder = site_finder_new_code(image_arch(img), NULL);

	finder->img = img;
	finder->tab = tab;
	return finder;
}

void site_finder_free(struct site_finder *finder)
{
	if (!finder)
		return;
	insn_decoder_free(finder->dec);
	flow_free(&finder->flow);
	free(finder);
}

static bool function_code(const struct site_finder *finder, const struct pclntab_func *fn,
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

/* how far SP stands below its value at entry; false: not known */
static bool sp_below_entry(const struct site_finder *finder, const struct pclntab_func *fn,
			   uint64_t addr, int32_t *bytes)
{
	*bytes = 0;
	if (!finder->tab || addr == fn->addr)
		return true;
	return pclntab_sp_delta(finder->tab, fn, addr, bytes) && *bytes % 8 == 0;
}

/* Functions that are no functions, or where calls begin elsewhere than at the first byte. */
static const char *never_probed(const struct pclntab_func *fn)
{
	static const struct {
		const char *name, *reason;
	} list[] = {
		{"go:textfipsstart", "it is a mark of the linker's, not a function"},
		{"go:textfipsend", "it is a mark of the linker's, not a function"},
		{"runtime.abort", "it ends the program with a trap of its own"},
		{"runtime.duffzero", "it is entered in its middle"},
		{"runtime.duffcopy", "it is entered in its middle"},
	};

	for (size_t i = 0; fn->name && i < sizeof(list) / sizeof(*list); i++)
		if (!strcmp(fn->name, list[i].name))
			return list[i].reason;
	return NULL;
}

/* Arguments are intact: a check writes no argument register. SP is what it was at entry. */
static bool check_site(const struct site_finder *finder, const struct prologue *check,
		       struct site *out)
{
	bool jbe = finder->arch == IMAGE_AMD64 && check->branch.cond == COND_JBE &&
		   check->branch.probe == INSN_EMULATED;

	*out = (struct site){.addr = check->after.addr,
			     .kind = SITE_AFTER_CHECK,
			     .emulated = check->after.probe == INSN_EMULATED,
			     .args_intact = true};
	if (!out->emulated && jbe) {
		out->addr = check->branch.addr;
		out->kind = SITE_CHECK_BRANCH;
		out->emulated = true;
		return true;
	}
	return check->after.probe != INSN_REFUSED && !check->after.nop5;
}

/* The lowest address above the function's start that its own jumps go to: up to there, each
 * instruction of the entry block runs once a call. 0: they go to the start itself. */
static uint64_t first_jump_target(const struct flow *flow)
{
	uint64_t first = flow->end;

	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];

		if (in->kind != INSN_JUMP && in->kind != INSN_JUMP_IF)
			continue;
		if (in->target == flow->addr)
			return 0;
		if (in->target > flow->addr && in->target < first)
			first = in->target;
	}
	return first;
}

static int rank(const struct insn *in)
{
	if (in->nop5)
		return 1;
	return in->probe == INSN_EMULATED ? 3 : in->probe == INSN_STEPPED ? 2 : 0;
}

struct entry_search {
	const struct pclntab_func *fn;
	const struct insn_code *code;
	uint64_t limit; /* the entry block ends here at the latest */
	bool want_args;
};

/* Can the entry block's next instruction take the site in this one's stead? An instruction that
 * may fault ends the block as a call does: what follows it may not be reached. */
static bool may_move_on(const struct site_finder *finder, const struct entry_search *search,
			const struct insn *in)
{
	struct insn full;

	if (flow_ends_block(in) || in->kind == INSN_CALL || in->may_fault)
		return false;
	if (!search->want_args)
		return true;
	return insn_decode_writes(finder->dec, search->code, in->addr, &full) && !full.writes;
}

/* the cheapest instruction of the entry block */
static bool entry_block_site(const struct site_finder *finder, const struct entry_search *search,
			     struct site *out)
{
	const struct flow *flow = &finder->flow;
	int best = 0;

	for (size_t i = 0; i < flow->count && flow->insns[i].addr < search->limit; i++) {
		const struct insn *in = &flow->insns[i];
		int32_t below;

		if (rank(in) > best && sp_below_entry(finder, search->fn, in->addr, &below)) {
			best = rank(in);
			*out = (struct site){.addr = in->addr,
					     .kind = i ? SITE_ENTRY_BLOCK : SITE_FIRST,
					     .emulated = in->probe == INSN_EMULATED && !in->nop5,
					     .args_intact = !i || search->want_args,
					     .sp_adjust = below};
		}
		if (!may_move_on(finder, search, in))
			break;
	}
	return best > 0;
}

static int refuse(const char **reason, const char *why)
{
	*reason = why;
	return -1;
}

static int entry_without_check(struct site_finder *finder, const struct pclntab_func *fn,
			       const struct insn_code *code, bool want_args, struct site *out,
			       const char **reason)
{
	struct entry_search search = {.fn = fn, .code = code, .want_args = want_args};

	if (flow_decode(&finder->flow, finder->dec, code))
		return refuse(reason, "its code cannot be decoded to the end");
	if (!finder->flow.count)
		return refuse(reason, "it has no code");
	search.limit = first_jump_target(&finder->flow);
	if (!search.limit)
		return refuse(reason, "its first instruction is also a loop's");
	if (entry_block_site(finder, &search, out))
		return 0;
	search.want_args = false;
	if (want_args && entry_block_site(finder, &search, out))
		return 0;
	return refuse(reason, "the kernel takes no probe at its start");
}

int site_entry(struct site_finder *finder, const struct pclntab_func *fn, bool want_args,
	       struct site *out, const char **reason)
{
	const char *never = never_probed(fn);
	struct prologue check;
	struct insn_code code;

	if (never)
		return refuse(reason, never);
	if (!function_code(finder, fn, &code))
		return refuse(reason, "its code is not in the file");
	if (!prologue_find(finder->dec, &code, &check))
		return entry_without_check(finder, fn, &code, want_args, out, reason);
	if (check_site(finder, &check, out))
		return 0;
	return refuse(reason, "the kernel takes no probe after its stack check");
}

/* what kind of end of a call the instruction is; SITE_FIRST: none */
static enum site_kind end_kind(const struct flow *flow, const struct pclntab_func *fn,
			       const struct insn *in)
{
	if (in->kind == INSN_RET)
		return SITE_RET;
	if (in->kind == INSN_JUMP && !flow_is_inside(flow, in->target))
		return SITE_TAIL_JUMP;
	if (in->kind == INSN_JUMP_REG && !fn->is_asm)
		return SITE_TAIL_JUMP;
	return SITE_FIRST;
}

/* ways out of the function that no site can stand for; NULL: this is none */
static const char *no_end(const struct flow *flow, const struct pclntab_func *fn,
			  const struct insn *in)
{
	if (in->kind == INSN_JUMP_IF && !flow_is_inside(flow, in->target))
		return "it leaves by a conditional jump";
	if (in->kind == INSN_JUMP_REG && fn->is_asm)
		return "its assembly jumps through a register";
	return NULL;
}

static const char *append_ends(const struct site_finder *finder, const struct pclntab_func *fn,
			       struct site_list *out)
{
	const struct flow *flow = &finder->flow;

	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];
		enum site_kind kind = end_kind(flow, fn, in);
		int32_t below;

		if (no_end(flow, fn, in))
			return no_end(flow, fn, in);
		if (kind == SITE_FIRST)
			continue;
		if (in->probe == INSN_REFUSED)
			return "the kernel takes no probe at its return";
		if (!sp_below_entry(finder, fn, in->addr, &below))
			return "its stack pointer at return is not known";
		out->items = mem_grow(out->items, out->count, &out->cap, sizeof(*out->items));
		out->items[out->count++] = (struct site){.addr = in->addr,
							 .kind = kind,
							 .emulated = in->probe == INSN_EMULATED,
							 .sp_adjust = below};
	}
	return NULL;
}

int site_returns(struct site_finder *finder, const struct pclntab_func *fn, struct site_list *out,
		 const char **reason)
{
	size_t before = out->count;
	struct insn_code code;
	const char *why;

	if (never_probed(fn))
		return refuse(reason, never_probed(fn));
	if (!function_code(finder, fn, &code))
		return refuse(reason, "its code is not in the file");
	if (flow_decode(&finder->flow, finder->dec, &code))
		return refuse(reason, "its code cannot be decoded to the end");
	why = append_ends(finder, fn, out);
	if (!why && out->count == before)
		why = "it never returns";
	if (!why)
		return 0;
	out->count = before;
	return refuse(reason, why);
}

int site_call(struct site_finder *finder, const struct pclntab_func *fn, const char *callee,
	      struct site *out)
{
	const struct flow *flow = &finder->flow;
	struct pclntab_func called;
	struct insn_code code;
	int32_t below = 0;

	if (!finder->tab || !function_code(finder, fn, &code) ||
	    flow_decode(&finder->flow, finder->dec, &code))
		return -1;
	for (size_t i = 0; i < flow->count; i++) {
		const struct insn *in = &flow->insns[i];

		if (in->kind != INSN_CALL || in->probe == INSN_REFUSED ||
		    !pclntab_find(finder->tab, in->target, &called) ||
		    strcmp(called.name, callee) != 0)
			continue;
		sp_below_entry(finder, fn, in->addr, &below);
		*out = (struct site){.addr = in->addr,
				     .kind = SITE_CALL,
				     .emulated = in->probe == INSN_EMULATED,
				     .sp_adjust = below};
		return 0;
	}
	return -1;
}
