/* SPDX-License-Identifier: Apache-2.0 */
/* What tools share that add up blocked time of goroutines with bpf-src/parts/waits.bpf.c: their
 * options, the run, and the rows of their output, the largest sum last. */
#ifndef BLOCKED_H
#define BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf-src/shared/waits.h"

struct blocked;
struct errmsg;
struct events;
struct json;
struct options;
struct options_tool;
struct profile;
struct profile_spec;
struct stacks;

struct blocked_tool {
	const char *name, *about, *examples; /* as struct options_tool's */
	const char *bpf_file;                /* in bpf-src/ */
	const char *by;                      /* "stack": what time is added up by */
	const char *type;                    /* of JSON objects */
	const char *wait, *waits;            /* the word for what is counted */
	bool open_rows; /* JSON has waits that have not ended by stack, too; else their number is
			   all that is told */
	/* Changes the key of a row that has been read; rows of which the same is shown then become
	 * one. NULL: nothing is changed. */
	void (*settle)(const struct blocked *blocked, struct wait_key *key);
	/* What stands before the line of process and state; and after it, or NULL. `folded`: words,
	 * each of which ends with a semicolon; after the state each begins with one. */
	void (*above)(const struct blocked *blocked, const struct wait_key *key, bool folded);
	void (*below)(const struct blocked *blocked, const struct wait_key *key, bool folded);
	/* The last members of a row's object. */
	void (*json)(const struct blocked *blocked, const struct wait_key *key, struct json *json);
	/* For --pprof, whose values are how many, and ns: the row's stack, and labels beside
	 * process and state. */
	const struct profile_spec *profile_spec;
	void (*profile)(const struct blocked *blocked, const struct wait_key *key,
			struct profile *profile);
};

/* Runs to the end and returns the exit status. */
int blocked_main(const struct blocked_tool *tool, int argc, char **argv);

/* What else is measured in the same run of one process, and shows all of it: the whole time of its
 * goroutines then counts, from the beginning on, waits that had begun before and those that go on
 * at the end; and the time in which they are runnable, which is a state. */
struct blocked_beside {
	/* Waits count from now on. `written`: for --pprof; NULL: it is not asked for. */
	int (*begin)(void *ctx, struct profile *written, struct errmsg *err);
	void (*started)(void *ctx);
	void (*stop)(void *ctx); /* they do not any more */
	/* One row after the other, then the end of them. */
	void (*row)(void *ctx, const struct blocked *blocked, const struct wait_key *key,
		    const char *state, uint64_t ns);
	void (*show)(void *ctx);
	void (*lost)(void *ctx);
	struct events **events; /* as struct toolrun's */
	bool labels;            /* rows are told apart by goroutines' labels as well */
	bool folded;
	void *ctx;
};

/* The same with the options that another tool has read. Of `tool`, what shows rows is not used. */
int blocked_run_beside(const struct blocked_tool *tool, const struct blocked_beside *beside,
		       const struct options_tool *shown, const struct options *opts);

/* For the tool's functions: the stacks, and the load bias of a row's process. */
const struct stacks *blocked_stacks(const struct blocked *blocked);
uint64_t blocked_bias(const struct blocked *blocked, const struct wait_key *key);
/* The labels of a row's goroutine; false: it has none. */
bool blocked_labels(const struct blocked *blocked, const struct wait_key *key,
		    struct wait_labels *out);
/* Is this what was waited for? In Go's words */
bool blocked_is_for(const struct blocked *blocked, const struct wait_key *key, const char *state);

#endif
