/* SPDX-License-Identifier: Apache-2.0 */
/* DWARF 4 for tests, made in memory in the program of gofile.h: units, functions and types as Go's
 * linker writes them. Entries are referred to by their offset. */
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
/* Begin and end a unit that covers all of the code: the package at `path` called `name`. */
void dwarffile_begin(struct dwarffile *d, const char *path, const char *name);
void dwarffile_end(struct dwarffile *d);

/* A function; parameters and dwarffile_close() must follow. */
void dwarffile_func(struct dwarffile *d, const char *name, uint64_t addr);
void dwarffile_param(struct dwarffile *d, const char *name, uint32_t type, bool is_result);
/* a parameter with a location: `off` bytes (below 64) from the first stack argument */
void dwarffile_param_at(struct dwarffile *d, const char *name, uint32_t type, uint8_t off);
void dwarffile_close(struct dwarffile *d);
/* A function without code of its own; returns its offset. Parameters and dwarffile_close() must
 * follow. */
uint32_t dwarffile_abstract(struct dwarffile *d, const char *name);
/* A copy of that at [low, high), within a function or another copy; parameters, each with a
 * location of `len` bytes for [from, to), and dwarffile_close() must follow. */
void dwarffile_copy(struct dwarffile *d, uint32_t origin, uint64_t low, uint64_t high);
void dwarffile_copy_param(struct dwarffile *d, uint32_t origin, uint64_t from, uint64_t to,
			  const char *ops, size_t len);

/* Types: each returns its offset. After a struct, fields and dwarffile_close() must follow. */
uint32_t dwarffile_base(struct dwarffile *d, const char *name, unsigned size, unsigned kind);
/* ... with a descriptor: its address, or its offset from the descriptors' beginning */
uint32_t dwarffile_described(struct dwarffile *d, const char *name, unsigned size, unsigned kind,
			     uint64_t descriptor);
uint32_t dwarffile_typedef(struct dwarffile *d, const char *name, uint32_t type);
uint32_t dwarffile_pointer(struct dwarffile *d, const char *name, uint32_t type);
uint32_t dwarffile_struct(struct dwarffile *d, const char *name, uint64_t size);
void dwarffile_field(struct dwarffile *d, const char *name, uint32_t type, uint64_t off);
uint32_t dwarffile_array(struct dwarffile *d, const char *name, uint32_t type, uint64_t size,
			 uint64_t count);
/* Makes the typedef, pointer, field or array at `off`, which is called `name`, refer to `type`. */
void dwarffile_patch(struct dwarffile *d, uint32_t off, const char *name, uint32_t type);

#endif
