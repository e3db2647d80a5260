// SPDX-License-Identifier: Apache-2.0
/* Compares where abi says that Go passes parameters with what a compiler did:
 *	abi PROGRAM RELEASE <SIGNATURES      lines "FUNCTION<tab>DICTIONARY<tab>SIGNATURE"
 *	abi PROGRAM RELEASE debuginfo        every function of which debug information knows a
 *signature Functions save the parameters that come in registers before they call runtime.morestack,
 *so the code tells register and slot of each; pclntab tells the size of all slots. Prints the
 *functions that disagree, then a line of counts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "abi/evidence.h"
#include "base/errmsg.h"
#include "dwarf/debuginfo.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "golang/pattern.h"
#include "golang/signature.h"
#include "program/functab_internal.h"

struct counts {
	unsigned functions, spills, unsaved, wrong, missing;
};

struct program {
	struct image *img;
	struct functab *tab;
	struct insn_decoder *decoder;
	enum arch arch, release;
	struct gotypes *types;
	struct counts counts;
};

static bool uses_registers(const struct abi_layout *layout)
{
	for (size_t i = 0; i < layout->param_count; i++)
		if (layout->params[i].count && layout->params[i].pieces[0].where != ABI_SLOT)
			return true;
	return false;
}

static void print_difference(const struct functab_func *fn, const struct abi_layout *layout,
			     const struct spills *spills, int32_t args)
{
	static const char letters[] = {'i', 'f', 's'};

	printf("%s: args %d, in fact %d;", fn->name, layout->args_size, args);
	for (size_t i = 0; i < layout->param_count; i++)
		for (size_t j = 0; j < layout->params[i].count; j++) {
			const struct abi_piece *piece = &layout->params[i].pieces[j];

			printf(" %c%u@%u", letters[piece->where], piece->n,
			       layout->params[i].slot + piece->off);
		}
	printf("; in fact");
	for (size_t i = 0; i < spills->count; i++)
		printf(" %c%u@%u", letters[spills->items[i].where], spills->items[i].n,
		       spills->items[i].slot);
	printf("\n");
}

static void check(struct program *program, const struct functab_func *fn,
		  const struct gofunc *signature)
{
	struct counts *counts = &program->counts;
	struct evidence evidence;
	struct abi_layout layout;

	evidence_read(program->img, program->tab, program->decoder, program->release, fn,
		      &evidence);
	bool fits = evidence_layout(&evidence, signature, &layout) && evidence.args >= 0;

	counts->functions++;
	counts->spills += fits && evidence.spills.count;
	counts->unsaved += fits && !evidence.spills.count && uses_registers(&layout);
	counts->wrong += !fits;
	if (!fits)
		print_difference(fn, &layout, &evidence.spills, evidence.args);
	abi_layout_free(&layout);
}

/* --- what is compared --- */

static void check_matching(struct program *program, struct pattern *pattern,
			   const struct gofunc *signature)
{
	struct functab_func fn;
	unsigned before = program->counts.functions;

	for (size_t i = 0; i < functab_count(program->tab); i++)
		if (functab_func(program->tab, i, &fn) && !fn.is_wrapper &&
		    pattern_match(pattern, fn.name))
			check(program, &fn, signature);
	program->counts.missing += program->counts.functions == before;
}

static int check_line(struct program *program, char *line)
{
	struct signature_names names = {.release = program->release};
	char *name = strtok(line, "\t\n"), *dictionary = strtok(NULL, "\t\n");
	char *text = strtok(NULL, "\t\n");
	struct errmsg err = {0};
	struct gofunc fn;

	if (!text || signature_parse(program->types, &names, text, &fn, NULL, &err)) {
		fprintf(stderr, "abi: %s: %s\n", text ? text : line, err.text);
		return 1;
	}
	fn.dictionary = atoi(dictionary);
	struct pattern *pattern = pattern_new(name, false, &err);

	check_matching(program, pattern, &fn);
	pattern_free(pattern);
	return 0;
}

static int check_lines(struct program *program)
{
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	while (!ret && getline(&line, &size, stdin) > 0)
		ret = check_line(program, line);
	free(line);
	return ret;
}

/* Functions in assembly, and the compiler's wrappers for them, keep the stack's convention. */
static int check_debuginfo(struct program *program)
{
	struct errmsg err = {0};
	struct debuginfo *dbg =
		debuginfo_open(program->img, program->tab, program->release, program->types, &err);
	struct functab_func fn;
	struct gofunc signature;

	if (!dbg) {
		fprintf(stderr, "abi: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < functab_count(program->tab); i++)
		if (functab_func(program->tab, i, &fn) && !fn.is_asm &&
		    !debuginfo_func(dbg, fn.addr, fn.name, &signature))
			check(program, &fn, &signature);
	debuginfo_close(dbg);
	return 0;
}

static int run(struct program *program, bool debuginfo)
{
	int ret = debuginfo ? check_debuginfo(program) : check_lines(program);
	const struct counts *counts = &program->counts;

	printf("functions %u spills %u unsaved %u wrong %u missing %u\n", counts->functions,
	       counts->spills, counts->unsaved, counts->wrong, counts->missing);
	return ret;
}

int main(int argc, char **argv)
{
	struct program program = {0};
	struct errmsg err = {0};
	int ret = 1;

	if (argc < 3)
		return 2;
	program.release = atoi(argv[2]);
	struct heldfile *file = heldfile_open(NULL, argv[1], &err);

	program.img = file ? image_open(file, &err) : NULL;
	heldfile_close(file);
	if (program.img)
		program.tab = functab_open(program.img, &err);
	if (program.tab) {
		program.arch = image_arch(program.img);
		program.decoder = insn_decoder_new(program.arch);
		program.types = gotypes_new();
		ret = run(&program, argc > 3);
		gotypes_free(program.types);
		insn_decoder_free(program.decoder);
	} else {
		fprintf(stderr, "abi: %s\n", err.text);
	}
	functab_close(program.tab);
	image_close(program.img);
	return ret;
}
