/* SPDX-License-Identifier: Apache-2.0 */
/* The output of another of the tools, as lines. */
#ifndef TOPTEXT_H
#define TOPTEXT_H

#include <stddef.h>

struct toptext {
	char *text; /* of all lines, each ended by '\0' */
	const char **lines;
	size_t count;
};

/* Runs the tool of that name that stands beside this one, with what it says on stderr, and waits:
 * for some seconds at most, and until a signal comes. What it prints has no control characters.
 * Never fails: a line says what did. The caller frees by toptext_free(). */
void toptext_run(const char *tool, const char *const args[], struct toptext *out);
void toptext_free(struct toptext *text); /* what it points to */

#endif
