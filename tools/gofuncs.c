// SPDX-License-Identifier: Apache-2.0
/* gofuncs: lists the functions of a Go program, and where they can be probed. */
#include <stdio.h>
#include <stdlib.h>

#include "emit.h"
#include "errmsg.h"
#include "funclist.h"
#include "options.h"
#include "program.h"
#include "selection.h"
#include "session.h"
#include "target.h"

static struct program *open_target(const struct options *opts, const char *binary,
				   struct errmsg *err)
{
	char *path = target_resolve(binary, opts->pid, err);
	struct program *prog = path ? program_open(path, err) : NULL;

	free(path);
	return prog;
}

static bool has_function(const struct selection *sel)
{
	for (size_t i = 0; i < sel->item_count; i++)
		if (!sel->items[i].is_copy)
			return true;
	return false;
}

struct gofuncs {
	struct options opts;
	enum emit_tracer tracer;
};

/* Copies are shown beside the functions of their name; alone only when asked for, or when there
 * is nothing else. */
static int print(const struct gofuncs *tool, struct selection *sel, struct errmsg *err)
{
	const struct options *opts = &tool->opts;
	bool details = opts->verbose || opts->json || tool->tracer;
	bool functions_only = !opts->inlined && has_function(sel);
	struct errmsg ignored;

	if (details)
		selection_find_sites(sel, &ignored);
	enum funclist_style style = opts->json      ? FUNCLIST_JSON
				    : opts->verbose ? FUNCLIST_DETAILS
						    : FUNCLIST_NAMES;

	if (tool->tracer)
		return emit_print(stdout, sel, tool->tracer, functions_only, err);
	funclist_print(stdout, sel, style, functions_only);
	return 0;
}

static int list_pattern(const struct gofuncs *tool, const char *arg, struct errmsg *err)
{
	const struct options *opts = &tool->opts;
	struct selection_want want = {.regex = opts->regexp,
				      .inlined = opts->inlined || opts->verbose || opts->json,
				      .args = tool->tracer != EMIT_NONE,
				      .returns = true,
				      .may_miss = true};
	struct selection *sel = selection_new(&want);
	struct program *prog = NULL;
	struct target_spec spec;
	int ret = -1;

	if (!target_spec_parse(arg, opts->pid != 0, &spec, err)) {
		prog = open_target(opts, spec.binary, err);
		if (prog)
			ret = selection_add(sel, prog, spec.pattern, err);
		target_spec_free(&spec);
	}
	selection_print_notes(stderr, sel);
	if (!ret)
		ret = print(tool, sel, err);
	selection_free(sel);
	program_close(prog);
	return ret;
}

enum { LETTER_EMIT = 256 };

static const struct options_def own_defs[] = {
	{LETTER_EMIT, "emit", "TRACER",
	 "print the probes for bpftrace, uprobe_events or perf instead"},
	{0},
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gofuncs *tool = ctx;

	if (letter == LETTER_EMIT && emit_parse(value, &tool->tracer))
		return 0;
	errmsg_set(err, "--emit of \"%s\"", value);
	errmsg_hint(err, "there are bpftrace, uprobe_events and perf");
	return -1;
}

static const char examples[] =
	"    gofuncs '/usr/bin/etcd:main.*'         # functions of a package\n"
	"    gofuncs -p 181 '*.(*T).*'              # methods of types named T in process 181\n"
	"    gofuncs -v app:main.handle             # addresses, parameters, sites, copies\n"
	"    gofuncs --inlined 'app:strings.*'      # inlined functions as well\n"
	"    gofuncs -j 'app:*' | head -1           # one JSON object a function\n"
	"    gofuncs --emit=bpftrace 'app:main.*'   # a script that counts calls\n";

int main(int argc, char **argv)
{
	struct gofuncs gofuncs = {.tracer = EMIT_NONE};
	struct options *opts = &gofuncs.opts;
	struct options_tool tool = {.name = "gofuncs",
				    .about = "List functions of a Go program",
				    .args = "[BINARY:]PATTERN...",
				    .shared = "prvj",
				    .verbose = "show addresses, parameters, probe sites, copies",
				    .inlined = true,
				    .own = own_defs,
				    .take = take_option,
				    .ctx = &gofuncs,
				    .examples = examples};
	struct errmsg err = {0};
	enum options_result result = options_parse(&tool, argc, argv, opts, &err);

	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	if (opts->pid && target_check_pid(opts->pid, &err))
		return options_fail(&tool, &err);
	for (size_t i = 0; i < opts->pattern_count; i++)
		if (list_pattern(&gofuncs, opts->patterns[i], &err))
			return options_fail(&tool, &err);
	return session_flush(&err) ? options_fail(&tool, &err) : 0;
}
