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
	const char *maps[FAKETOOL_MAPS]; /* in the order in which they were asked for */
	bool at_once;                    /* all probes begin at one instant */
	int status;                      /* of the run */
	void (*run)(struct toolrun *run);
} faketool;

void faketool_begin(void); /* all of it is 0, but for the status */
/* Runs main() of a tool with these words, between which there are blanks. Returns its
 * exit status. */
int faketool_main(int (*tool)(int argc, char **argv), const char *words,
		  void (*run)(struct toolrun *run));
void faketool_never(struct toolrun *run); /* fails: it does not come so far */
const char *faketool_map(int fd);         /* its name */

/* What is said on stderr from here on; */
void faketool_errors_begin(void);
/* ... is this, or begins so if that ends with "...". */
void faketool_errors_expect(const char *want);

#endif
