// SPDX-License-Identifier: Apache-2.0
/* gofuncs from its command line to what it lists: programs and selections are the test's. */
#include "faketool.h"
#include "printed.h"

#define main tool_main
#include "tools/gofuncs.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "unit.h"

static struct selection_item items[2];
static struct program programs[2] = {{.path = "/bin/app"}, {.path = "/bin/other\x1b"}};
static size_t opened, missing;
static bool same_file;

/* --- in place of files and processes: BINARY is opened as programs[0], then [1] --- */

struct process *process_open(pid_t pid, struct errmsg *err)
{
	faketool_note("process %d\n", pid);
	return faketool_answer("process", err) ? NULL : FAKETOOL_SOME(process);
}

void process_close(struct process *proc)
{
	assert_true(!proc || proc == FAKETOOL_SOME(process));
}

int target_spec_parse(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err)
{
	faketool_note("parse %s%s\n", arg, has_process ? " of a process" : "");
	*out = (struct target_spec){(char *)"app", (char *)arg};
	return !strcmp(arg, "bad") ? errmsg_set(err, "bad pattern") : 0;
}

void target_spec_free(struct target_spec *spec)
{
	assert_string_equal(spec->binary, "app");
}

void target_hint_words(char *const args[2], struct errmsg *err)
{
	errmsg_hint(err, "%s:%s", args[0], args[1]);
}

struct heldfile *target_resolve(const char *binary, const struct process *proc, struct errmsg *err)
{
	assert_string_equal(binary, "app");
	assert_true(!proc || proc == FAKETOOL_SOME(process));
	return faketool_answer("resolve", err) ? NULL : FAKETOOL_SOME(heldfile);
}

struct heldfile *heldfile_share(struct heldfile *file)
{
	return file;
}

void heldfile_close(struct heldfile *file)
{
	assert_ptr_equal(file, FAKETOOL_SOME(heldfile));
}

const char *heldfile_path(const struct heldfile *file)
{
	assert_ptr_equal(file, FAKETOOL_SOME(heldfile));
	return "/bin/second";
}

const struct stat *heldfile_then(const struct heldfile *file)
{
	assert_ptr_equal(file, FAKETOOL_SOME(heldfile));
	return FAKETOOL_SOME(stat);
}

bool heldfile_is(const struct heldfile *file, const struct stat *st)
{
	assert_ptr_equal(file, FAKETOOL_SOME(heldfile));
	assert_ptr_equal(st, FAKETOOL_SOME(stat));
	return same_file;
}

int heldfile_check(const struct heldfile *file, struct errmsg *err)
{
	assert_ptr_equal(file, FAKETOOL_SOME(heldfile));
	return faketool_answer("check", err);
}

struct program *program_open(struct heldfile *file, struct errmsg *err)
{
	if (faketool_answer("program", err))
		return NULL;
	programs[opened % 2].file = file;
	return &programs[opened++ % 2];
}

void program_close(struct program *prog)
{
	if (prog)
		faketool_note("close %s\n", prog->path);
}

/* --- in place of selections and lists --- */

struct selection *selection_new(const struct selection_want *want)
{
	faketool_note("selection%s%s%s%s%s%s\n", want->regex ? " regex" : "",
		      want->inlined ? " inlined" : "", want->args ? " args" : "",
		      want->returns ? " returns" : "", want->may_miss ? " may_miss" : "",
		      want->fips ? " fips" : "");
	faketool.selection = (struct selection){.items = items, .item_count = 2};
	return &faketool.selection;
}

void selection_free(struct selection *sel)
{
	assert_true(!sel || sel == &faketool.selection);
}

int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err)
{
	assert_ptr_equal(sel, &faketool.selection);
	faketool_note("add %s of %s\n", pattern, prog->path);
	return faketool_answer("add", err);
}

int selection_find_sites(struct selection *sel, struct errmsg *err)
{
	assert_ptr_equal(sel, &faketool.selection);
	assert_non_null(err);
	return faketool_result("sites");
}

void selection_print_notes(FILE *out, const struct selection *sel)
{
	assert_ptr_equal(sel, &faketool.selection);
	fputs("notes\n", out);
}

size_t funclist_print(FILE *out, const struct selection *sel, enum funclist_style style,
		      bool functions_only)
{
	assert_ptr_equal(sel, &faketool.selection);
	fprintf(out, "list %d%s\n", style, functions_only ? " of functions" : "");
	return missing;
}

int emit_parse(const char *name, enum emit_tracer *out, struct errmsg *err)
{
	*out = !strcmp(name, "latency") ? EMIT_LATENCY : EMIT_PERF;
	return !strcmp(name, "bad") ? errmsg_set(err, "bad tracer") : 0;
}

int emit_print(FILE *out, const struct selection *sel, enum emit_tracer tracer, struct errmsg *err)
{
	assert_ptr_equal(sel, &faketool.selection);
	fprintf(out, "probes for %d\n", tracer);
	return faketool_answer("emit", err);
}

int session_flush(struct errmsg *err)
{
	return faketool_answer("flush", err);
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	items[0].is_copy = true;
	items[1].is_copy = false;
	opened = missing = 0;
	same_file = false;
	return 0;
}

static void run_it(const char *words, int status, const char *said, const char *want)
{
	*faketool.said = '\0';
	faketool_errors_begin();
	printed_begin();
	int got = faketool_main(tool_main, words, faketool_never);

	printed_expect(want);
	faketool_errors_expect(said);
	assert_int_equal(got, status);
}

static void test_list(void **state)
{
	missing = 1;
	run_it("a", 0,
	       "notes\ngofuncs: /bin/app: 1 function and copies are left out: the list is too long "
	       "for a file of this size\n",
	       "list 0 of functions\n");
	faketool_noted("parse a\n"
		       "resolve\n"
		       "program\n"
		       "selection returns may_miss\n"
		       "add a of /bin/app\n"
		       "add\n"
		       "check\n"
		       "close /bin/app\n"
		       "flush\n");
	setup(state);
	missing = 2;
	opened = 1;
	items[1].is_copy = true;
	run_it("-r -p 181 a", 0,
	       "notes\ngofuncs: /bin/other\\x1b: 2 functions and copies are left out: the list is "
	       "too long for a file of this size\n",
	       "list 0\n");
	faketool_noted("process 181\n"
		       "process\n"
		       "parse a of a process\n"
		       "resolve\n"
		       "program\n"
		       "selection regex returns may_miss\n"
		       "add a of /bin/other\x1b\n"
		       "add\n"
		       "check\n"
		       "close /bin/other\x1b\n"
		       "flush\n");
}

static void test_styles(void **state)
{
	run_it("-v a", 0, "notes\n", "list 1 of functions\n");
	faketool_noted("parse a\n"
		       "resolve\n"
		       "program\n"
		       "selection inlined returns may_miss\n"
		       "add a of /bin/app\n"
		       "add\n"
		       "sites\n"
		       "check\n"
		       "close /bin/app\n"
		       "flush\n");
	setup(state);
	run_it("-j --fips a b", 0, "notes\nnotes\n", "list 2 of functions\nlist 2 of functions\n");
	faketool_noted("parse a\n"
		       "resolve\n"
		       "program\n"
		       "selection inlined returns may_miss fips\n"
		       "add a of /bin/app\n"
		       "add\n"
		       "parse b\n"
		       "resolve\n"
		       "sites\n"
		       "check\n"
		       "close /bin/app\n"
		       "program\n"
		       "selection inlined returns may_miss fips\n"
		       "add b of /bin/other\x1b\n"
		       "add\n"
		       "sites\n"
		       "check\n"
		       "close /bin/other\x1b\n"
		       "flush\n");
	setup(state);
	run_it("--inlined a", 0, "notes\n", "list 0\n");
	faketool_noted("parse a\n"
		       "resolve\n"
		       "program\n"
		       "selection inlined returns may_miss\n"
		       "add a of /bin/app\n"
		       "add\n"
		       "check\n"
		       "close /bin/app\n"
		       "flush\n");
}

static void test_emit(void **state)
{
	same_file = true;
	run_it("--emit perf a b", 0, "notes\n", "probes for 6\n");
	faketool_noted("parse a\n"
		       "resolve\n"
		       "program\n"
		       "selection args returns may_miss\n"
		       "add a of /bin/app\n"
		       "add\n"
		       "parse b\n"
		       "resolve\n"
		       "add b of /bin/app\n"
		       "add\n"
		       "sites\n"
		       "emit\n"
		       "check\n"
		       "close /bin/app\n"
		       "flush\n");
	setup(state);
	run_it("-v --emit perf a b", 0, "notes\nnotes\n", "probes for 6\nprobes for 6\n");
	faketool_noted("parse a\n"
		       "resolve\n"
		       "program\n"
		       "selection args returns may_miss\n"
		       "add a of /bin/app\n"
		       "add\n"
		       "parse b\n"
		       "resolve\n"
		       "sites\n"
		       "emit\n"
		       "check\n"
		       "close /bin/app\n"
		       "program\n"
		       "selection args returns may_miss\n"
		       "add b of /bin/other\x1b\n"
		       "add\n"
		       "sites\n"
		       "emit\n"
		       "check\n"
		       "close /bin/other\x1b\n"
		       "flush\n");
	setup(state);
	run_it("--emit latency a b", 1,
	       "gofuncs: /bin/second: a script times the functions of one program\n"
	       "hint: write one for each\n",
	       "");
	faketool_noted("parse a\n"
		       "resolve\n"
		       "program\n"
		       "selection args returns may_miss\n"
		       "add a of /bin/app\n"
		       "add\n"
		       "parse b\n"
		       "resolve\n"
		       "close /bin/app\n");
}

static void test_failures(void **state)
{
	static const char *const each[] = {"resolve", "program", "add", "check", "flush"};

	for (size_t i = 0; i < 5; i++) {
		char want[64];

		setup(state);
		faketool.failing = each[i];
		snprintf(want, sizeof(want), "%sgofuncs: %s fails\n", i >= 2 ? "notes\n" : "",
			 each[i]);
		run_it("a", 1, want, i >= 2 ? "list 0 of functions\n" : "");
	}
	setup(state);
	faketool.failing = "emit";
	run_it("--emit perf a", 1, "notes\ngofuncs: emit fails\n", "probes for 6\n");
	setup(state);
	faketool.failing = "add";
	run_it("--emit perf a", 1, "gofuncs: add fails\n", "");
	setup(state);
	faketool.failing = "process";
	run_it("-p 181 a", 1, "gofuncs: process fails\n", "");
	setup(state);
	run_it("bad a", 1, "gofuncs: bad pattern\nhint: bad:a\n", "");
	setup(state);
	run_it("bad", 1, "gofuncs: bad pattern\n", "");
	setup(state);
	run_it("a bad", 1, "notes\ngofuncs: bad pattern\n", "list 0 of functions\n");
	run_it("--emit bad a", 2, "gofuncs: bad tracer\nusage: gofuncs...", "");
	run_it("", 2, "gofuncs: no PATTERN given\nusage: gofuncs...", "");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(tool_main, "-h",
		      "usage: gofuncs [-h] [-p PID] [-r] [-v] [-j] [--emit TRACER] [--inlined]\n"
		      "               [--fips] [--version] [BINARY:]PATTERN...\n"
		      "\n"
		      "List functions of a Go program\n"
		      "\n"
		      "examples:\n"
		      "    gofuncs '/usr/bin/etcd:main.*'         # functions of a package\n"
		      "    gofuncs -p 181 '*.(*T).*'              # methods of types named T\n"
		      "    gofuncs -v app:main.handle             # addresses, parameters, sites\n"
		      "    gofuncs --inlined 'app:strings.*'      # inlined functions as well\n"
		      "    gofuncs -j 'app:*' | head -1           # one JSON object a function\n"
		      "\n"
		      "all options: gofuncs --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: gofuncs [-h] [-p PID] [-r] [-v] [-j] [--emit TRACER] [--inlined]\n"
		"               [--fips] [--version] [BINARY:]PATTERN...\n"
		"\n"
		"List functions of a Go program\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -p PID, --pid PID     trace this PID only\n"
		"  -r, --regexp          use regular expressions. Default is \"*\" wildcards "
		"only.\n"
		"  -v, --verbose         show addresses, parameters, probe sites, copies\n"
		"  -j, --json            print JSON, one object a line\n"
		"  --emit TRACER         print the probes for another tracer instead: bpftrace\n"
		"                        (or bpftrace:count), bpftrace:latency, bpftrace:args,\n"
		"                        bpftrace:skeleton, uprobe_events, perf\n"
		"  --inlined             include inlined copies of the functions\n"
		"  --fips                include functions that FIPS mode checks, for processes\n"
		"                        that already run\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
		"    gofuncs '/usr/bin/etcd:main.*'         # functions of a package\n"
		"    gofuncs -p 181 '*.(*T).*'              # methods of types named T\n"
		"    gofuncs -v app:main.handle             # addresses, parameters, sites\n"
		"    gofuncs --inlined 'app:strings.*'      # inlined functions as well\n"
		"    gofuncs -j 'app:*' | head -1           # one JSON object a function\n"
		"    gofuncs --emit=bpftrace 'app:main.*'   # a script that counts calls\n"
		"    gofuncs --emit=bpftrace:args app:main.handle > handle.bt\n"
		"                                           # one that prints arguments\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_list, setup),
		cmocka_unit_test_setup(test_styles, setup),
		cmocka_unit_test_setup(test_emit, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
