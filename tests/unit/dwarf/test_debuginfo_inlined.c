// SPDX-License-Identifier: Apache-2.0
/* What DWARF says of inlined copies. */
#include "dwarffile_open.h"
#include "golang/gofunc.h"
#include "unit.h"

#define OPS(text) text, sizeof(text) - 1

/* DW_OP_reg0, reg3, fbreg -16, piece 8 */
#define REG0 "\x50"
#define REG3 "\x53"
#define FBREG "\x91\x70"
#define PIECE8 "\x93\x08"

struct copy {
	struct opened o;
	uint64_t at;
	uint32_t origin, x, s;
};

static void begin(struct copy *c)
{
	struct dwarffile *d = &c->o.d;

	*c = (struct copy){0};
	dwarffile_make(d, 23);
	dwarffile_begin(d, "runtime", "runtime");
	uint32_t integer = dwarffile_base(d, "int", 8, DWARFFILE_INT);
	uint32_t text = dwarffile_base(d, "string", 16, DWARFFILE_STRING);

	c->origin = dwarffile_abstract(d, "main.inl1");
	c->x = d->used;
	dwarffile_param(d, "x", integer, false);
	c->s = d->used;
	dwarffile_param(d, "s", text, false);
	dwarffile_param(d, "r", integer, true);
	dwarffile_close(d);
	c->at = d->g.starts[1] + 0x10;
	dwarffile_func(d, "main.b", d->g.starts[1]);
}

static void end(struct copy *c)
{
	dwarffile_close(&c->o.d);
	dwarffile_end(&c->o.d);
	open_it(&c->o);
}

static int find(struct copy *c, uint64_t at, struct gofunc *sig, struct debuginfo_variable **vars)
{
	return debuginfo_inlined(c->o.dbg, c->o.d.g.starts[1], "main.inl1", at, sig, vars);
}

/* Within another copy; what has no place is not listed in it. */
static void test_nested(void **state)
{
	struct debuginfo_variable *vars;
	struct gofunc sig;
	struct copy c;

	(void)state;
	begin(&c);
	dwarffile_copy(&c.o.d, c.origin, c.at - 8, c.at + 0x20);
	dwarffile_copy(&c.o.d, c.origin, c.at, c.at + 8);
	dwarffile_copy_param(&c.o.d, c.s, c.at, c.at + 4, OPS(REG0 PIECE8 FBREG PIECE8));
	dwarffile_close(&c.o.d);
	dwarffile_close(&c.o.d);
	end(&c);
	assert_int_equal(find(&c, c.at + 1, &sig, &vars), -1);
	assert_int_equal(find(&c, c.at, &sig, &vars), 0);
	assert_int_equal(sig.param_count, 2);
	assert_string_equal(sig.params[1].name, "s");
	assert_int_equal(sig.result_count, 1);
	assert_int_equal(vars[0].count, 0);
	assert_int_equal(vars[1].count, 1);
	const struct debuginfo_location *location = vars[1].locations;

	assert_int_equal(location->from, c.at);
	assert_int_equal(location->to, c.at + 4);
	assert_int_equal(location->count, 2);
	assert_int_equal(location->size, 16);
	assert_true(location->pieces[0].in_register);
	assert_int_equal(location->pieces[0].n, 0);
	assert_false(location->pieces[1].in_register);
	assert_int_equal(location->pieces[1].n, -16);
	assert_int_equal(location->pieces[1].off, 8);
	close_it(&c.o);
}

/* Two that begin at one address cannot be told apart. */
static void test_same(void **state)
{
	struct debuginfo_variable *vars;
	struct gofunc sig;
	struct copy c;

	(void)state;
	begin(&c);
	for (int i = 0; i < 2; i++) {
		dwarffile_copy(&c.o.d, c.origin, c.at, c.at + 8);
		dwarffile_close(&c.o.d);
	}
	end(&c);
	assert_int_equal(find(&c, c.at, &sig, &vars), -1);
	close_it(&c.o);
}

static const struct {
	const char *ops;
	size_t len;
	size_t count;  /* of pieces; 0: nowhere */
	uint64_t size; /* told of; UINT64_MAX: one whole */
	uint64_t off;  /* of the first */
} descriptions[] = {
	{OPS(REG0), 1, UINT64_MAX, 0},       {OPS("\x9c"), 1, UINT64_MAX, 0}, /* call_frame_cfa */
	{OPS(PIECE8 REG3 PIECE8), 1, 16, 8}, {OPS(REG0 PIECE8 PIECE8), 1, 16, 0},
	{OPS(REG0 PIECE8), 1, 8, 0},         {OPS(REG0 PIECE8 REG3), 0, 0, 0},
	{OPS(REG0 REG3), 0, 0, 0},           {OPS(""), 0, 0, 0},
	{OPS("\x31\x9f"), 0, 0, 0}, /* lit1, stack_value */
	{OPS("\x70\x08"), 0, 0, 0}, /* breg0 8 */
};

static void test_descriptions(void **state)
{
	struct debuginfo_variable *vars;
	struct gofunc sig;
	struct copy c;

	(void)state;
	for (size_t i = 0; i < sizeof(descriptions) / sizeof(*descriptions); i++) {
		begin(&c);
		dwarffile_copy(&c.o.d, c.origin, c.at, c.at + 8);
		dwarffile_copy_param(&c.o.d, c.s, c.at, c.at + 4, descriptions[i].ops,
				     descriptions[i].len);
		dwarffile_close(&c.o.d);
		end(&c);
		assert_int_equal(find(&c, c.at, &sig, &vars), 0);
		assert_int_equal(vars[1].count, 1);
		assert_int_equal(vars[1].locations[0].count, descriptions[i].count);
		assert_int_equal(vars[1].locations[0].size, descriptions[i].size);
		if (descriptions[i].count)
			assert_int_equal(vars[1].locations[0].pieces[0].off, descriptions[i].off);
		close_it(&c.o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_descriptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
