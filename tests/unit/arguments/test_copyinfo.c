// SPDX-License-Identifier: Apache-2.0
/* An inlined copy's probe, and which of its arguments are known there: by debug information, by the
 * code where it makes one call, or by what the user types. Each of these is the test's. */
#include <stdlib.h>
#include <string.h>

#include "arguments/copyinfo.h"
#include "arguments/copyinfo_located_internal.h"
#include "arguments/forwarder_internal.h"
#include "arguments/funcinfo_internal.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "dwarf/debuginfo.h"
#include "golang/signature.h"
#include "program/functab.h"
#include "program/program.h"
#include "sites/inlining.h"
#include "steps.h"
#include "unit.h"

enum { ENTRY = 0x10, CALL = 0x18, PLACES = 20 };

static struct gotypes *types;
static const struct program prog;
static const char *located; /* the signature that debug information has; NULL: none */
static const char *called;  /* ... and the one call; NULL: there is none */
static const char *known;   /* "10:11 14:01": which parameters are at these addresses */
static const char *known_called;
static struct site places[PLACES];
static size_t place_count;
static bool has_table, entry_emulated;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const struct gotype *find_none(void *ctx, const char *name)
{
	return NULL;
}

struct signature_names funcinfo_names(struct funcinfo *info)
{
	return (struct signature_names){find_none, NULL, 27};
}

static int parse(const char *text, struct gofunc *out, enum gofunc_source source)
{
	const struct signature_names names = {find_none, NULL, 27};
	struct errmsg err;

	*out = (struct gofunc){.dictionary = -1};
	int ret = signature_parse(types, &names, text, out, NULL, &err);

	out->source = source;
	return ret;
}

int funcinfo_typed(struct funcinfo *info, const char *name, const char *text, unsigned col,
		   struct gofunc *out, struct errmsg *err)
{
	if (steps_answer(err, "typed %s %u", name, col))
		return -1;
	return parse(text, out, GOFUNC_SIGNATURE);
}

int funcinfo_inlined(struct funcinfo *info, const struct functab_func *fn, const char *name,
		     uint64_t copy, struct gofunc *out, struct debuginfo_variable **vars)
{
	assert_int_equal(fn->addr, 0x1000);
	*vars = NULL;
	return located ? parse(located, out, GOFUNC_DEBUGINFO) : -1;
}

bool functab_func(const struct functab *tab, size_t index, struct functab_func *out)
{
	out->addr = 0x1000;
	return has_table;
}

void copyinfo_nowhere(const struct gofunc *sig, struct abi_layout *out)
{
	*out = (struct abi_layout){.param_count = sig->param_count,
				   .result_count = sig->result_count};
	out->params = mem_zalloc(sig->param_count + 1, sizeof(*out->params));
	out->results = mem_zalloc(sig->result_count + 1, sizeof(*out->results));
}

/* Whole parameters, where the digit is 1 */
static void put_known(const struct gofunc *sig, const char *digits, struct abi_layout *out)
{
	copyinfo_nowhere(sig, out);
	for (size_t i = 0; i < sig->param_count && (digits[i] == '0' || digits[i] == '1'); i++) {
		if (digits[i] == '0')
			continue;
		out->params[i].pieces = mem_zalloc(1, sizeof(*out->params[i].pieces));
		out->params[i].pieces[0].size = (uint32_t)sig->params[i].type->size;
		out->params[i].count = 1;
	}
}

void copyinfo_located(const struct copyinfo_vars *vars, uint64_t addr, struct abi_layout *out)
{
	const char *digits = "";

	steps_are("at %x", (unsigned)addr);
	for (const char *at = known; at && *at; at += strcspn(at, " "), at += *at == ' ')
		if (strtoull(at, NULL, 16) == addr)
			digits = strchr(at, ':') + 1;
	put_known(vars->sig, digits, out);
}

bool forwarder_find(struct site_finder *finder, int release, const struct inlining_copy *copy,
		    struct gotypes *memory, const struct signature_names *names,
		    const struct gofunc *typed, struct forwarder_call *out)
{
	steps_are("call, %s", !typed ? "-" : typed->source == GOFUNC_SIGNATURE ? "typed" : "DWARF");
	if (!called)
		return false;
	*out = (struct forwarder_call){.site.addr = CALL};
	parse(called, &out->sig, GOFUNC_STDLIB);
	put_known(&out->sig, known_called, &out->layout);
	return true;
}

int inlining_places(struct site_finder *finder, const struct inlining_copy *copy,
		    struct site_list *out, const char **reason)
{
	if (steps_are("places"))
		return -1;
	out->items = mem_zalloc(PLACES, sizeof(*out->items));
	memcpy(out->items, places, sizeof(places));
	out->count = place_count;
	return 0;
}

int inlining_sites(struct site_finder *finder, const struct inlining_copy *copy, bool timed,
		   struct site *entry, struct site_list *exits, const char **reason)
{
	*entry = (struct site){.addr = ENTRY, .emulated = entry_emulated};
	*reason = "it may be passed by";
	return steps_are("sites%s", timed ? " timed" : "") ? -1 : 0;
}

/* NOLINTEND(misc-unused-parameters) */

static int setup(void **state)
{
	(void)state;
	if (!types)
		types = gotypes_new();
	located = called = NULL;
	known = known_called = "";
	place_count = 0;
	has_table = true;
	entry_emulated = false;
	steps = (struct steps){0};
	return 0;
}

static void add_place(uint64_t addr, bool emulated)
{
	places[place_count++] = (struct site){.addr = addr, .emulated = emulated};
}

static void find(const char *signature, bool timed)
{
	const struct copyinfo_asker asker = {
		.prog = &prog, .memory = types, .timed = timed, .signature = signature, .col = 9};
	const struct inlining_copy copy = {.name = "main.f", .addr = ENTRY};
	struct copyinfo found;
	struct errmsg err = {0};

	if (copyinfo_find(&asker, &copy, NULL, &found, &err)) {
		steps_are("error %s%s%s", err.text, *err.hint ? " hint " : "", err.hint);
		return;
	}
	steps_are("%s%zu of %zu at %x%s, source %d", found.skipped ? "skipped, " : "", found.known,
		  found.sig.param_count, (unsigned)found.entry.addr,
		  found.entry.emulated ? " emulated" : "", found.sig.source);
	assert_int_equal(found.layout.param_count, found.sig.param_count);
	for (size_t i = 0; i < found.sig.param_count; i++)
		steps_are("%s%s", found.sig.params[i].type->name,
			  found.layout.params[i].count ? "" : " -");
	abi_layout_free(&found.layout);
}

static void expect(const char *want)
{
	steps_expect(want);
	setup(NULL);
}

/* Neither debug information nor one call */
static void test_nothing(void **state)
{
	(void)state;
	find(NULL, false);
	find(NULL, true);
	find("(a int)", false);
	has_table = false;
	located = "(a int)";
	known = "10:1";
	find(NULL, false);
	steps.fails = "sites";
	find(NULL, false);
	expect("sites; call, -; 0 of 0 at 10, source 0; sites timed; call, -; 0 of 0 "
	       "at 10, source 0; typed main.f 9; sites; call, typed; 0 of 1 at 10, "
	       "source 1; int -; sites; call, -; 0 of 0 at 10, source 0; sites; "
	       "skipped, 0 of 0 at 10, source 0; ");
	steps.fails = "typed";
	find("(a int)", false);
	expect("typed main.f 9; error no typed; ");
}

static void test_located(void **state)
{
	(void)state;
	located = "(a int, b string)";
	known = "10:11 14:11";
	add_place(0x14, true);
	find(NULL, false); /* all is known at once */
	known = "10:10 14:11 16:01";
	add_place(0x16, true);
	find(NULL, false);
	find(NULL, true);            /* it must not move */
	known = "10:10 14:01 16:00"; /* as many, at less cost */
	find(NULL, false);
	entry_emulated = true;
	find(NULL, false);
	known = "10:10 14:00 16:11"; /* more, at higher cost */
	places[1].emulated = false;
	find(NULL, false);
	steps.fails = "places";
	find(NULL, false);
	steps.fails = "sites";
	steps.times = 0;
	find(NULL, false);
	expect("sites; at 10; places; 2 of 2 at 10, source 2; int; string; sites; at "
	       "10; places; at 14; 2 of 2 at 14 emulated, source 2; int; string; "
	       "sites timed; at 10; call, DWARF; 1 of 2 at 10, source 2; int; string "
	       "-; sites; at 10; places; at 14; at 16; call, DWARF; 1 of 2 at 14 "
	       "emulated, source 2; int -; string; sites; at 10; places; at 14; at "
	       "16; call, DWARF; 1 of 2 at 10 emulated, source 2; int; string -; "
	       "sites; at 10; places; at 14; at 16; 2 of 2 at 16, source 2; int; "
	       "string; sites; at 10; places; call, DWARF; 1 of 2 at 10 emulated, "
	       "source 2; int; string -; sites; skipped, 0 of 2 at 10 emulated, "
	       "source 2; int -; string -; ");
	located = "(a int)";
	known = "2f:1";
	for (unsigned i = 0; i < 17; i++)
		add_place(0x20 + i, false);
	find(NULL, false);
	known = "30:1"; /* so many are not tried */
	find(NULL, false);
	expect("sites; at 10; places; at 20; at 21; at 22; at 23; at 24; at 25; at "
	       "26; at 27; at 28; at 29; at 2a; at 2b; at 2c; at 2d; at 2e; at 2f; 1 "
	       "of 1 at 2f, source 2; int; sites; at 10; places; at 20; at 21; at 22; "
	       "at 23; at 24; at 25; at 26; at 27; at 28; at 29; at 2a; at 2b; at 2c; "
	       "at 2d; at 2e; at 2f; call, DWARF; 0 of 1 at 10, source 2; int -; ");
}

static void test_typed(void **state)
{
	(void)state;
	located = "(a int, b string)";
	known = "10:11";
	find("(x uint, y string)", false);
	find("(x uint)", false);
	find("(x uint, y []int)", false);
	find("(x uint32, y string)", false);
	expect("typed main.f 9; sites; at 10; places; 2 of 2 at 10, source 1; uint; "
	       "string; typed main.f 9; sites; error col 9: debug information has "
	       "parameters of other sizes hint write all parameters, but not a "
	       "method's receiver; typed main.f 9; sites; error col 9: debug "
	       "information has parameters of other sizes hint write all parameters, "
	       "but not a method's receiver; typed main.f 9; sites; error col 9: "
	       "debug information has parameters of other sizes hint write all "
	       "parameters, but not a method's receiver; ");
}

static void test_called(void **state)
{
	(void)state;
	called = "(a int, b int)";
	known_called = "11";
	find(NULL, false);
	find(NULL, true); /* it stands elsewhere */
	located = "(a int, b int)";
	known = "10:10";
	find(NULL, false);
	known_called = "01"; /* as many */
	find(NULL, false);
	known = "10:11";
	find(NULL, false);
	located = "()";
	find(NULL, false);
	expect("sites; call, -; 2 of 2 at 18, source 5; int; int; sites timed; call, "
	       "-; 0 of 0 at 10, source 0; sites; at 10; places; call, DWARF; 2 of 2 "
	       "at 18, source 5; int; int; sites; at 10; places; call, DWARF; 1 of 2 "
	       "at 10, source 2; int; int -; sites; at 10; places; 2 of 2 at 10, "
	       "source 2; int; int; sites; at 10; places; call, DWARF; 1 of 2 at 18, "
	       "source 5; int -; int; ");
	called = "(a int)";
	known_called = "1";
	find("(a int)", false);
	steps.fails = "sites";
	find(NULL, false);
	expect("typed main.f 9; sites; call, typed; 1 of 1 at 18, source 5; int; "
	       "sites; skipped, 0 of 0 at 10, source 0; ");
}

static int end(void **state)
{
	(void)state;
	gotypes_free(types);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing, setup),
		cmocka_unit_test_setup(test_located, setup),
		cmocka_unit_test_setup(test_typed, setup),
		cmocka_unit_test_setup(test_called, setup),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
