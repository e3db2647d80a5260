// SPDX-License-Identifier: Apache-2.0
/* gofuncs: lists the functions of a Go program, and where they can be probed. */
#include <stdio.h>
#include <stdlib.h>

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

/* Copies are shown beside the functions of their name; alone only when asked for, or when there
 * is nothing else. */
static void print(const struct options *opts, struct selection *sel)
{
	bool details = opts->verbose || opts->json;
	struct errmsg ignored;

	if (details)
		selection_find_sites(sel, &ignored);
	enum funclist_style style = opts->json      ? FUNCLIST_JSON
				    : opts->verbose ? FUNCLIST_DETAILS
						    : FUNCLIST_NAMES;

	funclist_print(stdout, sel, style, !opts->inlined && has_function(sel));
}

static int list_pattern(const struct options *opts, const char *arg, struct errmsg *err)
{
	struct selection_want want = {.regex = opts->regexp,
				      .inlined = opts->inlined || opts->verbose || opts->json,
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
		print(opts, sel);
	selection_free(sel);
	program_close(prog);
	return ret;
}

static const char examples[] =
	"    gofuncs '/usr/bin/etcd:main.*'         # functions of a package\n"
	"    gofuncs -p 181 '*.(*T).*'              # methods of types named T in process 181\n"
	"    gofuncs -v app:main.handle             # addresses, parameters, sites, copies\n"
	"    gofuncs --inlined 'app:strings.*'      # inlined functions as well\n"
	"    gofuncs -j 'app:*' | head -1           # one JSON object a function\n";

int main(int argc, char **argv)
{
	struct options_tool tool = {.name = "gofuncs",
				    .about = "List functions of a Go program",
				    .args = "[BINARY:]PATTERN...",
				    .shared = "prvj",
				    .verbose = "show addresses, parameters, probe sites, copies",
				    .inlined = true,
				    .examples = examples};
	struct errmsg err = {0};
	struct options opts;
	enum options_result result = options_parse(&tool, argc, argv, &opts, &err);

	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	if (opts.pid && target_check_pid(opts.pid, &err))
		return options_fail(&tool, &err);
	for (size_t i = 0; i < opts.pattern_count; i++)
		if (list_pattern(&opts, opts.patterns[i], &err))
			return options_fail(&tool, &err);
	return session_flush(&err) ? options_fail(&tool, &err) : 0;
}
