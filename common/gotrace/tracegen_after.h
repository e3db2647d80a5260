/* SPDX-License-Identifier: Apache-2.0 */
/* after(), and x[i:j]: what is made of values that were known before. */
#ifndef TRACEGEN_AFTER_H
#define TRACEGEN_AFTER_H

#include "gotrace/tracegen_code.h"

struct gen_words {
	char word[3][NAME_MAX_LEN]; /* pointer, length, capacity */
};

/* gen_value() in two parts: the value's own bytes, and what they refer to. */
void gen_own(struct gen *gen, const struct place *place, struct shape *shape, uint32_t state_at);
void gen_refs(struct gen *gen, const struct shape *shape);
/* C for what the first word of an interface of `type` is. */
const char *gen_first_word(const struct gen *gen, const struct gotype *type);

/* after(): what was known at entry is kept with the call, and pointers into its stack follow that
 * where it has moved to. */

/* From here on what runs at entry is written, until gen_leave_entry(). */
struct ctext *gen_enter_entry(struct gen *gen);
/* The number called `name`, which was computed there, is now a variable at return. */
void gen_leave_entry(struct gen *gen, struct ctext *before, char name[NAME_MAX_LEN]);
int gen_load_kept(struct gen *gen, const struct place *place, uint64_t off, unsigned size,
		  bool is_signed, unsigned col, char name[NAME_MAX_LEN]);
/* The value at a place that is kept; *state_at is where its state is. */
struct shape *gen_kept_value(struct gen *gen, const struct place *place,
			     const struct shape_limits *limits, uint32_t *state_at);

/* x[i:j] */
int gen_slice_place(struct gen *gen, const struct expr *expr, struct place *out);
/* Is it one of a parameter as it was at entry, though only results tell where it ends? */
bool gen_is_cut_later(const struct gen *gen, const struct expr *expr);
/* Reads all of it at entry, and cuts it at return. NULL with the error set. */
struct shape *gen_cut_value(struct gen *gen, const struct expr *expr,
			    const struct shape_limits *limits, uint32_t *state_at);

#endif
