// SPDX-License-Identifier: Apache-2.0
/* Compares where abi says that Go returns results with what compilers did, by calling Go functions
 * that return constants: results PROGRAM RELEASE <SIGNATURES, lines "FUNCTION<tab>SIGNATURE".
 * The n-th number in what a function returns, from 1 on, is n; the n-th string has n bytes, the
 * n-th slice capacity n + 1, the n-th pointer points at main.backing + n, and so on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "abi/abi.h"
#include "base/errmsg.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "golang/signature.h"
#include "program/functab_internal.h"

enum { STACK_WORDS = 64, WORD = 8, PAGE = 4096, CANNOT_RUN_HERE = 77 };

struct returned { /* all that a call may leave results in */
	uint64_t ints[9], floats[15], stack[STACK_WORDS];
};

#ifdef __x86_64__
/* With g in r14, zero in xmm15, and room above the return address for results. */
__asm__(".text\n"
	"call_go:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	sub $520, %rsp\n"
	"	mov %rsi, 512(%rsp)\n"
	"	mov %rdx, %r14\n"
	"	pxor %xmm15, %xmm15\n"
	"	call *%rdi\n"
	"	mov 512(%rsp), %r12\n"
	"	mov %rax, (%r12); mov %rbx, 8(%r12); mov %rcx, 16(%r12)\n"
	"	mov %rdi, 24(%r12); mov %rsi, 32(%r12); mov %r8, 40(%r12)\n"
	"	mov %r9, 48(%r12); mov %r10, 56(%r12); mov %r11, 64(%r12)\n"
	"	movq %xmm0, 72(%r12); movq %xmm1, 80(%r12); movq %xmm2, 88(%r12)\n"
	"	movq %xmm3, 96(%r12); movq %xmm4, 104(%r12); movq %xmm5, 112(%r12)\n"
	"	movq %xmm6, 120(%r12); movq %xmm7, 128(%r12); movq %xmm8, 136(%r12)\n"
	"	movq %xmm9, 144(%r12); movq %xmm10, 152(%r12); movq %xmm11, 160(%r12)\n"
	"	movq %xmm12, 168(%r12); movq %xmm13, 176(%r12); movq %xmm14, 184(%r12)\n"
	"	mov %rsp, %rsi; lea 192(%r12), %rdi; mov $64, %ecx; cld; rep movsq\n"
	"	add $520, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n");
void call_go(uint64_t addr, struct returned *out, const void *g);
#else
static void call_go(uint64_t addr, struct returned *out, const void *g)
{
	(void)addr, (void)out, (void)g;
	exit(CANNOT_RUN_HERE);
}
#endif

/* Go's g to 1.16, at fs:-8: this program's only variable that is thread-local is just there */
static __thread const void *volatile thread_g;

struct program {
	struct image *img;
	struct functab *tab;
	int release;
	uint64_t backing; /* address of main.backing */
	unsigned checked, wrong;
};

static void *at(uint64_t addr)
{
	return (void *)addr; /* NOLINT(performance-no-int-to-ptr) */
}

/* The file's segments where they belong: below all that is mapped here, if the program is no PIE.
 */
static int map_segments(const struct image *img)
{
	size_t count;
	const struct image_segment *segments = image_segments(img, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t start = segments[i].addr / PAGE * PAGE;
		uint64_t end = segments[i].addr + segments[i].memsz;
		void *bytes = mmap(at(start), end - start, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (bytes == MAP_FAILED)
			return -1;
		memcpy(at(segments[i].addr), image_at(img, segments[i].addr, segments[i].filesz),
		       segments[i].filesz);
	}
	return 0;
}

static void collect(const struct abi_value *value, const struct returned *returned, uint8_t *out)
{
	for (size_t i = 0; i < value->count; i++) {
		const struct abi_piece *piece = &value->pieces[i];
		const uint8_t *from = piece->where == ABI_INT ? (uint8_t *)&returned->ints[piece->n]
				      : piece->where == ABI_FLOAT
					      ? (uint8_t *)&returned->floats[piece->n]
					      : (uint8_t *)returned->stack + piece->n;

		memcpy(out + piece->off, from, piece->size);
	}
}

static bool is_float(const uint8_t *bytes, uint64_t size, double expected)
{
	float single;
	double number;

	memcpy(&single, bytes, sizeof(single));
	if (size == sizeof(single))
		return single == (float)expected;
	memcpy(&number, bytes, sizeof(number));
	return number == expected;
}

static bool is_number(const uint8_t *bytes, uint64_t size, uint64_t expected)
{
	return !memcmp(bytes, &expected, size); /* of a little-endian machine */
}

static bool are_words(const uint8_t *bytes, unsigned count, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t words[3] = {a, b, c};

	return !memcmp(bytes, words, (size_t)count * WORD);
}

/* Of the kinds that hold no others: is this the n-th one? */
static bool is_leaf(const struct program *program, const struct gotype *type, const uint8_t *bytes,
		    uint64_t n)
{
	uint64_t first;

	memcpy(&first, bytes, type->size < WORD ? type->size : WORD);
	switch (type->kind) {
	case GOTYPE_BOOL:
		return *bytes == 1;
	case GOTYPE_INT:
	case GOTYPE_UINT:
		return is_number(bytes, type->size, n);
	case GOTYPE_FLOAT:
		return is_float(bytes, type->size, n);
	case GOTYPE_COMPLEX:
		return is_float(bytes, type->size / 2, n) &&
		       is_float(bytes + type->size / 2, type->size / 2, n + 0.5);
	case GOTYPE_STRING:
		return first && are_words(bytes, 2, first, n, 0);
	case GOTYPE_INTERFACE:
		return first && are_words(bytes, 2, first, program->backing + n, 0);
	case GOTYPE_SLICE:
		return are_words(bytes, 3, program->backing, n, n + 1);
	case GOTYPE_POINTER:
		return first == program->backing + n;
	default: /* maps, channels, functions: nil */
		return first == 0;
	}
}

static bool is_value(const struct program *program, const struct gotype *type, const uint8_t *bytes,
		     uint64_t *n)
{
	bool same = true;

	if (type->kind == GOTYPE_ARRAY) {
		for (uint64_t i = 0; i < type->count; i++)
			same = is_value(program, type->elem, bytes + i * type->elem->size, n) &&
			       same;
	} else if (type->kind == GOTYPE_STRUCT) {
		for (size_t i = 0; i < type->field_count; i++)
			same = is_value(program, type->fields[i].type, bytes + type->fields[i].off,
					n) &&
			       same;
	} else {
		same = is_leaf(program, type, bytes, ++*n);
	}
	return same;
}

static void check(struct program *program, const char *name, const struct gofunc *signature)
{
	static uint8_t g[512]; /* whose stack ends nowhere */
	enum abi_convention convention = abi_convention(ARCH_AMD64, program->release);
	struct returned returned = {0};
	struct abi_layout layout;
	struct functab_func fn;
	bool same = functab_named(program->tab, name, &fn);

	thread_g = g;
	uint64_t n = 0;

	abi_layout(signature, ARCH_AMD64, convention, &layout);
	if (same && layout.stack_size <= sizeof(returned.stack))
		call_go(fn.addr, &returned, g);
	for (size_t i = 0; same && i < layout.result_count; i++) {
		const struct gotype *type = signature->results[i].type;
		uint8_t *bytes = calloc(1, type->size + WORD);

		collect(&layout.results[i], &returned, bytes);
		same = is_value(program, type, bytes, &n);
		if (!same)
			printf("%s: result %zu, %s\n", name, i + 1, type->name);
		free(bytes);
	}
	program->checked++;
	program->wrong += !same;
	abi_layout_free(&layout);
}

static int check_line(struct program *program, char *line)
{
	struct signature_names names = {.release = program->release};
	char *name = strtok(line, "\t\n"), *text = strtok(NULL, "\t\n");
	struct gotypes *types = gotypes_new();
	struct errmsg err = {0};
	struct gofunc fn;
	int ret = !text || signature_parse(types, &names, text, &fn, NULL, &err);

	if (ret)
		fprintf(stderr, "results: %s: %s\n", text ? text : line, err.text);
	else
		check(program, name, &fn);
	gotypes_free(types);
	return ret;
}

static bool find_backing(const struct image_symbol *symbol, void *ctx)
{
	struct program *program = ctx;

	if (!strcmp(symbol->name, "main.backing"))
		program->backing = symbol->addr;
	return !program->backing;
}

static int run(struct program *program)
{
	char *line = NULL;
	size_t size = 0;
	int ret = 0;

	image_each_symbol(program->img, find_backing, program);
	while (!ret && getline(&line, &size, stdin) > 0)
		ret = check_line(program, line);
	free(line);
	printf("functions %u wrong %u\n", program->checked, program->wrong);
	return ret;
}

int main(int argc, char **argv)
{
	struct program program = {.release = argc > 2 ? atoi(argv[2]) : 0};
	struct errmsg err = {0};
	int ret = 1;

	if (argc < 3)
		return 2;
	struct heldfile *file = heldfile_open(NULL, argv[1], &err);

	program.img = file ? image_open(file, &err) : NULL;
	heldfile_close(file);
	if (program.img)
		program.tab = functab_open(program.img, &err);
	if (program.tab && map_segments(program.img))
		errmsg_set(&err, "its addresses are taken");
	else if (program.tab)
		ret = run(&program);
	if (*err.text)
		fprintf(stderr, "results: %s\n", err.text);
	functab_close(program.tab);
	image_close(program.img);
	return ret;
}
