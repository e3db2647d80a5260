// SPDX-License-Identifier: Apache-2.0
/* From PROBEs to plans, and what the tracer is told. */
#include "fakeplan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf-src/shared/trace.h"
#include "gotrace/traceplan_internal.h"
#include "printed.h"

#define EXPECT(probe, said, did) fakeplan_expect((char *[]){probe}, 1, said, did)

static void test_plain(void **state)
{
	(void)state;
	fakeplan_add(0, F, false);
	EXPECT("main.f \"%d %s\", a, s", "gotrace: arguments are read by code for 1 signature\n",
	       "1 parts; insert plans; insert programs; 0: plan 0, 2 args, 0/128 "
	       "bytes; 10 usual; record 128, dynamic 80, 0 unknown; ");
	fakeplan_add(0, F, true);
	fakeplan_add(0, G, true);
	EXPECT("r:main.*", "gotrace: arguments are read by code for 2 signatures\n",
	       "SAVED_MAX=128; RETURNS=1; 1 parts; insert plans; insert programs; 0: "
	       "plan 0, 2 args, 128/2664 bytes; 1: plan 1, 2 args, 16/16 bytes; "
	       "program 0 number 1 part 0 table 1 restart 7; 9 usual; record 2664, "
	       "dynamic 80, 0 unknown; type 100 size 8 inner -1 0; type 200 size 8 "
	       "inner -1 0; type 300 size 16 inner -1 0; ");
	fakeplan_add(0, RAW, false);
	fakeplan_add(0, WORDS, false);
	EXPECT("main.*", "gotrace: arguments are read by code for 2 signatures\n",
	       "words main.raw; words main.(*T).words; receiver main.(*T).words of 1; "
	       "1 parts; insert plans; insert programs; 0: plan 0, 1 args, 0/0 bytes; "
	       "1: plan 1, 1 args, 0/16 bytes; program 0 number 1 part 0 table 1 "
	       "restart 0; 10 usual; record 16, dynamic 80, 1 unknown: main.raw; ");
	fakeplan_add(0, RAW, false);
	fakeplan_add(0, WORDS, false);
	EXPECT("main.* \"%d\", goarg1", "gotrace: arguments are read by code for 2 signatures\n",
	       "words main.raw whole; words main.(*T).words whole; receiver "
	       "main.(*T).words of 1; 1 parts; insert plans; insert programs; 0: plan "
	       "0, 1 args, 0/0 bytes; 1: plan 1, 1 args, 0/16 bytes; program 0 number "
	       "1 part 0 table 1 restart 0; 10 usual; record 16, dynamic 80, 0 "
	       "unknown; ");
	fakeplan_add(0, F, false);
	EXPECT("main.f(a int) \"%d\", a", "gotrace: arguments are read by code for 1 signature\n",
	       "signature (a at col 7; 1 parts; insert plans; insert programs; 0: "
	       "plan 0, 1 args, 0/16 bytes; 10 usual; record 16, dynamic 80, 0 "
	       "unknown; ");
}

/* A function that lacks what is asked for is left out where there are others. */
static void test_skipped(void **state)
{
	(void)state;
	fakeplan_add(0, F, false);
	fakeplan_add(0, G, false);
	EXPECT("main.* (a > 5)", "gotrace: arguments are read by code for 1 signature\n",
	       "skip 1: no parameter or result is called \"a\"; 1 parts; insert plans; "
	       "insert programs; 0: plan 0, 1 args, 0/128 bytes; 1: plan 0, 0 args, "
	       "0/0 bytes; program 0 number 0 part 0 table 0 restart 7; 10 usual; "
	       "record 128, dynamic 80, 0 unknown; ");
	fakeplan_add(0, G, false);
	EXPECT("main.g (a > 5)", "",
	       "error: \"main.g (a > 5)\": col 9: no parameter or result is called \"a\" "
	       "hint it has b uint8; ");
	fakeplan_add(0, MALFORMED, false);
	EXPECT("main.*", "", "error: \"main.*\": the entry in the function table is malformed; ");
	fakeplan_add(0, UNWRAP, true);
	fakeplan_add(0, F, true);
	EXPECT("r:main.* ($err != nil)", "gotrace: arguments are read by code for 1 signature\n",
	       "skip 0: Unwrap and Cause return the error within another one: they do "
	       "not fail; SAVED_MAX=128; RETURNS=1; 1 parts; insert plans; insert "
	       "programs; 0: plan 0, 0 args, 0/0 bytes; 1: plan 0, 2 args, 128/2664 "
	       "bytes; 9 usual; record 2664, dynamic 80, 0 unknown; type 100 size 8 "
	       "inner -1 0; type 200 size 8 inner -1 0; type 300 size 16 inner -1 0; ");
	fakeplan_add(0, UNWRAP, true);
	EXPECT("r:main.Unwrap (goret1 != nil)",
	       "gotrace: arguments are read by code for 1 signature\n",
	       "SAVED_MAX=2520; RETURNS=1; 1 parts; insert plans; insert programs; 0: "
	       "plan 0, 2 args, 2520/5040 bytes; 9 usual; record 5040, dynamic 80, 0 "
	       "unknown; type 100 size 8 inner -1 0; type 200 size 8 inner -1 0; type "
	       "300 size 16 inner -1 0; ");
}

static void test_options(void **state)
{
	(void)state;
	fakeplan.config.user_stack = fakeplan.config.kernel_stack = fakeplan.config.typed = true;
	fakeplan.config.only_tid = 5;
	fakeplan.config.only_goid = 6;
	fakeplan_add(0, F, true);
	EXPECT("r:main.f", "gotrace: arguments are read by code for 1 signature\n",
	       "SAVED_MAX=128; USER_FRAMES=1; KERNEL_FRAMES=1; RETURNS=1; PARENT=1; "
	       "IDENTITY_FIRST=1; ONLY_TID=5; ONLY_GOID=6; 1 parts; insert plans; "
	       "insert programs; 0: plan 0, 2 args, 128/2664 bytes; 7 usual; record "
	       "2664, dynamic 80, 0 unknown; type 100 size 8 inner -1 0; type 200 "
	       "size 8 inner -1 0; type 300 size 16 inner -1 0; ");
	fakeplan.config.callers = true;
	fakeplan.config.roots = FAKEPLAN_SOME;
	fakeplan_add(0, F, false);
	EXPECT("main.f \"%d %s\", $parent_goid, $label(\"k\")",
	       "gotrace: arguments are read by code for 1 signature\n",
	       "USER_FRAMES=1; LABELS=1; PARENT=1; IDENTITY_FIRST=1; 1 parts; insert "
	       "plans; insert programs; roots; serve roots; 0: plan 0, 2 args, 0/112 "
	       "bytes; 9 usual; record 112, dynamic 80, 0 unknown; ");
	fakeplan.config.histograms = (bool[]){false, true};
	fakeplan_add(0, F, false);
	fakeplan_add(1, F, true);
	fakeplan_expect((char *[]){"main.f s, a", "r:main.f $latency"}, 2,
			"gotrace: arguments are read by code for 2 signatures\n",
			"RETURNS=1; KEYED=1; KEY_MAX=128; KEYS=65536; ROOMS=16384; 1 parts; "
			"insert plans; insert programs; 0: plan 0, 2 args, 0/128 bytes; 1: "
			"plan 1, 1 args, 0/16 bytes; program 0 number 1 part 0 table 0 restart "
			"0; 10 usual; record 128, dynamic 80, 0 unknown; ");
	fakeplan.arch = ARCH_ARM64;
	fakeplan.programs[0].release = 20;
	fakeplan.config.user_stack = true;
	fakeplan_add(0, F, false);
	EXPECT("main.f", "",
	       "error: \"main.f\": stacks of arm64 programs from before Go 1.21 cannot "
	       "be read: their frame pointers are wrong once a stack has moved; ");
}

/* What one of several PROBEs needs, the first of them */
static void test_needs(void **state)
{
	static char needs_all[] = "main.f ($goid > 1) \"%d %s\", $parent_goid, $label(\"k\")";

	(void)state;
	fakeplan_add(0, F, false);
	fakeplan_add(1, G, false);
	fakeplan_expect((char *[]){needs_all, "main.g"}, 2,
			"gotrace: arguments are read by code for 2 signatures\n",
			"LABELS=1; PARENT=1; IDENTITY_FIRST=1; 1 parts; insert plans; insert "
			"programs; 0: plan 0, 2 args, 0/112 bytes; 1: plan 1, 1 args, 0/16 "
			"bytes; program 0 number 1 part 0 table 0 restart 7; 10 usual; record "
			"112, dynamic 80, 0 unknown; ");
}

/* Pointers are followed for few functions. */
static void test_followed(void **state)
{
	(void)state;
	for (unsigned count = 16; count <= 17; count++) {
		fakeplan.config.typed = true;
		for (unsigned i = 0; i < count; i++)
			fakeplan_add(0, POINTER, false);
		struct traceplan *plan =
			fakeplan_make((char *[]){"main.pointer"}, 1,
				      "gotrace: arguments are read by code for 1 signature\n");

		bool is_followed = traceplan_item(plan, 0)->record_size > 16;

		assert_int_equal(is_followed, count == 16);
		traceplan_free(plan);
		fakeplan_begin(NULL);
	}
}

static void test_states(void **state)
{
	(void)state;
	fakeplan_add(0, F, true);
	EXPECT("r:main.f \"%d\", $blocked", "gotrace: arguments are read by code for 1 signature\n",
	       "SAVED_MAX=40; RETURNS=1; 1 parts; insert plans; insert programs; "
	       "states $blocked; 2 parts; insert state_program; 0: plan 0, 1 args, "
	       "40/40 bytes; 9 usual; record 40, dynamic 80, 0 unknown; check "
	       "$blocked; ");
	steps.fails = "states";
	fakeplan_add(0, F, true);
	EXPECT("r:main.f \"%d\", $blocked", "",
	       "SAVED_MAX=40; RETURNS=1; 1 parts; insert plans; insert programs; "
	       "states $blocked; error: no states; ");
	steps.fails = "check";
	fakeplan_add(0, F, true);
	EXPECT("r:main.f \"%d\", $blocked", "gotrace: arguments are read by code for 1 signature\n",
	       "SAVED_MAX=40; RETURNS=1; 1 parts; insert plans; insert programs; "
	       "states $blocked; 2 parts; insert state_program; 0: plan 0, 1 args, "
	       "40/40 bytes; 9 usual; record 40, dynamic 80, 0 unknown; check "
	       "$blocked; error: no check; ");
	steps.fails = "roots";
	fakeplan.config.roots = FAKEPLAN_SOME;
	fakeplan_add(0, F, false);
	EXPECT("main.f", "",
	       "IDENTITY_FIRST=1; 1 parts; insert plans; insert programs; roots; "
	       "error: no roots; ");
}

static void test_copies(void **state)
{
	(void)state;
	fakeplan_add(0, COPY, false);
	fakeplan_add(0, UNKNOWN_COPY, true);
	EXPECT("main.*copy \"%d\", goarg1",
	       "gotrace: arguments are read by code for 2 signatures\n",
	       "copy main.copy of app by app - 0; locate 0 at 5; copy "
	       "main.unknowncopy of app by app timed - 0; locate 1 at 5; 1 parts; "
	       "insert plans; insert programs; 0: plan 0, 1 args, 0/16 bytes; 1: plan "
	       "1, 1 args, 0/0 bytes; program 0 number 1 part 0 table 1 restart 0; 10 "
	       "usual; record 16, dynamic 80, 0 unknown; ");
	fakeplan_add(0, UNKNOWN_COPY, false);
	EXPECT("main.unknowncopy", "gotrace: arguments are read by code for 1 signature\n",
	       "copy main.unknowncopy of app by app - 0; locate 0 at 5; 1 parts; "
	       "insert plans; insert programs; 0: plan 0, 1 args, 0/0 bytes; 10 "
	       "usual; record 0, dynamic 80, 0 unknown, copy main.unknowncopy; ");
	fakeplan_add(0, COPY, false);
	EXPECT("main.copy(a int) \"%d\", a",
	       "gotrace: arguments are read by code for 1 signature\n",
	       "copy main.copy of app by app typed 10; locate 0 at 5; 1 parts; insert "
	       "plans; insert programs; 0: plan 0, 1 args, 0/16 bytes; 10 usual; "
	       "record 16, dynamic 80, 0 unknown; ");
	fakeplan_add(0, COPY, false);
	EXPECT("main.copy \"%d\", $goid", "gotrace: arguments are read by code for 1 signature\n",
	       "copy main.copy of app by app - 0; locate 0 at 5; 1 parts; insert "
	       "plans; insert programs; 0: plan 0, 1 args, 0/0 bytes; 10 usual; "
	       "record 0, dynamic 80, 0 unknown; ");
	fakeplan_add(0, COPY, false)->skipped = "it has no place";
	EXPECT("main.copy", "gotrace: arguments are read by code for 0 signatures\n",
	       "copy main.copy of app by app - 0; locate 0 at 5; 1 parts; insert "
	       "plans; insert programs; 0: plan 0, 0 args, 0/0 bytes; 10 usual; "
	       "record 0, dynamic 80, 0 unknown; ");
	steps.fails = "copy";
	fakeplan_add(0, COPY, false);
	EXPECT("main.copy", "",
	       "copy main.copy of app by app - 0; error: \"main.copy\": no copy; ");
	fakeplan_add(0, F, false)->file = "main.go";
	EXPECT("@main.go:5", "gotrace: arguments are read by code for 1 signature\n",
	       "1 parts; insert plans; insert programs; 0: plan 0, 1 args, 0/0 bytes; "
	       "10 usual; record 0, dynamic 80, 0 unknown; ");
	fakeplan_add(0, F, false)->file = "main.go";
	EXPECT("@main.go:5 \"%d\", $goid", "gotrace: arguments are read by code for 1 signature\n",
	       "1 parts; insert plans; insert programs; 0: plan 0, 1 args, 0/0 bytes; "
	       "10 usual; record 0, dynamic 80, 0 unknown; ");
}

static void test_room(void **state)
{
	(void)state;
	fakeplan.config.string_max = 4096;
	fakeplan.config.typed = true;
	fakeplan_add(0, LONG, false);
	EXPECT("main.long", "gotrace: arguments are read by code for 1 signature\n",
	       "STRING_MAX=256; 1 parts; insert plans; insert programs; 0: plan 0, 1 "
	       "args, 0/16368 bytes; 9 usual; record 16368, dynamic 256, 0 unknown; "
	       "type 100 size 8 inner -1 0; type 200 size 8 inner -1 0; type 300 size "
	       "16 inner -1 0; ");
	fakeplan.config.string_max = 100;
	fakeplan_add(0, LONG, false);
	EXPECT("main.long", "gotrace: arguments are read by code for 1 signature\n",
	       "STRING_MAX=100; 1 parts; insert plans; insert programs; 0: plan 0, 1 "
	       "args, 0/14112 bytes; 9 usual; record 14112, dynamic 100, 0 unknown; "
	       "type 100 size 8 inner -1 0; type 200 size 8 inner -1 0; type 300 size "
	       "16 inner -1 0; ");
}

/* --- how plans are served --- */

static void test_tables(void **state)
{
	(void)state;
	for (int how = 0; how < 3; how++) {
		static const char *const wishes[] = {"yes", "most", "no"};
		static const char *const wanted[][2] = {
			{"gotrace: arguments are read by 3 tables\n",
			 "SAVED_MAX=16; RETURNS=1; TABLES=64; TABLE_ENTRIES=2; TABLE_BEGINS=1; "
			 "TABLE_ENDS=0; STEPS=1024; STEPS_ENTRY=8; STEPS_SAVED=4; "
			 "STEPS_RETURN=8; STEPS_DYNAMIC=1; ROOMS=128; 3 parts; insert plans; "
			 "insert programs; otherwise; 0: plan 0, 1 args, 0/128 "
			 "bytes; program 0 "
			 "number 0 part 2 table 0 restart 0; 1: plan 1, 1 args, 0/16 bytes; "
			 "program 0 number 0 part 2 table 1 restart 7; 2: plan 2, 2 args, 16/16 "
			 "bytes; program 0 number 2 part 1 table 2 restart 7 apart; 8 usual; "
			 "record 128, dynamic 80, 0 unknown; "},
			{"gotrace: arguments are read by 3 tables\n",
			 "SAVED_MAX=16; RETURNS=1; TABLES=64; TABLE_ENTRIES=2; TABLE_BEGINS=1; "
			 "TABLE_ENDS=0; STEPS=1024; STEPS_ENTRY=640; STEPS_SAVED=320; "
			 "STEPS_RETURN=128; STEPS_DYNAMIC=16; ROOMS=128; 3 parts; insert plans; "
			 "insert programs; otherwise; 0: plan 0, 1 args, 0/128 "
			 "bytes; program 0 "
			 "number 0 part 2 table 0 restart 0; 1: plan 1, 1 args, 0/16 bytes; "
			 "program 0 number 0 part 2 table 1 restart 7; 2: plan 2, 2 args, 16/16 "
			 "bytes; program 0 number 2 part 1 table 2 restart 7 apart; 8 usual; "
			 "record 128, dynamic 80, 0 unknown; "},
			{"gotrace: arguments are read by code for 3 signatures\n",
			 "SAVED_MAX=16; RETURNS=1; 1 parts; insert plans; insert "
			 "programs; 0: "
			 "plan 0, 1 args, 0/128 bytes; 1: plan 1, 1 args, 0/16 bytes; program 0 "
			 "number 1 part 0 table 1 restart 7; 2: plan 2, 2 args, 16/16 bytes; "
			 "program 0 number 2 part 0 table 2 restart 7; 9 usual; record 128, "
			 "dynamic 80, 0 unknown; "}};

		setenv("GOTOOLS_TABLES", wishes[how], 1);
		fakeplan_add(0, F, false);
		fakeplan_add(0, G, false);
		fakeplan_add(1, G, true);
		fakeplan_expect((char *[]){"main.*", "r:main.g"}, 2, wanted[how][0],
				wanted[how][1]);
	}
	setenv("GOTOOLS_TABLES", "yes", 1);
	fakeplan.cmpxchg = false;
	fakeplan_add(0, F, false);
	EXPECT("main.f",
	       "gotrace: arguments are read by code for 1 signature: tables need atomic compare "
	       "and exchange in BPF, of Linux 5.12\n",
	       "1 parts; insert plans; insert programs; 0: plan 0, 1 args, 0/128 "
	       "bytes; 10 usual; record 128, dynamic 80, 0 unknown; ");
	setenv("GOTOOLS_TABLES", "yes", 1);
	steps.fails = "tables";
	fakeplan_add(0, F, false);
	EXPECT("main.f", "gotrace: arguments are read by 1 table\n",
	       "TABLES=64; TABLE_ENTRIES=0; TABLE_BEGINS=4294967295; "
	       "TABLE_ENDS=4294967295; STEPS=1024; STEPS_ENTRY=8; STEPS_SAVED=1; "
	       "STEPS_RETURN=8; STEPS_DYNAMIC=1; ROOMS=128; 1 parts; insert plans; "
	       "insert programs; otherwise; 0: plan 0, 1 args, 0/128 bytes; 9 "
	       "usual; "
	       "record 128, dynamic 80, 0 unknown; error: cannot pass 1 tables to the "
	       "BPF program: Cannot allocate memory; ");
}

/* The kernel refuses to read by tables. */
static void test_otherwise(void **state)
{
	struct errmsg why = {.text = "too many steps"};
	FILE *theirs = stderr;
	char *text;
	size_t len;

	(void)state;
	setenv("GOTOOLS_TABLES", "yes", 1);
	fakeplan_add(0, F, false);
	struct traceplan *plan =
		fakeplan_make((char *[]){"main.f"}, 1, "gotrace: arguments are read by 1 table\n");

	steps.len = 0;
	stderr = open_memstream(&text, &len);
	fakeplan.otherwise(plan, NULL, &why);
	fclose(stderr);
	stderr = theirs;
	traceplan_free(plan);
	steps_expect("1 parts; insert plans; insert programs; ");
	printed_is(text, "gotrace: arguments are read by code instead of tables: too many steps\n");
}

/* --- several fakeplan.programs, gccgo's --- */

static void test_library(void **state)
{
	(void)state;
	fakeplan.program_count = 2;
	fakeplan.programs[0].toolchain = fakeplan.programs[1].toolchain = &toolchain_gccgo;
	fakeplan.runtimes[0].split_stack = fakeplan.runtimes[1].split_stack =
		fakeplan.runtimes[1].is_library = true;
	fakeplan.runtimes[1].tls_word = 0x55;
	fakeplan.runtimes[1].main_word = 0x66;
	fakeplan.runtimes[1].g_gopc = 300;
	fakeplan.runtimes[0].g_goid = 0;
	fakeplan.config.user_stack = true;
	fakeplan_add(0, F, false);
	fakeplan_add(0, G, false)->prog = &fakeplan.programs[1];
	EXPECT("main.*", "gotrace: arguments are read by code for 2 signatures\n",
	       "note goroutine IDs are not known in app: GOID is 0; link app lib; "
	       "USER_FRAMES=1; LIBRARY_INDEX=85; LIBRARY_MAIN=102; compare 1 0; G_GOPC=0; compare "
	       "1 0; "
	       "G_PARENT_GOID=0; PARENT=1; 1 parts; insert plans; insert programs; 0: "
	       "plan 0, 1 args, 0/128 bytes; 1: plan 1, 1 args, 0/16 bytes; program 1 "
	       "number 10001 part 0 table 1 restart 7; 7 usual; record 128, dynamic "
	       "80, 0 unknown; ");
	fakeplan.runtimes[0].split_stack = true;
	fakeplan.runtimes[0].g_goid = 0;
	fakeplan.config.only_goid = 5;
	fakeplan_add(0, F, false);
	EXPECT("main.f", "", "error: -G: goroutine IDs are not known in \"app\"; ");
}

static void test_types(void **state)
{
	bool direct;

	(void)state;
	fakeplan_add(0, LONG, false);
	fakeplan.program_count = 2;
	fakeplan.programs[1].toolchain = &toolchain_gccgo;
	fakeplan.runtimes[1].is_library = true;
	struct traceplan *plan =
		fakeplan_make((char *[]){"main.long"}, 1,
			      "gotrace: arguments are read by code for 1 signature\n");

	const struct gotype *type = traceplan_rtype(plan, 0, 0x100, &direct);

	steps_are("%s %d", type->name, direct);
	steps_are("%d", traceplan_rtype(plan, 0, 0x200, &direct) == NULL);
	steps_are("%d", traceplan_rtype(plan, 0, 0xffff000000000201, &direct) != NULL);
	steps_are("direct %d", direct);
	steps_are("%d", traceplan_rtype(plan, 0, 0xffff000000000999, &direct) != NULL);
	steps_are("direct %d", direct);
	traceplan_free(plan);
	steps_expect("link app lib; compare 1 0; compare 1 0; 1 parts; insert plans; insert "
		     "programs; 0: plan 0, 1 "
		     "args, 0/11904 bytes; 10 usual; record 11904, dynamic 80, 0 unknown; "
		     "type 100 size 8 inner -1 0; type 200 size 8 inner -1 0; type 300 size "
		     "16 inner -1 0; type 1000000000100 size 8 inner -1 0; type "
		     "1000000000200 size 8 inner -1 0; type 1000000000300 size 1 inner -1 "
		     "0; type ffff000000000201 size 8 inner -1 0; type ffff000000000301 "
		     "size 1 inner -1 0; int 1; 1; 1; direct 1; 0; direct 0; ");
}

/* Both files have a descriptor of each type: it is not told what is different in them. */
static void test_types_of_both(void **state)
{
	bool direct;

	(void)state;
	fakeplan_add(0, LONG, false);
	fakeplan.program_count = 2;
	fakeplan.programs[0].toolchain = fakeplan.programs[1].toolchain = &toolchain_gccgo;
	fakeplan.runtimes[0].is_library = fakeplan.runtimes[1].is_library = true;
	struct traceplan *plan =
		fakeplan_make((char *[]){"main.long"}, 1,
			      "gotrace: arguments are read by code for 1 signature\n");

	assert_non_null(traceplan_rtype(plan, 0, 0xffff000000000201, &direct));
	assert_true(direct);
	assert_null(traceplan_rtype(plan, 0, 0xffff000000000301, &direct));
	assert_false(direct);
	traceplan_free(plan);
	steps_expect("link app lib; compare 1 0; compare 1 0; 1 parts; insert plans; insert "
		     "programs; 0: plan 0, 1 args, 0/11904 bytes; 10 usual; record 11904, "
		     "dynamic 80, 0 unknown; type 100 size 8 inner -1 0; type 200 size 8 "
		     "inner -1 0; type 300 size 16 inner -1 0; type 1000000000100 size 8 "
		     "inner -1 0; type 1000000000200 size 8 inner -1 0; type 1000000000300 "
		     "size 1 inner -1 0; type ffff000000000201 size 8 inner -1 0; ");
}

/* --- what is refused --- */

static void test_refused(void **state)
{
	char *many[TRACE_SAME_DEPTH + 1];
	static char probe[] = "r:main.f";

	(void)state;
	EXPECT("main.f (", "",
	       "refused: \"main.f (\": col 9: expected an expression, found the end; ");
	EXPECT("main.f \"%q", "",
	       "refused: \"main.f \"%q\": col 8: expected a closing \" before the end; ");
	fakeplan_expect((char *[]){"main.f", "r:main.g \"%y\", goarg1"}, 2, "",
			"refused: \"r:main.g \"%y\", goarg1\": col 11: unknown verb %y hint verbs "
			"are %d %i %u %x %X %o %c %t %s %q %v %+v %p %f %e %g; %% prints a "
			"percent sign; ");
	for (unsigned i = 0; i <= TRACE_SAME_DEPTH; i++) {
		many[i] = probe;
		fakeplan_add(i, i == 3 ? G : F, true);
	}
	fakeplan_expect(many, TRACE_SAME_DEPTH + 1,
			"gotrace: arguments are read by code for 2 signatures\n",
			"SAVED_MAX=128; RETURNS=1; 1 parts; insert plans; insert programs; 0: "
			"plan 0, 2 args, 128/2664 bytes; 1: plan 0, 2 args, 128/2664 bytes; 2: "
			"plan 0, 2 args, 128/2664 bytes; 3: plan 1, 2 args, 16/16 bytes; "
			"program 0 number 1 part 0 table 1 restart 7; 4: plan 0, 2 args, "
			"128/2664 bytes; 5: plan 0, 2 args, 128/2664 bytes; 6: plan 0, 2 args, "
			"128/2664 bytes; 7: plan 0, 2 args, 128/2664 bytes; 8: plan 0, 2 args, "
			"128/2664 bytes; 9 usual; record 2664, dynamic 80, 0 unknown; type 100 "
			"size 8 inner -1 0; type 200 size 8 inner -1 0; type 300 size 16 inner "
			"-1 0; ");
	for (unsigned i = 0; i <= TRACE_SAME_DEPTH; i++)
		fakeplan_add(i, F, true);
	fakeplan_expect(many, TRACE_SAME_DEPTH + 1, "", "error: more than 8 r: PROBEs of main.f; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_plain, fakeplan_begin),
		cmocka_unit_test_setup(test_skipped, fakeplan_begin),
		cmocka_unit_test_setup(test_options, fakeplan_begin),
		cmocka_unit_test_setup(test_needs, fakeplan_begin),
		cmocka_unit_test_setup(test_followed, fakeplan_begin),
		cmocka_unit_test_setup(test_states, fakeplan_begin),
		cmocka_unit_test_setup(test_copies, fakeplan_begin),
		cmocka_unit_test_setup(test_room, fakeplan_begin),
		cmocka_unit_test_setup(test_tables, fakeplan_begin),
		cmocka_unit_test_setup(test_otherwise, fakeplan_begin),
		cmocka_unit_test_setup(test_library, fakeplan_begin),
		cmocka_unit_test_setup(test_types, fakeplan_begin),
		cmocka_unit_test_setup(test_types_of_both, fakeplan_begin),
		cmocka_unit_test_setup(test_refused, fakeplan_begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
