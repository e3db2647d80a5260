/* SPDX-License-Identifier: Apache-2.0 */
/* What typedesc.h reads, as each of the two compilers writes it. */
#ifndef TYPEDESC_DIALECT_INTERNAL_H
#define TYPEDESC_DIALECT_INTERNAL_H

#include "program/typedesc.h"

struct typedesc_dialect { /* the functions of these names in typedesc.h */
	bool (*read)(const struct typedesc_module *mod, uint64_t addr, struct typedesc *out);
	bool (*field)(const struct typedesc_module *mod, const struct typedesc *desc, size_t index,
		      struct typedesc_field *out);
	bool (*package)(const struct typedesc_module *mod, const struct typedesc *desc,
			struct typedesc_text *out);
	void (*methods)(const struct typedesc_module *mod, const struct typedesc *desc,
			struct typedesc_methods *out);
	size_t (*plain)(const char *name, size_t len, char *out);
};

#endif
