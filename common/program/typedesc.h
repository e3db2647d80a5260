/* SPDX-License-Identifier: Apache-2.0 */
/* One type descriptor as it lies in the program: no types are made here. All of it may be hostile:
 * what cannot be so in a real program is refused. */
#ifndef TYPEDESC_H
#define TYPEDESC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golang/gokind.h"

struct image;

struct typedesc_module { /* where a program keeps its descriptors, and in which form */
	const struct image *img;
	/* addresses: what offsets of types are from, and those of methods' code */
	uint64_t types, types_end, text;
	bool wide_lengths;    /* a name's length is a big-endian u16: to 1.16 */
	bool shifted_offsets; /* a field's offset is shifted left by one: to 1.18 */
	unsigned swiss_size;  /* bytes of a swiss map's descriptor */
	const struct typedesc_dialect
		*dialect; /* typedesc_gc; or typedesc_gccgo, and of the above `img` alone */
	const struct typedesc_library *library; /* gccgo: NULL: none is known */
};

struct typedesc_text { /* in the file: not terminated */
	const char *text;
	size_t len;
	bool embedded; /* of a field's name: from 1.19 */
};

struct typedesc {
	uint64_t addr;
	uint64_t size;  /* of a value, bytes */
	uint32_t align; /* likewise */
	enum gokind kind;
	bool named, direct, swiss;
	struct typedesc_text name; /* as Go prints it */
	uint64_t elem, key;        /* addresses of descriptors; 0: none */
	uint64_t count;            /* ARRAY */
	uint64_t first;            /* gccgo: the address of `list` */
	const uint8_t *list;     /* STRUCT: fields; INTERFACE: methods; FUNC: parameters, results */
	size_t listed, in;       /* how many; of a FUNC's, how many are parameters */
	uint64_t pointer, slice; /* addresses: of *T; of []T where T is an array; 0: none */
	uint64_t uncommon;       /* address of its uncommontype; 0: none */
	uint64_t len;            /* bytes the descriptor takes, all in all */
};

struct typedesc_field {
	struct typedesc_text name;
	uint64_t type; /* address */
	uint64_t off;
	bool embedded;
};

struct typedesc_methods {
	const uint8_t *list; /* of 16 bytes each: i32 name, type, ifn, tfn */
	size_t count;
};

/* false: no descriptor of a real program is like that. */
bool typedesc_read(const struct typedesc_module *mod, uint64_t addr, struct typedesc *out);
bool typedesc_field(const struct typedesc_module *mod, const struct typedesc *desc, size_t index,
		    struct typedesc_field *out);
/* the path of the package that defines it; false: none */
bool typedesc_package(const struct typedesc_module *mod, const struct typedesc *desc,
		      struct typedesc_text *out);
/* none where there are none; gccgo's are not read */
void typedesc_methods(const struct typedesc_module *mod, const struct typedesc *desc,
		      struct typedesc_methods *out);
/* A type's name as Go prints it, into `out`, which holds the name's length. Returns how long it is.
 */
size_t typedesc_plain(const struct typedesc_module *mod, const struct typedesc_text *name,
		      char *out);

#endif
