/* SPDX-License-Identifier: Apache-2.0 */
/* after() and x[i:j]: values derived from values that are known. */
#ifndef TRACEGEN_AFTER_INTERNAL_H
#define TRACEGEN_AFTER_INTERNAL_H

#include "gotrace/tracegen_internal.h"

struct gen_words {
	char word[3][NAME_MAX_LEN]; /* pointer, length, capacity */
};

/* gen_value() in two parts: the value's own bytes, and what they refer to. */
void gen_own(struct gen *gen, const struct place *place, struct shape *shape, uint32_t state_at);
void gen_refs(struct gen *gen, const struct shape *shape);
/* C for how to read the first word of an interface of `type` (fetch.h's DYNAMIC_...). */
const char *gen_first_word(const struct gen *gen, const struct gotype *type);

/* after(): values known at entry are kept with the call; pointers into its stack are adjusted if
 * the stack has moved. */

/* Keeps the stack pointer at entry; to be called while code that runs at entry is written. */
void gen_keep_sp(struct gen *gen);
/* What a parameter points to, of this type: at entry, or when the call returns. The pointer is at
 * `pointer_at` of the record, the stack pointer at entry is kept. *state_at is where the value's
 * state is. */
struct shape *gen_target(struct gen *gen, const struct gotype *type, uint32_t pointer_at,
			 const struct shape_limits *limits, uint32_t *state_at);
/* Writes code that runs at entry, until gen_leave_entry(). */
struct ctext *gen_enter_entry(struct gen *gen);
/* Back to code that runs at return; there `name`, a number computed at entry, is a variable. */
void gen_leave_entry(struct gen *gen, struct ctext *before, char name[NAME_MAX_LEN]);
int gen_load_kept(struct gen *gen, const struct place *place, uint64_t off, unsigned size,
		  bool is_signed, unsigned col, char name[NAME_MAX_LEN]);
/* The value at a kept place; *state_at is where its state is in the record. */
struct shape *gen_kept_value(struct gen *gen, const struct place *place,
			     const struct shape_limits *limits, uint32_t *state_at);

/* Sets the error: in after() it would be known. Returns -1. */
int gen_at_entry_only(struct gen *gen, const struct expr *expr);

/* x[i:j] */
int gen_slice_place(struct gen *gen, const struct expr *expr, struct place *out);
/* Is it a slice of a parameter whose end depends on results? */
bool gen_is_cut_later(const struct gen *gen, const struct expr *expr);
/* For such a slice: reads the whole parameter at entry, and cuts it at return. NULL with the error
 * set. */
struct shape *gen_cut_value(struct gen *gen, const struct expr *expr,
			    const struct shape_limits *limits, uint32_t *state_at);

#endif
