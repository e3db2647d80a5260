// SPDX-License-Identifier: Apache-2.0
/* What the run-time type information of a program says, read from its file.
 *   e2e-rtti FILE stat         how many types and signatures there are, and the time it takes
 *   e2e-rtti FILE each         all types
 *   e2e-rtti FILE type ADDR... those of the descriptors at these addresses
 *   e2e-rtti FILE named NAME... those of these names
 *   e2e-rtti FILE func ADDR... signatures of the methods that begin there
 *   e2e-rtti FILE agree        do all signatures agree with what tracebacks know of arguments? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rtti/rtti.h"
#include "abi/abi.h"
#include "abi/arginfo.h"
#include "base/errmsg.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "program/buildinfo_internal.h"
#include "program/functab_internal.h"

struct program {
	struct image *img;
	struct functab *tab;
	struct gotypes *types;
	struct rtti *rtti;
	int release;
};

static const char *const kinds[] = {"unknown", "bool",   "int",   "uint",  "float",
				    "complex", "string", "slice", "array", "struct",
				    "ptr",     "map",    "chan",  "func",  "interface"};

static const char *name_of(const struct gotype *type)
{
	return type ? type->name : "-";
}

/* 47f3c0 main.T struct 24 direct=0 defined=1 elem=- key=- len=0 {A int @0;B string @8;} */
static bool print_type(const struct gotype *type, void *ctx)
{
	struct rtti *rtti = ctx;

	printf("%" PRIx64 " %s %s %" PRIu64 " direct=%d defined=%d methods=%d swiss=%d elem=%s "
	       "key=%s len=%" PRIu64 " {",
	       type->rtype, type->name, kinds[type->kind], type->size,
	       rtti_is_direct(rtti, type->rtype), type->defined, type->has_methods, type->swiss,
	       name_of(type->elem), name_of(type->key), type->count);
	for (size_t i = 0; i < type->field_count; i++)
		printf("%s %s @%" PRIu64 "%s;", type->fields[i].name, type->fields[i].type->name,
		       type->fields[i].off, type->fields[i].embedded ? " embedded" : "");
	puts("}");
	return true;
}

static void print_params(const struct goparam *params, size_t count)
{
	printf("(");
	for (size_t i = 0; i < count; i++)
		printf("%s%s", i ? ", " : "", params[i].type->name);
	printf(")");
}

static void print_func(struct rtti *rtti, uint64_t addr)
{
	struct gofunc fn;

	printf("%" PRIx64 " ", addr);
	if (rtti_func(rtti, addr, &fn) < 0) {
		puts("none");
		return;
	}
	print_params(fn.params, fn.param_count);
	printf(" ");
	print_params(fn.results, fn.result_count);
	puts("");
}

static bool count_type(const struct gotype *type, void *ctx)
{
	(void)type;
	++*(unsigned *)ctx;
	return true;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void print_stat(const struct program *prog)
{
	unsigned types = 0, methods = 0, signatures = 0;
	double begun = now(), typed;
	struct functab_func fn;
	struct gofunc func;

	rtti_each(prog->rtti, count_type, &types);
	typed = now();
	for (size_t i = 0; i < functab_count(prog->tab); i++) {
		if (!functab_func(prog->tab, i, &fn))
			continue;
		methods += !fn.is_wrapper && strstr(fn.name, ").");
		signatures += rtti_func(prog->rtti, fn.addr, &func) == 0;
	}
	printf("types %u in %.4f s, signatures %u of %zu functions (%u methods of pointers) in "
	       "%.4f s\n",
	       types, typed - begun, signatures, functab_count(prog->tab), methods, now() - typed);
}

/* --- signatures against argument tables --- */

static bool is_size_right(const struct program *prog, const struct functab_func *fn,
			  const struct gofunc *func)
{
	struct abi_layout layout;
	int32_t args;

	abi_layout(func, image_arch(prog->img),
		   abi_convention(image_arch(prog->img), prog->release), &layout);
	bool right = !functab_args_size(prog->tab, fn, &args) ||
		     (uint32_t)args == (layout.args_size + 7) / 8 * 8;
	abi_layout_free(&layout);
	return right;
}

/* The table of a function with type arguments leaves out the first parameter. */
static bool are_params_told(const struct arginfo *info, const struct gofunc *func, size_t skip)
{
	size_t at = 0;

	for (size_t i = skip; i < func->param_count; i++) {
		if (at < info->count && info->items[at].kind == ARGINFO_MORE)
			return true;
		if (at >= info->count || !arginfo_fits(info, at, func->params[i].type))
			return info->truncated && at >= info->count;
		at = arginfo_next(info, at);
	}
	return at == info->count;
}

static void print_agreement(const struct program *prog)
{
	unsigned agree = 0, differ = 0;
	struct functab_func fn;
	struct arginfo info;
	struct gofunc func;

	for (size_t i = 0; i < functab_count(prog->tab); i++) {
		if (!functab_func(prog->tab, i, &fn) || rtti_func(prog->rtti, fn.addr, &func) < 0)
			continue;
		bool told = pclntab_layout(prog->tab) == PCLNTAB_12 ||
			    !arginfo_read(prog->img, prog->tab, &fn, &info) ||
			    are_params_told(&info, &func, strchr(fn.name, '[') ? 1 : 0);

		if (told && is_size_right(prog, &fn, &func)) {
			agree++;
			continue;
		}
		differ++;
		printf("%s %s ", fn.name, told ? "differs in size" : "differs");
		print_func(prog->rtti, fn.addr);
	}
	printf("%u agree, %u differ\n", agree, differ);
}

static void answer(const struct program *prog, const char *what, const char *arg)
{
	bool by_name = strcmp(what, "named") == 0;
	uint64_t addr = by_name ? 0 : strtoull(arg, NULL, 16);
	const struct gotype *type;

	if (strcmp(what, "func") == 0) {
		print_func(prog->rtti, addr);
		return;
	}
	type = by_name ? rtti_named(prog->rtti, arg) : rtti_type(prog->rtti, addr);
	if (type)
		print_type(type, prog->rtti);
	else
		printf("%s none\n", arg);
}

static void open_program(struct program *prog, const char *path)
{
	struct buildinfo info = {.release = -1};
	struct errmsg err = {0};

	struct heldfile *file = heldfile_open(NULL, path, &err);

	prog->img = file ? image_open(file, &err) : NULL;
	heldfile_close(file);
	prog->tab = prog->img ? functab_open(prog->img, &err) : NULL;
	if (prog->tab) {
		buildinfo_read(prog->img, &info);
		prog->types = gotypes_new();
		prog->release = info.release;
		prog->rtti = rtti_open(prog->img, prog->tab, info.release, prog->types, &err);
	}
	if (!prog->rtti) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct program prog = {0};

	if (argc < 3)
		return 2;
	open_program(&prog, argv[1]);
	if (strcmp(argv[2], "stat") == 0)
		print_stat(&prog);
	else if (strcmp(argv[2], "each") == 0)
		rtti_each(prog.rtti, print_type, prog.rtti);
	else if (strcmp(argv[2], "agree") == 0)
		print_agreement(&prog);
	for (int i = 3; i < argc; i++)
		answer(&prog, argv[2], argv[i]);
	rtti_close(prog.rtti);
	gotypes_free(prog.types);
	functab_close(prog.tab);
	image_close(prog.img);
	return 0;
}
