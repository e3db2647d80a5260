/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of inlined copies, and the site in the copy at which they are known. Debug information
 * describes those of any copy, as far as the compiler kept them. Those of a forwarder are also
 * known at its one call, in stripped programs too. */
#ifndef COPYINFO_H
#define COPYINFO_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/abi.h"
#include "sites/site.h"

struct errmsg;
struct funcinfo;
struct gotypes;
struct inlining_copy;
struct program;

struct copyinfo {
	struct gofunc sig; /* GOFUNC_NONE: nothing is known, not even how many there are */
	/* Where they are at `entry`; without pieces: optimised out. Caller frees. */
	struct abi_layout layout;
	size_t known;        /* how many arguments are there */
	struct site entry;   /* for the sake of arguments not always the cheapest place */
	const char *skipped; /* why the copy cannot be probed, a static text; NULL: it can */
};

struct copyinfo_asker {
	const struct program *prog; /* in which the copy is */
	struct site_finder *finder; /* of the program */
	struct funcinfo *info;      /* of the program */
	struct gotypes *memory;
	bool timed;            /* the copy's ends are sought too */
	const char *signature; /* as typed; NULL: none */
	unsigned col;          /* where that begins */
};

/* Appends the copy's ends to *exits, which may be NULL if it is not timed. 0, or -1 with *err: the
 * typed signature is not its function's. */
int copyinfo_find(const struct copyinfo_asker *asker, const struct inlining_copy *copy,
		  struct site_list *exits, struct copyinfo *out, struct errmsg *err);

#endif
