// SPDX-License-Identifier: Apache-2.0
/* Arguments of inlined copies, by where debug information has them: which of these places count.
 * Whether a place holds a parameter's first value is the test's to say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments/copyinfo_located_internal.h"
#include "arguments/provenance_internal.h"
#include "base/errmsg.h"
#include "dwarf/debuginfo.h"
#include "golang/gotype_internal.h"
#include "golang/signature.h"
#include "sites/inlining.h"
#include "sites/site_finder.h"
#include "sites/site_finder_internal.h"
#include "steps.h"
#include "unit.h"

enum { ADDR = 0x15, BELOW = 100, VARS = 3, LOCATIONS = 12, PIECES = 40, NODE = 7 };

static struct debuginfo_variable vars[VARS];
static struct debuginfo_location locations[VARS][LOCATIONS];
static struct die_piece pieces[VARS][LOCATIONS][PIECES];
static const char *wrong; /* places that do not hold the first value */
static bool no_sp;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

bool provenance_is_first(const struct provenance *of, uint64_t addr,
			 const struct provenance_place *place, struct provenance_sources *sources)
{
	struct provenance_place there;
	char name[32];

	assert_true(of->node == NODE && addr == ADDR);
	snprintf(name, sizeof(name), "%s%d ", place->in_register ? "r" : "m", (int)place->n);
	steps_are("try %s%u%s", name, place->size,
		  of->located(of->ctx, 0x10, &there) ? "" : " nowhere at 10");
	if (sources->count < PROVENANCE_SOURCES)
		sources->ids[sources->count++] = (uint64_t)place->n;
	return !wrong || !strstr(wrong, name);
}

bool site_finder_sp(const struct site_finder *finder, const struct functab_func *fn, uint64_t addr,
		    int32_t *below)
{
	*below = BELOW;
	return !no_sp;
}

/* NOLINTEND(misc-unused-parameters) */

/* main.TYPES_SIZE is a struct of such fields: i, an int; h, an int32; e, an empty struct */
static const struct gotype *find_struct(void *ctx, const char *name)
{
	struct gotypes *types = ctx;
	const char *fields = strchr(name, '.') + 1, *size = strchr(fields, '_');
	struct gotype *type = gotypes_add(types, GOTYPE_STRUCT, name);

	type->defined = true;
	type->field_count = size - fields;
	type->fields = gotypes_alloc(types, type->field_count, sizeof(*type->fields));
	type->size = strtoul(size + 1, NULL, 10);
	for (size_t i = 0; i < type->field_count; i++)
		type->fields[i].type = fields[i] == 'i'   ? gotypes_basic(types, "int")
				       : fields[i] == 'h' ? gotypes_basic(types, "int32")
							  : gotypes_add(types, GOTYPE_STRUCT, "e");
	return type;
}

/* "r5", "r5:8" and "m16:4" one after the other; "x:8": it is left out */
static void read_pieces(struct debuginfo_location *location, struct die_piece *out, char *text)
{
	char *rest = NULL;
	uint64_t off = 0;

	location->pieces = out;
	for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const char *colon = strchr(word, ':');
		uint64_t size = colon ? strtoull(colon + 1, NULL, 10) : UINT64_MAX;

		if (*word != 'x')
			out[location->count++] = (struct die_piece){
				.in_register = *word == 'r',
				.n = strtoll(word + 1, NULL, 10),
				.off = off,
				.size = size,
			};
		off += size;
	}
	location->size = off;
}

/* "10-20 r0; 20-30 m8:8 r1:8", addresses in hex */
static void read_locations(size_t n, const char *text)
{
	char copy[256], *rest = NULL;
	struct debuginfo_variable *var = &vars[n];

	snprintf(copy, sizeof(copy), "%s", text);
	*var = (struct debuginfo_variable){.locations = locations[n]};
	for (char *one = strtok_r(copy, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
		struct debuginfo_location *at = &locations[n][var->count];
		char *end;

		*at = (struct debuginfo_location){.from = strtoull(one, &end, 16)};
		at->to = strtoull(end + 1, &end, 16);
		read_pieces(at, pieces[n][var->count], end);
		var->count++;
	}
}

static void say(const char *signature, const char *first, const char *second, const char *third)
{
	const char *const texts[VARS] = {first, second, third};
	struct gotypes *types = gotypes_new();
	const struct signature_names names = {find_struct, types, 27};
	const struct inlining_copy copy = {.node = NODE};
	struct site_finder finder = {.arch = ARCH_AMD64};
	struct gofunc sig = {.dictionary = -1};
	struct abi_layout layout;
	struct errmsg err;
	char place[24];

	if (signature_parse(types, &names, signature, &sig, NULL, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < sig.param_count; i++)
		read_locations(i, texts[i]);
	const struct copyinfo_vars of = {
		.finder = &finder, .copy = &copy, .sig = &sig, .vars = vars};

	steps_are("%s %s", signature, first);
	copyinfo_located(&of, ADDR, &layout);
	assert_int_equal(layout.param_count, sig.param_count);
	assert_int_equal(layout.result_count, sig.result_count);
	for (size_t i = 0; i < layout.param_count; i++)
		for (size_t n = 0; n < layout.params[i].count; n++) {
			const struct abi_piece *piece = &layout.params[i].pieces[n];

			abi_place_text(ARCH_AMD64, piece, place, sizeof(place));
			steps_are("%zu: %u-%u %s", i, piece->off, piece->off + piece->size, place);
		}
	abi_layout_free(&layout);
	gotypes_free(types);
}

static int setup(void **state)
{
	(void)state;
	steps = (struct steps){0};
	wrong = NULL;
	no_sp = false;
	return 0;
}

static void test_one(void **state)
{
	(void)state;
	say("(a int) int", "10-20 r0", NULL, NULL);
	say("(a int)", "", NULL, NULL);
	say("(a int)", "15-16 r3", NULL, NULL);
	say("(a int)", "10-15 r3", NULL, NULL); /* it ends before, but may still be there */
	say("(a int)", "16-20 r3", NULL, NULL);
	say("(a int32)", "10-20 r3", NULL, NULL);
	say("(a float64)", "10-20 r17", NULL, NULL); /* xmm0: it is not followed */
	say("(a int)", "10-20 r16", NULL, NULL);     /* no register for values */
	say("(a int)", "10-20 m8", NULL, NULL);
	say("(a int)", "10-20 m-200", NULL, NULL); /* not on this stack */
	say("(a int)", "10-20 m-108", NULL, NULL);
	say("(a int)", "10-20 m-109", NULL, NULL);
	say("(a int)", "10-20 m2147483639", NULL, NULL);
	say("(a int)", "10-20 m2147483640", NULL, NULL);
	no_sp = true;
	say("(a int)", "10-20 m8", NULL, NULL);
	steps_expect("(a int) int 10-20 r0; try r0 8; 0: 0-8 rax; (a int) ; (a int) 15-16 "
		     "r3; try r3 8 nowhere at 10; 0: 0-8 rbx; (a int) 10-15 r3; try r3 8; "
		     "0: 0-8 rbx; (a int) 16-20 r3; try r3 8 nowhere at 10; 0: 0-8 rbx; (a "
		     "int32) 10-20 r3; try r3 8; 0: 0-4 ebx; (a float64) 10-20 r17; 0: 0-8 "
		     "xmm0; (a int) 10-20 r16; (a int) 10-20 m8; try m16 8; 0: 0-8 "
		     "[sp+116]; (a int) 10-20 m-200; (a int) 10-20 m-108; try m-100 8; 0: "
		     "0-8 [sp+0]; (a int) 10-20 m-109; (a int) 10-20 m2147483639; try "
		     "m2147483647 8; 0: 0-8 [sp+2147483747]; (a int) 10-20 m2147483640; (a "
		     "int) 10-20 m8; ");
}

/* Places where it was at another time are tried, each once. */
static void test_tried(void **state)
{
	(void)state;
	wrong = "r3 r1 m16 ";
	say("(a int)", "10-20 r3; 20-30 r1; 30-40 r3; 40-50 m8; 50-60 r0; 60-70 r2", NULL, NULL);
	say("(a int)", "20-30 r3; 30-40 r1; 40-50 m8", NULL, NULL);
	wrong = "r0 r1 r2 r3 r4 r5 r6 r8 ";
	say("(a int)",
	    "20-21 r0; 21-22 r1; 22-23 r2; 23-24 r3; 24-25 r4; 25-26 r5; 26-27 r6; 27-28 r9", NULL,
	    NULL);
	say("(a int)",
	    "20-21 r0; 21-22 r1; 22-23 r2; 23-24 r3; 24-25 r4; 25-26 r5; 26-27 r6; 27-28 r8; 28-29 "
	    "r9",
	    NULL, NULL);
	steps_expect("(a int) 10-20 r3; 20-30 r1; 30-40 r3; 40-50 m8; 50-60 r0; 60-70 r2; "
		     "try r3 8; try r3 8; try r1 8; try m16 8; try r0 8; 0: 0-8 rax; (a "
		     "int) 20-30 r3; 30-40 r1; 40-50 m8; try r3 8 nowhere at 10; try r1 8 "
		     "nowhere at 10; try m16 8 nowhere at 10; (a int) 20-21 r0; 21-22 r1; "
		     "22-23 r2; 23-24 r3; 24-25 r4; 25-26 r5; 26-27 r6; 27-28 r9; try r0 8 "
		     "nowhere at 10; try r1 8 nowhere at 10; try r2 8 nowhere at 10; try r3 "
		     "8 nowhere at 10; try r4 8 nowhere at 10; try r5 8 nowhere at 10; try "
		     "r6 8 nowhere at 10; try r9 8 nowhere at 10; 0: 0-8 r9; (a int) 20-21 "
		     "r0; 21-22 r1; 22-23 r2; 23-24 r3; 24-25 r4; 25-26 r5; 26-27 r6; 27-28 "
		     "r8; 28-29 r9; try r0 8 nowhere at 10; try r1 8 nowhere at 10; try r2 "
		     "8 nowhere at 10; try r3 8 nowhere at 10; try r4 8 nowhere at 10; try "
		     "r5 8 nowhere at 10; try r6 8 nowhere at 10; try r8 8 nowhere at 10; ");
}

/* A location counts where all pieces are there, each once. */
static void test_pieces(void **state)
{
	(void)state;
	say("(s string)", "10-20 r0:8 r3:8", NULL, NULL);
	say("(s string)", "10-20 r0:8", NULL, NULL);
	say("(s string)", "10-20 r0:8 r0:8", NULL, NULL);
	say("(s string)", "10-20 r0:8 m0:8", NULL, NULL);
	say("(s string)", "10-20 r0:8 x:8", NULL, NULL);
	say("(s string)", "10-20 r0", NULL, NULL); /* in one register it cannot be */
	say("(s []int)", "10-20 r0:8 r3:8 r1:8", NULL, NULL);
	say("(s []int)", "10-20 m16:24", NULL, NULL);
	say("(a int)", "10-20 r0:4 r3:4", NULL, NULL);
	say("(s string)", "10-20 r0:8 x:8; 20-30 r1:8 r2:8", NULL, NULL);
	say("(s string)", "10-20 r0:8; 20-30 r1:8 r2:8", NULL, NULL);
	say("(s string)", "30-40 m16:16; 20-30 r1:8 m8:8", NULL, NULL);
	say("(a [1]int)", "10-20 r0", NULL, NULL);
	say("(a [2]int)", "10-20 r0", NULL, NULL);
	say("(a [2]int)", "10-20 m8:16", NULL, NULL);
	say("(a complex128)", "10-20 r17", NULL, NULL);
	say("(a [33]int)", "10-20 m8:264", NULL, NULL);
	say("(a [3]int32)", "10-20 m8:12", NULL, NULL);
	steps_expect("(s string) 10-20 r0:8 r3:8; try r0 8; try r3 8; 0: 0-8 rax; 0: 8-16 "
		     "rbx; (s string) 10-20 r0:8; (s string) 10-20 r0:8 r0:8; (s string) "
		     "10-20 r0:8 m0:8; try r0 8; try m8 8; 0: 0-8 rax; 0: 8-16 [sp+108]; (s "
		     "string) 10-20 r0:8 x:8; try r0 8; 0: 0-8 rax; (s string) 10-20 r0; (s "
		     "[]int) 10-20 r0:8 r3:8 r1:8; try r0 8; try r3 8; try r1 8; 0: 0-8 "
		     "rax; 0: 8-16 rbx; 0: 16-24 rdx; (s []int) 10-20 m16:24; try m24 8; "
		     "try m32 8; try m40 8; 0: 0-8 [sp+124]; 0: 8-16 [sp+132]; 0: 16-24 "
		     "[sp+140]; (a int) 10-20 r0:4 r3:4; try r0 4; try r3 4; 0: 0-4 eax; 0: "
		     "4-8 ebx; (s string) 10-20 r0:8 x:8; 20-30 r1:8 r2:8; try r0 8; try r2 "
		     "8 nowhere at 10; 0: 0-8 rax; 0: 8-16 rcx; (s string) 10-20 r0:8; "
		     "20-30 r1:8 r2:8; (s string) 30-40 m16:16; 20-30 r1:8 m8:8; try m24 8 "
		     "nowhere at 10; try m32 8 nowhere at 10; 0: 0-8 [sp+124]; 0: 8-16 "
		     "[sp+132]; (a [1]int) 10-20 r0; try r0 8; 0: 0-8 rax; (a [2]int) 10-20 "
		     "r0; (a [2]int) 10-20 m8:16; try m16 8; try m24 8; 0: 0-8 [sp+116]; 0: "
		     "8-16 [sp+124]; (a complex128) 10-20 r17; (a [33]int) 10-20 m8:264; "
		     "try m16 8; try m24 8; try m32 8; try m40 8; try m48 8; try m56 8; try "
		     "m64 8; try m72 8; try m80 8; try m88 8; try m96 8; try m104 8; try "
		     "m112 8; try m120 8; try m128 8; try m136 8; try m144 8; try m152 8; "
		     "try m160 8; try m168 8; try m176 8; try m184 8; try m192 8; try m200 "
		     "8; try m208 8; try m216 8; try m224 8; try m232 8; try m240 8; try "
		     "m248 8; try m256 8; try m264 8; 0: 0-8 [sp+116]; 0: 8-16 [sp+124]; 0: "
		     "16-24 [sp+132]; 0: 24-32 [sp+140]; 0: 32-40 [sp+148]; 0: 40-48 "
		     "[sp+156]; 0: 48-56 [sp+164]; 0: 56-64 [sp+172]; 0: 64-72 [sp+180]; 0: "
		     "72-80 [sp+188]; 0: 80-88 [sp+196]; 0: 88-96 [sp+204]; 0: 96-104 "
		     "[sp+212]; 0: 104-112 [sp+220]; 0: 112-120 [sp+228]; 0: 120-128 "
		     "[sp+236]; 0: 128-136 [sp+244]; 0: 136-144 [sp+252]; 0: 144-152 "
		     "[sp+260]; 0: 152-160 [sp+268]; 0: 160-168 [sp+276]; 0: 168-176 "
		     "[sp+284]; 0: 176-184 [sp+292]; 0: 184-192 [sp+300]; 0: 192-200 "
		     "[sp+308]; 0: 200-208 [sp+316]; 0: 208-216 [sp+324]; 0: 216-224 "
		     "[sp+332]; 0: 224-232 [sp+340]; 0: 232-240 [sp+348]; 0: 240-248 "
		     "[sp+356]; 0: 248-256 [sp+364]; (a [3]int32) 10-20 m8:12; try m16 8; "
		     "try m24 4; 0: 0-8 [sp+116]; 0: 8-12 [sp+124]; ");
}

/* A struct is in one register if it is of one part that takes all of its room. */
static void test_structs(void **state)
{
	static const char *const names[] = {"i_8", "ei_8", "ie_16", "h_8", "h_4", "ii_16", "e_0"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char signature[32];

		snprintf(signature, sizeof(signature), "(a main.%s)", names[i]);
		say(signature, "10-20 r3", NULL, NULL);
	}
	steps_expect("(a main.i_8) 10-20 r3; try r3 8; 0: 0-8 rbx; (a main.ei_8) 10-20 r3; "
		     "try r3 8; 0: 0-8 rbx; (a main.ie_16) 10-20 r3; (a main.h_8) 10-20 r3; "
		     "(a main.h_4) 10-20 r3; try r3 8; 0: 0-4 ebx; (a main.ii_16) 10-20 r3; "
		     "(a main.e_0) 10-20 r3; ");
}

/* Two parameters with the same value */
static void test_shared(void **state)
{
	(void)state;
	say("(a, b, c int)", "10-20 r0", "10-20 r3", "10-20 r0");
	say("(a, b int)", "10-20 r0", "10-20 m-8", NULL);
	wrong = "r3 ";
	say("(a, b int)", "10-20 r3; 20-30 r0", "10-20 r3; 20-30 r1", NULL);
	steps_expect("(a, b, c int) 10-20 r0; try r0 8; try r3 8; try r0 8; 1: 0-8 rbx; (a, "
		     "b int) 10-20 r0; try r0 8; try m0 8; (a, b int) 10-20 r3; 20-30 r0; "
		     "try r3 8; try r3 8; try r0 8; try r3 8; try r3 8; try r1 8; 0: 0-8 "
		     "rax; 1: 0-8 rdx; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one, setup),
		cmocka_unit_test_setup(test_tried, setup),
		cmocka_unit_test_setup(test_pieces, setup),
		cmocka_unit_test_setup(test_structs, setup),
		cmocka_unit_test_setup(test_shared, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
