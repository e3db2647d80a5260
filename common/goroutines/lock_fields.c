// SPDX-License-Identifier: Apache-2.0
#include "goroutines/lock_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/arginfo.h"
#include "arguments/funcinfo.h"
#include "base/index.h"
#include "base/mem.h"
#include "elf/image.h"
#include "golang/funcname.h"
#include "golang/release.h"
#include "golang/signature.h"
#include "program/functab.h"
#include "program/program.h"

enum {
	DEPTH_MAX = 16,       /* of structs in structs */
	PARAMS_MAX = 16,      /* pointers to structs among a function's parameters */
	FIELDS_MAX = 1 << 12, /* of a struct and those in it, that may be pointers */
};

struct variable {
	uint64_t addr, size;
	const char *name;
};

struct param {
	uint32_t off;
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

static void add_param(struct func *func, uint32_t off, const struct gotype *type)
{
	if (type && type->name && type->kind == GOTYPE_STRUCT && func->count < PARAMS_MAX)
		func->params[func->count++] = (struct param){off, type};
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
			add_param(out, layout.params[i].slot, param->type->elem);
	}
	abi_layout_free(&layout);
}

static void read_func(struct lock_fields *fields, const struct functab_func *fn, struct func *out)
{
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
		add_param(out, off, receiver_type(fields, fn->name));
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

/* --- fields --- */

struct sought {
	enum wait_kind kind;
	bool points; /* a pointer to it */
};

static bool is_lock(const struct gotype *type, enum wait_kind kind)
{
	static const char *const names[] = {[WAIT_SEMAPHORE] = "uint32",
					    [WAIT_MUTEX] = "sync.Mutex",
					    [WAIT_RWMUTEX] = "sync.RWMutex",
					    [WAIT_WAITGROUP] = "sync.WaitGroup",
					    [WAIT_COND] = "sync.Cond"};

	return !strcmp(type->name, names[kind]) ||
	       (kind == WAIT_MUTEX && !strcmp(type->name, "internal/sync.Mutex"));
}

static bool is_sought(const struct gotype *type, const struct sought *sought)
{
	if (sought->points)
		type = type->kind == GOTYPE_POINTER ? type->elem : NULL;
	return type && type->name && is_lock(type, sought->kind);
}

/* Writes ".field[3].mu", to where the type has it at this offset; false: it has none. */
static bool print_path(FILE *out, const struct gotype *type, uint64_t off,
		       const struct sought *lock, int depth)
{
	if (depth > DEPTH_MAX || off >= type->size)
		return false;
	if (off == 0 && is_sought(type, lock))
		return true;
	if (type->kind == GOTYPE_ARRAY && type->elem && type->elem->size) {
		fprintf(out, "[%" PRIu64 "]", off / type->elem->size);
		return print_path(out, type->elem, off % type->elem->size, lock, depth + 1);
	}
	if (type->kind != GOTYPE_STRUCT)
		return false;
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		if (off < field->off || off - field->off >= field->type->size)
			continue;
		fprintf(out, ".%s", field->name);
		return print_path(out, field->type, off - field->off, lock, depth + 1);
	}
	return false;
}

/* "main.(*Store)" of main.Store */
static void print_pointer(FILE *out, const char *name)
{
	const char *args = strchr(name, '['), *dot = NULL;

	for (const char *at = name; *at && at != args; at++)
		if (*at == '.')
			dot = at;
	if (dot)
		fprintf(out, "%.*s.(*%s)", (int)(dot - name), name, dot + 1);
	else
		fprintf(out, "(*%s)", name);
}

char *lock_fields_path(const struct gotype *type, uint64_t off, enum wait_kind kind, bool points)
{
	struct sought sought = {kind, points};
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	print_pointer(out, type->name);
	size_t before = (size_t)ftell(out);
	bool found = print_path(out, type, off, &sought, 0);

	fclose(out);
	if (found && len > before)
		return text;
	free(text);
	return NULL;
}

/* --- behind pointers --- */

struct behind {
	const uint8_t *bytes; /* of the outermost struct */
	size_t len;
	const struct gotype *type;
	uint64_t lock;
	enum wait_kind kind;
	size_t left; /* fields to look at */
};

static char *behind_pointer(const struct behind *behind, const struct gotype *type, uint64_t off)
{
	const struct gotype *elem = type->elem;
	uint64_t value;

	if (!elem || !elem->name || off > behind->len || behind->len - off < sizeof(value))
		return NULL;
	memcpy(&value, behind->bytes + off, sizeof(value));
	if (value == behind->lock && is_lock(elem, behind->kind))
		return lock_fields_path(behind->type, off, behind->kind, true);
	if (!value || elem->kind != GOTYPE_STRUCT || behind->lock - value >= elem->size)
		return NULL;
	return lock_fields_path(elem, behind->lock - value, behind->kind, false);
}

/* All pointers in a struct at this offset, those of structs in it as well. */
static char *behind_fields(struct behind *behind, const struct gotype *type, uint64_t off,
			   int depth)
{
	char *name = NULL;

	for (size_t i = 0; i < type->field_count && !name && behind->left; i++) {
		const struct gotype_field *field = &type->fields[i];

		behind->left--;
		if (field->type->kind == GOTYPE_STRUCT && depth < DEPTH_MAX)
			name = behind_fields(behind, field->type, off + field->off, depth + 1);
		else if (field->type->kind == GOTYPE_POINTER)
			name = behind_pointer(behind, field->type, off + field->off);
	}
	return name;
}

char *lock_fields_behind(const struct gotype *type, const void *bytes, size_t len, uint64_t lock,
			 enum wait_kind kind)
{
	struct behind behind = {bytes, len, type, lock, kind, FIELDS_MAX};

	return behind_fields(&behind, type, 0, 0);
}
