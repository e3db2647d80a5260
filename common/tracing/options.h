/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines: the options that all tools share, and each tool's own; usage, help and version.
 * Options and patterns may come in any order; a command follows `--`. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct errmsg;

struct options {              /* strings belong to argv */
	pid_t pid;            /* 0: none given */
	const char *named;    /* --name: what the programs' names contain; NULL: none given */
	uint64_t interval_ns; /* 0: none given */
	uint64_t duration_ns; /* 0: none given */
	bool timestamp, regexp, verbose, json, inlined, fips, force, cost, no_emulate, all;
	unsigned max_cost;   /* percent of a processor; 0: no limit */
	const char *metrics; /* NULL: none are published */
	const char *pprof;   /* the file for a profile; NULL: none is written */
	size_t max_series;   /* functions with metrics of their own */
	char **patterns;     /* at least one; or BINARYs, if any */
	size_t pattern_count;
	char **command; /* ends with NULL; NULL: none given */
};

struct options_def {
	int letter;        /* of the short form; from 256 on: it has none */
	const char *name;  /* of the long form, without dashes */
	const char *value; /* "PID"; "[=KEY]": may be left out, as in --labels; NULL: takes none */
	const char *help;  /* NULL: none shows it, as the tool refuses it, with a hint */
};

/* Numbers without a letter, as bcc's tool of that name takes them, beside a BINARY, -p or COMMAND.
 */
enum options_numbers {
	OPTIONS_COUNT,    /* with -i INTERVAL: how many of them */
	OPTIONS_INTERVAL, /* [INTERVAL [COUNT]] as well */
	OPTIONS_DURATION, /* [DURATION] as well */
};

struct options_tool {
	const char *name;  /* "gofunccount" */
	const char *about; /* one line */
	const char *args;  /* "[BINARY:]PATTERN... [-- COMMAND [ARG...]]" */
	/* Letters of the shared options taken, in the order shown: of "pidTrvDj". There are always
	 * -h and --version, and -v and -D, though shown only if asked for. */
	const char *shared;
	const char *verbose; /* what -v does in this tool; NULL: the usual */
	bool binaries;       /* takes BINARYs for patterns, or none with -p or COMMAND */
	enum options_numbers numbers;
	bool process;                    /* may do without patterns: says itself what is missing */
	bool running;                    /* takes --name and --all */
	bool inlined;                    /* takes --inlined and --fips */
	bool force, cost;                /* takes --force and --max-cost; --cost */
	bool returns;                    /* takes --no-emulate */
	bool metrics, max_series, pprof; /* takes these */
	const struct options_def *own;   /* ends with letter 0; NULL: none */
	/* Takes one of its own options (value NULL where it has none); -1 with *err refuses it. */
	int (*take)(void *ctx, int letter, const char *value, struct errmsg *err);
	void *ctx;
	/* Lines of the help, newlines included: a command is indented by 4, what goes on below it
	 * by more. The first five are what -h shows. */
	const char *examples;
};

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_HELP_ALL, OPTIONS_VERSION, OPTIONS_BAD };

/* Permutes argv. OPTIONS_BAD: *err says why. Prints nothing. */
enum options_result options_parse(const struct options_tool *tool, int argc, char **argv,
				  struct options *out, struct errmsg *err);

/* The beginning of a tracing tool's main(): takes signals and reads the command line. False: the
 * tool has answered it already, and *status is its exit status. */
bool options_main(const struct options_tool *tool, int argc, char **argv, struct options *out,
		  int *status);

/* What is left to do after any other result than OPTIONS_RUN: prints help or version to stdout, or
 * the error and the usage to stderr. Returns the exit status, 0 or 2. */
int options_answer(const struct options_tool *tool, enum options_result result,
		   const struct errmsg *err);

/* "gofunccount: TEXT", "hint: HINT" on stderr, escaped. Returns 1, the exit status. */
int options_fail(const struct options_tool *tool, const struct errmsg *err);

#endif
