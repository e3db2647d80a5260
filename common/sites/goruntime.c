// SPDX-License-Identifier: Apache-2.0
#include "sites/goruntime_internal.h"

#include <string.h>

#include "base/errmsg.h"
#include "elf/image.h"
#include "golang/release.h"
#include "machine/calls.h"
#include "machine/insn.h"
#include "machine/registers.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"

enum { REGS = 16, SLOTS = 64 };
enum { SYSTEMSTACK_MAX = 16 }; /* instructions until it has compared g with m.curg */
enum { CREATED_MIN = 240, CREATED_MAX = 400 }; /* where in struct g its creation is recorded */

/* Which field of an object, as a displacement, each register and stack slot was loaded from. */
struct origins {
	int32_t reg[REGS];
	int32_t slot[SLOTS]; /* 8-byte words from SP up */
};

static int32_t *stack_slot(struct origins *from, const struct insn_operands *op)
{
	if (op->other != X86_RSP || op->no_base || op->value < 0 || op->value >= SLOTS * 8)
		return NULL;
	return &from->slot[op->value / 8];
}

static void follow_origin(struct origins *from, const struct insn_operands *op)
{
	int32_t *slot = stack_slot(from, op);

	switch (op->what) {
	case INSN_LOAD:
		from->reg[op->reg] = slot ? *slot : op->fs || op->no_base ? 0 : op->value;
		break;
	case INSN_STORE:
		if (slot)
			*slot = from->reg[op->reg];
		break;
	case INSN_COPY:
		from->reg[op->reg] = from->reg[op->other];
		break;
	case INSN_SET:
		from->reg[op->reg] = 0;
		break;
	default:
		break;
	}
}

bool goruntime_parse_header(const struct insn_code *code, bool in_register,
			    bool (*is_print)(uint64_t addr, void *ctx), void *ctx, uint32_t *goid)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	uint64_t addr = code->addr;
	struct origins from = {0};
	struct insn_operands op;
	bool found = false;
	struct insn in;

	for (; !found && insn_decode(dec, code, addr, &in); addr += in.size) {
		if (in.kind == INSN_CALL && in.target && is_print(in.target, ctx)) {
			*goid = in_register ? from.reg[X86_RAX] : from.slot[0];
			found = true;
		} else if (in.kind == INSN_CALL) {
			memset(from.reg, 0, sizeof(from.reg));
		} else if (insn_operands(code, addr, &op)) {
			follow_origin(&from, &op);
		}
	}
	insn_decoder_free(dec);
	return found && *goid > 0;
}

struct known { /* what a register holds: a constant, or what stands at an address */
	int32_t constant;
	uint64_t word;
};

/* Where g is: at fs:[constant], or in a shared library at a distance that a word of its GOT gets
 * when it is loaded (the ELF TLS specification's initial exec model). */
static void note_tls(const struct insn_operands *op, const struct known *known,
		     struct goruntime *out)
{
	out->tls_g = op->no_base ? op->value : known[op->other].constant;
	out->tls_word = op->no_base ? 0 : known[op->other].word;
}

/* mov g, fs:[..] -- mov m, [g+g_m] -- ... -- mov r, [m] (g0) -- ... -- cmp g, [m+m_curg] */
static bool systemstack_step(const struct insn_operands *op, struct known *known,
			     struct goruntime *out, int *m, bool *seen_g0)
{
	bool has_g = out->tls_g || out->tls_word;

	if (op->what == INSN_SET)
		known[op->reg] = (struct known){.constant = op->value};
	else if (op->what == INSN_LOAD && op->addr && !op->fs)
		known[op->reg] = (struct known){.word = op->addr};
	else if (op->what == INSN_LOAD && op->fs && !has_g)
		note_tls(op, known, out);
	else if (op->what == INSN_LOAD && *m < 0 && has_g && op->other != X86_RSP) {
		out->g_m = op->value;
		*m = op->reg;
	} else if (op->what == INSN_LOAD && op->other == *m) {
		out->m_g0 = op->value;
		*seen_g0 = true;
	} else if (op->what == INSN_COMPARE && op->other == *m && *seen_g0) {
		out->m_curg = op->value;
		return true;
	}
	return false;
}

bool goruntime_parse_systemstack(const struct insn_code *code, struct goruntime *out)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	uint64_t addr = code->addr;
	struct known known[REGS] = {0};
	bool seen_g0 = false, found = false;
	struct insn_operands op;
	struct insn in;
	int m = -1;

	for (int i = 0; i < SYSTEMSTACK_MAX && !found; i++, addr += in.size) {
		if (!insn_decode(dec, code, addr, &in))
			break;
		if (insn_operands(code, addr, &op))
			found = systemstack_step(&op, known, out, &m, &seen_g0);
	}
	insn_decoder_free(dec);
	return found;
}

/* newg.parentGoid = callergp.goid (from 1.21); newg.gopc = callerpc; newg.ancestors = ...;
 * newg.startpc = fn.fn: they are neighbours and filled in this order, with calls between them. */
static bool newproc_step(struct origins *from, const struct insn_operands *op,
			 struct goruntime *out, int32_t *first, unsigned *run)
{
	if (op->what == INSN_STORE && op->other != X86_RSP && !op->fs && !op->no_base &&
	    op->value >= CREATED_MIN && op->value < CREATED_MAX) {
		bool next = *run && op->value == *first + (int32_t)*run * 8;

		if (!next) {
			*first = op->value;
			*run = 0;
			out->g_parent_goid =
				from->reg[op->reg] == (int32_t)out->g_goid ? op->value : 0;
		}
		++*run;
	}
	follow_origin(from, op);
	return *run == 3;
}

bool goruntime_parse_newproc(const struct insn_code *code, struct goruntime *out)
{
	struct insn_decoder *dec = insn_decoder_new(ARCH_AMD64);
	struct goruntime found = {.g_goid = out->g_goid};
	uint64_t addr = code->addr;
	struct origins from = {0};
	struct insn_operands op;
	bool done = false;
	unsigned run = 0;
	int32_t first = 0;
	struct insn in;

	for (; !done && insn_decode(dec, code, addr, &in); addr += in.size) {
		if (in.kind == INSN_CALL)
			memset(from.reg, 0, sizeof(from.reg));
		else if (insn_operands(code, addr, &op))
			done = newproc_step(&from, &op, &found, &first, &run);
	}
	insn_decoder_free(dec);
	if (!done)
		return false;
	out->g_parent_goid = found.g_parent_goid;
	out->g_gopc = found.g_parent_goid ? first + 8 : first;
	return true;
}

static bool function_code(const struct image *img, const struct functab_func *fn,
			  struct insn_code *out)
{
	*out = (struct insn_code){.addr = fn->addr, .len = fn->end - fn->addr};
	out->bytes = image_at(img, fn->addr, out->len);
	return out->bytes;
}

static bool is_print(uint64_t addr, void *ctx)
{
	struct functab_func fn;

	return functab_find(ctx, addr, &fn) &&
	       (!strcmp(fn.name, "runtime.printint") || !strcmp(fn.name, "runtime.printuint"));
}

/* Struct g and m of a release. */
static void known_layout(struct goruntime *out, int release)
{
	out->g_stack_hi = 8;
	out->g_m = 48;
	out->g_sched_sp = 56;
	/* sp, pc, g, ctxt, up to 1.24 ret, lr, bp */
	out->g_sched_link = out->g_sched_sp + (release >= RELEASE_SHORT_GOBUF ? 32 : 40);
	out->g_goid = release >= RELEASE_SYSCALLBP && release < RELEASE_SHORT_GOBUF ? 160 : 152;
	out->g_syscall_sp = release >= RELEASE_SHORT_GOBUF ? 104 : 112;
	out->m_g0 = 0;
	/* g0, morebuf (a gobuf), divmod */
	out->m_procid = release >= RELEASE_SHORT_GOBUF ? 64 : 72;
	out->m_curg = release >= RELEASE_SHORT_GOBUF ? 184 : 192;
}

/* These stand around g.goid: atomicstatus, stackLock, goid, schedlink, waitsince, waitreason. */
static void known_states(struct goruntime *out)
{
	out->g_status = out->g_goid - 8;
	out->g_waitsince = out->g_goid + 16;
	out->g_waitreason = out->g_goid + 24;
}

/* The fields that move most: known only for the very release that the file names. */
static void known_creation(struct goruntime *out, int release)
{
	static const struct {
		int release;
		uint32_t gopc, parent_goid;
	} known[] = {
		{15, 280, 0},   {16, 280, 0},   {17, 296, 0},   {18, 296, 0},   {19, 296, 0},
		{20, 296, 0},   {21, 280, 272}, {22, 280, 272}, {23, 288, 280}, {24, 288, 280},
		{25, 280, 272}, {26, 288, 280}, {27, 288, 280},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].release != release)
			continue;
		out->g_gopc = known[i].gopc;
		out->g_parent_goid = known[i].parent_goid;
	}
}

/* lockedm, flags, sig, from Go 1.26 on secret, writebuf, sigcode0, sigcode1, sigpc, and then how it
 * was created */
static void known_lock(struct goruntime *out, int release)
{
	uint32_t created = out->g_parent_goid ? out->g_parent_goid : out->g_gopc;

	if (created)
		out->g_lockedm = created - (release >= RELEASE_SECRETS ? 72 : 64);
}

/* Some programs have an assembly function and its wrapper under one name: the code that matches
 * counts. */
static void parse_systemstack(const struct image *img, const struct functab *tab,
			      struct goruntime *out)
{
	size_t count = functab_count(tab);
	struct functab_func fn;

	for (size_t i = 0; i < count; i++) {
		struct goruntime found = {0};
		struct insn_code code;

		if (!functab_func(tab, i, &fn) || strcmp(fn.name, "runtime.systemstack") != 0 ||
		    !function_code(img, &fn, &code))
			continue;
		if (image_arch(img) == ARCH_ARM64
			    ? !goruntime_parse_systemstack_arm64(&code, &found)
			    : !goruntime_parse_systemstack(&code, &found))
			continue;
		out->tls_g = found.tls_g;
		out->tls_word = found.tls_word;
		out->g_m = found.g_m;
		out->m_g0 = found.m_g0;
		out->m_curg = found.m_curg;
		return;
	}
}

static void parse_header(const struct program *prog, struct goruntime *out)
{
	bool arm = image_arch(prog->img) == ARCH_ARM64;
	const struct functab *tab = prog->tab;
	struct functab_func fn;
	struct insn_code code;
	uint32_t goid;

	if (!functab_named(tab, "runtime.goroutineheader", &fn) ||
	    !function_code(prog->img, &fn, &code))
		return;
	bool found = (arm ? goruntime_parse_header_arm64 : goruntime_parse_header)(
		&code, out->args_in_registers, is_print, (void *)tab, &goid);

	if (found && goid % 8 == 0 && goid >= 128 && goid < 256)
		out->g_goid = goid;
}

static void parse_newproc(const struct image *img, const struct functab *tab, struct goruntime *out)
{
	struct functab_func fn;
	struct insn_code code;

	if (functab_named(tab, "runtime.newproc1", &fn) && function_code(img, &fn, &code))
		goruntime_parse_newproc(&code, out);
}

static void find_ends(const struct functab *tab, struct site_finder *finder, struct goruntime *out)
{
	struct functab_func fn;
	const char *reason;

	if (functab_named(tab, "runtime.recovery", &fn))
		site_call(finder, &fn, "runtime.gogo", &out->recovered);
	if (functab_named(tab, "runtime.Goexit", &fn) &&
	    site_call(finder, &fn, "runtime.goexit1", &out->goexit) &&
	    functab_named(tab, "runtime.goexit1", &fn) &&
	    site_entry(finder, &fn, false, &out->goexit, &reason))
		out->goexit = (struct site){0};
	if (functab_named(tab, "runtime.fatalpanic", &fn) &&
	    site_entry(finder, &fn, false, &out->fatal, &reason))
		out->fatal = (struct site){0};
}

void goruntime_read_fields(const struct program *prog, struct goruntime *out)
{
	bool arm = image_arch(prog->img) == ARCH_ARM64;
	const struct calls *calls = calls_of(image_arch(prog->img));

	*out = (struct goruntime){
		.g_in_register = prog->release >= calls->g_from,
		.args_in_registers = prog->release >= calls->args_from,
	};
	known_layout(out, prog->release);
	if (prog->release_told)
		known_creation(out, prog->release);
	parse_systemstack(prog->img, prog->tab, out);
	parse_header(prog, out);
	known_states(out);
	if (!arm)
		parse_newproc(prog->img, prog->tab, out);
	if (prog->release_told)
		known_lock(out, prog->release);
}

int goruntime_read(const struct program *prog, struct site_finder *finder, struct goruntime *out,
		   struct errmsg *err)
{
	if (prog->toolchain->libgo) {
		goruntime_read_gccgo(prog, finder, out);
		return 0;
	}
	goruntime_read_fields(prog, out);
	find_ends(prog->tab, finder, out);
	if (out->g_in_register || out->tls_g || out->tls_word)
		return 0;
	errmsg_set(err, "the goroutine's thread-local variable was not found in the code of "
			"runtime.systemstack");
	errmsg_hint(err, "programs of Go 1.17 and later keep the goroutine in a register");
	return -1;
}

bool goruntime_same_layout(const struct goruntime *a, const struct goruntime *b)
{
	return a->split_stack == b->split_stack && a->split_backoff == b->split_backoff &&
	       a->g_in_register == b->g_in_register &&
	       a->args_in_registers == b->args_in_registers && a->tls_g == b->tls_g &&
	       a->g_stack_hi == b->g_stack_hi && a->g_m == b->g_m &&
	       a->g_sched_sp == b->g_sched_sp && a->g_goid == b->g_goid && a->m_curg == b->m_curg;
}

bool goruntime_same_creation(const struct goruntime *a, const struct goruntime *b)
{
	return a->g_gopc == b->g_gopc && a->g_parent_goid == b->g_parent_goid;
}
