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
	bool is_gccgo;        /* and nothing of the above but `img` */
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
/* none where there are none */
void typedesc_methods(const struct typedesc_module *mod, const struct typedesc *desc,
		      struct typedesc_methods *out);

/* the name at an offset from the module's types; false: malformed, or none */
bool typedesc_name(const struct typedesc_module *mod, int32_t off, struct typedesc_text *out);
/* Two bytes of the name of the descriptor at `addr`: flags, and where its length begins; NULL: none
 */
const uint8_t *typedesc_name_bytes(const struct typedesc_module *mod, uint64_t addr);
/* the address that an offset of a type stands for; 0: none */
uint64_t typedesc_resolve(const struct typedesc_module *mod, int32_t off);

/* i32 and u64 `index` of an array */
int32_t typedesc_i32(const uint8_t *array, size_t index);
uint64_t typedesc_u64(const uint8_t *array, size_t index);

#endif
