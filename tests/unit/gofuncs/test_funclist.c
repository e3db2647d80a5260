// SPDX-License-Identifier: Apache-2.0
/* What gofuncs says of functions and of inlined copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gofuncs/funclist.h"
#include "listing.h"
#include "unit.h"

static void check_list(const struct listing *l, enum funclist_style style, bool functions_only,
		       const char *expected)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	funclist_print(out, l->sel, style, functions_only);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_names(void **state)
{
	struct listing l;

	(void)state;
	listing_open(&l, "t", "s");
	listing_add(&l, "main.*");
	check_list(&l, FUNCLIST_NAMES, true, "main.a\nmain.b\nmain.c\n");
	check_list(&l, FUNCLIST_NAMES, false, "main.a\nmain.b\nmain.c\nmain.inl1\nmain.inl2\n");
	listing_close(&l);
}

/* By name, in whatever order they were asked for; once */
static void test_order(void **state)
{
	struct listing l;

	(void)state;
	listing_open(&l, "t", "s");
	listing_add(&l, "main.c");
	listing_add(&l, "main.a");
	listing_add(&l, "main.*");
	check_list(&l, FUNCLIST_NAMES, true, "main.a\nmain.b\nmain.c\n");
	listing_close(&l);
}

static void test_none(void **state)
{
	struct listing l;

	(void)state;
	listing_open(&l, "t", "s");
	check_list(&l, FUNCLIST_NAMES, false, "");
	check_list(&l, FUNCLIST_JSON, false, "");
	listing_close(&l);
}

/* main.a is assembly, whose arguments are on the stack. */
static void test_details(void **state)
{
	struct listing l;

	(void)state;
	listing_open(&l, "t\x1b", "s");
	listing_add(&l, "main.*");
	check_list(&l, FUNCLIST_DETAILS, false,
		   "main.a\n"
		   "    at       0x401000 file offset 0x1000, 64 bytes, a.s:10\n"
		   "    args     n int8 ([sp+8]), p *main.T ([sp+16])\n"
		   "    results  none\n"
		   "    types    debug information\n"
		   "    entry    0x401000 file offset 0x1000, first, emulated\n"
		   "    return   0x401005 file offset 0x1005, ret, single-stepped\n"
		   "main.b\n"
		   "    at       0x401040 file offset 0x1040, 64 bytes, b.go:10\n"
		   "    args     t\\x1b main.T (rax, rbx)\n"
		   "    results  none\n"
		   "    types    debug information\n"
		   "    entry    0x401040 file offset 0x1040, first, emulated\n"
		   "    return   0x40106c file offset 0x106c, ret, single-stepped\n"
		   "main.c\n"
		   "    at       0x401080 file offset 0x1080, 64 bytes, b.go:10\n"
		   "    args     16 bytes in all, stack results included\n"
		   "    types    not known\n"
		   "    entry    0x401080 file offset 0x1080, first, emulated\n"
		   "    no end   calls never return\n"
		   "main.inl1\n"
		   "    inlined  0x401044 file offset 0x1044, in main.b, b.go:20\n"
		   "    caller   main.b, b.go:10\n"
		   "    args     x int (rbx)\n"
		   "    types    debug information\n"
		   "    args at  0x401044 file offset 0x1044, inlined, emulated\n"
		   "    entry    0x401058 file offset 0x1058, inlined-call, emulated\n"
		   "    exit     0x40105d file offset 0x105d, inlined-exit, emulated\n"
		   "main.inl2\n"
		   "    inlined  0x401058 file offset 0x1058, in main.b, b.go:20\n"
		   "    caller   main.inl1, b.go:20\n"
		   "             main.b, b.go:10\n"
		   "    types    not known\n"
		   "    entry    0x401058 file offset 0x1058, inlined-call, emulated\n"
		   "    exit     0x40105d file offset 0x105d, inlined-exit, emulated\n");
	listing_close(&l);
}

static void test_json(void **state)
{
	struct listing l;

	(void)state;
	listing_open(&l, "t\x1b", "s");
	listing_add(&l, "main.*");
	check_list(&l, FUNCLIST_JSON, false,
		   "{\"type\":\"func\",\"func\":\"main.a\",\"functions\":[{\"size\":64,\"addr\":"
		   "4198400,\"off\":4096,\"file\":\"a.s\",\"line\":10,\"args\":[{\"name\":\"n\","
		   "\"type\":\"int8\",\"size\":1,\"in\":[\"[sp+8]\"],\"from\":\"debuginfo\"},{"
		   "\"name\":\"p\",\"type\":\"*main.T\",\"size\":8,\"in\":[\"[sp+16]\"],\"from\":"
		   "\"debuginfo\"}],\"results\":[],\"types_from\":\"debuginfo\",\"entry\":{"
		   "\"addr\":4198400,\"off\":4096,\"kind\":\"first\",\"emulated\":true},"
		   "\"returns\":[{\"addr\":4198405,\"off\":4101,\"kind\":\"ret\",\"emulated\":"
		   "false}],\"reason\":null}],\"inlined\":[]}\n"
		   "{\"type\":\"func\",\"func\":\"main.b\",\"functions\":[{\"size\":64,\"addr\":"
		   "4198464,\"off\":4160,\"file\":\"b.go\",\"line\":10,\"args\":[{\"name\":"
		   "\"t\\u001b\",\"type\":\"main.T\",\"size\":16,\"in\":[\"rax\",\"rbx\"],\"from\":"
		   "\"debuginfo\"}],\"results\":[],\"types_from\":\"debuginfo\",\"entry\":{"
		   "\"addr\":4198464,\"off\":4160,\"kind\":\"first\",\"emulated\":true},"
		   "\"returns\":[{\"addr\":4198508,\"off\":4204,\"kind\":\"ret\",\"emulated\":"
		   "false}],\"reason\":null}],\"inlined\":[]}\n"
		   "{\"type\":\"func\",\"func\":\"main.c\",\"functions\":[{\"size\":64,\"addr\":"
		   "4198528,\"off\":4224,\"file\":\"b.go\",\"line\":10,\"args\":null,\"results\":"
		   "null,\"types_from\":\"none\",\"entry\":{\"addr\":4198528,\"off\":4224,\"kind\":"
		   "\"first\",\"emulated\":true},\"returns\":[],\"reason\":\"calls never "
		   "return\"}],\"inlined\":[]}\n"
		   "{\"type\":\"func\",\"func\":\"main.inl1\",\"functions\":[],\"inlined\":[{"
		   "\"in\":\"main.b\",\"addr\":4198468,\"off\":4164,\"file\":\"b.go\",\"line\":20,"
		   "\"callers\":[{\"func\":\"main.b\",\"file\":\"b.go\",\"line\":10}],\"args\":[{"
		   "\"name\":\"x\",\"type\":\"int\",\"size\":8,\"in\":[\"rbx\"],\"from\":"
		   "\"debuginfo\"}],\"types_from\":\"debuginfo\",\"args_at\":{\"addr\":4198468,"
		   "\"off\":4164,\"kind\":\"inlined\",\"emulated\":true},\"entry\":{\"addr\":"
		   "4198488,\"off\":4184,\"kind\":\"inlined-call\",\"emulated\":true},\"exits\":[{"
		   "\"addr\":4198493,\"off\":4189,\"kind\":\"inlined-exit\",\"emulated\":true}],"
		   "\"reason\":null}]}\n"
		   "{\"type\":\"func\",\"func\":\"main.inl2\",\"functions\":[],\"inlined\":[{"
		   "\"in\":\"main.b\",\"addr\":4198488,\"off\":4184,\"file\":\"b.go\",\"line\":20,"
		   "\"callers\":[{\"func\":\"main.inl1\",\"file\":\"b.go\",\"line\":20},{\"func\":"
		   "\"main.b\",\"file\":\"b.go\",\"line\":10}],\"args\":null,\"types_from\":"
		   "\"none\",\"args_at\":null,\"entry\":{\"addr\":4198488,\"off\":4184,\"kind\":"
		   "\"inlined-call\",\"emulated\":true},\"exits\":[{\"addr\":4198493,\"off\":4189,"
		   "\"kind\":\"inlined-exit\",\"emulated\":true}],\"reason\":null}]}\n");
	listing_close(&l);
}

/* Without debug information the sizes of arguments are known, not what they are. */
static void test_stripped(void **state)
{
	struct listing l;

	(void)state;
	listing_open(&l, NULL, NULL);
	listing_add(&l, "main.b");
	listing_add(&l, "main.inl1");
	check_list(&l, FUNCLIST_DETAILS, false,
		   "main.b\n"
		   "    at       0x401040 file offset 0x1040, 64 bytes, b.go:10\n"
		   "    args     16 bytes in all, stack results included\n"
		   "    types    not known\n"
		   "    entry    0x401040 file offset 0x1040, first, emulated\n"
		   "    return   0x40106c file offset 0x106c, ret, single-stepped\n"
		   "main.inl1\n"
		   "    inlined  0x401044 file offset 0x1044, in main.b, b.go:20\n"
		   "    caller   main.b, b.go:10\n"
		   "    types    not known\n"
		   "    entry    0x401058 file offset 0x1058, inlined-call, emulated\n"
		   "    exit     0x40105d file offset 0x105d, inlined-exit, emulated\n");
	check_list(
		&l, FUNCLIST_JSON, false,
		"{\"type\":\"func\",\"func\":\"main.b\",\"functions\":[{\"size\":64,\"addr\":"
		"4198464,\"off\":4160,\"file\":\"b.go\",\"line\":10,\"args\":null,\"results\":null,"
		"\"types_from\":\"none\",\"entry\":{\"addr\":4198464,\"off\":4160,\"kind\":"
		"\"first\",\"emulated\":true},\"returns\":[{\"addr\":4198508,\"off\":4204,\"kind\":"
		"\"ret\",\"emulated\":false}],\"reason\":null}],\"inlined\":[]}\n"
		"{\"type\":\"func\",\"func\":\"main.inl1\",\"functions\":[],\"inlined\":[{\"in\":"
		"\"main.b\",\"addr\":4198468,\"off\":4164,\"file\":\"b.go\",\"line\":20,"
		"\"callers\":[{\"func\":\"main.b\",\"file\":\"b.go\",\"line\":10}],\"args\":null,"
		"\"types_from\":\"none\",\"args_at\":null,\"entry\":{\"addr\":4198488,\"off\":4184,"
		"\"kind\":\"inlined-call\",\"emulated\":true},\"exits\":[{\"addr\":4198493,\"off\":"
		"4189,\"kind\":\"inlined-exit\",\"emulated\":true}],\"reason\":null}]}\n");
	listing_close(&l);
}

/* Lines are no longer than a terminal's: names that are too long for one begin another. */
static void test_wrapped(void **state)
{
	static const char *const names[] = {"theFirstOfMany", "theSecondOfMany", "theThirdOfMany",
					    "theFourthOfMany"};
	struct listing l;

	(void)state;
	listing_write(&l, NULL, NULL);
	dwarffile_begin(&l.d, "main", "main");
	uint32_t type = dwarffile_base(&l.d, "int32", 4, DWARFFILE_INT + 3);

	dwarffile_func(&l.d, "main.b", l.d.g.starts[1]);
	for (size_t i = 0; i < 4; i++)
		dwarffile_param(&l.d, names[i], type, false);
	dwarffile_close(&l.d);
	dwarffile_end(&l.d);
	listing_read(&l);
	listing_add(&l, "main.b");
	check_list(&l, FUNCLIST_DETAILS, true,
		   "main.b\n"
		   "    at       0x401040 file offset 0x1040, 64 bytes, b.go:10\n"
		   "    args     theFirstOfMany int32 (eax), theSecondOfMany int32 (ebx),\n"
		   "             theThirdOfMany int32 (ecx), theFourthOfMany int32 (edi)\n"
		   "    results  none\n"
		   "    types    debug information\n"
		   "    entry    0x401040 file offset 0x1040, first, emulated\n"
		   "    return   0x40106c file offset 0x106c, ret, single-stepped\n");
	listing_close(&l);
}

static void test_results(void **state)
{
	struct listing l;

	(void)state;
	listing_write(&l, NULL, NULL);
	dwarffile_begin(&l.d, "main", "main");
	uint32_t type = dwarffile_base(&l.d, "int", 8, DWARFFILE_INT);

	dwarffile_func(&l.d, "main.a", l.d.g.starts[0]);
	dwarffile_param(&l.d, "x", type, false);
	dwarffile_param(&l.d, "~r0", type, true);
	dwarffile_close(&l.d);
	dwarffile_end(&l.d);
	listing_read(&l);
	listing_add(&l, "main.a");
	check_list(&l, FUNCLIST_DETAILS, true,
		   "main.a\n"
		   "    at       0x401000 file offset 0x1000, 64 bytes, a.s:10\n"
		   "    args     x int ([sp+8])\n"
		   "    results  ~r0 int ([sp+16])\n"
		   "    types    debug information\n"
		   "    entry    0x401000 file offset 0x1000, first, emulated\n"
		   "    return   0x401005 file offset 0x1005, ret, single-stepped\n");
	check_list(
		&l, FUNCLIST_JSON, true,
		"{\"type\":\"func\",\"func\":\"main.a\",\"functions\":[{\"size\":64,\"addr\":"
		"4198400,\"off\":4096,\"file\":\"a.s\",\"line\":10,\"args\":[{\"name\":\"x\","
		"\"type\":\"int\",\"size\":8,\"in\":[\"[sp+8]\"],\"from\":\"debuginfo\"}],"
		"\"results\":[{\"name\":\"~r0\",\"type\":\"int\",\"size\":8,\"in\":[\"[sp+16]\"]}],"
		"\"types_from\":\"debuginfo\",\"entry\":{\"addr\":4198400,\"off\":4096,\"kind\":"
		"\"first\",\"emulated\":true},\"returns\":[{\"addr\":4198405,\"off\":4101,\"kind\":"
		"\"ret\",\"emulated\":false}],\"reason\":null}],\"inlined\":[]}\n");
	listing_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),   cmocka_unit_test(test_order),
		cmocka_unit_test(test_none),    cmocka_unit_test(test_details),
		cmocka_unit_test(test_json),    cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_wrapped), cmocka_unit_test(test_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
