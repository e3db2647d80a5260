/* SPDX-License-Identifier: Apache-2.0 */
/* A tool in a unit test, up to its run, which is the test's: it calls what a run calls. The tracer
 * has a program and a selection of the test's; what is defined for the kernel side is kept as text.
 * These stand in for the room tracing in each test that includes this.
 *
 * A test of a tool defines main as tool_main, includes the tool, and undefines it. */
#ifndef FAKETOOL_H
#define FAKETOOL_H

#include <stdbool.h>

#include "program/program.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/toolrun.h"

enum { FAKETOOL_MAPS = 8, FAKETOOL_STATUS = 7 };

extern struct faketool {
	struct program program;
	struct goruntime runtime;
	struct selection selection;
	char defined[2048];              /* "NAME=1 ..." */
	char said[8192];                 /* what the test's functions have been asked, in turn */
	const char *maps[FAKETOOL_MAPS]; /* in the order in which they were asked for */
	bool at_once;                    /* all probes begin at one instant */
	int status;                      /* of the run */
	const char *failing;             /* of what faketool_result() is asked; NULL: nothing */
	void (*run)(struct toolrun *run);
} faketool;

void faketool_begin(void); /* all of it is 0, but for the status */
/* Runs main() of a tool with these words, between which there are blanks; in them stands '_' for
 * one. Returns its exit status. */
int faketool_main(int (*tool)(int argc, char **argv), const char *words,
		  void (*run)(struct toolrun *run));
/* What it prints of itself, asked for help with these words. */
void faketool_help(int (*tool)(int argc, char **argv), const char *words, const char *want);
void faketool_never(struct toolrun *run); /* fails: it does not come so far */
const char *faketool_map(int fd);         /* its name */

/* Functions of a test that stand in for others note here what they are asked; what they have noted
 * since this was last called is to be `want`. */
__attribute__((format(printf, 1, 2))) void faketool_note(const char *format, ...);
void faketool_noted(const char *want);
/* Notes it, in a line of its own. -1 with errno EPERM, or "WHAT fails": it is what fails. */
int faketool_result(const char *what);
int faketool_answer(const char *what, struct errmsg *err);
/* What is but handed on: others look into none of these. */
#define FAKETOOL_SOME(type) ((struct type *)(void *)&faketool)
/* What a tool asks of its run: the file, what it wants of the selection, what is defined, and which
 * functions there are to be called, each by the name that it has in the header. */
void faketool_expect_config(const struct toolrun *run, const char *want);

/* What is said on stderr from here on; */
void faketool_errors_begin(void);
/* ... is this, or begins so if that ends with "...". */
void faketool_errors_expect(const char *want);

#endif
