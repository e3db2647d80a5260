/* SPDX-License-Identifier: Apache-2.0 */
/* The Go program of gofile.h with code in its functions and debug information, for tests of
 * gofuncs' lists and scripts: main.a(n int8, p *main.T) is assembly; main.b(t main.T) has
 * main.inl1(x int) inlined into it, and main.inl2 in that; main.c never returns, and nothing is
 * known of what it takes. */
#ifndef LISTING_H
#define LISTING_H

#include "base/errmsg.h"
#include "dwarffile.h"
#include "program/program.h"
#include "selection/selection.h"

struct listing {
	struct dwarffile d;
	struct program prog;
	struct selection *sel;
	struct errmsg err;
};

/* Writes the file, which the test may then change; `param` and `field` name main.b's parameter and
 * main.T's only field, a string (NULL: no debug information). Then reads the program from it. */
void listing_write(struct listing *l, const char *param, const char *field);
void listing_read(struct listing *l);
void listing_open(struct listing *l, const char *param, const char *field); /* both */
void listing_close(struct listing *l);

/* Functions and copies that match, with their sites */
void listing_add(struct listing *l, const char *pattern);

#endif
