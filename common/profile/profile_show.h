/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as text, as folded stacks and as JSON: the largest value last, where the eye is. Rows
 * of which the same is shown, though their addresses differ, are one. */
#ifndef PROFILE_SHOW_H
#define PROFILE_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json;
struct profile;

struct profile_style {
	const char *type; /* of JSON objects */
	bool json, folded;
	const char *leaf; /* a label that stands before the innermost frame; NULL: none. Values
			     then have their types' names, in text */
	/* a label that stands behind the process, and folded, in brackets, behind the innermost
	 * frame; NULL: none */
	const char *state;
	uint64_t unit; /* how many of a value are 1, but in JSON; 0: 1 */
	bool labels;   /* JSON tells the program's labels, though there be none */
	bool lines;    /* rows have no frames: a line each, values, then the leaf */
	void (*begin)(struct json *json); /* members after "type"; NULL: none */
};

/* Text: a line for each frame, innermost first, a line of the process if labels have it ("pid",
 * "comm"), and on it the program's labels, the values. Folded: frames from the outermost on, those
 * of the kernel's with "_[k]" behind them, and the value that is shown. JSON: an object a line,
 * with labels, values by their types' names, the program's labels, and "stack". */
void profile_show(FILE *out, const struct profile *profile, const struct profile_style *style);

#endif
