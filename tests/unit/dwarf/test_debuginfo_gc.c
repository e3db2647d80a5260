// SPDX-License-Identifier: Apache-2.0
/* Types and inlined copies from the DWARF that Go's own linker writes, all of what is read. */
#include "dieopen.h"
#include "dietext.h"
#include "dwarf/debuginfo.h"
#include "gofile.h"
#include "typedump.h"
#include "unit.h"

struct opened {
	struct dieopen in;
	struct typedump dump;
};

static void open_it(struct opened *o, const char *text, int release)
{
	struct gofile g;

	*o = (struct opened){0};
	gofile_make(&g, release, EM_X86_64);
	dietext_write(g.f, text);
	dieopen(&o->in, g.f, release);
}

/* --- types --- */

static const char types_text[] =
	"unit \"runtime\" package=runtime low=401000 high=401040\n"
	" #bool base \"bool\" size=1 kind=1\n"
	" #int base \"int\" size=8 kind=2\n"
	" #int32 base \"int32\" size=4 kind=5\n"
	" #uint16 base \"uint16\" size=2 kind=9\n"
	" #uintptr base \"uintptr\" size=8 kind=c\n"
	" #float32 base \"float32\" size=4 kind=d\n"
	" #complex64 base \"complex64\" size=8 kind=f\n"
	" #complex128 base \"complex128\" size=10 kind=10\n"
	" #string struct \"string\" size=10 kind=18\n"
	" base \"bad.Bool\" size=2 kind=1\n"
	" base \"bad.Int\" size=10 kind=2\n"
	" base \"bad.Uint\" size=3 kind=8\n"
	" base \"bad.Float\" size=2 kind=e\n"
	" base \"bad.Complex\" size=4 kind=f\n"
	" #direct base \"m.Direct\" size=8 kind=22\n"
	" #slice struct \"[]int\" size=18 kind=17 elem=#int\n"
	" #slicedef struct \"m.Ints\" size=18 kind=17 elem=#int\n"
	" #array array \"[3]int32\" size=c type=#int32 kind=11\n"
	"  label \"l\"\n"
	"  subrange count=3\n"
	"  subrange count=4\n"
	" #many array \"[2]m.Rec\" size=50 type=#rec kind=11\n"
	"  subrange count=2\n"
	" #pointer pointer \"*m.Rec\" type=#rec kind=16\n"
	" #unsafe base \"unsafe.Pointer\" size=8 kind=1a\n"
	" #mapbody pointer \"*map<string,int>\" type=#string\n"
	" #map typedef \"map[string]int\" type=#mapbody kind=15 key=#string elem=#int\n"
	" #hmap pointer \"*hash<int,bool>\" type=#string\n"
	" #oldmap typedef \"m.Old\" type=#hmap kind=15 key=#int elem=#bool\n"
	" #chan typedef \"chan int\" type=#pointer kind=12 elem=#int\n"
	" typedef \"chan<- int\" type=#pointer kind=12 elem=#int\n"
	" typedef \"m.Chan\" type=#pointer kind=12 elem=#int\n"
	" #func functype \"func(int) m.Rec\" kind=13\n"
	" functype \"m.Func\" kind=13\n"
	" #eface struct \"runtime.eface\" size=10\n"
	" #iface struct \"runtime.iface\" size=10\n"
	" #any typedef \"interface {}\" type=#eface kind=14\n"
	" #error typedef \"error\" type=#iface kind=14\n"
	" #stringer typedef \"fmt.Stringer\" type=#iface kind=14\n"
	" #recdef typedef \"m.Rec\" type=#rec\n"
	" #rec struct \"m.Rec\" size=28 kind=19\n"
	"  member \"next\" type=#pointer off=0\n"
	"  member \"m.Base\" type=#base off=8 embedded=1\n"
	"  variable \"v\" type=#int\n"
	"  member \"small\" type=#uint16 off=c embedded=0\n"
	"  member \"far\" type=#bool off=29\n"
	"  member \"nowhere\" type=#bool\n"
	"  member \"iface\" type=#any off=10\n"
	"  member \"last\" type=#flags off=28\n"
	" #base struct \"m.Base\" size=4 kind=19\n"
	"  member \"id\" type=#int32 off=0\n"
	" #flags struct \"m.Flags\" size=0 kind=19\n"
	" #shape typedef \"go.shape.int\" type=#int\n"
	" base \"go.shape.m.X\" size=8 kind=2\n"
	" struct \"struct { A int }\" size=8 kind=19\n"
	"  member \"A\" type=#int off=0\n"
	" struct \"m.NoKind\" size=8\n"
	"  member \"A\" type=#int off=0\n"
	" array \"m.NoKindArray\" size=10 type=#int\n"
	"  subrange count=2\n"
	" array \"m.Endless\" size=10 type=#int\n"
	" functype \"m.NoKindFunc\"\n"
	" struct \"m.Cut\" size=8 kind=19\n"
	"  member \"a\" type=#int off=0\n"
	"  member \"b\" type=#bool off=8\n"
	" struct \"m.Just\" size=9 kind=19\n"
	"  member \"a\" type=#int off=0\n"
	"  member \"b\" type=#bool off=8\n"
	" struct \"m.Huge\" size=800000000000 kind=19\n"
	" struct \"m.Larger\" size=800000000001 kind=19\n"
	" func \"m.f\" low=401000 high=401040\n"
	" variable \"m.v\" type=#int\n"
	" const \"m.c\" type=#int\n";

static const char *const types[] = {"bool",
				    "int",
				    "int32",
				    "uint16",
				    "uintptr",
				    "float32",
				    "complex64",
				    "complex128",
				    "string",
				    "bad.Bool",
				    "bad.Int",
				    "bad.Uint",
				    "bad.Float",
				    "bad.Complex",
				    "m.Direct",
				    "[]int",
				    "m.Ints",
				    "[3]int32",
				    "[2]m.Rec",
				    "*m.Rec",
				    "m.Rec",
				    "unsafe.Pointer",
				    "map[string]int",
				    "m.Old",
				    "chan int",
				    "chan<- int",
				    "m.Chan",
				    "func(int) m.Rec",
				    "m.Func",
				    "interface {}",
				    "error",
				    "fmt.Stringer",
				    "go.shape.int",
				    "go.shape.m.X",
				    "struct { A int }",
				    "m.NoKind",
				    "m.NoKindArray",
				    "m.Endless",
				    "m.NoKindFunc",
				    "m.Cut",
				    "m.Just",
				    "m.Huge",
				    "m.Larger",
				    "m.f",
				    "m.v",
				    "m.c",
				    "int8"};

static const char types_said[] = "no bad.Bool\n"
				 "no bad.Int\n"
				 "no bad.Uint\n"
				 "no bad.Float\n"
				 "no bad.Complex\n"
				 "no m.Endless\n"
				 "no m.Cut\n"
				 "no m.f\n"
				 "no m.v\n"
				 "no m.c\n"
				 "no int8\n"
				 "1 bool bool 1/1\n"
				 "2 int int 8/8\n"
				 "3 int int32 4/4\n"
				 "4 uint uint16 2/2\n"
				 "5 uint uintptr 8/8\n"
				 "6 float float32 4/4\n"
				 "7 complex complex64 8/4\n"
				 "8 complex complex128 16/8\n"
				 "9 string string 16/8\n"
				 "10 int m.Direct 8/8 defined\n"
				 "11 slice []int 24/8 of 2\n"
				 "12 slice m.Ints 24/8 defined of 2\n"
				 "13 array [3]int32 12/4 times 3 of 3\n"
				 "14 array [2]m.Rec 80/8 times 2 of 16\n"
				 "15 pointer *m.Rec 8/8 of 16\n"
				 "16 struct m.Rec 40/8 defined {next@0 15, Base@8 36 embedded, "
				 "small@12 4, iface@16 25, last@40 37}\n"
				 "17 pointer unsafe.Pointer 8/8\n"
				 "18 map map[string]int 8/8 swiss key 9 of 2\n"
				 "19 map m.Old 8/8 defined key 2 of 1\n"
				 "20 chan chan int 8/8 of 2\n"
				 "21 chan chan<- int 8/8 of 2\n"
				 "22 chan m.Chan 8/8 defined of 2\n"
				 "23 func func(int) m.Rec 8/8\n"
				 "24 func m.Func 8/8 defined\n"
				 "25 interface interface {} 16/8\n"
				 "26 interface error 16/8 defined methods\n"
				 "27 interface fmt.Stringer 16/8 defined methods\n"
				 "28 int m.X 8/8 defined\n"
				 "29 struct struct { A int } 8/8 {A@0 2}\n"
				 "30 struct m.NoKind 8/8 defined {A@0 2}\n"
				 "31 array m.NoKindArray 16/8 defined times 2 of 2\n"
				 "32 func m.NoKindFunc 8/8 defined\n"
				 "33 struct m.Just 9/8 defined {a@0 2, b@8 1}\n"
				 "34 struct m.Huge 140737488355328/1 defined {}\n"
				 "35 struct m.Larger 0/1 defined {}\n"
				 "36 struct m.Base 4/4 defined {id@0 3}\n"
				 "37 struct m.Flags 0/1 defined {}\n";

static void test_types(void **state)
{
	struct opened o;

	(void)state;
	open_it(&o, types_text, 23);
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const struct gotype *type = debuginfo_type(o.in.dbg, types[i]);

		if (!type)
			typedump_text(&o.dump, "no %s\n", types[i]);
		typedump_number(&o.dump, type);
	}
	typedump_expect(&o.dump, types_said);
	dieopen_close(&o.in);
}

/* --- copies --- */

static const char copies_text[] =
	"unit \"runtime\" package=runtime low=401000 high=4010c0\n"
	" #int base \"int\" size=8 kind=2\n"
	" #string struct \"string\" size=10 kind=18\n"
	" #T struct \"main.T\" size=8 kind=19\n"
	"  member \"a\" type=#int off=0\n"
	" #Tp pointer \"*main.T\" type=#T kind=16\n"
	" #inl1 func \"main.inl1\"\n"
	"  #n param \"n\" type=#int\n"
	"  #blank param \"_\" type=#int\n"
	"  #s param \"s\" type=#string\n"
	"  #r param \"r\" type=#int result=1\n"
	" #generic func \"main.Map[go.shape.int]\"\n"
	"  #dict param \".dict\" type=#int\n"
	"  #g param \"g\" type=#int\n"
	"  param \"~r0\" type=#int result=1\n"
	" #method func \"main.(*T).M\"\n"
	"  #t param \"t\" type=#Tp\n"
	"  #u param \"u\" type=#int\n"
	" #nameless func\n"
	" func \"main.a\" low=401000 high=401040\n"
	"  param \"p\" type=#int\n"
	"  block\n"
	"   inlined origin=#inl1 low=401010 high=401018\n"
	"    param origin=#s "
	"at=401010-401012:539308549308,401012-401014:53930891109308,401014-401014:50\n"
	"    param origin=#blank at=401010-401012:50\n"
	"    param origin=#n at=401010-401018:50\n"
	"    param origin=#n at=401010-401018:51\n"
	"    variable origin=#n at=401010-401018:51\n"
	"  inlined origin=#inl1 ranges=401030-401038,401028-40102c,401024-401024\n"
	"   param origin=#n at=401028-40102c:9c,401030-401038:9000,401030-401031:9011\n"
	"   inlined origin=#method low=40102a high=40102c\n"
	"    param origin=#t at=55\n"
	"    param origin=#u at=40102a-40102c:53\n"
	"   inlined origin=#generic low=40102b high=40102c\n"
	"    param origin=#g at=40102b-40102c:53\n"
	"  inlined origin=#nameless low=401020 high=401021\n"
	"  inlined low=401020 high=401021\n"
	" func \"main.b\" low=401040 high=401080\n"
	"  inlined origin=#inl1 low=401050 high=401058\n";

static const struct {
	unsigned func, copy;
	const char *name;
} copies[] = {
	{0, 0x10, "main.inl1"},       {0, 0x28, "main.inl1"},     {0, 0x24, "main.inl1"},
	{0, 0x2a, "main.(*T).M"},     {0, 0x2a, "main.inl1"},     {0, 0x2b, "main.Map[...]"},
	{0, 0x2b, "main.Map[...].f"}, {0, 0x2b, "main.Mab[...]"}, {0, 0x20, "main.inl1"},
	{0, 0x50, "main.inl1"},       {0x40, 0x50, "main.inl1"},  {0x80, 0x50, "main.inl1"},
};

static void dump_variables(struct typedump *dump, const struct gofunc *sig,
			   const struct debuginfo_variable *vars)
{
	for (size_t i = 0; i < sig->param_count; i++)
		for (size_t k = 0; k < vars[i].count; k++) {
			const struct debuginfo_location *at = &vars[i].locations[k];

			typedump_text(dump, " %s at %lx-%lx, %ld bytes:", sig->params[i].name,
				      at->from, at->to, (long)at->size);
			for (size_t n = 0; n < at->count; n++)
				typedump_text(dump, " %s%ld %lu-%ld",
					      at->pieces[n].in_register ? "r" : "cfa+",
					      at->pieces[n].n, at->pieces[n].off,
					      (long)at->pieces[n].size);
			typedump_text(dump, "\n");
		}
}

static void dump_copies(struct opened *o)
{
	for (size_t i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
		struct debuginfo_variable *vars;
		struct gofunc sig;

		typedump_text(&o->dump, "%s at %x: ", copies[i].name, copies[i].copy);
		if (debuginfo_inlined(o->in.dbg, ELFFILE_TEXT + copies[i].func, copies[i].name,
				      ELFFILE_TEXT + copies[i].copy, &sig, &vars) != 0) {
			typedump_text(&o->dump, "none\n");
			continue;
		}
		typedump_func(&o->dump, &sig);
		dump_variables(&o->dump, &sig, vars);
	}
	typedump_types(&o->dump);
}

static void test_copies(void **state)
{
	struct opened o;

	(void)state;
	open_it(&o, copies_text, 23);
	dump_copies(&o);
	typedump_expect(&o.dump,
			"main.inl1 at 10: func dictionary -1 source 2 (n 1, _ 1, s 2) (r 1)\n"
			" n at 401010-401018, -1 bytes: r0 0--1\n"
			" s at 401010-401012, 16 bytes: r3 0-8 r4 8-8\n"
			" s at 401012-401014, 16 bytes: r3 0-8 cfa+16 8-8\n"
			"main.inl1 at 28: func dictionary -1 source 2 (n 1, _ 1, s 2) (r 1)\n"
			" n at 401028-40102c, -1 bytes: cfa+0 0--1\n"
			" n at 401030-401038, -1 bytes: r0 0--1\n"
			" n at 401030-401031, -1 bytes: r17 0--1\n"
			"main.inl1 at 24: none\n"
			"main.(*T).M at 2a: func receiver dictionary -1 source 2 (t 3, u 1) ()\n"
			" u at 40102a-40102c, -1 bytes: r3 0--1\n"
			"main.inl1 at 2a: none\n"
			"main.Map[...] at 2b: func dictionary -1 source 2 (g 1) (~r0 1)\n"
			" g at 40102b-40102c, -1 bytes: r3 0--1\n"
			"main.Map[...].f at 2b: none\n"
			"main.Mab[...] at 2b: none\n"
			"main.inl1 at 20: none\n"
			"main.inl1 at 50: none\n"
			"main.inl1 at 50: func dictionary -1 source 2 (n 1, _ 1, s 2) (r 1)\n"
			"main.inl1 at 50: none\n"
			"1 int int 8/8\n"
			"2 string string 16/8\n"
			"3 pointer *main.T 8/8 of 4\n"
			"4 struct main.T 8/8 defined {a@0 1}\n");
	dieopen_close(&o.in);
}

/* What has no name is missing from DWARF: the order of parameters is a guess. */
static void test_copies_before_blanks(void **state)
{
	struct opened o;

	(void)state;
	open_it(&o, copies_text, 20);
	dump_copies(&o);
	typedump_expect(
		&o.dump,
		"main.inl1 at 10: func dictionary -1 source 2 (n 1 guess, _ 1 guess, s 2 guess) (r "
		"1)\n"
		" n at 401010-401018, -1 bytes: r0 0--1\n"
		" s at 401010-401012, 16 bytes: r3 0-8 r4 8-8\n"
		" s at 401012-401014, 16 bytes: r3 0-8 cfa+16 8-8\n"
		"main.inl1 at 28: func dictionary -1 source 2 (n 1 guess, _ 1 guess, s 2 guess) (r "
		"1)\n"
		" n at 401028-40102c, -1 bytes: cfa+0 0--1\n"
		" n at 401030-401038, -1 bytes: r0 0--1\n"
		" n at 401030-401031, -1 bytes: r17 0--1\n"
		"main.inl1 at 24: none\n"
		"main.(*T).M at 2a: func receiver dictionary -1 source 2 (t 3, u 1 guess) ()\n"
		" u at 40102a-40102c, -1 bytes: r3 0--1\n"
		"main.inl1 at 2a: none\n"
		"main.Map[...] at 2b: func dictionary -1 source 2 (g 1 guess) (~r0 1)\n"
		" g at 40102b-40102c, -1 bytes: r3 0--1\n"
		"main.Map[...].f at 2b: none\n"
		"main.Mab[...] at 2b: none\n"
		"main.inl1 at 20: none\n"
		"main.inl1 at 50: none\n"
		"main.inl1 at 50: func dictionary -1 source 2 (n 1 guess, _ 1 guess, s 2 guess) (r "
		"1)\n"
		"main.inl1 at 50: none\n"
		"1 int int 8/8\n"
		"2 string string 16/8\n"
		"3 pointer *main.T 8/8 of 4\n"
		"4 struct main.T 8/8 defined {a@0 1}\n");
	dieopen_close(&o.in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_copies_before_blanks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
