/* SPDX-License-Identifier: Apache-2.0 */
/* The Go program of gofile.h with type descriptors, for tests: one of most kinds, and main.b as a
 * method of *main.T. */
#ifndef RTTIFILE_H
#define RTTIFILE_H

#include "gofile.h"
#include "rtti/rtti.h"

enum {
	RTTIFILE_TYPES = ELFFILE_RODATA + 0xa00,
	RTTIFILE_NAMES = ELFFILE_RODATA + 0x1400,
	RTTIFILE_LINKS = ELFFILE_RODATA + 0x1c00,
	RTTIFILE_ITAB = ELFFILE_DATA + 0x100,
};

enum rttifile_type {
	RTTIFILE_INT,       /* int */
	RTTIFILE_STRING,    /* string */
	RTTIFILE_T,         /* main.T: struct { A int; B string; next *main.T }, B embedded */
	RTTIFILE_POINTER,   /* *main.T, with a method b(int) string */
	RTTIFILE_SLICE,     /* []main.T */
	RTTIFILE_ARRAY,     /* [4]int */
	RTTIFILE_MAP,       /* http.Header of net/http: map[string][]main.T */
	RTTIFILE_CHAN,      /* chan int */
	RTTIFILE_FUNC,      /* func(int) string */
	RTTIFILE_INTERFACE, /* main.I: interface { b(int) string } */
	RTTIFILE_EMPTY,     /* interface {} */
	RTTIFILE_FLOAT,     /* float32 */
	RTTIFILE_BOX,       /* struct { a [4]int } */
	RTTIFILE_COUNT,
};

struct rttifile {
	struct gofile g;
	uint64_t addr[RTTIFILE_COUNT]; /* of the descriptors */
	uint64_t fields;               /* of main.T's, 24 bytes each */
	uint64_t uncommon, method;     /* of *main.T */
	uint64_t end;                  /* of the descriptors */
	uint64_t next_name;
};

/* The caller frees r->g.f with elffile_free. */
void rttifile_make(struct rttifile *r, int release, unsigned machine);
/* Adds a name; its address. */
uint64_t rttifile_name(struct rttifile *r, unsigned flags, const char *text);

/* Can the type be walked: are fields and elements within it, and does it not contain itself? */
bool rttifile_is_sound(const struct gotype *type);
/* Reads all types and signatures; aborts if a type is not sound. Returns the number of types. */
unsigned rttifile_walk(struct rtti *rtti, const struct functab *tab);

#endif
