/* SPDX-License-Identifier: Apache-2.0 */
/* The debug information of a program of elffile.h, opened as the tools do it. */
#ifndef DIEOPEN_H
#define DIEOPEN_H

#include "elffile.h"

struct debuginfo;
struct functab;
struct gotypes;
struct image;

struct dieopen {
	struct elffile *f; /* its file: dieopen_close() frees it */
	struct image *img;
	struct functab *tab;
	struct gotypes *types;
	struct debuginfo *dbg;
};

/* `release`: N of Go 1.N. What cannot be opened fails the test. */
void dieopen(struct dieopen *o, struct elffile *f, int release);
void dieopen_close(struct dieopen *o);

#endif
