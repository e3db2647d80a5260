// SPDX-License-Identifier: Apache-2.0
/* Where the runtime keeps its profile of allocations, by what its code refers to, which is made up.
 */
#include "unit.h"

#include <string.h>

#include "base/errmsg.h"
#include "goroutines/runtime_refs.h"
#include "heap/heap_vars_internal.h"
#include "program/functab.h"
#include "program/program.h"

enum {
	BUCKETS = 0x1000,
	CYCLE = 0x2000,
	RATE = 0x3000,
	LAST_GC = 0x4000,
	OTHER = 0x5000,
	REFS = 8,
	FUNCS = 6,
	FIELDS = 4,
	/* Go's src/runtime/mstats.go: last_gc_unix, pause_total_ns, pause_ns [256]uint64,
	 * pause_end [256]uint64, numgc uint32 */
	PAUSE_TOTAL = LAST_GC + 8,
	PAUSE_NS = LAST_GC + 16,
	PAUSE_END = LAST_GC + 2064,
	NUMGC = LAST_GC + 4112,
};

struct func {
	const char *name; /* NULL: the program does not have it */
	struct coderef refs[REFS];
};

static struct func flush, locked, alloc, godebug, mark, last;
static const struct program prog = {.path = "app"};
static const char *profile_func;

/* --- in place of goroutines/runtime_refs.c and program/functab.c --- */

bool runtime_refs_add(const struct program *of, const char *func, struct runtime_refs *refs)
{
	const struct func *const all[FUNCS] = {&flush, &locked, &alloc, &godebug, &mark, &last};

	assert_ptr_equal(of, &prog);
	for (size_t i = 0; i < FUNCS; i++) {
		if (!all[i]->name || strcmp(all[i]->name, func) != 0)
			continue;
		for (const struct coderef *ref = all[i]->refs; ref->addr; ref++)
			refs->all[refs->count++] = *ref;
		return true;
	}
	return false;
}

bool runtime_refs_has(const struct runtime_refs *refs, uint64_t addr)
{
	for (size_t i = 0; i < refs->count; i++)
		if (refs->all[i].addr == addr)
			return true;
	return false;
}

bool runtime_refs_only(const struct runtime_refs *refs, int how, unsigned bytes, uint64_t *addr)
{
	for (size_t i = 0; i < refs->count; i++) {
		*addr = refs->all[i].addr;
		if ((int)refs->all[i].how == how && refs->all[i].bytes == bytes)
			return true;
	}
	return false;
}

bool functab_named(const struct functab *tab, const char *name, struct functab_func *out)
{
	(void)tab;
	(void)out;
	return profile_func && !strcmp(profile_func, name);
}

/* --- Go 1.27's code --- */

static int begin(void **state)
{
	(void)state;
	flush = (struct func){"runtime.mProf_Flush", {{CYCLE, 4, ACCESS_LOAD}}};
	locked = (struct func){"runtime.mProf_FlushLocked", {{BUCKETS, 8, ACCESS_LOAD}}};
	alloc = (struct func){"runtime.profilealloc",
			      {{RATE, 8, ACCESS_STORE},
			       {OTHER, 8, ACCESS_LOAD},
			       {RATE + 8, 4, ACCESS_LOAD},
			       {RATE, 8, ACCESS_LOAD}}};
	godebug = (struct func){"runtime.parsegodebug",
				{{RATE + 8, 4, ACCESS_STORE}, {RATE, 8, ACCESS_STORE}}};
	mark = (struct func){"runtime.gcMarkTermination",
			     {{OTHER, 8, ACCESS_STORE},
			      {PAUSE_TOTAL, 8, ACCESS_OTHER},
			      {LAST_GC, 8, ACCESS_STORE},
			      {PAUSE_NS, 8, ACCESS_ADDRESS}}};
	last = (struct func){"runtime.gcMarkTermination.func1",
			     {{PAUSE_END, 8, ACCESS_ADDRESS}, {NUMGC, 4, ACCESS_LOAD}}};
	profile_func = "runtime.memProfileInternal";
	return 0;
}

static struct heap_vars find(void)
{
	struct errmsg err = {0};
	struct heap_vars vars;

	if (heap_vars_find(&prog, &vars, &err))
		fail_msg("%s", err.text);
	assert_int_equal(vars.buckets, BUCKETS);
	assert_int_equal(vars.cycle, CYCLE);
	assert_int_equal(vars.rate, RATE);
	return vars;
}

static void test_found(void **state)
{
	(void)state;
	assert_int_equal(find().last_gc, LAST_GC);
	assert_true(find().used);
	profile_func = "runtime.MemProfile";
	assert_true(find().used);
	profile_func = NULL;
	assert_false(find().used);
}

/* Go 1.15 has all in one function, and GODEBUG in another. */
static void test_old(void **state)
{
	(void)state;
	flush.refs[1] = locked.refs[0];
	locked.name = NULL;
	godebug.name = "runtime.parsedebugvars";
	assert_int_equal(find().last_gc, LAST_GC);
}

/* One that lacks any of what follows it is another variable. */
static void test_last_gc(void **state)
{
	struct coderef *const all[FIELDS] = {&mark.refs[1], &mark.refs[3], &last.refs[0],
					     &last.refs[1]};

	(void)state;
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t was = all[i]->addr;

		all[i]->addr = was + 4;
		assert_int_equal(find().last_gc, 0);
		all[i]->addr = was;
	}
	assert_int_equal(find().last_gc, LAST_GC);
}

static void expect_refused(const char *why)
{
	struct errmsg err = {0};
	struct heap_vars vars;

	assert_int_equal(heap_vars_find(&prog, &vars, &err), -1);
	assert_string_equal(err.text, why);
}

static void test_not_found(void **state)
{
	static const char no_list[] =
		"app: the profile of allocations was not found in the code of "
		"runtime.mProf_Flush",
			  no_rate[] = "app: the sampling rate was not found in the code of "
				      "runtime.profilealloc";

	flush.name = NULL;
	expect_refused(no_list);
	begin(state);
	flush.refs[0].bytes = 8;
	locked.name = NULL;
	expect_refused(no_list);
	begin(state);
	locked.refs[0].how = ACCESS_STORE;
	expect_refused(no_list);
	begin(state);
	godebug.name = NULL;
	expect_refused(no_rate);
	begin(state);
	alloc.refs[3].bytes = 4;
	expect_refused(no_rate);
	begin(state);
	alloc.refs[3].how = ACCESS_STORE;
	expect_refused(no_rate);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_found, begin),
		cmocka_unit_test_setup(test_old, begin),
		cmocka_unit_test_setup(test_last_gc, begin),
		cmocka_unit_test_setup(test_not_found, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
