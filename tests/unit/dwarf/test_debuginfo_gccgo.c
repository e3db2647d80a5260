// SPDX-License-Identifier: Apache-2.0
/* Types, signatures and places from the DWARF that GCC writes for gccgo's programs. */
#include "dieopen.h"
#include "dietext.h"
#include "dwarf/debuginfo.h"
#include "golang/gokind.h"
#include "typedump.h"
#include "unit.h"

enum { NAMES = ELFFILE_RODATA + 0x400, DESCRIPTORS = ELFFILE_DATA, RELEASE = 18 };

struct opened {
	struct dieopen in;
	struct typedump dump;
};

/* By this symbol the program is known to be gccgo's. */
static void add_symbol(struct elffile *f)
{
	static const char names[] = "\0__go_init_main";
	const Elf64_Sym sym = {.st_name = 1,
			       .st_info = STT_FUNC,
			       .st_shndx = 1,
			       .st_value = ELFFILE_TEXT,
			       .st_size = 0x10};
	Elf64_Shdr *table = elffile_section(f, ".symtab", ELFFILE_RODATA, 2 * sizeof(sym));

	table->sh_type = SHT_SYMTAB;
	table->sh_entsize = sizeof(sym);
	table->sh_link = f->nsections;
	elffile_section(f, ".strtab", NAMES, sizeof(names))->sh_type = SHT_STRTAB;
	elffile_bytes(f, ELFFILE_RODATA + sizeof(sym), &sym, sizeof(sym));
	elffile_bytes(f, NAMES, names, sizeof(names));
}

/* The n-th descriptor: of a type that Go prints as `name`. Returns its address. */
static uint64_t add_descriptor(struct elffile *f, unsigned n, const char *name, uint64_t size,
			       uint8_t kind)
{
	uint64_t addr = DESCRIPTORS + n * 0x100, string = addr + 0x80;

	elffile_u64(f, addr, size);
	*elffile_at(f, addr + 21) = 8; /* its alignment */
	*elffile_at(f, addr + 23) = kind;
	elffile_u64(f, addr + 40, string);
	elffile_u64(f, string, string + 16);
	elffile_u64(f, string + 8, strlen(name));
	elffile_bytes(f, string + 16, name, strlen(name));
	return addr;
}

static void begin(struct opened *o, const char *text)
{
	*o = (struct opened){.in.f = elffile_new(EM_X86_64)};
	add_symbol(o->in.f);
	dietext_write(o->in.f, text);
}

static void open_it(struct opened *o)
{
	dieopen(&o->in, o->in.f, RELEASE);
}

static void dump_func(struct opened *o, unsigned off, const char *name)
{
	struct gofunc fn;

	typedump_text(&o->dump, "%s: ", name);
	if (debuginfo_func(o->in.dbg, ELFFILE_TEXT + off, name, &fn) != 0)
		typedump_text(&o->dump, "not known\n");
	else
		typedump_func(&o->dump, &fn);
}

/* --- types --- */

static const char types_text[] = "unit \"main.go\" low=401000 high=402000\n"
				 " #bool base \"bool\" size=1 encoding=2\n"
				 " #complex base \"complex128\" size=10 encoding=3\n"
				 " #float base \"float32\" size=4 encoding=4\n"
				 " #int base \"int\" size=8 encoding=5\n"
				 " #int8 base \"int8\" size=1 encoding=6\n"
				 " #uint base \"uint16\" size=2 encoding=7\n"
				 " #uint8 base \"uint8\" size=1 encoding=8\n"
				 " #other base \"other\" size=4 encoding=9\n"
				 " #odd base \"odd\" size=3 encoding=5\n"
				 " #half base \"float16\" size=2 encoding=4\n"
				 " #small base \"complex32\" size=4 encoding=3\n"
				 " #wide base \"wide\" size=10 encoding=5\n"
				 " #broad base \"broad\" size=2 encoding=2\n"
				 " #bytes pointer type=#uint8\n"
				 " #string struct size=10\n"
				 "  member \"__data\" type=#bytes off=0\n"
				 "  member \"__length\" type=#int off=8\n"
				 " #stringdef typedef \"string\" type=#string\n"
				 " #slice struct size=18\n"
				 "  member \"__values\" type=#tostrings off=0\n"
				 "  member \"__count\" type=#int off=8\n"
				 "  member \"__capacity\" type=#int off=10\n"
				 " #strings pointer type=#stringdef\n"
				 " #tostrings typedef \"values\" type=#strings\n"
				 " #any struct size=10\n"
				 "  member \"__type_descriptor\" type=#pointer off=0\n"
				 "  member \"__object\" type=#pointer off=8\n"
				 " #reader struct size=10\n"
				 "  member \"__methods\" type=#pointer off=0\n"
				 "  member \"__object\" type=#pointer off=8\n"
				 " #error typedef \"error\" type=#reader\n"
				 " #pointer pointer\n"
				 " #unsafe typedef \"Pointer\" type=#pointer\n"
				 " #hmap typedef \"runtime.hmap\" type=#node\n"
				 " #map pointer type=#hmap\n"
				 " #channel typedef \"__go_channel\" type=#node\n"
				 " #chan pointer type=#channel\n"
				 " #closure typedef \"__go_descriptor\" type=#node\n"
				 " #func pointer type=#closure\n"
				 " #array array type=#int8\n"
				 "  subrange type=#int upper=3\n"
				 " #arrays array type=#slice\n"
				 "  subrange type=#int upper=1\n"
				 "  subrange type=#int upper=2\n"
				 " #node struct size=28\n"
				 "  member \"next\" type=#nodep off=0\n"
				 "  member \"main.hidden\" type=#const off=8\n"
				 "  label \"here\"\n"
				 "  member \"rest\" type=#empty off=9\n"
				 "  member \"_\" type=#bool off=9\n"
				 "  member \"_\" type=#bool off=a\n"
				 "  member \"far\" type=#bool off=29\n"
				 "  member type=#bool off=b\n"
				 " #const const type=#bool\n"
				 " #arrayof array type=#bool\n"
				 " #nodedef typedef \".example.com/lib.node\" type=#node\n"
				 " #nodep pointer type=#nodedef\n"
				 " #time struct size=18\n"
				 "  member \"wall\" type=#int off=0\n"
				 "  member \"ext\" type=#int off=8\n"
				 "  member \"loc\" type=#pointer off=10\n"
				 " #timedef typedef \"Time\" type=#time\n"
				 " #mine typedef \"myint\" type=#int\n"
				 " #thing typedef \"Thing\" type=#int\n"
				 " #plain struct size=18\n"
				 "  member \"a\" type=#thing off=0\n"
				 "  member \"b\" type=#timedef off=0\n"
				 " #empty struct size=0\n"
				 " #loop typedef \"loop\" type=#loop\n"
				 " #functype functype\n"
				 " func \"main.f\" low=401000 high=401100\n"
				 "  param \"bool\" type=#bool\n"
				 "  param \"complex\" type=#complex\n"
				 "  param \"float\" type=#float\n"
				 "  param \"int\" type=#int\n"
				 "  param \"int8\" type=#int8\n"
				 "  param \"uint\" type=#uint\n"
				 "  param \"uint8\" type=#uint8\n"
				 "  param \"other\" type=#other\n"
				 "  param \"odd\" type=#odd\n"
				 "  param \"half\" type=#half\n"
				 "  param \"small\" type=#small\n"
				 "  param \"wide\" type=#wide\n"
				 "  param \"broad\" type=#broad\n"
				 "  param \"string\" type=#stringdef\n"
				 "  param \"slice\" type=#slice\n"
				 "  param \"any\" type=#any\n"
				 "  param \"error\" type=#error\n"
				 "  param \"pointer\" type=#pointer\n"
				 "  param \"unsafe\" type=#unsafe\n"
				 "  param \"map\" type=#map\n"
				 "  param \"chan\" type=#chan\n"
				 "  param \"func\" type=#func\n"
				 "  param \"array\" type=#array\n"
				 "  param \"arrays\" type=#arrays\n"
				 "  param \"node\" type=#nodedef\n"
				 "  param \"time\" type=#timedef\n"
				 "  param \"mine\" type=#mine\n"
				 "  param \"thing\" type=#thing\n"
				 "  param \"plain\" type=#plain\n"
				 "  param \"empty\" type=#empty\n"
				 "  param \"loop\" type=#loop\n"
				 "  param \"functype\" type=#functype\n"
				 "  param \"none\"\n";

static void test_types(void **state)
{
	struct opened o;

	(void)state;
	begin(&o, types_text);
	open_it(&o);
	dump_func(&o, 0, "main.f");
	typedump_expect(&o.dump,
			"main.f: func dictionary -1 source 2 (bool 1, complex 2, float 3, int 4, "
			"int8 5, uint 6, uint8 7, other 8, odd 9, half 10, small 11, wide 12, "
			"broad 13, string 14, slice 15, any 16, error 17, pointer 18, unsafe 19, "
			"map 20, chan 21, func 22, array 23, arrays 24, node 25, time 26, mine 27, "
			"thing 28, plain 29, empty 30, loop 31, functype 32, none 33) ()\n"
			"1 bool bool 1/1\n"
			"2 complex complex128 16/8\n"
			"3 float float32 4/4\n"
			"4 int int 8/8\n"
			"5 int int8 1/1\n"
			"6 uint uint16 2/2\n"
			"7 uint uint8 1/1\n"
			"8 unknown other 4/1\n"
			"9 unknown odd 3/1\n"
			"10 unknown float16 2/1\n"
			"11 unknown complex32 4/1\n"
			"12 unknown wide 16/1\n"
			"13 unknown broad 2/1\n"
			"14 string string 16/8\n"
			"15 slice []string 24/8 of 14\n"
			"16 interface interface {} 16/8\n"
			"17 interface error 16/8 defined methods\n"
			"18 pointer unsafe.Pointer 8/8\n"
			"19 pointer unsafe.Pointer 8/8 defined\n"
			"20 map map 8/8\n"
			"21 chan chan 8/8\n"
			"22 func func 8/8\n"
			"23 array [4]int8 4/1 times 4 of 5\n"
			"24 array [2][3][]string 144/8 times 2 of 34\n"
			"25 struct lib.node 40/8 defined {next@0 35, hidden@8 1, rest@9 30, _@10 "
			"1, @11 1}\n"
			"26 struct time.Time 24/8 defined {wall@0 4, ext@8 4, loc@16 18}\n"
			"27 int myint 8/8\n"
			"28 int Thing 8/8 defined\n"
			"29 struct struct { a Thing; b time.Time } 24/8 {a@0 28, b@0 26}\n"
			"30 struct struct {} 0/1 {}\n"
			"31 unknown ? 0/1\n"
			"32 unknown ? 0/1\n"
			"33 unknown ? 0/1\n"
			"34 array [3][]string 72/8 times 3 of 15\n"
			"35 pointer *lib.node 8/8 of 25\n");
	dieopen_close(&o.in);
}

/* --- signatures --- */

static const char signatures_text[] = "unit \"main.go\" low=401000 high=401800\n"
				      " #int base \"int\" size=8 encoding=5\n"
				      " #bool base \"bool\" size=1 encoding=2\n"
				      " #body struct size=10\n"
				      "  member \"a\" type=#int off=0\n"
				      "  member \"b\" type=#int off=8\n"
				      " #T typedef \".main.T\" type=#body\n"
				      " #Tp pointer type=#T\n"
				      " #pair struct size=10\n"
				      "  member \"n\" type=#int off=0\n"
				      "  subrange upper=1\n"
				      "  member \"UNNAMED\" type=#bool off=8\n"
				      " #triple struct size=18\n"
				      "  member \"n\" type=#int off=0\n"
				      "  member \"_\" type=#int off=8\n"
				      "  member \"r.2\" type=#int off=10\n"
				      " #single struct size=8\n"
				      "  member \"n\" type=#int off=0\n"
				      " func \"main.none\" low=401000\n"
				      " func \"main.one\" low=401040 type=#int\n"
				      "  param \"n\" type=#int line=4 column=a\n"
				      "  param \"p.1\" type=#bool\n"
				      "  param \"$this\" type=#bool\n"
				      "  variable \"$ret0\" type=#int\n"
				      " func \"main.named\" low=401080 type=#int\n"
				      "  param \"n\" type=#int line=4 column=a\n"
				      "  variable \"n\" type=#int line=4 column=a\n"
				      "  variable \"sum\" type=#int line=4 column=b\n"
				      "  variable \"local\" type=#int line=5 column=b\n"
				      " func \"main.several\" low=4010c0 type=#pair\n"
				      "  param \"n\" type=#bool\n"
				      "  variable \"n\" type=#int\n"
				      "  variable \"$ret1\" type=#bool\n"
				      " func \"main.more\" low=401100 type=#triple\n"
				      "  variable \"r.2\" type=#int\n"
				      "  variable \"n\" type=#int\n"
				      "  variable \"$ret1\" type=#int\n"
				      " func \"main.lacking\" low=401140 type=#pair\n"
				      "  variable \"n\" type=#int\n"
				      "  variable \"$ret1\" type=#int\n"
				      " func \"main.whole\" low=401180 type=#pair\n"
				      "  variable \"n\" type=#int\n"
				      "  variable \"$ret1\" type=#bool\n"
				      "  variable \"pair\" type=#pair\n"
				      " func \"main.alone\" low=4011c0 type=#single\n"
				      "  variable \"n\" type=#int\n"
				      " func \"main.T.V\" low=401200\n"
				      "  param \"pointer\" type=#Tp line=4 column=a\n"
				      "  param \"n\" type=#int line=4 column=c\n"
				      "  variable \"m\" type=#T line=5 column=a\n"
				      "  variable \"l\" type=#T line=4 column=b\n"
				      "  variable \"k\" type=#T\n"
				      "  variable \"t\" type=#T line=4 column=a\n"
				      " func \"main.T.U\" low=401240\n"
				      "  param \"main.pointer\" type=#Tp\n"
				      " func \"main.T.O\" low=401280\n"
				      "  param \"pointer\" type=#Tp line=4 column=a\n"
				      "  variable \"t\" type=#int line=4 column=a\n"
				      " func \"main.T.N\" low=4012c0\n"
				      "  param \"main.pointers\" type=#Tp line=4 column=a\n"
				      "  variable \"t\" type=#T line=4 column=a\n"
				      " func \"main.(*T).P\" low=401300\n"
				      "  param \"t\" type=#Tp line=4 column=a\n"
				      "  param \"pointer\" type=#Tp line=4 column=c\n"
				      "  variable \"u\" type=#T line=4 column=c\n"
				      " func \"main.T.I\" low=401340\n"
				      "  param \"pointer\" type=#int\n"
				      " #abs func \"main.inl\" type=#bool\n"
				      "  #first param \"first\" type=#int\n"
				      "  variable \"ok\" type=#bool\n"
				      " func origin=#abs ranges=401440-401480,401380-4013c0\n"
				      "  param origin=#first\n"
				      "unit \"bare.go\" low=401800 high=402000\n"
				      " func \"main.bare\" low=401800\n"
				      "  label \"param\"\n";

static const struct {
	unsigned off;
	const char *name;
} signatures[] = {
	{0, "main.none"},       {0x40, "main.one"},    {0x80, "main.named"},
	{0xc0, "main.several"}, {0x100, "main.more"},  {0x140, "main.lacking"},
	{0x180, "main.whole"},  {0x1c0, "main.alone"}, {0x200, "main.T.V"},
	{0x240, "main.T.U"},    {0x280, "main.T.O"},   {0x2c0, "main.T.N"},
	{0x300, "main.(*T).P"}, {0x340, "main.T.I"},   {0x440, "main.inl"},
	{0x380, "main.inl"},    {0x800, "main.bare"},  {0x480, "main.beyond"},
};

static void test_signatures(void **state)
{
	struct opened o;

	(void)state;
	begin(&o, signatures_text);
	open_it(&o);
	for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++)
		dump_func(&o, signatures[i].off, signatures[i].name);
	typedump_expect(&o.dump,
			"main.none: func dictionary -1 source 2 () ()\n"
			"main.one: func dictionary -1 source 2 (n 1, _ 2, _ 2) (~r0 1)\n"
			"main.named: func dictionary -1 source 2 (n 1) (sum 1)\n"
			"main.several: func dictionary -1 source 2 (n 2) (n 1, ~r1 2)\n"
			"main.more: func dictionary -1 source 2 () (n 1, ~r1 1, ~r2 1)\n"
			"main.lacking: func dictionary -1 source 2 () (n 3)\n"
			"main.whole: func dictionary -1 source 2 () (n 3)\n"
			"main.alone: func dictionary -1 source 2 () (n 4)\n"
			"main.T.V: func receiver dictionary -1 source 2 (t 5 by address, n 1) ()\n"
			"main.T.U: func receiver dictionary -1 source 2 (_ 5 by address) ()\n"
			"main.T.O: func receiver dictionary -1 source 2 (pointer 6) ()\n"
			"main.T.N: func receiver dictionary -1 source 2 (_ 6) ()\n"
			"main.(*T).P: func receiver dictionary -1 source 2 (t 6, pointer 6) ()\n"
			"main.T.I: func receiver dictionary -1 source 2 (pointer 1) ()\n"
			"main.inl: func dictionary -1 source 2 (first 1) (ok 2)\n"
			"main.inl: not known\n"
			"main.bare: not known\n"
			"main.beyond: not known\n"
			"1 int int 8/8\n"
			"2 bool bool 1/1\n"
			"3 struct struct { n int; UNNAMED bool } 16/8 {n@0 1, UNNAMED@8 2}\n"
			"4 struct struct { n int } 8/8 {n@0 1}\n"
			"5 struct main.T 16/8 defined {a@0 1, b@8 1}\n"
			"6 pointer *main.T 8/8 of 5\n");
	dieopen_close(&o.in);
}

/* --- names of types, as the program's own descriptors have them --- */

static const char names_text[] = "unit \"lib.go\" low=401000 high=401100\n"
				 " #int base \"int\" size=8 encoding=5\n"
				 " #body struct size=10\n"
				 "  member \"a\" type=#int off=0\n"
				 "  member \"b\" type=#int off=8\n"
				 " #Thing typedef \"Thing\" type=#body\n"
				 " #thing typedef \".example.com/lib.thing\" type=#body\n"
				 " #Local typedef \"Local\" type=#int\n"
				 " #Twice typedef \"Twice\" type=#int\n"
				 " #twice typedef \".second.Twice\" type=#int\n"
				 " #Sized typedef \"Sized\" type=#int\n"
				 " #Other typedef \"Other\" type=#body\n"
				 " #other typedef \"other\" type=#body\n"
				 " #things pointer type=#Thing\n"
				 " #others pointer type=#Other\n"
				 " #all struct size=30\n"
				 "  member \"thing\" type=#Thing off=0\n"
				 "  member \"other\" type=#Other off=10\n"
				 "  member \"local\" type=#Local off=20\n"
				 "  member \"sized\" type=#Sized off=28\n"
				 " variable \"example.com/lib.Thing..d\" at=030040400000000000\n"
				 " variable \"example.com/lib.thing..d\" at=030041400000000000\n"
				 " variable \"example.com/lib.f.Local..d\" at=030042400000000000\n"
				 " variable \"first.Twice..d\" at=030042400000000000\n"
				 " variable \"second.Twice..d\" at=030042400000000000\n"
				 " variable \"lib.Sized..d\" at=030043400000000000\n"
				 " variable \"type..int\" at=030042400000000000\n"
				 " variable \"type..lib.Other..d\" at=030042400000000000\n"
				 " variable \"..d\" at=030042400000000000\n"
				 " variable \"Other..d\" at=030042400000000000\n"
				 " variable \"lib.Other..d\" at=9110\n"
				 " variable \"lib.Other..d\"\n"
				 " func \"lib.f\" low=401000 high=401010\n"
				 "  param \"Thing\" type=#Thing\n"
				 "  param \"thing\" type=#thing\n"
				 "  param \"Local\" type=#Local\n"
				 "  param \"Twice\" type=#Twice\n"
				 "  param \"twice\" type=#twice\n"
				 "  param \"Sized\" type=#Sized\n"
				 "  param \"Other\" type=#Other\n"
				 "  param \"other\" type=#other\n"
				 "  param \"things\" type=#things\n"
				 "  param \"others\" type=#others\n"
				 "  param \"all\" type=#all\n";

static const char *find_foreign(void *ctx, const char *last, enum gotype_kind kind, uint64_t size)
{
	struct opened *o = ctx;

	typedump_text(&o->dump, "%s of kind %d, %#lx bytes?\n", last, kind, size);
	return strcmp(last, "Other") == 0 ? "far.Other" : NULL;
}

static void test_names(void **state)
{
	struct opened o;
	const struct debuginfo_foreign foreign = {find_foreign, &o};

	(void)state;
	begin(&o, names_text);
	add_descriptor(o.in.f, 0, "\texample.com/lib\tlib.Thing", 16, GOKIND_STRUCT);
	add_descriptor(o.in.f, 1, "lib.thing", 16, GOKIND_STRUCT);
	add_descriptor(o.in.f, 2, "lib.Local", 8, GOKIND_INT);
	add_descriptor(o.in.f, 3, "lib.Sized", 16, GOKIND_STRUCT);
	open_it(&o);
	debuginfo_ask(o.in.dbg, &foreign);
	dump_func(&o, 0, "lib.f");
	typedump_types(&o.dump);
	typedump_text(&o.dump, "%s\n", debuginfo_type(o.in.dbg, "example.com/lib.Thing")->name);
	assert_null(debuginfo_type(o.in.dbg, "lib.Other"));
	typedump_expect(&o.dump,
			"lib.f: Other of kind 9, 0x10 bytes?\n"
			"Other of kind 9, 0xffffffffffffffff bytes?\n"
			"Other of kind 9, 0xffffffffffffffff bytes?\n"
			"func dictionary -1 source 2 (Thing 1, thing 2, Local 3, Twice 4, twice 5, "
			"Sized 6, Other 7, other 8, things 9, others 10, all 11) ()\n"
			"1 struct lib.Thing 16/8 defined at 404000 {a@0 12, b@8 12}\n"
			"2 struct lib.thing 16/8 defined at 404100 {a@0 12, b@8 12}\n"
			"3 int lib.Local 8/8 defined at 404200\n"
			"4 int Twice 8/8 defined\n"
			"5 int lib.Local 8/8 defined at 404200\n"
			"6 int Sized 8/8 defined\n"
			"7 struct far.Other 16/8 defined {a@0 12, b@8 12}\n"
			"8 struct other 16/8 {a@0 12, b@8 12}\n"
			"9 pointer *lib.Thing 8/8 of 1\n"
			"10 pointer *far.Other 8/8 of 7\n"
			"11 struct struct { thing lib.Thing; other far.Other; local lib.Local; "
			"sized Sized } 48/8 {thing@0 1, other@16 7, local@32 3, sized@40 6}\n"
			"12 int int 8/8\n"
			"lib.Thing\n");
	dieopen_close(&o.in);
}

/* --- places --- */

static const char places_text[] =
	"unit \"main.go\" low=401000 high=401800\n"
	" #int base \"int\" size=8 encoding=5\n"
	" #int8 base \"int8\" size=1 encoding=5\n"
	" #odd struct size=f\n"
	"  member \"a\" type=#int off=0\n"
	"  member \"b\" type=#int8 off=8\n"
	"  member \"c\" type=#int8 off=e\n"
	" #abs func \"main.inl\"\n"
	"  label \"begin\"\n"
	"  #a param \"a\" type=#int\n"
	"  #b param \"b\" type=#odd\n"
	"  #c param \"c\" type=#int\n"
	"  #d param \"d\" type=#odd\n"
	"  #e param \"e\" type=#int\n"
	"  #f param \"f\" type=#odd\n"
	"  #g param \"g\" type=#int\n"
	"  #h param \"h\" type=#odd\n"
	"  #i param \"i\" type=#odd\n"
	"  #j param \"j\" type=#odd\n"
	"  #k param \"k\" type=#odd\n"
	"  #l param \"l\" type=#odd\n"
	" func origin=#abs low=401040 high=401080\n"
	"  variable origin=#a at=50\n"
	"  param origin=#b at=401000-401040:51,401040-401042:54930852930f,401042-401080:52\n"
	"  param origin=#a at=401030-401041:55\n"
	"  param origin=#c at=401040-401080:61\n" /* xmm0 */
	"  param origin=#d at=9110\n"             /* in the frame, all the time */
	"  param origin=#e at=55\n"
	"  param origin=#f at=401040-401080:9110930891209308\n"
	"  param origin=#g at=401041-401080:55\n"
	"  param origin=#h at=401040-401080:549308930453930253930454930155930a\n"
	"  param origin=#i at=401040-401080:54930854930991109308\n"
	"  param origin=#j at=401040-401080:9178930f\n" /* below the frame */
	"  param origin=#k at=401040-401080:6093085293089308\n"
	"  param origin=#l at=401040-401080:549309\n"
	" func \"main.plain\" low=401080 high=4010c0\n"
	"  param \"a\" type=#int at=9110\n";

static void dump_place(struct opened *o, unsigned off, const struct gofunc *sig, size_t param)
{
	struct abi_value value = {0};

	debuginfo_place(o->in.dbg, ELFFILE_TEXT + off, sig, param, &value);
	typedump_text(&o->dump, "%s:", sig->params[param].name);
	for (size_t i = 0; i < value.count; i++) {
		const struct abi_piece *piece = &value.pieces[i];

		typedump_text(&o->dump, " %u-%u in %d.%u+%u", piece->off, piece->off + piece->size,
			      piece->where, piece->n, piece->from);
	}
	typedump_text(&o->dump, "\n");
	free(value.pieces);
}

static void test_places(void **state)
{
	struct opened o;
	struct gofunc sig;

	(void)state;
	begin(&o, places_text);
	open_it(&o);
	assert_int_equal(debuginfo_func(o.in.dbg, ELFFILE_TEXT + 0x40, "main.inl", &sig), 0);
	for (size_t i = 0; i < sig.param_count; i++)
		dump_place(&o, 0x40, &sig, i);
	sig.params[0].by_address = true;
	dump_place(&o, 0x40, &sig, 0);
	assert_int_equal(debuginfo_func(o.in.dbg, ELFFILE_TEXT + 0x80, "main.plain", &sig), 0);
	dump_place(&o, 0x80, &sig, 0);
	typedump_expect(&o.dump, "a: 0-8 in 3.5+0\n"
				 "b: 0-8 in 3.4+0 8-12 in 3.2+0 12-14 in 3.2+4 14-15 in 3.2+6\n"
				 "c: 0-8 in 1.0+0\n"
				 "d: 0-15 in 2.16+0\n"
				 "e:\n"
				 "f: 0-8 in 2.16+0 8-15 in 2.32+0\n"
				 "g:\n"
				 "h: 0-8 in 3.4+0 12-14 in 3.3+0 14-15 in 3.3+0\n"
				 "i: 0-8 in 3.4+0 8-12 in 3.4+0 12-14 in 3.4+4 14-15 in 3.4+6\n"
				 "j:\n"
				 "k:\n"
				 "l:\n"
				 "a:\n"
				 "a:\n");
	dieopen_close(&o.in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_signatures),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
