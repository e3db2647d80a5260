// SPDX-License-Identifier: Apache-2.0
/* Compares where abi says that Go passes parameters with what a compiler did:
 *	abi PROGRAM MINOR <SIGNATURES      lines "FUNCTION<tab>DICTIONARY<tab>SIGNATURE"
 *	abi PROGRAM MINOR debuginfo        every function of which debug information knows a
 *signature Functions save the parameters that come in registers before they call runtime.morestack,
 *so the code tells register and slot of each; pclntab tells the size of all slots. Prints the
 *functions that disagree, then a line of counts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "debuginfo.h"
#include "errmsg.h"
#include "image.h"
#include "pattern.h"
#include "pclntab.h"
#include "prologue.h"
#include "signature.h"
#include "x86.h"

enum { SPILLS_MAX = 64, WORD = 8 };

struct spill {
	enum abi_where where;
	uint32_t n, slot, size;
};

struct spills {
	struct spill items[SPILLS_MAX];
	size_t count;
};

struct counts {
	unsigned functions, args, spills, unused, wrong, missing;
};

struct program {
	struct image *img;
	struct pclntab *tab;
	struct insn_decoder *decoder;
	int arch, minor;
	struct gotypes *types;
	struct counts counts;
};

static void add_spill(struct spills *spills, enum abi_where where, unsigned n, long slot,
		      unsigned size)
{
	if (spills->count < SPILLS_MAX && slot >= 0)
		spills->items[spills->count++] = (struct spill){where, n, slot, size};
}

/* --- amd64: mov [rsp+8+SLOT], reg; movss or movsd --- */

static unsigned x86_register_number(unsigned reg)
{
	/* rax rbx rcx rdi rsi r8 r9 r10 r11 */
	static const uint8_t numbers[] = {0, 3, 1, 7, 6, 8, 9, 10, 11};

	for (unsigned i = 0; i < sizeof(numbers); i++)
		if (numbers[i] == reg)
			return i;
	return UINT32_MAX;
}

static void x86_spill(const struct x86_op *op, uint8_t prefix, struct spills *spills)
{
	unsigned reg = (op->modrm >> 3 & 7) | (op->rex & 4 ? 8 : 0);
	bool on_stack = op->has_modrm && op->plain && op->base == 4;

	if (!on_stack)
		return;
	if (op->map == 1 && op->opcode == 0x11)
		add_spill(spills, ABI_FLOAT, reg, op->disp - WORD, prefix == 0xf3 ? 4 : 8);
	if (op->map != 0 || (op->opcode != 0x88 && op->opcode != 0x89))
		return;
	unsigned size = op->opcode == 0x88          ? 1
			: op->rex & 8               ? 8
			: op->prefixes & X86_OPSIZE ? 2
						    : 4;

	add_spill(spills, ABI_INT, x86_register_number(reg), op->disp - WORD, size);
}

/* --- arm64: str or stp to [sp, #8+SLOT] --- */

static void arm64_spill(uint32_t word, struct spills *spills)
{
	static const struct {
		uint32_t bits;
		enum abi_where where;
		unsigned size;
		bool pair;
	} rows[] = {
		{0xf9000000, ABI_INT, 8, false},   {0xb9000000, ABI_INT, 4, false},
		{0x79000000, ABI_INT, 2, false},   {0x39000000, ABI_INT, 1, false},
		{0xfd000000, ABI_FLOAT, 8, false}, {0xbd000000, ABI_FLOAT, 4, false},
		{0xa9000000, ABI_INT, 8, true},    {0x29000000, ABI_INT, 4, true},
		{0x6d000000, ABI_FLOAT, 8, true},  {0x2d000000, ABI_FLOAT, 4, true},
	};

	if ((word >> 5 & 31) != 31)
		return;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned scaled = rows[i].pair ? word >> 15 & 127 : word >> 10 & 4095;
		long slot = (long)scaled * rows[i].size - WORD;

		if ((word & 0xffc00000) != rows[i].bits)
			continue;
		add_spill(spills, rows[i].where, word & 31, slot, rows[i].size);
		if (rows[i].pair)
			add_spill(spills, rows[i].where, word >> 10 & 31, slot + rows[i].size,
				  rows[i].size);
	}
}

static void read_spill(const struct program *program, const uint8_t *bytes, size_t len,
		       struct spills *spills)
{
	struct x86_op op;
	uint32_t word;

	if (program->arch == IMAGE_AMD64 && x86_parse(bytes, len, &op))
		x86_spill(&op, bytes[0], spills);
	if (program->arch != IMAGE_ARM64)
		return;
	memcpy(&word, bytes, sizeof(word));
	arm64_spill(word, spills);
}

/* What stands between the stack check's branch and the call of runtime.morestack. */
static bool read_spills(const struct program *program, const struct pclntab_func *fn,
			struct spills *spills)
{
	size_t len = fn->end - fn->addr;
	struct insn_code code = {image_at(program->img, fn->addr, len), len, fn->addr};
	struct prologue prologue;
	struct insn insn;

	spills->count = 0;
	if (!code.bytes || !prologue_find(program->decoder, &code, &prologue))
		return false;
	for (uint64_t addr = prologue.branch.target;; addr += insn.size) {
		if (!insn_decode(program->decoder, &code, addr, &insn) || insn.kind == INSN_CALL)
			return true;
		read_spill(program, code.bytes + (addr - fn->addr), insn.size, spills);
	}
}

/* --- comparing --- */

static bool has_spill(const struct spills *spills, const struct abi_piece *piece, uint32_t slot)
{
	for (size_t i = 0; i < spills->count; i++) {
		const struct spill *spill = &spills->items[i];

		if (spill->where == piece->where && spill->n == piece->n &&
		    spill->slot == slot + piece->off && spill->size == piece->size)
			return true;
	}
	return false;
}

static size_t count_pieces(const struct abi_layout *layout)
{
	size_t count = 0;

	for (size_t i = 0; i < layout->param_count; i++)
		if (layout->params[i].count && layout->params[i].pieces[0].where != ABI_SLOT)
			count += layout->params[i].count;
	return count;
}

static bool same_spills(const struct abi_layout *layout, const struct spills *spills,
			bool dictionary)
{
	size_t count = count_pieces(layout);

	/* the dictionary may be on the stack, where all registers are taken */
	if (spills->count != count && (!dictionary || spills->count != count + 1))
		return false;
	for (size_t i = 0; i < layout->param_count; i++) {
		const struct abi_value *param = &layout->params[i];

		for (size_t j = 0; j < param->count; j++)
			if (param->pieces[j].where != ABI_SLOT &&
			    !has_spill(spills, &param->pieces[j], param->slot))
				return false;
	}
	return true;
}

static void print_difference(const struct pclntab_func *fn, const struct abi_layout *layout,
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

static void check(struct program *program, const struct pclntab_func *fn,
		  const struct gofunc *signature)
{
	struct counts *counts = &program->counts;
	struct abi_layout layout;
	struct spills spills;
	int32_t args = -1;

	abi_layout(signature, program->arch, abi_convention(program->arch, program->minor),
		   &layout);
	bool has_check = read_spills(program, fn, &spills);
	bool same_args =
		pclntab_args_size(program->tab, fn, &args) && (uint32_t)args == layout.args_size;
	bool same = !spills.count || same_spills(&layout, &spills, signature->dictionary >= 0);

	counts->functions++;
	counts->args += same_args;
	counts->spills += has_check && spills.count && same;
	counts->unused += has_check && !spills.count && count_pieces(&layout);
	counts->wrong += !same || !same_args;
	if (!same || !same_args)
		print_difference(fn, &layout, &spills, args);
	abi_layout_free(&layout);
}

/* --- what is compared --- */

static void check_matching(struct program *program, const struct pattern *pattern,
			   const struct gofunc *signature)
{
	struct pclntab_func fn;
	unsigned before = program->counts.functions;

	for (size_t i = 0; i < pclntab_count(program->tab); i++)
		if (pclntab_func(program->tab, i, &fn) && !fn.is_wrapper &&
		    pattern_match(pattern, fn.name))
			check(program, &fn, signature);
	program->counts.missing += program->counts.functions == before;
}

static int check_line(struct program *program, char *line)
{
	struct signature_names names = {.minor = program->minor};
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

static int run(struct program *program)
{
	int ret = check_lines(program);
	const struct counts *counts = &program->counts;

	printf("functions %u args %u spills %u unused %u wrong %u missing %u\n", counts->functions,
	       counts->args, counts->spills, counts->unused, counts->wrong, counts->missing);
	return ret;
}

int main(int argc, char **argv)
{
	struct program program = {0};
	struct errmsg err = {0};
	int ret = 1;

	if (argc < 3)
		return 2;
	program.minor = atoi(argv[2]);
	program.img = image_open(argv[1], &err);
	if (program.img)
		program.tab = pclntab_open(program.img, &err);
	if (program.tab) {
		program.arch = image_arch(program.img);
		program.decoder = insn_decoder_new(program.arch);
		program.types = gotypes_new();
		ret = run(&program);
		gotypes_free(program.types);
		insn_decoder_free(program.decoder);
	} else {
		fprintf(stderr, "abi: %s\n", err.text);
	}
	pclntab_close(program.tab);
	image_close(program.img);
	return ret;
}
