/* SPDX-License-Identifier: Apache-2.0 */
/* since(x): the ns from a time.Time until the event. */
#ifndef TRACEGEN_SINCE_INTERNAL_H
#define TRACEGEN_SINCE_INTERNAL_H

struct expr;
struct gen;
struct number;

int gen_since(struct gen *gen, const struct expr *expr, struct number *out);

#endif
