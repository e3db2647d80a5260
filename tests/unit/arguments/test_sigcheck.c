// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "abi/abi.h"
#include "arguments/sigcheck_internal.h"
#include "machine/arch.h"
#include "golang/gofunc.h"
#include "golang/gotype.h"
#include "unit.h"

/* What a signature says, or a table: a value in one or two registers, or in a stack slot. */
struct value {
	const char *name;
	enum gotype_kind kind;
	uint32_t size;
	enum abi_where where;
	uint32_t n[2], sizes[2];
	bool is_guess;
};

enum { VALUES = 3 };

struct side { /* of the comparison */
	struct gotype types[VALUES];
	struct goparam params[VALUES];
	struct abi_piece pieces[VALUES][2];
	struct abi_value values[VALUES];
	struct gofunc fn;
	struct abi_layout layout;
};

static void make(struct side *side, const struct value *values)
{
	size_t count = 0;

	*side = (struct side){0};
	for (; count < VALUES && values[count].name; count++) {
		const struct value *v = &values[count];
		uint32_t off = 0;

		side->types[count] =
			(struct gotype){.kind = v->kind, .name = v->name, .size = v->size};
		side->params[count] = (struct goparam){.name = v->name,
						       .type = &side->types[count],
						       .is_guess = v->is_guess,
						       .place = GOPARAM_SAVED};
		side->values[count].pieces = side->pieces[count];
		for (size_t i = 0; i < 2 && v->sizes[i]; off += v->sizes[i++])
			side->pieces[count][side->values[count].count++] =
				(struct abi_piece){v->where, v->n[i], off, v->sizes[i], 0};
	}
	side->fn = (struct gofunc){.params = side->params, .param_count = count};
	side->layout = (struct abi_layout){.params = side->values, .param_count = count};
}

/* clang-format off */
#define INT(reg, bytes) {"int", GOTYPE_INT, bytes, ABI_INT, {reg}, {bytes}, false}
#define STRING(a, b) {"string", GOTYPE_STRING, 16, ABI_INT, {a, b}, {8, 8}, false}
#define SLOT(at, bytes) {"slot", GOTYPE_INT, bytes, ABI_SLOT, {at}, {bytes}, false}
#define OPEN {"...", GOTYPE_UNKNOWN, 0, ABI_INT, {0}, {0}, false}

static const struct {
	struct value sig[VALUES], table[VALUES];
	bool agrees;
} cases[] = {
	{{INT(0, 8)}, {INT(0, 8)}, true},
	{{{0}}, {{0}}, true},
	{{INT(0, 8)}, {INT(1, 8)}, false},              /* another register */
	{{INT(0, 8)}, {SLOT(0, 8)}, false},
	{{INT(0, 8)}, {INT(0, 4)}, false},              /* a part of it is elsewhere */
	{{INT(0, 4)}, {INT(0, 8)}, false},              /* less than there is */
	{{SLOT(0, 8)}, {SLOT(0, 8)}, true},
	{{SLOT(0, 8)}, {SLOT(8, 8)}, false},
	{{SLOT(0, 16)}, {SLOT(0, 8)}, true},            /* padding */
	{{SLOT(0, 24)}, {SLOT(0, 8)}, false},           /* too much for padding */
	{{STRING(0, 1)}, {STRING(0, 1)}, true},
	{{STRING(0, 1)}, {STRING(0, 2)}, false},
	{{INT(0, 8)}, {STRING(0, 1)}, false},
	{{STRING(0, 1)}, {INT(0, 8)}, false},           /* another register more */
	{{INT(0, 8), INT(1, 8)}, {INT(0, 8)}, false},   /* a parameter too many */
	{{INT(0, 8)}, {INT(0, 8), INT(1, 8)}, true},    /* the last are left out */
	{{INT(0, 8), INT(1, 8)}, {INT(0, 8), OPEN}, true}, /* tables end at ten values */
	{{INT(1, 8), INT(0, 8)}, {INT(0, 8), OPEN}, false},
};
/* clang-format on */

static void test_agrees(void **state)
{
	struct side sig, table;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(&sig, cases[i].sig);
		make(&table, cases[i].table);
		if (sigcheck_agrees(&sig.fn, &sig.layout, &table.fn, &table.layout) !=
		    cases[i].agrees)
			fail_msg("case %zu: not %d", i, cases[i].agrees);
	}
}

/* From a guess on, whose place in the order is not certain, nothing contradicts. */
static void test_guess(void **state)
{
	struct value table[VALUES] = {INT(0, 8), INT(5, 8)};
	const struct value given[VALUES] = {INT(0, 8), INT(1, 8)};
	struct side sig, told;

	(void)state;
	make(&sig, given);
	make(&told, table);
	assert_false(sigcheck_agrees(&sig.fn, &sig.layout, &told.fn, &told.layout));
	table[1].is_guess = true;
	make(&told, table);
	assert_true(sigcheck_agrees(&sig.fn, &sig.layout, &told.fn, &told.layout));
}

static void expect_text(const struct value *values, const char *expected)
{
	struct side side;

	make(&side, values);
	char *text = sigcheck_text(ARCH_AMD64, &side.fn, &side.layout);

	assert_string_equal(text, expected);
	free(text);
}

static void test_text(void **state)
{
	(void)state;
	expect_text((const struct value[VALUES]){{0}}, "nothing");
	expect_text((const struct value[VALUES]){STRING(0, 1), INT(2, 1), OPEN},
		    "string string: 8+8 bytes in rax, rbx; int int: 1 byte in cl; ...");
	expect_text((const struct value[VALUES]){SLOT(8, 4)}, "slot slot: 4 bytes in [sp+16]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
