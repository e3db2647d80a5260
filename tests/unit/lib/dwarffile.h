/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF 4 put together in memory, for tests, in the program of gofile.h: units, functions and types
 * as Go's linker writes them. An entry's offset is what a reference to it is made of. */
#ifndef DWARFFILE_H
#define DWARFFILE_H

#include "gofile.h"

enum {
	DWARFFILE_ABBREV = ELFFILE_DATA + 0xc00,
	DWARFFILE_LOC = ELFFILE_DATA + 0xe00,
	DWARFFILE_LOC_MAX = 0x200, /* bytes */
	DWARFFILE_INFO = ELFFILE_DATA + 0x1000,
	DWARFFILE_INFO_MAX = 0x1000, /* bytes */
};

enum { /* reflect.Kind */
       DWARFFILE_INT = 2,
       DWARFFILE_ARRAY = 17,
       DWARFFILE_POINTER = 22,
       DWARFFILE_STRING = 24,
       DWARFFILE_STRUCT = 25,
};

struct dwarffile {
	struct gofile g;
	uint32_t used;    /* bytes of .debug_info */
	uint32_t unit;    /* where the unit begins that is being written */
	uint32_t located; /* bytes of .debug_loc */
};

/* the caller frees d->g.f with elffile_free() */
void dwarffile_make(struct dwarffile *d, int release);
/* Between these two: a unit, of the package at `path` called `name`, that all of the code is of. */
void dwarffile_begin(struct dwarffile *d, const char *path, const char *name);
void dwarffile_end(struct dwarffile *d);

/* A function; then come its parameters, and dwarffile_close(). */
void dwarffile_func(struct dwarffile *d, const char *name, uint64_t addr);
void dwarffile_param(struct dwarffile *d, const char *name, uint32_t type, bool is_result);
/* one of which it is told where it is: `off` bytes (below 64) from the first stack argument */
void dwarffile_param_at(struct dwarffile *d, const char *name, uint32_t type, uint8_t off);
void dwarffile_close(struct dwarffile *d);
/* A function without code of its own; its offset. Parameters and dwarffile_close() follow. */
uint32_t dwarffile_abstract(struct dwarffile *d, const char *name);
/* Its copy at [low, high), within a function or another copy; then come its parameters, each with a
 * location of `len` bytes at [from, to), and dwarffile_close(). */
void dwarffile_copy(struct dwarffile *d, uint32_t origin, uint64_t low, uint64_t high);
void dwarffile_copy_param(struct dwarffile *d, uint32_t origin, uint64_t from, uint64_t to,
			  const char *ops, size_t len);

/* Each returns its offset. After a struct come its fields, and dwarffile_close(). */
uint32_t dwarffile_base(struct dwarffile *d, const char *name, unsigned size, unsigned kind);
uint32_t dwarffile_typedef(struct dwarffile *d, const char *name, uint32_t type);
uint32_t dwarffile_pointer(struct dwarffile *d, const char *name, uint32_t type);
uint32_t dwarffile_struct(struct dwarffile *d, const char *name, uint64_t size);
void dwarffile_field(struct dwarffile *d, const char *name, uint32_t type, uint64_t off);
uint32_t dwarffile_array(struct dwarffile *d, const char *name, uint32_t type, uint64_t size,
			 uint64_t count);
/* Makes the typedef, pointer, field or array at `off`, which is called `name`, refer to `type`. */
void dwarffile_patch(struct dwarffile *d, uint32_t off, const char *name, uint32_t type);

#endif
