// SPDX-License-Identifier: Apache-2.0
#include "arguments/funcinfo_internal.h"

#include <stdlib.h>
#include <string.h>

#include "abi/argtable.h"
#include "arguments/funcinfo_gccgo_internal.h"
#include "arguments/funcinfo_stdlib_internal.h"
#include "arguments/sigcheck_internal.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "dwarf/debuginfo.h"
#include "elf/image.h"
#include "golang/funcname.h"
#include "golang/release.h"
#include "golang/signature.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "rtti/rtti.h"

enum {
	RAW_WORDS = 9,     /* amd64's integer argument registers */
	RAW_RESULTS_C = 2, /* rax, rdx */
};

struct funcinfo *funcinfo_new(const struct program *prog, struct gotypes *memory)
{
	struct funcinfo *info = mem_zalloc(1, sizeof(*info));

	info->prog = prog;
	info->memory = memory;
	return info;
}

void funcinfo_free(struct funcinfo *info)
{
	if (!info)
		return;
	insn_decoder_free(info->decoder);
	debuginfo_close(info->dbg);
	rtti_close(info->rtti);
	free(info->missing);
	free(info);
}

static struct debuginfo *get_debuginfo(struct funcinfo *info)
{
	if (info->dbg_tried)
		return info->dbg;
	info->dbg_tried = true;
	info->dbg = debuginfo_open(info->prog->img, info->prog->tab, info->prog->release,
				   info->memory, NULL);
	funcinfo_foreign(info);
	return info->dbg;
}

/* Several of the checks below look at the same function in turn: its code is decoded only once. */
static const struct evidence *get_evidence(struct funcinfo *info, const struct functab_func *fn)
{
	if (!info->decoder)
		info->decoder = insn_decoder_new(image_arch(info->prog->img));
	if (info->evidence_of != fn->addr)
		evidence_read(info->prog->img, info->prog->tab, info->decoder, info->prog->release,
			      fn, &info->evidence);
	info->evidence_of = fn->addr;
	return &info->evidence;
}

/* Words as they are passed: all that can be said of a function of unknown signature. Results on the
 * stack are left out: they follow the parameters, whose size is unknown. */
static void raw_words(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out)
{
	static const char *const names[RAW_WORDS] = {"goarg1", "goarg2", "goarg3",
						     "goarg4", "goarg5", "goarg6",
						     "goarg7", "goarg8", "goarg9"};
	const struct evidence *evidence = get_evidence(info, fn);

	*out = (struct gofunc){.dictionary = -1, .source = GOFUNC_NONE};
	out->params = gotypes_alloc(info->memory, RAW_WORDS, sizeof(*out->params));
	out->results = gotypes_alloc(info->memory, RAW_WORDS, sizeof(*out->results));
	out->param_count = RAW_WORDS;
	out->result_count = evidence->usual == ABI_STACK  ? 0
			    : evidence->usual == ABI_SYSV ? RAW_RESULTS_C
							  : RAW_WORDS;
	for (size_t i = 0; i < RAW_WORDS; i++) {
		out->params[i].name = names[i];
		out->params[i].type = gotypes_basic(info->memory, "uintptr");
		out->results[i].name = "";
		out->results[i].type = out->params[i].type;
	}
}

uint64_t funcinfo_layout(struct funcinfo *info, const struct functab_func *fn,
			 const struct gofunc *sig, struct abi_layout *out)
{
	const struct evidence *evidence = get_evidence(info, fn);

	if (fn->is_clone)
		funcinfo_clone_layout(get_debuginfo(info), fn, sig, out);
	else if (sig->source == GOFUNC_NONE)
		abi_layout(sig, evidence->arch, evidence->usual, out);
	else
		evidence_layout(evidence, sig, out);
	return evidence->restart;
}

bool funcinfo_table(struct funcinfo *info, const struct functab_func *fn, struct gofunc *sig,
		    struct abi_layout *layout)
{
	const struct evidence *evidence = get_evidence(info, fn);

	return !info->prog->toolchain->c_abi &&
	       argtable_read(info->prog->img, info->prog->tab, info->decoder, evidence, fn,
			     info->memory, sig, layout);
}

static bool is_whole(const struct gofunc *sig, const struct abi_layout *abi)
{
	for (size_t i = 0; i < sig->param_count; i++)
		if (sig->params[i].type->size && !abi->params[i].count)
			return false;
	return true;
}

/* Is the parameter a single word, by the argument table? */
static bool is_word(const struct gotype *type)
{
	static const unsigned nesting = 5; /* argument tables go no deeper */
	const struct gotype *part = type->elem;

	if (!part)
		return true;
	for (unsigned depth = 0; depth < nesting && part->field_count == 1; depth++)
		part = part->fields[0].type;
	return part->kind == GOTYPE_UNKNOWN && part->size;
}

bool funcinfo_words(struct funcinfo *info, const struct functab_func *fn, bool whole,
		    struct gofunc *sig, struct abi_layout *abi)
{
	struct gofunc table;

	if (!funcinfo_table(info, fn, &table, abi))
		return false;
	if (whole && !is_whole(&table, abi)) {
		abi_layout_free(abi);
		return false;
	}
	*sig = table;
	for (size_t i = 0; i < sig->param_count; i++)
		if (abi->params[i].count && !is_word(sig->params[i].type))
			sig->params[i].type = sig->params[i].type->elem;
	return true;
}

/* Does nothing in the program contradict it? */
static bool is_credible(struct funcinfo *info, const struct functab_func *fn,
			const struct gofunc *sig)
{
	const struct evidence *evidence = get_evidence(info, fn);
	struct abi_layout layout;
	bool fits = evidence_layout(evidence, sig, &layout);

	abi_layout_free(&layout);
	return fits;
}

static const char all_params[] = "write all parameters, but not a method's receiver";

/* -1 if the signature contradicts the argument table; *err then shows both. */
static int check_table(struct funcinfo *info, const struct functab_func *fn,
		       const struct gofunc *sig, unsigned col, struct errmsg *err)
{
	const struct evidence *evidence = get_evidence(info, fn);
	struct abi_layout layout, told;
	struct gofunc table;
	int ret = 0;

	if (!funcinfo_table(info, fn, &table, &told))
		return 0;
	evidence_layout(evidence, sig, &layout);
	if (!sigcheck_agrees(sig, &layout, &table, &told)) {
		char *typed = sigcheck_text(evidence->arch, sig, &layout);
		char *known = sigcheck_text(evidence->arch, &table, &told);

		ret = errmsg_set(err, "col %u: %s does not take (%s)", col, fn->name, typed);
		errmsg_hint(err, "its argument table says (%s); %s", known, all_params);
		free(typed);
		free(known);
	}
	abi_layout_free(&layout);
	abi_layout_free(&told);
	return ret;
}

/* The same for a signature that a user typed; results, even on the stack, may be left out. */
static int check_typed(struct funcinfo *info, const struct functab_func *fn,
		       const struct gofunc *sig, unsigned col, struct errmsg *err)
{
	const struct evidence *evidence = get_evidence(info, fn);
	struct abi_layout layout;

	if (check_table(info, fn, sig, col, err))
		return -1;
	bool fits = evidence_layout(evidence, sig, &layout);
	int64_t bytes = layout.args_size;
	bool same_size = evidence->args < 0 || evidence->args == bytes;

	abi_layout_free(&layout);
	if (fits || (!sig->result_count && evidence->args > bytes))
		return 0;
	if (same_size)
		errmsg_set(err, "col %u: %s takes parameters of other types from its registers",
			   col, fn->name);
	else
		errmsg_set(err,
			   "col %u: %s has parameters of other sizes: they take %d bytes, not "
			   "%d",
			   col, fn->name, evidence->args, (int)bytes);
	errmsg_hint(err, "%s", all_params);
	return -1;
}

static const struct gotype *find_named_type(void *ctx, const char *name)
{
	struct funcinfo *info = ctx;
	struct debuginfo *dbg = get_debuginfo(info);
	const struct gotype *type = dbg ? debuginfo_type(dbg, name) : NULL;

	if (!type && funcinfo_rtti(info))
		type = rtti_named(info->rtti, name);
	return type;
}

/* The receiver's type, as text: "net/http.conn", malloc'd. NULL: it is no method, or not known. */
static char *receiver_type(const char *name, const struct funcname *parts)
{
	/* the name of a generic function does not tell the type arguments of a receiver that is a
	 * value */
	if (!parts->receiver || (parts->generic && !parts->pointer))
		return NULL;
	return mem_printf("%.*s.%.*s", (int)parts->package_len, name, (int)parts->receiver_len,
			  parts->receiver);
}

void funcinfo_type_receiver(struct funcinfo *info, const struct functab_func *fn,
			    struct gofunc *sig)
{
	struct funcname parts;

	funcname_parse(fn->name, &parts);
	if (!sig->param_count || !parts.pointer || info->prog->toolchain->c_abi ||
	    !is_word(sig->params[0].type))
		return;
	char *name = receiver_type(fn->name, &parts);
	const struct gotype *type = name ? find_named_type(info, name) : NULL;

	free(name);
	if (!type)
		return;
	sig->params[0].type = gotypes_pointer(info->memory, type);
	sig->receiver = true;
}

/* Users write methods without the receiver, as in Go: it is added here. */
static int add_receiver(struct funcinfo *info, const char *func, struct gofunc *out,
			struct errmsg *err)
{
	struct goparam receiver = {.name = ""};
	struct funcname parts;

	funcname_parse(func, &parts);
	char *name = receiver_type(func, &parts);
	const struct gotype *type = name ? find_named_type(info, name) : NULL;

	if (!name)
		return 0;
	if (!type && !parts.pointer) {
		errmsg_set(err, "the type of %s's receiver, %s, is not known", func, name);
		free(name);
		return -1;
	}
	free(name);
	receiver.type = !type           ? gotypes_basic(info->memory, "unsafe.Pointer")
			: parts.pointer ? gotypes_pointer(info->memory, type)
					: type;
	funcinfo_add_receiver(info->memory, &receiver, out);
	return 0;
}

/* Where a generic function's hidden dictionary is passed: first, or after the receiver; or not at
 * all. */
static void find_dictionary(struct funcinfo *info, const struct functab_func *fn,
			    struct gofunc *out)
{
	struct gofunc known;

	funcinfo_find(info, fn, &known);
	out->dictionary = out->receiver && info->prog->release >= RELEASE_DICTIONARY_SECOND ? 1 : 0;
	if (known.source != GOFUNC_NONE)
		out->dictionary = known.dictionary;
	else if (!is_credible(info, fn, out))
		out->dictionary = -1; /* closures and wrappers have none */
}

struct signature_names funcinfo_names(struct funcinfo *info)
{
	return (struct signature_names){find_named_type, info, info->prog->release};
}

const char *funcinfo_missing(const struct funcinfo *info, size_t n)
{
	return n < info->missing_count ? info->missing[n] : NULL;
}

static void note_missing(struct funcinfo *info, const char *name)
{
	for (size_t i = 0; i < info->missing_count; i++)
		if (!strcmp(info->missing[i], name))
			return;
	info->missing = mem_grow(info->missing, info->missing_count, &info->missing_cap,
				 sizeof(*info->missing));
	info->missing[info->missing_count++] = gotypes_text(info->memory, name, strlen(name));
}

/* A type that the user names; some are known even if the program lacks them. */
static const struct gotype *find_typed(void *ctx, const char *name)
{
	const struct gotype *type = find_named_type(ctx, name);

	if (!type && strcmp(name, "time.Duration") != 0 && strcmp(name, "time.Time") != 0 &&
	    strcmp(name, GOTYPE_OPEN_FLAGS) != 0)
		note_missing(ctx, name);
	return type;
}

/* Debug information first; then run-time types, which lack parameter names; Go's sources know
 * those, and functions of the standard library without run-time types. */
static bool find_signature(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out)
{
	const struct signature_names names = funcinfo_names(info);
	struct debuginfo *dbg = get_debuginfo(info);

	if (dbg && !debuginfo_func(dbg, fn->addr, fn->name, out) && is_credible(info, fn, out))
		return true;
	if (!funcinfo_rtti(info) || rtti_func(info->rtti, fn->addr, out) ||
	    !is_credible(info, fn, out))
		return !info->prog->toolchain->libgo &&
		       funcinfo_stdlib(info->memory, &names, fn, out) && is_credible(info, fn, out);
	funcinfo_stdlib_names(info->memory, &names, fn, out);
	return true;
}

void funcinfo_find(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out)
{
	if (find_signature(info, fn, out))
		return;
	raw_words(info, fn, out);
	funcinfo_type_receiver(info, fn, out);
}

int funcinfo_typed(struct funcinfo *info, const char *name, const char *text, unsigned col,
		   struct gofunc *out, struct errmsg *err)
{
	struct signature_names names = {find_typed, info, info->prog->release};
	struct errmsg why = {0};
	size_t pos = 0;

	if (signature_parse(info->memory, &names, text, out, &pos, &why)) {
		errmsg_set(err, "col %zu: %s", col + pos, why.text);
		errmsg_hint(err, "%s", why.hint);
		return -1;
	}
	out->source = GOFUNC_SIGNATURE;
	out->dictionary = -1;
	return info->prog->toolchain->c_abi ? 0 : add_receiver(info, name, out, err);
}

int funcinfo_inlined(struct funcinfo *info, const struct functab_func *fn, const char *name,
		     uint64_t copy, struct gofunc *out, struct debuginfo_variable **vars)
{
	struct debuginfo *dbg = get_debuginfo(info);

	return dbg ? debuginfo_inlined(dbg, fn->addr, name, copy, out, vars) : -1;
}

int funcinfo_signature(struct funcinfo *info, const struct functab_func *fn, const char *text,
		       unsigned col, struct gofunc *out, struct errmsg *err)
{
	struct gofunc known;

	if (funcinfo_typed(info, fn->name, text, col, out, err))
		return -1;
	if (info->prog->toolchain->c_abi) {
		funcinfo_find(info, fn, &known);
		funcinfo_gccgo_typed(info->memory, fn->name, &known, out);
		return 0;
	}
	if (strchr(fn->name, '[') && info->prog->release >= RELEASE_GENERICS)
		find_dictionary(info, fn, out);
	return check_typed(info, fn, out, col, err);
}
