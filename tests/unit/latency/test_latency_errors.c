// SPDX-License-Identifier: Apache-2.0
/* Where functions leave their error, as the kernel side is told: of the program of gofile.h, with
 * signatures that are this test's. */
#include "gofile_open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/abi.h"
#include "arguments/funcinfo.h"
#include "bpf-src/shared/latency.h"
#include "golang/gofunc.h"
#include "kernel/bpfmap.h"
#include "latency/errors.h"
#include "program/program.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

enum { FUNCS = 3, MAP = 7, ROWS_MAX = 3 };

static const struct gotype error_type = {.kind = GOTYPE_INTERFACE, .name = "error"},
			   other_type = {.kind = GOTYPE_INTERFACE, .name = "fmt.Stringer"},
			   string_type = {.kind = GOTYPE_STRING, .name = "error"},
			   nameless_type = {.kind = GOTYPE_INTERFACE};

struct signature {
	const struct gotype *types[2];
	size_t count;
	struct abi_piece piece; /* the first of the last result's; of size 0: it has none */
	bool unknown;           /* where results are */
};

static struct signature signatures[FUNCS];
static struct opened o;
static struct program progs[2];
static struct selection sel;
static struct error_place told[ROWS_MAX];
static unsigned told_rows, opened, freed;
static bool no_map;

/* --- of arguments/, tracing/ and kernel/ --- */

struct funcinfo *funcinfo_new(const struct program *prog, struct gotypes *memory)
{
	assert_non_null(memory);
	opened++;
	return (struct funcinfo *)prog;
}

void funcinfo_free(struct funcinfo *info)
{
	freed += info != NULL;
}

void funcinfo_find(struct funcinfo *info, const struct functab_func *fn, struct gofunc *out)
{
	static struct goparam results[2];
	const struct signature *of = &signatures[fn->index];

	assert_non_null(info);
	for (size_t i = 0; i < 2; i++)
		results[i].type = of->types[i];
	*out = (struct gofunc){.results = results, .result_count = of->count};
}

uint64_t funcinfo_layout(struct funcinfo *info, const struct functab_func *fn,
			 const struct gofunc *sig, struct abi_layout *out)
{
	const struct signature *of = &signatures[fn->index];

	assert_non_null(info);
	*out = (struct abi_layout){.result_count = of->unknown ? 0 : sig->result_count};
	if (of->unknown)
		return 0;
	out->results = calloc(sig->result_count, sizeof(*out->results));
	if (of->piece.size)
		abi_keep_pieces(&out->results[sig->result_count - 1], &of->piece, 1);
	return 0;
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &sel;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	(void)tracer;
	assert_string_equal(name, "error_places");
	return MAP;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	uint32_t row = *(const uint32_t *)key;

	assert_int_equal(fd, MAP);
	assert_true(row < ROWS_MAX);
	memcpy(&told[row], value, sizeof(told[row]));
	told_rows |= 1 << row;
	errno = ENOMEM;
	return no_map ? -1 : 0;
}

/* --- */

static int setup(void **state)
{
	*state = NULL;
	gofile_make(&o.g, 23, EM_X86_64);
	open_it(&o);
	for (unsigned i = 0; i < 2; i++)
		progs[i] = (struct program){.img = o.img, .tab = o.tab};
	told_rows = opened = freed = 0;
	no_map = false;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close_it(&o);
	return 0;
}

/* Tells the kernel side of these items, and returns what it was told; the caller frees. */
static struct errors *plan(struct selection_item *items, size_t count, size_t rows)
{
	struct errors *errors = errors_new();
	struct errmsg err = {0};

	sel = (struct selection){.items = items, .item_count = count, .row_count = rows};
	assert_int_equal(errors_plan(errors, NULL, &err), 0);
	assert_int_equal(errors_begin(errors, NULL, &err), 0);
	assert_int_equal(opened, freed);
	return errors;
}

static void expect(const struct signature *signature, enum error_where where, unsigned n)
{
	struct selection_item item = {.prog = &progs[0], .func = 1};

	signatures[1] = *signature;
	told_rows = 0;
	struct errors *errors = plan(&item, 1, 1);

	assert_int_equal(errors_counted(errors, 0), where != ERROR_NOWHERE);
	assert_false(errors_counted(errors, 1));
	assert_int_equal(told_rows, where != ERROR_NOWHERE);
	if (told_rows) {
		assert_int_equal(told[0].where, where);
		assert_int_equal(told[0].n, n);
	}
	errors_free(errors);
}

static void test_places(void **state)
{
	struct signature of = {{&error_type}, 1, {.where = ABI_INT, .n = 2, .size = 8}, false};

	(void)state;
	expect(&of, ERROR_IN_REGISTER, 2);
	of.piece = (struct abi_piece){.where = ABI_SLOT, .n = 24, .size = 16};
	expect(&of, ERROR_ON_STACK, 24);
	of.piece.where = ABI_HARDWARE;
	expect(&of, ERROR_NOWHERE, 0);
	of.piece.where = ABI_SLOT;
	of.piece.size = 4;
	expect(&of, ERROR_NOWHERE, 0);
	of.piece.size = 8;
	of.piece.off = 8;
	expect(&of, ERROR_NOWHERE, 0);
	of.piece.off = 0;
	of.piece.from = 4;
	expect(&of, ERROR_NOWHERE, 0);
	of.piece = (struct abi_piece){0};
	expect(&of, ERROR_NOWHERE, 0);
	of.piece = (struct abi_piece){.where = ABI_INT, .n = 2, .size = 8};
	of.unknown = true;
	expect(&of, ERROR_NOWHERE, 0);
	of.unknown = false;
	of.count = 0;
	expect(&of, ERROR_NOWHERE, 0);
	of.count = 2; /* of two the last counts */
	of.types[1] = &string_type;
	expect(&of, ERROR_NOWHERE, 0);
	of.types[1] = &other_type;
	expect(&of, ERROR_NOWHERE, 0);
	of.types[1] = &nameless_type;
	expect(&of, ERROR_NOWHERE, 0);
	of.types[1] = NULL;
	expect(&of, ERROR_NOWHERE, 0);
	of.types[1] = of.types[0];
	of.types[0] = &string_type;
	expect(&of, ERROR_IN_REGISTER, 2);
}

/* A row's functions, which may be of several programs, have it in one place, or it is not counted;
 * an inlined copy has none. */
static void test_rows(void **state)
{
	const struct signature of = {
		{&error_type}, 1, {.where = ABI_INT, .n = 0, .size = 8}, false};
	struct selection_item items[] = {{.prog = &progs[0], .func = 0, .row = 0},
					 {.prog = &progs[0], .func = 1, .row = 1},
					 {.prog = &progs[0], .func = 2, .row = 2},
					 {.prog = &progs[1], .func = 0, .row = 0},
					 {.prog = &progs[1], .func = 2, .row = 1}};

	(void)state;
	for (unsigned i = 0; i < FUNCS; i++)
		signatures[i] = of;
	signatures[2].piece.n = 1;
	struct errors *errors = plan(items, 5, 3);

	assert_int_equal(opened, 2);
	assert_true(errors_counted(errors, 0));
	assert_false(errors_counted(errors, 1));
	assert_true(errors_counted(errors, 2));
	assert_int_equal(told_rows, 5);
	assert_int_equal(told[2].n, 1);
	errors_free(errors);
	signatures[2].piece.n = 0;
	signatures[2].piece.where = ABI_SLOT;
	errors = plan(items, 5, 3);
	assert_false(errors_counted(errors, 1));
	errors_free(errors);
	signatures[2] = of;
	items[4].is_copy = true;
	errors = plan(items, 5, 3);
	assert_true(errors_counted(errors, 0));
	assert_false(errors_counted(errors, 1));
	errors_free(errors);
	items[4].is_copy = false;
	items[4].func = FUNCS; /* there is none */
	errors = plan(items, 5, 3);
	assert_false(errors_counted(errors, 1));
	errors_free(errors);
	errors_free(NULL);
}

static void test_not_told(void **state)
{
	struct selection_item item = {.prog = &progs[0], .func = 1};
	struct errors *errors;
	struct errmsg err = {0};

	(void)state;
	signatures[1] = (struct signature){{&error_type}, 1, {.where = ABI_INT, .size = 8}, false};
	errors = plan(&item, 1, 1);
	no_map = true;
	assert_int_equal(errors_begin(errors, NULL, &err), -1);
	assert_string_equal(err.text,
			    "cannot tell the BPF program where errors are: Cannot allocate memory");
	errors_free(errors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_told, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
