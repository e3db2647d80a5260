/* SPDX-License-Identifier: Apache-2.0 */
/* A small Go program put together in memory, for tests: three functions of 0x40 quanta each at the
 * start of the text segment, main.a, main.b and main.c, with a pclntab of any layout. In main.b
 * main.inl2 is inlined into main.inl1, which is inlined at line 10. */
#ifndef GOFILE_H
#define GOFILE_H

#include "elffile.h"
#include "program/functab_internal.h"

enum {
	GOFILE_TAB = ELFFILE_RODATA + 0x100,
	GOFILE_NAMES = 0x80, /* these are offsets from GOFILE_TAB */
	GOFILE_UNITS = 0x100,
	GOFILE_FILES = 0x140,
	GOFILE_PCS = 0x180,
	GOFILE_PCS_FREE = 0x1e0, /* up to the records */
	GOFILE_RECORDS = 0x200,  /* from Go 1.16 on the functab; 0x100 bytes further, the records */
	GOFILE_TREE = ELFFILE_RODATA + 0x800,
	GOFILE_GOFUNC = ELFFILE_RODATA + 0x700,
	GOFILE_MODULEDATA = ELFFILE_DATA + 0x800,
};

struct gofile {
	struct elffile *f;
	enum pclntab_layout layout;
	int release; /* Go 1.N */
	unsigned quantum;
	uint64_t starts[4]; /* of the functions, and the end */
};

struct gofile_lines { /* up to this offset in the code, exclusive */
	unsigned to, line;
};

uint64_t gofile_record(const struct gofile *g, unsigned i);
/* address of functab's entry i */
uint64_t gofile_functab(const struct gofile *g, unsigned i);
uint8_t gofile_wrapper_id(const struct gofile *g);
/* Gives function i the name of function `like`. */
void gofile_rename(struct gofile *g, unsigned i, unsigned like);
/* Appends to a table of values: by how much the value changes, and for how many bytes. Returns its
 * new end. */
uint8_t *gofile_put_step(uint8_t *table, int change, unsigned bytes);
/* Gives main.b other lines, of which the last are up to 64: at most 15, and from
 * Go 1.18 on. */
void gofile_put_lines(struct gofile *g, const struct gofile_lines *lines);
void gofile_put_word(struct gofile *g, unsigned word, uint64_t value);
/* The caller frees g->f with elffile_free. */
void gofile_make(struct gofile *g, int release, unsigned machine);

#endif
