/* SPDX-License-Identifier: Apache-2.0 */
/* The Go program of gofile.h with code in its functions, and a selection of it:
 * main.a is a plain function; main.b has main.inl1 inlined into it at 4..44 with main.inl2 in that
 * at 24..44, a forwarder; main.c never returns. */
#ifndef SELECTION_OPEN_H
#define SELECTION_OPEN_H

#include "gofile_open.h"

#include "program/program.h"
#include "selection/selection.h"

struct subject {
	struct opened o;
	struct program prog;
	struct selection *sel;
	struct errmsg err;
};

/* Writes the file, which the test may then change; then reads the program from it. */
void subject_write(struct subject *s);
void subject_open(struct subject *s, const struct selection_want *want);
void subject_make(struct subject *s, const struct selection_want *want); /* both */
void subject_drop(struct subject *s);

void subject_add(struct subject *s, const char *pattern);
/* Asserts that the selection's notes are these; NULL: none. */
void subject_notes(const struct subject *s, const char *expected);

#endif
