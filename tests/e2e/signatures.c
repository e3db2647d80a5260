// SPDX-License-Identifier: Apache-2.0
/* What debug information tells, for tests to compare with what a program tells of itself:
 *   e2e-signatures FILE -f PREFIX    signatures of the functions whose names begin so
 *   e2e-signatures FILE -t NAME...   types
 *   e2e-signatures FILE -s           how many signatures are known, and how long it takes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/abi.h"
#include "base/errmsg.h"
#include "dwarf/debuginfo.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "golang/gofunc.h"
#include "program/buildinfo_internal.h"
#include "program/functab_internal.h"

static const char *const KINDS[] = {"unknown", "bool",   "int",   "uint",  "float",
				    "complex", "string", "slice", "array", "struct",
				    "pointer", "map",    "chan",  "func",  "interface"};

struct program {
	struct image *img;
	struct functab *tab;
	struct gotypes *types;
	struct debuginfo *dbg;
	int release;
};

static void print_type(const struct gotype *type)
{
	printf("\t%s\t%s\t%llu\t%u\t%s%s%s%s", type->name, KINDS[type->kind],
	       (unsigned long long)type->size, type->align, type->defined ? "d" : "",
	       type->has_methods ? "m" : "", type->swiss ? "s" : "", type->rtype ? "r" : "");
	printf("\t%s\t%s\t%llu\n", type->elem ? type->elem->name : "-",
	       type->key ? type->key->name : "-", (unsigned long long)type->count);
}

static void print_place(const struct abi_value *value)
{
	static const char *const wheres[] = {"int", "float", "slot"};

	for (size_t i = 0; i < value->count; i++)
		printf("%s%s%u", i ? "," : "", wheres[value->pieces[i].where], value->pieces[i].n);
}

static void print_params(const char *what, const struct goparam *params, size_t count,
			 const struct abi_value *values)
{
	for (size_t i = 0; i < count; i++) {
		printf("%s\t%s\t", what, params[i].name);
		print_place(&values[i]);
		print_type(params[i].type);
	}
}

static void print_func(struct program *p, const struct functab_func *fn)
{
	struct abi_layout layout;
	struct gofunc sig;

	if (debuginfo_func(p->dbg, fn->addr, fn->name, &sig) != 0) {
		printf("unknown\t%s\t%#llx\n", fn->name, (unsigned long long)fn->addr);
		return;
	}
	printf("func\t%s\t%d\t%d\n", fn->name, sig.receiver, sig.dictionary);
	abi_layout(&sig, image_arch(p->img), abi_convention(image_arch(p->img), p->release),
		   &layout);
	print_params("param", sig.params, sig.param_count, layout.params);
	print_params("result", sig.results, sig.result_count, layout.results);
	abi_layout_free(&layout);
}

static void print_funcs(struct program *p, const char *prefix)
{
	struct functab_func fn;

	for (size_t i = 0; i < functab_count(p->tab); i++)
		if (functab_func(p->tab, i, &fn) && strncmp(fn.name, prefix, strlen(prefix)) == 0)
			print_func(p, &fn);
}

static void print_named(struct program *p, const char *name)
{
	const struct gotype *type = debuginfo_type(p->dbg, name);

	if (!type) {
		printf("unknown\t%s\n", name);
		return;
	}
	printf("type\t%s", name);
	print_type(type);
	for (size_t i = 0; i < type->field_count; i++) {
		const struct gotype_field *field = &type->fields[i];

		printf("field\t%s\t%llu\t%d", field->name, (unsigned long long)field->off,
		       field->embedded);
		print_type(field->type);
	}
}

static double since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start->tv_sec + (now.tv_nsec - start->tv_nsec) / 1e9;
}

static void print_summary(struct program *p, const struct timespec *start)
{
	unsigned known = 0, unknown = 0, assembly = 0;
	struct functab_func fn;
	struct gofunc sig;

	printf("opened after %.3f s\n", since(start));
	if (functab_named(p->tab, "main.main", &fn))
		debuginfo_func(p->dbg, fn.addr, fn.name, &sig);
	printf("first signature after %.3f s\n", since(start));
	for (size_t i = 0; i < functab_count(p->tab); i++) {
		if (!functab_func(p->tab, i, &fn))
			continue;
		bool is_known = debuginfo_func(p->dbg, fn.addr, fn.name, &sig) == 0;

		known += is_known;
		unknown += !is_known && !fn.is_asm;
		assembly += !is_known && fn.is_asm;
	}
	printf("%u known, %u unknown, %u unknown of assembly after %.3f s\n", known, unknown,
	       assembly, since(start));
	debuginfo_type(p->dbg, "no.Such");
	printf("names after %.3f s\n", since(start));
}

static int open_program(struct program *p, const char *path)
{
	struct buildinfo info;
	struct errmsg err;

	struct heldfile *file = heldfile_open(NULL, path, &err);

	p->img = file ? image_open(file, &err) : NULL;
	heldfile_close(file);
	p->tab = p->img ? functab_open(p->img, &err) : NULL;
	if (!p->tab)
		goto fail;
	p->types = gotypes_new();
	p->release = functab_release_guess(p->tab);
	if (buildinfo_read(p->img, &info) && info.release > 0)
		p->release = info.release;
	p->dbg = debuginfo_open(p->img, p->tab, p->release, p->types, &err);
	if (p->dbg)
		return 0;
fail:
	fprintf(stderr, "%s: %s\n", path, err.text);
	return -1;
}

static void close_program(struct program *p)
{
	debuginfo_close(p->dbg);
	gotypes_free(p->types);
	functab_close(p->tab);
	image_close(p->img);
}

int main(int argc, char **argv)
{
	struct program p = {0};
	struct timespec start;
	int status;

	if (argc < 3)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &start);
	status = open_program(&p, argv[1]) == 0 ? 0 : 1;
	if (!status && strcmp(argv[2], "-s") == 0)
		print_summary(&p, &start);
	for (int i = 3; !status && i < argc; i++)
		if (strcmp(argv[2], "-f") == 0)
			print_funcs(&p, argv[i]);
		else
			print_named(&p, argv[i]);
	close_program(&p);
	return status;
}
