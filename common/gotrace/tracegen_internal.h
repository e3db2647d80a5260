/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of tracegen share: the state of one generation, numbers and places.
 *
 * In the generated code, `ctx` are the registers, `hit` is the struct hit of bpf-src/parts/hit.h,
 * `rec` is the record (or its beginning, which is kept with the call), and `bad` becomes a TRACE_
 * state if something cannot be read. */
#ifndef TRACEGEN_INTERNAL_H
#define TRACEGEN_INTERNAL_H

#include "base/ctext.h"
#include "gotrace/tracegen.h"
#include "gotrace/tracegen_step_internal.h"

enum { NAME_MAX_LEN = 48 };

struct gen {
	const struct tracegen_probe *probe;
	struct gotypes *memory;
	struct ctext save, wanted, fill, key;
	struct ctext *out;                       /* the one that is being written */
	struct gen_steps save_steps, fill_steps; /* that do the same as these */
	/* what is being written runs when the call returns; and is within after(): parameters are
	 * allowed, as they were at entry */
	bool returning, after;
	uint32_t saved_end, record_end;
	/* variables; entries of hit->later in use, of save and fill */
	unsigned vars, saved_later, filled_later;
	bool keeps_sp;       /* is the stack pointer at entry kept with the call, */
	uint32_t kept_sp_at; /* and where? */
	unsigned uses;       /* enum tracegen_uses */
	/* guess: a place that is a guess was used; absent: what failed is optimised out */
	bool guess, absent;
	struct errmsg *err;
};

struct number {                  /* of 64 bits */
	char text[NAME_MAX_LEN]; /* a variable or a constant */
	bool is_unsigned, is_bool;
	const struct gotype *type; /* of a value of the program; NULL: computed */
};

struct place { /* where a value is */
	const struct gotype *type;
	/* in registers: bytes from `off` of this value; NULL: in memory, at `base` + off */
	const struct abi_value *value;
	uint64_t off;
	char base[NAME_MAX_LEN];
	/* not NULL: in after(), a parameter of this type; the place is at `off` of its `value` at
	 * entry */
	const struct gotype *kept;
	/* not NULL: a slice or string made from another; its words are in these variables */
	const struct gen_words *words;
};

/* Does an expression need the call's arguments? Does it need the call to have returned? */
enum { GEN_USES_ENTRY = 1, GEN_USES_RETURN = 2 };
unsigned gen_uses(const struct gen *gen, const struct expr *expr);

/* The end of what is in use, in the record or in what is kept with the call, for the code being
 * written now. */
uint32_t *gen_end(struct gen *gen);
void gen_var(struct gen *gen, char name[NAME_MAX_LEN]); /* a new variable's name */
/* Always -1, for errmsg_set()'s result: lets analysers of a single file see that it fails. */
static inline int gen_failed(int set)
{
	(void)set;
	return -1;
}

/* The functions below write code and return 0, or -1 with the error set. */
int gen_number(struct gen *gen, const struct expr *expr, struct number *out);
int gen_place(struct gen *gen, const struct expr *expr, struct place *out);
bool gen_is_place(const struct expr *expr);
/* The word of `size` bytes at `off` of a place; `what` for the error. */
int gen_load(struct gen *gen, const struct place *place, uint64_t off, unsigned size,
	     bool is_signed, unsigned col, char name[NAME_MAX_LEN]);
int gen_follow(struct gen *gen, struct place *place, unsigned col); /* what a pointer points to */
int gen_length(struct gen *gen, const struct expr *expr, struct number *out); /* len, cap */
/* A parameter or result by name or number: 0, or -1 with the error set. */
struct gen_symbol {
	bool is_result;
	size_t index;
};
bool gen_find(const struct gen *gen, const struct expr *expr, struct gen_symbol *out);
int gen_symbol_place(struct gen *gen, const struct expr *expr, struct place *out);

/* The place of a parameter or result of `type` that is passed as `value`. */
void gen_value_place(struct gen *gen, const struct gotype *type, const struct abi_value *value,
		     struct place *out);

/* Writes code that reads the value at a place into the record, and its state to `state_at`. */
void gen_value(struct gen *gen, const struct place *place, struct shape *shape, uint32_t state_at);

#endif
