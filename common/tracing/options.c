// SPDX-License-Identifier: Apache-2.0
#include "tracing/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/signals.h"
#include "metrics/endpoint.h"
#include "tracing/options_bcc_internal.h"
#include "tracing/options_help_internal.h"

enum {
	LETTER_VERSION = 0x1000,
	LETTER_NAME,
	LETTER_ALL,
	LETTER_INLINED,
	LETTER_FIPS,
	LETTER_FORCE,
	LETTER_MAX_COST,
	LETTER_COST,
	LETTER_NO_EMULATE,
	LETTER_METRICS,
	LETTER_MAX_SERIES,
	LETTER_PPROF,
	DEFS_MAX = 48
};
enum { MAX_SERIES = 1000, MOST_SERIES = 1000000, PERCENT_MAX = 100000 /* of many processors */ };

static const struct options_def help_def = {
	'h', "help", NULL, "show usage and examples; --help all: these options, too"};
static const struct options_def name_def = {
	'n', "name", "NAME", "trace the Go programs that run and whose name contains NAME"};
static const struct options_def all_def = {LETTER_ALL, "all", NULL,
					   "trace all Go programs that run"};
static const struct options_def inlined_def = {LETTER_INLINED, "inlined", NULL,
					       "include inlined copies of the functions"};
static const struct options_def fips_def = {
	LETTER_FIPS, "fips", NULL,
	"include functions that FIPS mode checks, for processes that already run"};
static const struct options_def force_def = {
	LETTER_FORCE, "force", NULL,
	"trace even if breakpoints take more memory than the process may use"};
static const struct options_def max_cost_def = {
	LETTER_MAX_COST, "max-cost", "PERCENT",
	"end when probes take more than PERCENT of a processor"};
static const struct options_def cost_def = {
	LETTER_COST, "cost", NULL,
	"say what a hit of a probe costs here, and at the end what all did"};
static const struct options_def no_emulate_def = {
	LETTER_NO_EMULATE, "no-emulate", NULL,
	"have the kernel execute returns, even if BPF could carry them out"};
static const struct options_def metrics_def = {
	LETTER_METRICS, "metrics", "WHERE",
	"publish metrics: serve them at ADDR:PORT (PORT alone: of 127.0.0.1), or write FILE.prom"};
static const struct options_def max_series_def = {
	LETTER_MAX_SERIES, "max-series", "N",
	"functions with metrics of their own (default 1000); the others are added up"};
static const struct options_def pprof_def = {
	LETTER_PPROF, "pprof", "FILE", "write what is counted to FILE as well, for go tool pprof"};
static const struct options_def version_def = {LETTER_VERSION, "version", NULL,
					       "show the version and exit"};
static const struct options_def shared_defs[] = {
	{'p', "pid", "PID", "trace this PID only"},
	{'i', "interval", "INTERVAL", "summary interval, in seconds, or as 500ms"},
	{'d', "duration", "DURATION", "total duration of trace, in seconds, or as 1m30s"},
	{'T', "timestamp", NULL, "include timestamp on output"},
	{'r', "regexp", NULL, "use regular expressions. Default is \"*\" wildcards only."},
	{'v', "verbose", NULL, "print the BPF program, and what is left out, with the reasons"},
	{'D', "debug", NULL, "print the BPF program, and what is left out, with the reasons"},
	{'j', "json", NULL, "print JSON, one object a line"},
};

/* All options of a tool, as its help shows them and as getopt_long wants them. */
struct table {
	struct options_def defs[DEFS_MAX];
	size_t count, shown; /* the first `shown` are in the help */
	struct option longs[DEFS_MAX + 1];
	char shorts[2 * DEFS_MAX + 2];
};

static void table_add(struct table *tab, const struct options_def *def)
{
	size_t len = strlen(tab->shorts);

	if (!def || tab->count == DEFS_MAX)
		return;
	tab->defs[tab->count] = *def;
	bool may = def->letter == 'h' || (def->value && *def->value == '[');

	tab->longs[tab->count] = (struct option){.name = def->name,
						 .has_arg = may          ? optional_argument
							    : def->value ? required_argument
									 : no_argument,
						 .val = def->letter};
	tab->count++;
	if (def->letter < 256) {
		tab->shorts[len] = def->letter;
		tab->shorts[len + 1] = def->value ? ':' : '\0';
	}
}

static const struct options_def *find_shared(int letter)
{
	for (size_t i = 0; i < sizeof(shared_defs) / sizeof(shared_defs[0]); i++)
		if (shared_defs[i].letter == letter)
			return &shared_defs[i];
	return NULL;
}

static const struct options_def *find_own(const struct options_tool *tool, int letter,
					  const char *name)
{
	for (const struct options_def *def = tool->own; def && def->letter; def++)
		if (def->letter == letter || (name && !strcmp(def->name, name)))
			return def;
	return NULL;
}

static void add_own(struct table *tab, const struct options_tool *tool, bool shown)
{
	for (const struct options_def *def = tool->own; def && def->letter; def++)
		if ((def->help != NULL) == shown)
			table_add(tab, def);
}

/* Some tools have a -n of their own. */
static void add_running(struct table *tab, const struct options_tool *tool)
{
	struct options_def name = name_def;

	if (find_own(tool, 'n', NULL))
		name.letter = LETTER_NAME;
	if (!find_own(tool, LETTER_NAME, name.name))
		table_add(tab, &name);
	table_add(tab, &all_def);
}

static void table_init(struct table *tab, const struct options_tool *tool)
{
	*tab = (struct table){.shorts = ":"}; /* getopt shall print no message of its own */
	table_add(tab, &help_def);
	for (const char *letter = tool->shared; *letter; letter++) {
		table_add(tab, find_shared(*letter));
		if (*letter == 'v' && tool->verbose)
			tab->defs[tab->count - 1].help = tool->verbose;
	}
	add_own(tab, tool, true);
	if (tool->running)
		add_running(tab, tool);
	if (tool->inlined) {
		table_add(tab, &inlined_def);
		table_add(tab, &fips_def);
	}
	if (tool->force) {
		table_add(tab, &force_def);
		table_add(tab, &max_cost_def);
	}
	if (tool->cost)
		table_add(tab, &cost_def);
	if (tool->returns)
		table_add(tab, &no_emulate_def);
	if (tool->metrics)
		table_add(tab, &metrics_def);
	if (tool->max_series)
		table_add(tab, &max_series_def);
	if (tool->pprof)
		table_add(tab, &pprof_def);
	table_add(tab, &version_def);
	tab->shown = tab->count;
	add_own(tab, tool, false);
	for (const char *letter = "vD"; *letter; letter++)
		if (!strchr(tool->shared, *letter))
			table_add(tab, find_shared(*letter));
}

static int take_pid(struct options *out, const char *value, struct errmsg *err)
{
	uint64_t pid;

	if (!number_parse(value, INT32_MAX, &pid) || !pid)
		return errmsg_set(err, "\"%s\" is not a process ID", value);
	out->pid = pid;
	return 0;
}

static int take_seconds(uint64_t *ns, const char *what, const char *value, struct errmsg *err)
{
	if (number_parse_duration(value, ns))
		return 0;
	return errmsg_set(err, "%s of \"%s\": not a positive number of seconds", what, value);
}

static int take_percent(unsigned *percent, const char *value, struct errmsg *err)
{
	uint64_t number;

	if (!number_parse(value, PERCENT_MAX, &number) || !number)
		return errmsg_set(err, "cost of \"%s\": not a percentage from 1 to %d", value,
				  PERCENT_MAX);
	*percent = number;
	return 0;
}

static int take_metrics(struct options *out, const char *value, struct errmsg *err)
{
	struct endpoint endpoint;

	out->metrics = value;
	return endpoint_parse(value, &endpoint, err);
}

static int take_max_series(struct options *out, const char *value, struct errmsg *err)
{
	uint64_t number;

	if (!number_parse(value, MOST_SERIES, &number) || !number)
		return errmsg_set(err, "--max-series: \"%s\" is not a number from 1 to %d", value,
				  MOST_SERIES);
	out->max_series = number;
	return 0;
}

/* 0, or 1: not one of the shared options that take no value */
static int take_flag(struct options *out, int letter)
{
	switch (letter) {
	case 'T':
		out->timestamp = true;
		return 0;
	case 'r':
		out->regexp = true;
		return 0;
	case 'v':
	case 'D':
		out->verbose = true;
		return 0;
	case 'j':
		out->json = true;
		return 0;
	case LETTER_ALL:
		out->all = true;
		return 0;
	case LETTER_INLINED:
		out->inlined = true;
		return 0;
	case LETTER_FIPS:
		out->fips = true;
		return 0;
	case LETTER_FORCE:
		out->force = true;
		return 0;
	case LETTER_COST:
		out->cost = true;
		return 0;
	case LETTER_NO_EMULATE:
		out->no_emulate = true;
		return 0;
	}
	return 1;
}

static int take_option(const struct options_tool *tool, struct options *out, int letter,
		       const char *value, struct errmsg *err)
{
	if (find_own(tool, letter, NULL))
		return tool->take(tool->ctx, letter, value, err);
	switch (letter) {
	case 'p':
		return take_pid(out, value, err);
	case 'i':
		return take_seconds(&out->interval_ns, "interval", value, err);
	case 'd':
		return take_seconds(&out->duration_ns, "duration", value, err);
	case LETTER_MAX_COST:
		return take_percent(&out->max_cost, value, err);
	case LETTER_METRICS:
		return take_metrics(out, value, err);
	case LETTER_MAX_SERIES:
		return take_max_series(out, value, err);
	case LETTER_PPROF:
		out->pprof = value;
		return 0;
	case 'n':
	case LETTER_NAME:
		out->named = value;
		return 0;
	}
	return take_flag(out, letter);
}

/* Sets *err for a long option that is unknown, or an ambiguous abbreviation. */
static int bad_long_option(const struct table *tab, const char *arg, struct errmsg *err)
{
	int len = strcspn(arg, "=");

	for (size_t i = 0; i < tab->count; i++)
		if (tab->defs[i].name && !strncmp(tab->defs[i].name, arg + 2, len - 2))
			return errmsg_set(err, "option '%.*s' is ambiguous", len, arg);
	return errmsg_set(err, "unknown option '%.*s'", len, arg);
}

/* Sets *err for an option on which getopt_long returned `?` or `:`. `arg` is the argument it has
 * read last. */
static int bad_option(const struct options_tool *tool, const struct table *tab, int answer,
		      const char *arg, struct errmsg *err)
{
	bool is_long = !strncmp(arg, "--", 2), known = false;
	int len = strcspn(arg, "=");

	for (size_t i = 0; i < tab->count; i++)
		known = known || tab->defs[i].letter == optopt;
	if (answer == ':' && is_long)
		return errmsg_set(err, "option '%.*s' needs a value", len, arg);
	if (answer == ':')
		return errmsg_set(err, "option '-%c' needs a value", optopt);
	if (!optopt)
		return bad_long_option(tab, arg, err);
	if (known && is_long)
		return errmsg_set(err, "option '%.*s' takes no value", len, arg);
	const char *hint = options_bcc_hint(tool->name, optopt);

	errmsg_set(err, "unknown option '-%c'", optopt);
	if (hint)
		errmsg_hint(err, "%s", hint);
	return -1;
}

/* "all" behind -h or --help, or after its "=" */
static int take_help(char **argv, int argc, struct errmsg *err)
{
	const char *what = optarg ? optarg : optind < argc ? argv[optind] : "";

	if (!strcmp(what, "all"))
		return OPTIONS_HELP_ALL;
	if (optarg)
		return errmsg_set(err, "--help=%s: only --help and --help=all are known", what);
	return OPTIONS_HELP;
}

/* Everything before the command; -1 with *err, or an options_result. */
static int parse_options(const struct options_tool *tool, int argc, char **argv,
			 struct options *out, struct errmsg *err)
{
	struct table tab;
	int letter;

	table_init(&tab, tool);
	optind = 0; /* makes glibc's getopt start anew */
	opterr = 0;
	while ((letter = getopt_long(argc, argv, tab.shorts, tab.longs, NULL)) != -1) {
		if (letter == 'h')
			return take_help(argv, argc, err);
		if (letter == LETTER_VERSION)
			return OPTIONS_VERSION;
		if (letter == '?' || letter == ':')
			return bad_option(tool, &tab, letter, argv[optind - 1], err);
		if (take_option(tool, out, letter, optarg, err))
			return -1;
	}
	out->patterns = argv + optind;
	out->pattern_count = argc - optind;
	return OPTIONS_RUN;
}

/* How many numbers without a letter there may be; 0: they are what they look like, names. */
static size_t numbers_allowed(const struct options_tool *tool, const struct options *opts)
{
	bool others = tool->binaries && (opts->pid || opts->command || opts->named || opts->all);

	if (tool->process || !strchr(tool->shared, 'd'))
		return 0;
	for (size_t i = 0; i < opts->pattern_count; i++)
		others |= !options_bcc_is_number(opts->patterns[i]);
	if (!others || opts->duration_ns)
		return 0;
	if (opts->interval_ns)
		return 1;
	return tool->numbers == OPTIONS_INTERVAL ? 2 : tool->numbers == OPTIONS_DURATION ? 1 : 0;
}

static int take_numbers(const struct options_tool *tool, struct options *opts, struct errmsg *err)
{
	struct options_bcc_numbers numbers = {.args = opts->patterns,
					      .arg_count = opts->pattern_count,
					      .most = numbers_allowed(tool, opts),
					      .duration = tool->numbers == OPTIONS_DURATION,
					      .interval_ns = opts->interval_ns,
					      .duration_ns = opts->duration_ns};

	if (options_bcc_take(&numbers, err))
		return -1;
	opts->pattern_count = numbers.arg_count;
	opts->interval_ns = numbers.interval_ns;
	opts->duration_ns = numbers.duration_ns;
	return 0;
}

static int check(const struct options_tool *tool, const struct options *opts, bool has_dashes,
		 struct errmsg *err)
{
	if (has_dashes && !opts->command)
		return errmsg_set(err, "no COMMAND after '--'");
	if (opts->pid && opts->command)
		return errmsg_set(err, "-p PID and -- COMMAND exclude each other");
	if (opts->named && !*opts->named)
		return errmsg_set(err, "--name needs a part of a program's name");
	if ((opts->named || opts->all) && (opts->pid || opts->command))
		return errmsg_set(err, "%s and %s exclude each other",
				  opts->all ? "--all" : "--name",
				  opts->pid ? "-p PID" : "-- COMMAND");
	if (opts->named && opts->all)
		return errmsg_set(err, "--name and --all exclude each other");
	if ((opts->named || opts->all) && tool->binaries && !tool->process && opts->pattern_count)
		return errmsg_set(err, "BINARY and %s exclude each other",
				  opts->all ? "--all" : "--name");
	if (tool->process)
		return 0;
	bool running = opts->pid || opts->named || opts->all;

	if (tool->binaries && !opts->pattern_count && !running && !opts->command)
		return errmsg_set(err, "no BINARY, -p PID or -- COMMAND given");
	if (!tool->binaries && !opts->pattern_count)
		return errmsg_set(err, "no %s given",
				  strstr(tool->args, "PROBE") ? "PROBE" : "PATTERN");
	return 0;
}

enum options_result options_parse(const struct options_tool *tool, int argc, char **argv,
				  struct options *out, struct errmsg *err)
{
	int dashes = 1, result;

	*out = (struct options){.max_series = MAX_SERIES};
	while (dashes < argc && strcmp(argv[dashes], "--"))
		dashes++;
	if (dashes + 1 < argc)
		out->command = argv + dashes + 1;
	/* only up to the `--`: getopt_long would move the patterns behind it, and with them the
	 * command's beginning */
	result = parse_options(tool, dashes, argv, out, err);
	if (result == OPTIONS_RUN && take_numbers(tool, out, err))
		result = -1;
	if (result == OPTIONS_RUN)
		result = check(tool, out, dashes < argc, err);
	return result < 0 ? OPTIONS_BAD : (enum options_result)result;
}

int options_fail(const struct options_tool *tool, const struct errmsg *err)
{
	fprintf(stderr, "%s: ", tool->name);
	escape_print(stderr, err->text);
	fputc('\n', stderr);
	if (err->hint[0]) {
		fputs("hint: ", stderr);
		escape_print(stderr, err->hint);
		fputc('\n', stderr);
	}
	return 1;
}

int options_answer(const struct options_tool *tool, enum options_result result,
		   const struct errmsg *err)
{
	struct table tab;

	table_init(&tab, tool);
	if (result == OPTIONS_BAD) {
		options_fail(tool, err);
		options_help_usage(stderr, tool, tab.defs, tab.shown);
		return 2;
	}
	if (result == OPTIONS_HELP)
		options_help_short(stdout, tool, tab.defs, tab.shown);
	else if (result == OPTIONS_HELP_ALL)
		options_help_all(stdout, tool, tab.defs, tab.shown);
	else
		printf("%s (bcc-gotools) %s\n", tool->name, GOTOOLS_VERSION);
	return 0;
}

bool options_main(const struct options_tool *tool, int argc, char **argv, struct options *out,
		  int *status)
{
	struct errmsg err = {0};

	signals_take(tool->name);
	enum options_result result = options_parse(tool, argc, argv, out, &err);

	if (result == OPTIONS_RUN)
		return true;
	*status = options_answer(tool, result, &err);
	return false;
}
