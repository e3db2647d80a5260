// SPDX-License-Identifier: Apache-2.0
/* libgo's runtime, as libgo.so or linked into the program. Formats: libgo's go/runtime/runtime2.go
 * and stack.go, libgcc's config/i386/morestack.S and generic-morestack.c. */
#include <elf.h>
#include <string.h>

#include "elf/dynlink.h"
#include "elf/image.h"
#include "machine/insn.h"
#include "machine/registers.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/goruntime_internal.h"
#include "sites/splitstack_internal.h"

enum { REGS = 16, HEADER_MAX = 64 };
enum {
	BACKOFF = 0xe00, /* GCC 12's */
	BACKOFF_MAX = 1 << 16,
	FUNCS_MAX = 64, /* looked at for one that checks its stack */
	LINKS_MAX = 16, /* relocations looked at */
};

/* --- g --- */

static bool survives_calls(int reg)
{
	return reg == X86_RBX || reg == X86_RBP || reg >= 12; /* r12 to r15 */
}

bool goruntime_parse_gccgo(const struct insn_code *code, uint32_t *goid)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	int32_t from[REGS] = {0}; /* offset in g that each register was loaded from */
	uint64_t addr = code->addr;
	struct insn_operands op;
	struct insn in;

	for (int i = 0; i < HEADER_MAX && insn_decode(dec, code, addr, &in); i++, addr += in.size) {
		if (in.kind == INSN_CALL && from[X86_RDI])
			break;
		for (int r = 0; in.kind == INSN_CALL && r < REGS; r++)
			from[r] = survives_calls(r) ? from[r] : 0;
		if (!insn_operands(code, addr, &op))
			continue;
		if (op.what == INSN_LOAD)
			from[op.reg] = op.no_base || op.fs ? 0 : op.value;
		else if (op.what == INSN_COPY)
			from[op.reg] = from[op.other];
		else if (op.what == INSN_SET)
			from[op.reg] = 0;
	}
	insn_decoder_free(dec);
	*goid = from[X86_RDI];
	return from[X86_RDI] > 0 && from[X86_RDI] % 8 == 0 && from[X86_RDI] < 512;
}

static bool function_code(const struct image *img, const struct functab_func *fn,
			  struct insn_code *out)
{
	*out = (struct insn_code){.addr = fn->addr, .len = fn->end - fn->addr};
	out->bytes = image_at(img, fn->addr, out->len);
	return out->bytes;
}

static void find_goid(const struct image *img, const struct functab *tab, struct goruntime *out)
{
	struct functab_func fn;
	struct insn_code code;
	uint32_t goid;

	if (functab_named(tab, "runtime.goroutineheader", &fn) && function_code(img, &fn, &code) &&
	    goruntime_parse_gccgo(&code, &goid))
		out->g_goid = goid;
}

/* --- where g is --- */

struct tls_search {
	const struct image *img;
	struct goruntime *out;
};

static bool is_tls_g(const struct image_symbol *sym, void *ctx)
{
	struct tls_search *search = ctx;

	if (!sym->is_tls || strcmp(sym->name, "runtime.g") != 0)
		return true;
	search->out->tls_g = (int32_t)(sym->addr - image_tls_size(search->img));
	return false;
}

static bool is_tls_module(const struct dynlink_reloc *reloc, void *ctx)
{
	struct tls_search *search = ctx;

	if (reloc->type != R_X86_64_DTPMOD64 || strcmp(reloc->symbol.name, "runtime.g") != 0)
		return true;
	search->out->tls_word = reloc->addr;
	return false;
}

static bool is_main(const struct dynlink_reloc *reloc, void *ctx)
{
	struct goruntime *out = ctx;

	if (strcmp(reloc->symbol.name, "main.main") != 0 || reloc->addend ||
	    (reloc->type != R_X86_64_64 && reloc->type != R_X86_64_GLOB_DAT))
		return true;
	out->main_word = reloc->addr;
	return false;
}

/* A library finds g by its module's number and an offset, two words of its GOT; a program's own is
 * at a fixed distance from fs. */
static void find_g(const struct image *img, struct goruntime *out)
{
	struct tls_search search = {img, out};

	dynlink_each(img, is_tls_module, &search);
	out->is_library = out->tls_word;
	if (out->is_library)
		dynlink_each(img, is_main, out);
	if (!out->is_library)
		image_each_symbol(img, is_tls_g, &search);
}

/* --- the stack --- */

/* add $BACKOFF, %r10, near the start of __morestack */
static bool read_backoff(const struct image *img, uint64_t morestack, uint32_t *out)
{
	enum { LEN = 32 };
	const uint8_t *code = image_at(img, morestack, LEN);

	for (int i = 0; code && i + 7 <= LEN; i++) {
		if (code[i] != 0x49 || code[i + 1] != 0x81 || code[i + 2] != 0xc2)
			continue;
		memcpy(out, code + i + 3, sizeof(*out));
		return *out && *out < BACKOFF_MAX;
	}
	return false;
}

/* __morestack, from a function that calls it, and what it adds to a frame's size */
static void find_morestack(const struct image *img, const struct functab *tab,
			   struct goruntime *out)
{
	struct insn_decoder *dec = insn_decoder_new(image_arch(img));

	out->split_backoff = BACKOFF;
	for (size_t i = 0; i < functab_count(tab) && i < FUNCS_MAX; i++) {
		struct splitstack split;
		struct functab_func fn;
		struct insn_code code;

		if (functab_func(tab, i, &fn) && function_code(img, &fn, &code) &&
		    splitstack_find(dec, &code, &split) &&
		    read_backoff(img, split.morestack, &out->split_backoff)) {
			out->morestack = split.morestack;
			break;
		}
	}
	insn_decoder_free(dec);
}

/* --- all of it --- */

/* A hook is the function's first instruction, before the stack may grow: after that, its frame
 * could be on another segment than the frames that it is about. */
static struct site hook(const struct functab *tab, const char *name)
{
	struct functab_func fn;

	if (!functab_named(tab, name, &fn))
		return (struct site){0};
	return (struct site){.addr = fn.addr, .kind = SITE_FIRST};
}

/* The entry of goexit1; if that is inlined in Goexit, Goexit's own call of mcall. */
static void find_goexit(const struct functab *tab, struct site_finder *finder,
			struct goruntime *out)
{
	struct functab_func fn;
	struct site call;

	out->goexit = hook(tab, "runtime.goexit1");
	out->has_runtime = out->goexit.addr;
	if (functab_named(tab, "runtime.Goexit", &fn) &&
	    !site_call(finder, &fn, "runtime.mcall", &call))
		out->goexit = call;
}

void goruntime_read_gccgo(const struct program *prog, struct site_finder *finder,
			  struct goruntime *out)
{
	const struct functab *tab = prog->tab;

	*out = (struct goruntime){
		.split_stack = true,
		/* called in each frame with deferred calls that a panic is unwound to */
		.recovered = hook(tab, "runtime.checkdefer"),
		.fatal = hook(tab, "runtime.startpanic_m"),
	};
	find_morestack(prog->img, tab, out);
	find_goexit(tab, finder, out);
	if (!out->has_runtime)
		return;
	find_goid(prog->img, tab, out);
	find_g(prog->img, out);
}

struct link_search {
	const struct image *library;
	struct goruntime *out;
	uint64_t index; /* address in the library of the words that describe g */
	int tried;
};

struct symbol_search {
	const char *name;
	uint64_t addr;
};

static bool is_symbol(const struct image_symbol *sym, void *ctx)
{
	struct symbol_search *search = ctx;

	if (sym->is_tls || strcmp(sym->name, search->name) != 0)
		return true;
	search->addr = sym->addr;
	return false;
}

/* A word of the program that the dynamic linker fills with an address in the library tells where
 * the library was loaded. */
static bool try_link(const struct dynlink_reloc *reloc, void *ctx)
{
	struct symbol_search search = {.name = reloc->symbol.name};
	struct link_search *link = ctx;

	if (reloc->symbol.defined || reloc->addend || !strchr(reloc->symbol.name, '.') ||
	    (reloc->type != R_X86_64_64 && reloc->type != R_X86_64_GLOB_DAT))
		return true;
	image_each_symbol(link->library, is_symbol, &search);
	if (!search.addr)
		return ++link->tried < LINKS_MAX;
	link->out->tls_word = reloc->addr;
	link->out->tls_delta = (int64_t)(link->index - search.addr);
	return false;
}

void goruntime_link_gccgo(const struct image *img, const struct image *library,
			  const struct goruntime *library_rt, struct goruntime *out)
{
	struct link_search link = {library, out, library_rt->tls_word, 0};

	out->g_goid = library_rt->g_goid;
	if (link.index)
		dynlink_each(img, try_link, &link);
	if (!out->tls_delta)
		out->g_goid = 0;
}
