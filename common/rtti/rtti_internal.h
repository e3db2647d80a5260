/* SPDX-License-Identifier: Apache-2.0 */
/* What the modules rtti* share. */
#ifndef RTTI_INTERNAL_H
#define RTTI_INTERNAL_H

#include "base/index.h"
#include "rtti/rtti.h"
#include "program/typedesc_gccgo.h"

struct rtti_entry { /* an address that was looked at */
	uint64_t addr;
	struct gotype *type; /* NULL: nothing there is a descriptor */
	uint32_t weight;     /* values in a value of the type; an array counts as one element */
	uint32_t depth;      /* how deep structs and arrays are nested in the type */
	bool error_asked, error_promoted; /* what rtti_promotes_error() has found */
};

struct rtti_alias {
	const char *text;
	const struct gotype *type;
	bool full; /* with the path of its package */
};

struct rtti_method {
	uint32_t code;      /* offset from the module's text */
	int32_t name, type; /* offsets from the module's types */
	uint32_t receiver;  /* an entry's index */
};

struct rtti {
	struct typedesc_module mod;
	const struct functab *tab;
	struct gotypes *types;
	const struct gotype *unknown; /* stands for what is malformed */

	struct typedesc_library library; /* gccgo */
	struct rtti_entry *entries;
	size_t count, cap;
	struct index by_addr; /* of `entries` */
	size_t filled;        /* entries whose types refer to others already */
	size_t texts, fields; /* bytes of text, and fields, that types use: bounded */

	uint64_t moduledata; /* address */
	/* NULL: gccgo, whose descriptors have symbols instead */
	const struct moduledata_layout *lists;
	bool searched;     /* rtti_search() has been called */
	size_t references; /* followed while searching: bounded */
	struct rtti_method *methods;
	size_t method_count, method_cap;
	bool methods_sorted;
	struct rtti_alias *aliases; /* sorted by text; NULL: not made yet */
	size_t alias_count, alias_cap;
	const struct gotype **by_last; /* defined types by their name's last part; NULL: not yet */
	size_t last_count;
};

/* Looks for all descriptors, the first time. */
void rtti_search(struct rtti *rtti);
/* Index of the entry of an address, which is made where there is none; SIZE_MAX: too many. */
size_t rtti_entry(struct rtti *rtti, uint64_t addr);
/* Fills in the types of all entries, and of what those refer to. */
void rtti_fill(struct rtti *rtti);
/* A text that may be kept; NULL: there are too many. */
const char *rtti_keep_text(struct rtti *rtti, const char *text, size_t len);

#endif
