// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "golang/gccgoname.h"
#include "unit.h"

static const struct row {
	const char *symbol, *text,
		*pointer; /* NULL: no function of Go's; of a value receiver too */
} rows[] = {
	{"main.main", "main.main", "main.main"},
	{"main.T.Foo", "main.T.Foo", "main.(*T).Foo"},
	{"net_1http.conn.serve", "net/http.conn.serve", "net/http.(*conn).serve"},
	{"main.main..func1", "main.main.func1", "main.main.func1"},
	{"main.T.Foo..func12", "main.T.Foo.func12", "main.(*T).Foo.func12"},
	{"main._0go..func2", "main.glob..func2", "main.glob..func2"},
	{"main.E.Bar..stub", "main.(*E).Bar", "main.(*E).Bar"},
	{"main.E.Bar_0_0stub2", "main.(*E).Bar", "main.(*E).Bar"},
	{"main.E.Bar_0_0stubs", "main.E.Bar..stubs", "main.(*E).Bar..stubs"},
	{"main._0_0stub2", "main...stub2", "main...stub2"},
	{"main.main..init0", "main.init.0", "main.init.0"},
	{"archive_1tar.archive_1tar..init12", "archive/tar.init.12", "archive/tar.init.12"},
	{"fmt..import", "fmt.init", "fmt.init"},
	{"__go_init_main", "main.init", "main.init"},
	{"main.go..thunk3", "main.go..thunk3", "main.go..thunk3"},
	{"main.E..eq", "type:.eq.main.E", "type:.eq.main.E"},
	{"main.E..hash", "type:.hash.main.E", "type:.hash.main.E"},
	{"main._61024_7uint8..eq", "type:.eq.[1024]uint8", "type:.eq.[1024]uint8"},
	{"main.struct_4runtime_0gList_cruntime_0n_bint32_5..eq",
	 "type:.eq.struct{runtime.gList;runtime.n int32}",
	 "type:.eq.struct{runtime.gList;runtime.n int32}"},
	{"main._u00dc_u00f1_u00ed", "main.Üñí", "main.Üñí"},
	{"main._U0001d4d0x", "main.𝓐x", "main.𝓐x"},
	{"main.a__b", "main.a_b", "main.a_b"},
	{"golang_0org_1x_1net.F", "golang.org/x/net.F", "golang.org/x/net.F"},
	{"bytes.Equal.isra.0", "bytes.Equal", "bytes.Equal"},
	{"main.f.constprop.0.isra.12", "main.f", "main.f"},
	{"main.T.M.constprop.0", "main.T.M", "main.(*T).M"},
	{"main.isra.M", "main.isra.M", "main.(*isra).M"},
	/* what is no escape stays */
	{"main._ud800", "main._ud800", "main._ud800"},
	{"main._u0080", "main.\xc2\x80", "main.\xc2\x80"},
	{"main._u07ff", "main.\u07ff", "main.\u07ff"},
	{"main._u0800", "main.\u0800", "main.\u0800"},
	{"main._uffff", "main.\uffff", "main.\uffff"},
	{"main._U00010000", "main.\U00010000", "main.\U00010000"},
	{"main._U0010ffff", "main.\U0010ffff", "main.\U0010ffff"},
	{"main._U00110000", "main._U00110000", "main._U00110000"},
	{"main._ud7ff", "main.\ud7ff", "main.\ud7ff"},
	{"main._udfff", "main._udfff", "main._udfff"},
	{"main._ue000", "main.\ue000", "main.\ue000"},
	{"main._u00g0", "main._u00g0", "main._u00g0"},
	{"main._u00", "main._u00", "main._u00"},
	{"main._U00110000", "main._U00110000", "main._U00110000"},
	{"main._u0000", "main._u0000", "main._u0000"},
	{"main._z_", "main._z_", "main._z_"},
	/* others' */
	{"memcpy", NULL, NULL},
	{"", NULL, NULL},
	{".", NULL, NULL},
	{".f", NULL, NULL},
	{"main.", NULL, NULL},
	{"main..", NULL, NULL},
	{"main..eq", NULL, NULL},
	{"main.f.", NULL, NULL},
	{"main.f..", NULL, NULL},
	{"main.f..func", NULL, NULL},
	{"main.f..func1x", NULL, NULL},
	{"main.f..func1..r", NULL, NULL},
	{"fmt.fmt_0pp_0catchPanic..r", NULL, NULL},
	{"main.main..f", NULL, NULL},
	{"main.T..d", NULL, NULL},
	{"main.f.part.0", NULL, NULL},
	{"main.T.M.part.0", NULL, NULL},
	{"add_ranges.isra.0", NULL, NULL},
	{".isra.0", NULL, NULL},
	{"isra.0", NULL, NULL},
};

static void check(const struct gccgoname *name, const struct row *row, bool pointer)
{
	const char *want = pointer ? row->pointer : row->text;
	char *got = gccgoname_text(name, pointer);

	if (strcmp(got, want) != 0)
		fail_msg("%s: %s instead of %s", row->symbol, got, want);
	free(got);
}

static void test_rows(void **state)
{
	struct gccgoname name;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool is_function = gccgoname_parse(rows[i].symbol, &name);

		if (is_function != (rows[i].text != NULL))
			fail_msg("%s: %sa function", rows[i].symbol, is_function ? "" : "not ");
		if (!is_function)
			continue;
		check(&name, &rows[i], false);
		check(&name, &rows[i], true);
	}
}

/* Every text is some name or none; the sanitizers watch. */
static void test_any_text(void **state)
{
	static const char letters[] = "a._0uU1cold";
	char text[8] = "";
	struct gccgoname name;

	(void)state;
	for (unsigned n = 0; n < 11 * 11 * 11 * 11 * 11; n++) {
		unsigned rest = n;

		for (unsigned i = 0; i < 5; i++, rest /= 11)
			text[i] = letters[rest % 11];
		if (gccgoname_parse(text, &name))
			free(gccgoname_text(&name, true));
		free(gccgoname_decode(text, 5));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
