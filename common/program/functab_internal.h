/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room program uses of functab. */
#ifndef FUNCTAB_INTERNAL_H
#define FUNCTAB_INTERNAL_H

#include "program/functab.h"

/* NULL and *err ("not a Go program" or what is malformed). The image outlives it. */
struct functab *functab_open(const struct image *img, struct errmsg *err);
void functab_close(struct functab *tab);
enum pclntab_layout pclntab_layout(const struct functab *tab);
uint64_t functab_addr(const struct functab *tab); /* of its header */
/* Number of nodes that have code: 1 + the highest index in PCDATA_INLTREE. */
int32_t functab_inlined_count(const struct functab *tab, const struct functab_func *fn);
/* Reads nodes 0 to count - 1 into `out`; returns how many were read before one was malformed. */
int32_t functab_inlined_all(const struct functab *tab, const struct functab_func *fn,
			    struct functab_inlined *out, int32_t count);

#endif
