/* SPDX-License-Identifier: Apache-2.0 */
/* In place of what reads processes, for tools that are a struct readertool: their command line is
 * read, and what is said to be asked of them is asked by the test. */
#ifndef READERRUN_H
#define READERRUN_H

#include "readers/readertool.h"

enum { READERRUN_PID = 181 };

extern struct readerrun {
	struct goprocesses_one one;
	struct readertool *rt;
	void (*run)(struct readertool *rt); /* when `ready` has taken the command line */
} readerrun;

/* With faketool_begin(). `words` as faketool_main(); what `run` is given has status 0. */
void readerrun_begin(void);
int readerrun_main(int (*tool)(int argc, char **argv), const char *words,
		   void (*run)(struct readertool *rt));
/* Refused with these words, or a usage message that begins so. */
void readerrun_refused(int (*tool)(int argc, char **argv), const char *words, const char *want);
/* What the tool asks of readertool_main(), as text */
void readerrun_expect(const char *want);

#endif
