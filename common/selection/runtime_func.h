/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Go's runtime that a tool asks for, as it knows what a call of them means, where
 * other tools are given patterns. */
#ifndef RUNTIME_FUNC_H
#define RUNTIME_FUNC_H

#include <stdbool.h>

struct errmsg;
struct program;
struct selection;

enum { RUNTIME_FUNC_NAMES = 2 };

/* Known by its number in the tool's list, which the probe's cookie has as its row. Where arguments
 * are is told to the kernel side: see bpf-src/parts/goarg.h. */
struct runtime_func {
	/* What releases of Go call it: the first one that the program has counts. NULL: none. */
	const char *names[RUNTIME_FUNC_NAMES];
	/* the probe stands at its first call of this function, or of the other one where it does
	 * not call that; NULL: entry */
	const char *callee, *other_callee;
	/* ... of its calls of `callee` the one that comes right after one of this function, or that
	 * none of the second one comes right after: struct site_callee */
	const char *after, *not_before;
	bool behind;   /* ... right behind that call, when it has returned */
	bool inlined;  /* its inlined copies are no matter, as others of the tool's functions have
			  them */
	bool optional; /* programs may lack it, and then have no calls of it */
	bool returns;  /* its returns are probed too */
};

/* Adds it to the current group of the selection, which has want.runtime or `runtime`. 0; -1 with
 * *err where not every call of it could be seen: in programs of gccgo, and where it is not there or
 * is inlined. */
int runtime_func_add(struct selection *sel, const struct program *prog,
		     const struct runtime_func *func, struct errmsg *err);

#endif
