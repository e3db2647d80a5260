/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a heap by kind, as text and as JSON. */
#ifndef OBJECTS_PRINT_INTERNAL_H
#define OBJECTS_PRINT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "objects/objects_look.h"

struct json;

enum objects_what {
	OBJECTS_TYPE,    /* of the type `name` */
	OBJECTS_STRING,  /* bytes of strings */
	OBJECTS_TINY,    /* blocks that several small objects without pointers share */
	OBJECTS_SEVERAL, /* pointers of different types lead to them */
	OBJECTS_UNKNOWN, /* of this size, with or without pointers in them */
};

struct objects_row {
	enum objects_what what;
	const char *name; /* NULL: of no type */
	uint64_t size;    /* UNKNOWN: bytes of a slot; 0: more than 32 KiB, of any size */
	bool pointers;    /* likewise */
	uint64_t objects, bytes;
};

struct objects_table {
	struct objects_row *rows;
	size_t count, cap;
	int release;             /* N of Go 1.N */
	uint64_t objects, bytes; /* all of them */
	uint64_t unswept;        /* bytes of these that may be garbage */
};

void objects_table_free(struct objects_table *table); /* what it points to */
/* Prints the rows that are picked, most bytes first; sorts them. Returns how many. */
size_t objects_print(FILE *out, const struct objects_look *look, const struct goprocesses_one *one,
		     struct objects_table *table);

/* "main.T", "? 64 bytes, with pointers": what such an object is */
void objects_print_what(FILE *out, const struct objects_row *row);
/* The same, as members: what, go_type, and where that is not known size and pointers. */
void objects_json_what(struct json *json, const struct objects_row *row);

#endif
