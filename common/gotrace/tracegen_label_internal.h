/* SPDX-License-Identifier: Apache-2.0 */
/* $label("key"): the value of a goroutine's label, a string. */
#ifndef TRACEGEN_LABEL_INTERNAL_H
#define TRACEGEN_LABEL_INTERNAL_H

struct expr;
struct gen;
struct place;

int gen_label_place(struct gen *gen, const struct expr *expr, struct place *out);

#endif
