// SPDX-License-Identifier: Apache-2.0
/* Up to Go 1.21 parameters without a name are missing from DWARF: by what else is known they are
 * put back, or the signature is not certain. */
#include "dieopen.h"
#include "dietext.h"
#include "dwarf/debuginfo.h"
#include "gofile.h"
#include "typedump.h"
#include "unit.h"

/* main.b of gofile.h; its inline tree's place is made that of ArgInfo */
struct row {
	int release;
	const char *title, *name;
	const char *params; /* lines of dietext.h */
	const char *info;   /* bytes; NULL: there is none */
	uint32_t args;      /* bytes of arguments and results, as pclntab has them */
};

/* where they are at the function's first instruction: rax, rbx, rcx, rdi, xmm0; on the stack */
#define RAX " at=401040-401080:50\n"
#define RBX " at=401040-401080:53\n"
#define RCX " at=401040-401080:52\n"
#define RDI " at=401040-401080:55\n"
#define XMM0 " at=401040-401080:61\n"
#define AT_0 " at=9c\n"
#define AT_4 " at=9104\n"
#define AT_8 " at=9108\n"
#define AT_16 " at=9110\n"
#define INT(name) "  param \"" name "\" type=#int"
#define SHORT(name) "  param \"" name "\" type=#int32"
#define FLOAT(name) "  param \"" name "\" type=#float64"
#define STRING(name) "  param \"" name "\" type=#string"
#define RESULT(name) "  param \"" name "\" type=#int result=1\n"
#define B "main.b"

static const struct row rows[] = {
	{20, "none is missing", B, INT("n") RAX INT("m") RBX, "00080808ff", 16},
	{20, "places are wrong, though all are listed", B, INT("n") RBX INT("m") RAX, "00080808ff",
	 16},
	{20, "the first", B, INT("n") RBX, "00080808ff", 16},
	{20, "the second", B, INT("n") RAX, "00080808ff", 16},
	{20, "one elsewhere", B, INT("n") RCX, "00080808ff", 16},
	{20, "a string", B, INT("n") RAX, "0008fe08081008fdff", 24},
	{20, "a string before", B, INT("n") RCX, "fe00080808fd1008ff", 24},
	{20, "a float before", B, INT("n") RAX, "00080808ff", 16},
	{20, "a float of 4 bytes", B, FLOAT("n") XMM0, "00040808ff", 16},
	{20, "a float between", B, INT("n") RAX INT("m") RBX, "000808081008ff", 24},
	{20, "two", B, INT("n") RCX, "000808081008ff", 24},
	{20, "four", B, INT("n") RAX, "00080808100818082008ff", 40},
	{20, "five", B, INT("n") RAX, "000808081008180820082808ff", 48},
	{20, "bytes of all are others", B, INT("n") RBX, "00080808ff", 24},
	{20, "more are listed than there are", B, INT("n") RAX INT("m") RBX, "0008ff", 8},
	{20, "of another size", B, SHORT("n") RBX, "00080808ff", 16},
	{20, "at another place", B, INT("n") RBX, "00081008ff", 16},
	{20, "a place that is too far", B, INT("n") RBX, "fb0808ff", 16},
	{20, "not all is told of it", B, INT("n") RCX, "fe0008fcfd1008ff", 24},
	{20, "not all are told of", B, INT("n") RBX, "00080808fc", 24},
	{20, "all that are told of", B, INT("n") RAX INT("m") RBX INT("l") RCX, "00080808fc", 24},
	{20, "padding in it", B, INT("n") RCX, "fe00010808fd1008ff", 24},
	{20, "on the stack", B, INT("n") AT_8, "00080808ff", 16},
	{20, "with a result", B, INT("n") RBX RESULT("r"), "00080808ff", 16},
	{20, "no ArgInfo", B, INT("n") RBX, NULL, 16},
	{20, "no ArgInfo, all listed", B, INT("n") RAX INT("m") RBX, NULL, 16},
	{20, "no ArgInfo, wrong places", B, INT("n") RBX INT("m") RAX, NULL, 16},
	{20, "a dictionary", "main.F[go.shape.int]", "  param \".dict\" type=#int" RAX INT("n") RCX,
	 "08081008ff", 24},
	{20, "a method's receiver", "main.(*T).M", INT("n") RBX, "00080808ff", 16},
	{20, "a receiver with a name", "main.(*T).M", "  param \"t\" type=#Tp" RAX INT("n") RBX,
	 "00080808ff", 16},
	{15, "none is missing", B, INT("n") AT_0 INT("m") AT_8, NULL, 16},
	{15, "the first", B, INT("n") AT_8, NULL, 16},
	{15, "the first, and what follows", B, INT("n") AT_8 INT("m") AT_16, NULL, 24},
	{15, "the second", B, INT("n") AT_0 INT("m") AT_16, NULL, 24},
	{15, "the last", B, INT("n") AT_0, NULL, 24},
	{15, "before one without a place", B, INT("n") "\n" INT("m") AT_16, NULL, 24},
	{15, "less than a word", B, SHORT("n") AT_4, NULL, 8},
	{15, "padding", B, SHORT("n") AT_0 INT("m") AT_8, NULL, 16},
	{15, "less bytes than listed", B, INT("n") AT_0 INT("m") AT_8, NULL, 8},
	{15, "with a result", B, INT("n") AT_8 RESULT("r"), NULL, 24},
	{15, "one of size 0", B, "  param \"e\" type=#empty" AT_0 INT("n") AT_8, NULL, 16},
};

/* cmp; jbe to the detour; push; nops; pop; ret; what saves them; call; back; jmp to the start */
#define SAVES(there, back) "493b6610 7607 55 90909090 5d c3 " there " e8a3ffffff " back " ebd6"
#define FLOAT_AND_RAX SAVES("f20f11442408 4889442410", "f20f10442408 488b442410")
#define SHORT_FLOAT_AND_RAX SAVES("f30f11442408 4889442410", "f30f10442408 488b442410")
#define RAX_AND_RBX SAVES("9090 4889442408 48895c2410", "488b442408 488b5c2410")

static const struct saved_row {
	struct row row;
	const char *code; /* what stands on the stack at its check, in hex */
} saved_rows[] = {
	{{20, "a float", B, INT("n") RAX, "00080808ff", 16}, FLOAT_AND_RAX},
	{{20, "a float that is listed", B, FLOAT("f") XMM0 INT("n") RAX, "00080808ff", 16},
	 FLOAT_AND_RAX},
	{{20, "of 4 bytes", B, INT("n") RAX, "00040808ff", 16}, SHORT_FLOAT_AND_RAX},
	{{20, "4 of 8 bytes", B, INT("n") RAX, "00080808ff", 16}, SHORT_FLOAT_AND_RAX},
	{{20, "no float", B, INT("n") RBX, "00080808ff", 16}, RAX_AND_RBX},
	{{20, "another one", B, INT("n") RBX, "00080808ff", 16}, FLOAT_AND_RAX},
	{{20, "of a string", B, INT("n") RAX, "fe00080808fd1008ff", 24}, FLOAT_AND_RAX},
};

static void make(struct gofile *g, const struct row *row)
{
	char text[2048];
	uint8_t *record;
	unsigned byte;

	gofile_make(g, row->release, EM_X86_64);
	record = elffile_at(g->f, gofile_record(g, 1));
	/* entry, name, args: before Go 1.18 the first has 8 bytes */
	memcpy(record + (row->release < 18 ? 12 : 8), &row->args, 4);
	if (row->info) {
		uint64_t nfuncdata = gofile_record(g, 1) + 4 + 9 * 4 + 3;

		*elffile_at(g->f, nfuncdata) = 6;
		elffile_u32(g->f, nfuncdata + 1 + 3 * 4 + 5 * 4, GOFILE_TREE - GOFILE_GOFUNC);
		for (size_t i = 0; sscanf(row->info + 2 * i, "%2x", &byte) == 1; i++)
			*elffile_at(g->f, GOFILE_TREE + i) = byte;
	}
	snprintf(text, sizeof(text),
		 "unit \"runtime\" package=runtime low=401000 high=4010c0\n"
		 " #int base \"int\" size=8 kind=2\n"
		 " #int32 base \"int32\" size=4 kind=5\n"
		 " #float64 base \"float64\" size=8 kind=e\n"
		 " #string struct \"string\" size=10 kind=18\n"
		 " #T struct \"main.T\" size=8 kind=19\n"
		 "  member \"a\" type=#int off=0\n"
		 " #empty struct \"main.E\" size=0 kind=19\n"
		 " #Tp pointer \"*main.T\" type=#T kind=16\n"
		 " func \"%s\" low=401040 high=401080\n%s",
		 row->name, row->params);
	dietext_write(g->f, text);
}

static void dump_params(struct typedump *dump, const struct gofunc *fn)
{
	for (size_t i = 0; i < fn->param_count; i++) {
		const struct gotype *type = fn->params[i].type;

		typedump_text(dump, "%s%s %s %lu/%u", i ? ", " : " ", fn->params[i].name,
			      type->name, type->size, type->align);
		for (size_t k = 0; type->name[0] == '?' && k < type->field_count; k++)
			typedump_text(dump, " @%lu %lu", type->fields[k].off,
				      type->fields[k].type->size);
		if (fn->params[i].is_guess)
			typedump_text(dump, " guess");
	}
	typedump_text(dump, "%s%s%s\n", fn->receiver ? " receiver" : "",
		      fn->dictionary >= 0 ? " dictionary" : "", fn->result_count ? " result" : "");
}

static void put_code(struct gofile *g, const char *code)
{
	unsigned byte;
	size_t at = 0;

	for (; *code; code++)
		if (*code != ' ' && sscanf(code++, "%2x", &byte) == 1)
			*elffile_at(g->f, g->starts[1] + at++) = byte;
}

static void dump(struct typedump *dump, const struct row *row, const char *code)
{
	struct dieopen in;
	struct gofunc fn;
	struct gofile g;

	make(&g, row);
	put_code(&g, code);
	dieopen(&in, g.f, row->release);
	typedump_text(dump, "1.%d, %s:", row->release, row->title);
	if (debuginfo_func(in.dbg, g.starts[1], row->name, &fn) == 0)
		dump_params(dump, &fn);
	else
		typedump_text(dump, " not certain\n");
	dieopen_close(&in);
}

static void test_rows(void **state)
{
	struct typedump all = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		dump(&all, &rows[i], "");
	typedump_expect(&all,
			"1.20, none is missing: n int 8/8, m int 8/8\n"
			"1.20, places are wrong, though all are listed: n int 8/8, m int 8/8\n"
			"1.20, the first: _ ? 8/8, n int 8/8\n"
			"1.20, the second: not certain\n"
			"1.20, one elsewhere: not certain\n"
			"1.20, a string: n int 8/8, _ ? 16/8 @0 8 @8 8\n"
			"1.20, a string before: _ ? 16/8 @0 8 @8 8, n int 8/8\n"
			"1.20, a float before: not certain\n"
			"1.20, a float of 4 bytes: _ ? 4/4, n float64 8/8\n"
			"1.20, a float between: not certain\n"
			"1.20, two: _ ? 8/8, _ ? 8/8, n int 8/8\n"
			"1.20, four: not certain\n"
			"1.20, five: not certain\n"
			"1.20, bytes of all are others: not certain\n"
			"1.20, more are listed than there are: not certain\n"
			"1.20, of another size: not certain\n"
			"1.20, at another place: not certain\n"
			"1.20, a place that is too far: not certain\n"
			"1.20, not all is told of it: not certain\n"
			"1.20, not all are told of: not certain\n"
			"1.20, all that are told of: n int 8/8, m int 8/8, l int 8/8\n"
			"1.20, padding in it: _ ? 16/8 @0 1 @8 8, n int 8/8\n"
			"1.20, on the stack: _ ? 8/8, n int 8/8\n"
			"1.20, with a result: _ ? 8/8, n int 8/8 result\n"
			"1.20, no ArgInfo: not certain\n"
			"1.20, no ArgInfo, all listed: n int 8/8, m int 8/8\n"
			"1.20, no ArgInfo, wrong places: not certain\n"
			"1.20, a dictionary: _ ? 8/8, n int 8/8 dictionary\n"
			"1.20, a method's receiver: _ *main.T 8/8, n int 8/8 receiver\n"
			"1.20, a receiver with a name: t *main.T 8/8, n int 8/8 receiver\n"
			"1.15, none is missing: n int 8/8, m int 8/8\n"
			"1.15, the first: _ ? 8/1, n int 8/8\n"
			"1.15, the first, and what follows: _ ? 8/1, n int 8/8, m int 8/8\n"
			"1.15, the second: n int 8/8, _ ? 8/1, m int 8/8\n"
			"1.15, the last: n int 8/8, _ ? 16/1\n"
			"1.15, before one without a place: not certain\n"
			"1.15, less than a word: _ ? 4/1, n int32 4/4\n"
			"1.15, padding: n int32 4/4, m int 8/8\n"
			"1.15, less bytes than listed: not certain\n"
			"1.15, with a result: _ ? 8/1, n int 8/8 result\n"
			"1.15, one of size 0: e main.E 0/1, _ ? 8/1, n int 8/8\n");
}

/* What a function saves when its stack grows shows which are floats. */
static void test_saved(void **state)
{
	struct typedump all = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(saved_rows) / sizeof(*saved_rows); i++)
		dump(&all, &saved_rows[i].row, saved_rows[i].code);
	typedump_expect(&all, "1.20, a float: _ float64 8/8, n int 8/8\n"
			      "1.20, a float that is listed: f float64 8/8, n int 8/8\n"
			      "1.20, of 4 bytes: _ float32 4/4, n int 8/8\n"
			      "1.20, 4 of 8 bytes: not certain\n"
			      "1.20, no float: _ ? 8/8, n int 8/8\n"
			      "1.20, another one: not certain\n"
			      "1.20, of a string: not certain\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
