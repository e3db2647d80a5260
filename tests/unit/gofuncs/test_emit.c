// SPDX-License-Identifier: Apache-2.0
/* Scripts and lines for other tracers, of the program of listing.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gofuncs/emit.h"
#include "listing.h"
#include "unit.h"

static char *written(struct listing *l, enum emit_tracer tracer)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	l->err = (struct errmsg){0};
	if (emit_print(out, l->sel, tracer, &l->err))
		fail_msg("%s", l->err.text);
	fclose(out);
	return text;
}

/* The whole of what is written for another tracer of what matches */
static void check(enum emit_tracer tracer, const char *pattern, const char *expected)
{
	struct listing l;

	listing_open(&l, "t", "s");
	listing_add(&l, pattern);
	char *text = written(&l, tracer);

	assert_string_equal(text, expected);
	free(text);
	listing_close(&l);
}

static void test_count(void **state)
{
	(void)state;
	check(EMIT_BPFTRACE, "main.*",
	      "// Run it with: bpftrace --unsafe FILE\n"
	      "// Counts calls and returns: 5 functions, 9 probes, in\n"
	      "// /proc/1/exe\n"
	      "// main.a\n"
	      "uprobe:/proc/1/exe:0x1000 { @calls[\"main.a\"] = count(); }\n"
	      "uprobe:/proc/1/exe:0x1005 { @returns[\"main.a\"] = count(); }\n"
	      "// main.b\n"
	      "uprobe:/proc/1/exe:0x1040 { @calls[\"main.b\"] = count(); }\n"
	      "uprobe:/proc/1/exe:0x106c { @returns[\"main.b\"] = count(); }\n"
	      "// main.c: calls never return\n"
	      "uprobe:/proc/1/exe:0x1080 { @calls[\"main.c\"] = count(); }\n"
	      "// main.inl1\n"
	      "uprobe:/proc/1/exe:0x1058 { @calls[\"main.inl1\"] = count(); }\n"
	      "uprobe:/proc/1/exe:0x105d { @returns[\"main.inl1\"] = count(); }\n"
	      "// main.inl2\n"
	      "uprobe:/proc/1/exe:0x1058 { @calls[\"main.inl2\"] = count(); }\n"
	      "uprobe:/proc/1/exe:0x105d { @returns[\"main.inl2\"] = count(); }\n");
}

/* One function: its calls begin and end on the goroutine's own stack. */
static const char latency_of_a[] =
	"// Run it with: BPFTRACE_MAP_KEYS_MAX=65536 bpftrace --unsafe FILE\n"
	"// Times calls: 1 function, 2 probes, in\n"
	"// /proc/1/exe\n"
	"//\n"
	"// A goroutine's calls are @call[process, goroutine, 1 and on]: how deep in the\n"
	"// goroutine's stack the call began, where, and when. Neither threads nor the\n"
	"// stack's address matter. @ns: histograms of nanoseconds. @calls: all that began,\n"
	"// more by those ended by a panic or Goexit, and those still running. @lost: calls\n"
	"// for which there was no room.\n"
	"BEGIN\n"
	"{\n"
	"\t@name[0x401000] = \"main.a\";\n"
	"\tprintf(\"Tracing. Hit Ctrl-C to end.\\n\");\n"
	"}\n"
	"// calls begin\n"
	"uprobe:/proc/1/exe:0x1000 // main.a\n"
	"{\n"
	"\t$g = reg(\"r14\");\n"
	"\t$goid = *(uint64 *)($g + 152);\n"
	"\t$id = $goid ? $goid : $g;\n"
	"\t$depth = ($goid ? *(uint64 *)($g + 8) : 0) - reg(\"sp\");\n"
	"\t$f = reg(\"ip\");\n"
	"\t$n = @open[pid, $id];\n"
	"\t$i = 0;\n"
	"\twhile ($i < 256) {\n"
	"\t\tif ($n == 0 || @call[pid, $id, $n].0 < $depth) { break; }\n"
	"\t\tdelete(@call[pid, $id, $n]);\n"
	"\t\t$n = $n - 1;\n"
	"\t\t$i = $i + 1;\n"
	"\t}\n"
	"\t$n = $n + 1;\n"
	"\t@call[pid, $id, $n] = ($depth, $f, nsecs);\n"
	"\tif (@call[pid, $id, $n].0 == $depth) { @open[pid, $id] = $n; }\n"
	"\telse { @lost = count(); }\n"
	"\t@calls[@name[$f]] = count();\n"
	"}\n"
	"// calls end\n"
	"uprobe:/proc/1/exe:0x1005 // main.a\n"
	"{\n"
	"\t$g = reg(\"r14\");\n"
	"\t$goid = *(uint64 *)($g + 152);\n"
	"\t$id = $goid ? $goid : $g;\n"
	"\t$depth = ($goid ? *(uint64 *)($g + 8) : 0) - reg(\"sp\") - 24;\n"
	"\t$n = @open[pid, $id];\n"
	"\t$i = 0;\n"
	"\twhile ($i < 256) {\n"
	"\t\tif ($n == 0 || @call[pid, $id, $n].0 <= $depth) { break; }\n"
	"\t\tdelete(@call[pid, $id, $n]);\n"
	"\t\t$n = $n - 1;\n"
	"\t\t$i = $i + 1;\n"
	"\t}\n"
	"\t$c = @call[pid, $id, $n];\n"
	"\tif ($n && $c.0 == $depth) {\n"
	"\t\t@ns[@name[$c.1]] = hist(nsecs - $c.2);\n"
	"\t\tdelete(@call[pid, $id, $n]);\n"
	"\t\t$n = $n - 1;\n"
	"\t}\n"
	"\tif ($n) { @open[pid, $id] = $n; } else { delete(@open[pid, $id]); }\n"
	"}\n"
	"END\n"
	"{\n"
	"\tclear(@name);\n"
	"\tclear(@call);\n"
	"\tclear(@open);\n"
	"}\n";

static void test_latency(void **state)
{
	(void)state;
	check(EMIT_LATENCY, "main.a", latency_of_a);
}

static void expect_in_order(const char *text, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		text = strstr(text, parts[i]);
		if (!text)
			fail_msg("no %s, or too early", parts[i]);
	}
}

/* The copies that stand at one place: the outer begins first and ends last. */
static void test_latency_copies(void **state)
{
	static const char *const order[] = {"@name[0x10000000000] = \"main.inl1\"",
					    "@name[0x10000000001] = \"main.inl2\"",
					    "0x105d // main.inl2\n",
					    "0x105d // main.inl1\n",
					    "0x1058 // main.inl1\n",
					    "0x1058 // main.inl2\n"};
	struct listing l;

	(void)state;
	listing_open(&l, "t", "s");
	listing_add(&l, "main.inl*");
	char *text = written(&l, EMIT_LATENCY);

	expect_in_order(text, order, sizeof(order) / sizeof(*order));
	free(text);
	listing_close(&l);
}

/* In the order of the file, whatever was asked for first */
static void test_latency_order(void **state)
{
	static const char *const order[] = {"0x1000, // main.a\n", "0x1040 // main.b\n"};
	struct listing l;

	(void)state;
	listing_open(&l, "t", "s");
	listing_add(&l, "main.b");
	listing_add(&l, "main.a");
	char *text = written(&l, EMIT_LATENCY);

	expect_in_order(text, order, 2);
	free(text);
	listing_close(&l);
}

static void test_args(void **state)
{
	(void)state;
	check(EMIT_ARGS, "main.b",
	      "// Run it with: bpftrace --unsafe FILE\n"
	      "// Prints calls: 1 function, 2 probes, in\n"
	      "// /proc/1/exe\n"
	      "// Strings end where bpftrace's do, after 63 bytes; their length is told. More "
	      "with\n"
	      "// BPFTRACE_STRLEN, up to 200, where few are printed at once.\n"
	      "BEGIN { printf(\"%-7s %-7s %-7s %s\\n\", \"PID\", \"TID\", \"GOID\", \"CALL\"); }\n"
	      "\n"
	      "// main.b\n"
	      "uprobe:/proc/1/exe:0x1040\n"
	      "{\n"
	      "\t$g = reg(\"r14\");\n"
	      "\t$goid = *(uint64 *)($g + 152);\n"
	      "\tif ($goid == 0) { $goid = *(uint64 *)(*(uint64 *)(*(uint64 *)($g + 48) + 192) + "
	      "152); }\n"
	      "\tprintf(\"%-7d %-7d %-7lld main.b(t.s=\\\"%s\\\"(%lld))\\n\", pid, tid, $goid,\n"
	      "\t\tstr((uint64)reg(\"ax\"), (int64)reg(\"bx\")), (int64)reg(\"bx\"));\n"
	      "}\n"
	      "uprobe:/proc/1/exe:0x106c\n"
	      "{\n"
	      "\t$g = reg(\"r14\");\n"
	      "\t$goid = *(uint64 *)($g + 152);\n"
	      "\tif ($goid == 0) { $goid = *(uint64 *)(*(uint64 *)(*(uint64 *)($g + 48) + 192) + "
	      "152); }\n"
	      "\tprintf(\"%-7d %-7d %-7lld main.b returned\\n\", pid, tid, $goid);\n"
	      "}\n");
}

static void test_skeleton(void **state)
{
	(void)state;
	check(EMIT_SKELETON, "main.a",
	      "// Run it with: bpftrace --unsafe FILE\n"
	      "// A skeleton: 1 function, 2 probes, in\n"
	      "// /proc/1/exe\n"
	      "// In each block: what can be read there.\n"
	      "\n"
	      "// main.a\n"
	      "uprobe:/proc/1/exe:0x1000\n"
	      "{\n"
	      "\t$g = reg(\"r14\");\n"
	      "\t$goid = *(uint64 *)($g + 152);\n"
	      "\tif ($goid == 0) { $goid = *(uint64 *)(*(uint64 *)(*(uint64 *)($g + 48) + 192) + "
	      "152); }\n"
	      "\t// n int8: *(int8 *)(reg(\"sp\") + 8)\n"
	      "\t// p *main.T: *(uint64 *)(reg(\"sp\") + 16)\n"
	      "}\n"
	      "uprobe:/proc/1/exe:0x1005\n"
	      "{\n"
	      "\t$g = reg(\"r14\");\n"
	      "\t$goid = *(uint64 *)($g + 152);\n"
	      "\tif ($goid == 0) { $goid = *(uint64 *)(*(uint64 *)(*(uint64 *)($g + 48) + 192) + "
	      "152); }\n"
	      "}\n");
}

static void test_events(void **state)
{
	(void)state;
	check(EMIT_UPROBE_EVENTS, "main.*",
	      "# main.a\n"
	      "p:gotools/main_a /proc/1/exe:0x1000 goid=+152(%r14):u64 n=+8(%sp):s8 "
	      "p=+16(%sp):x64\n"
	      "p:gotools/main_a_return /proc/1/exe:0x1005 goid=+152(%r14):u64\n"
	      "# main.b\n"
	      "p:gotools/main_b /proc/1/exe:0x1040 goid=+152(%r14):u64 t_0=%ax:x64 t_1=%bx:x64\n"
	      "p:gotools/main_b_return /proc/1/exe:0x106c goid=+152(%r14):u64\n"
	      "# main.c: calls never return\n"
	      "p:gotools/main_c /proc/1/exe:0x1080 goid=+152(%r14):u64\n"
	      "# main.inl1\n"
	      "p:gotools/main_inl1 /proc/1/exe:0x1058 goid=+152(%r14):u64\n"
	      "p:gotools/main_inl1_end /proc/1/exe:0x105d goid=+152(%r14):u64\n"
	      "# main.inl2\n"
	      "p:gotools/main_inl2 /proc/1/exe:0x1058 goid=+152(%r14):u64\n"
	      "p:gotools/main_inl2_end /proc/1/exe:0x105d goid=+152(%r14):u64\n");
	check(EMIT_PERF, "main.b",
	      "# main.b\n"
	      "perf probe -f -x /proc/1/exe --add 'gotools:main_b=0x1040 goid=+152(%r14):u64 "
	      "t_0=%ax:x64 t_1=%bx:x64'\n"
	      "perf probe -f -x /proc/1/exe --add 'gotools:main_b_return=0x106c "
	      "goid=+152(%r14):u64'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),          cmocka_unit_test(test_latency),
		cmocka_unit_test(test_latency_copies), cmocka_unit_test(test_latency_order),
		cmocka_unit_test(test_args),           cmocka_unit_test(test_skeleton),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
