/* SPDX-License-Identifier: Apache-2.0 */
/* For tests in which all other modules are of the test's own: each function of theirs writes down
 * that it was called, and with what, and one of them fails where the test wants it. */
#ifndef STEPS_H
#define STEPS_H

#include <stdbool.h>

struct errmsg;

extern struct steps {
	char said[16384];
	unsigned len;
	const char *fails; /* a text as steps_are() gets it, or its beginning up to a blank */
	unsigned times;    /* how often it goes well before */
	bool always;       /* and from then on it fails; or else once */
} steps;

/* Writes it down, with "; " after it. True: this is what fails. */
__attribute__((format(printf, 1, 2))) bool steps_are(const char *format, ...);
/* ... and then -1 with "no WORD" for its first word */
__attribute__((format(printf, 2, 3))) int steps_answer(struct errmsg *err, const char *format, ...);
/* All that has been written down since the last time; forgets it. */
void steps_expect(const char *want);

#endif
