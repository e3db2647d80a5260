/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of inlined copies: what they are, and the place in a run of the copy where they are
 * known. Debug information tells of any copy's, as far as they are left; a forwarder's are also
 * where its callee takes them, in stripped programs too. */
#ifndef COPYINFO_H
#define COPYINFO_H

#include <stddef.h>

#include "abi/abi.h"

struct errmsg;
struct funcinfo;
struct gotypes;
struct selection;
struct selection_item;

struct copyinfo {
	struct gofunc sig; /* GOFUNC_NONE: nothing is known, not even how many there are */
	/* Where they are at the item's entry site; without pieces: optimised out. Caller frees. */
	struct abi_layout layout;
	size_t known; /* how many arguments are there */
};

struct copyinfo_asker {
	struct funcinfo *info; /* of the item's program */
	int minor;             /* which is of Go 1.MINOR */
	struct gotypes *memory;
	struct selection *sel;
	const char *signature; /* as typed; NULL: none */
	unsigned col;          /* where that begins */
};

/* Finds an item's sites too: for the sake of arguments its entry is not always the cheapest place.
 * 0, or -1 with *err: the typed signature is not its function's. */
int copyinfo_find(const struct copyinfo_asker *asker, struct selection_item *item,
		  struct copyinfo *out, struct errmsg *err);

#endif
