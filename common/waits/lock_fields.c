// SPDX-License-Identifier: Apache-2.0
#include "waits/lock_fields_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "abi/arginfo.h"
#include "arguments/funcinfo.h"
#include "arguments/origin.h"
#include "base/index.h"
#include "base/mem.h"
#include "elf/image.h"
#include "golang/funcname.h"
#include "golang/release.h"
#include "golang/signature.h"
#include "waits/lock_path_internal.h"
#include "machine/registers.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/site.h"

enum {
	CALLERS_MAX = 8, /* that code is followed back to */
	RETURN = 8,      /* bytes that a call pushes */
	PARAMS_MAX = 16, /* pointers to structs among a function's parameters */
};

struct variable {
	uint64_t addr, size;
	const char *name;
};

struct param {
	uint32_t off;
	struct abi_piece piece;    /* where it is at the function's first instruction */
	const struct gotype *type; /* what it points to */
};

struct func {
	uint64_t addr;
	struct param params[PARAMS_MAX];
	size_t count;
};

struct lock_fields {
	const struct program *prog;
	struct gotypes *types;
	struct funcinfo *info;      /* NULL: not asked for yet */
	struct variable *variables; /* by address */
	size_t variable_count, variable_cap;
	bool variables_read;
	struct func *funcs;
	size_t func_count, func_cap;
	struct index func_index;
	struct site_finder *finder; /* NULL: not asked for yet */
};

struct lock_fields *lock_fields_new(const struct program *prog)
{
	struct lock_fields *fields = mem_zalloc(1, sizeof(*fields));

	fields->prog = prog;
	return fields;
}

void lock_fields_free(struct lock_fields *fields)
{
	if (!fields)
		return;
	site_finder_free(fields->finder);
	funcinfo_free(fields->info);
	gotypes_free(fields->types);
	index_free(&fields->func_index);
	free(fields->funcs);
	free(fields->variables);
	free(fields);
}

/* --- variables --- */

static bool add_variable(const struct image_symbol *sym, void *ctx)
{
	struct lock_fields *fields = ctx;

	/* what the compiler has made has no name that a user knows */
	if (sym->is_func || sym->is_tls || !sym->size || !strchr(sym->name, '.') ||
	    strstr(sym->name, "..") || strchr(sym->name, ':'))
		return true;
	fields->variables = mem_grow(fields->variables, fields->variable_count,
				     &fields->variable_cap, sizeof(*fields->variables));
	fields->variables[fields->variable_count++] =
		(struct variable){sym->addr, sym->size, sym->name};
	return true;
}

static int by_addr(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void read_variables(struct lock_fields *fields)
{
	if (fields->variables_read)
		return;
	fields->variables_read = true;
	image_each_symbol(fields->prog->img, add_variable, fields);
	if (fields->variable_count)
		qsort(fields->variables, fields->variable_count, sizeof(*fields->variables),
		      by_addr);
}

char *lock_fields_variable(struct lock_fields *fields, uint64_t addr)
{
	size_t low = 0, high;

	read_variables(fields);
	for (high = fields->variable_count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (fields->variables[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	const struct variable *var = low ? &fields->variables[low - 1] : NULL;

	if (!var || addr - var->addr >= var->size)
		return NULL;
	if (addr == var->addr)
		return mem_strdup(var->name);
	return mem_printf("%s+0x%" PRIx64, var->name, addr - var->addr);
}

/* --- parameters --- */

static void add_param(struct func *func, uint32_t off, const struct abi_piece *piece,
		      const struct gotype *type)
{
	if (type && type->name && type->kind == GOTYPE_STRUCT && func->count < PARAMS_MAX)
		func->params[func->count++] = (struct param){off, *piece, type};
}

/* The type that the function's name tells: "pkg.T" of pkg.(*T).Method */
static const struct gotype *receiver_type(struct lock_fields *fields, const char *func)
{
	struct signature_names types = funcinfo_names(fields->info);
	const struct gotype *type;
	struct funcname name;
	char *text;

	funcname_parse(func, &name);
	if (!name.receiver || !name.pointer || name.closure || name.generic)
		return NULL;
	text = mem_printf("%.*s.%.*s", (int)name.package_len, func, (int)name.receiver_len,
			  name.receiver);
	type = types.find(types.ctx, text);
	free(text);
	return type;
}

/* Where the receiver is kept, of a method of which nothing else is known; false: not known either.
 */
static bool receiver_off(const struct lock_fields *fields, const struct functab_func *fn,
			 uint32_t *off)
{
	struct arginfo info;

	*off = 0;
	if (fields->prog->release < RELEASE_ARGINFO)
		return true;
	if (!arginfo_read(fields->prog->img, fields->prog->tab, fn, &info) || !info.count)
		return false;
	const struct arginfo_item *first = &info.items[0];

	if (first->kind != ARGINFO_VALUE || first->size != 8 || first->off < 0)
		return false;
	*off = first->off;
	return true;
}

static void read_signature(struct lock_fields *fields, const struct functab_func *fn,
			   const struct gofunc *sig, struct func *out)
{
	struct abi_layout layout;

	funcinfo_layout(fields->info, fn, sig, &layout);
	for (size_t i = 0; i < sig->param_count && i < layout.param_count; i++) {
		const struct goparam *param = &sig->params[i];

		if (!param->is_guess && param->type->kind == GOTYPE_POINTER &&
		    layout.params[i].count == 1)
			add_param(out, layout.params[i].slot, layout.params[i].pieces,
				  param->type->elem);
	}
	abi_layout_free(&layout);
}

static void read_func(struct lock_fields *fields, const struct functab_func *fn, struct func *out)
{
	struct abi_piece first = {
		.where = fields->prog->release < RELEASE_REGISTERS_AMD64 ? ABI_SLOT : ABI_INT};
	struct gofunc sig;
	uint32_t off;

	if (!fields->info) {
		fields->types = gotypes_new();
		fields->info = funcinfo_new(fields->prog, fields->types);
	}
	funcinfo_find(fields->info, fn, &sig);
	if (sig.source != GOFUNC_NONE && sig.source != GOFUNC_ARGINFO)
		read_signature(fields, fn, &sig, out);
	else if (receiver_off(fields, fn, &off))
		add_param(out, off, &first, receiver_type(fields, fn->name));
}

static const struct func *find_func(struct lock_fields *fields, const struct functab_func *fn)
{
	size_t n = index_first(&fields->func_index, index_hash(0, fn->addr));

	while (n != INDEX_NONE && fields->funcs[n].addr != fn->addr)
		n = index_next(&fields->func_index, n);
	if (n != INDEX_NONE)
		return &fields->funcs[n];
	index_add(&fields->func_index, index_hash(0, fn->addr));
	fields->funcs = mem_grow(fields->funcs, fields->func_count, &fields->func_cap,
				 sizeof(*fields->funcs));
	struct func *func = &fields->funcs[fields->func_count++];

	*func = (struct func){.addr = fn->addr};
	read_func(fields, fn, func);
	return func;
}

const struct gotype *lock_fields_param(struct lock_fields *fields, uint64_t at, uint32_t off)
{
	struct functab_func fn;

	if (!functab_find(fields->prog->tab, at, &fn))
		return NULL;
	const struct func *func = find_func(fields, &fn);

	for (size_t i = 0; i < func->count; i++)
		if (func->params[i].off == off)
			return func->params[i].type;
	return NULL;
}

/* --- by code --- */

static bool is_at(const struct param *param, const struct origin *origin)
{
	const struct abi_piece *piece = &param->piece;
	const struct registers_general *reg;

	if (!origin->in_register)
		return piece->where == ABI_SLOT && piece->n + RETURN == (uint64_t)origin->n;
	reg = piece->where == ABI_INT ? registers_nth(ARCH_AMD64, REGISTERS_GO, piece->n) : NULL;
	return reg && reg->dwarf == origin->n;
}

static char *follow(struct lock_fields *fields, const struct functab_func *fn,
		    const struct origin *origin, enum wait_kind kind)
{
	const struct func *func = find_func(fields, fn);
	char *name = NULL;

	for (size_t i = 0; i < func->count && !name; i++)
		if (is_at(&func->params[i], origin))
			name = lock_path_along(func->params[i].type, origin, kind);
	return name;
}

bool lock_fields_in_sync(const char *func)
{
	return !strncmp(func, "sync.", 5) || !strncmp(func, "internal/sync.", 14);
}

/* Calls fn for each caller, the innermost first, with where the lock comes from in what it was
 * given itself, as far as its code tells; until fn returns false. */
static void each_caller(struct lock_fields *fields, const uint64_t *stack, size_t count,
			const struct lock_callee *callee,
			bool (*fn)(const struct functab_func *, const struct origin *, void *),
			void *ctx)
{
	bool in_register = fields->prog->release >= RELEASE_REGISTERS_AMD64;
	struct origin origin = {.in_register = in_register,
				.n = in_register ? AMD64_RAX : RETURN,
				.adds = {-(int64_t)callee->before}};
	uint64_t called = callee->addr;
	struct functab_func caller;

	if (!fields->prog->release_told)
		return;
	if (!fields->finder)
		fields->finder = site_finder_new(fields->prog);
	for (size_t i = 0; i < count && i < CALLERS_MAX; i++) {
		if (!functab_find(fields->prog->tab, stack[i] - 1, &caller) ||
		    !origin_of(fields->finder, &caller, stack[i], called, &origin) ||
		    !fn(&caller, &origin, ctx))
			return;
		called = caller.addr;
	}
}

struct calling {
	struct lock_fields *fields;
	const struct lock_callee *callee;
	char *name;
};

static bool name_by(const struct functab_func *fn, const struct origin *origin, void *ctx)
{
	struct calling *calling = ctx;

	if (calling->callee->in_sync || !lock_fields_in_sync(fn->name))
		calling->name = follow(calling->fields, fn, origin, calling->callee->kind);
	return !calling->name;
}

char *lock_fields_called(struct lock_fields *fields, const uint64_t *stack, size_t count,
			 const struct lock_callee *callee)
{
	struct calling calling = {fields, callee, NULL};

	each_caller(fields, stack, count, callee, name_by, &calling);
	return calling.name;
}

struct offsets {
	uint64_t *all;
	size_t count, max;
};

static bool add_offset(const struct functab_func *fn, const struct origin *origin, void *ctx)
{
	struct offsets *offsets = ctx;
	int64_t off = origin->adds[origin->loads];

	(void)fn;
	/* added to the last pointer that was loaded: what comes before is of other structs */
	if (off > 0 && (uint64_t)off < LOCK_FIELDS_STRUCT_MAX && offsets->count < offsets->max &&
	    (!offsets->count || offsets->all[offsets->count - 1] != (uint64_t)off))
		offsets->all[offsets->count++] = off;
	return !origin->loads && offsets->count < offsets->max;
}

size_t lock_fields_offsets(struct lock_fields *fields, const uint64_t *stack, size_t count,
			   const struct lock_callee *callee, uint64_t *out, size_t max)
{
	struct offsets offsets = {out, 0, max};

	each_caller(fields, stack, count, callee, add_offset, &offsets);
	return offsets.count;
}
