/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that do the same as the code that reads a record, or what is kept with a call. Whoever
 * writes a line of code which a step can do adds the step right after it. Where some line has no
 * step, the code is compiled. */
#ifndef TRACEGEN_STEP_INTERNAL_H
#define TRACEGEN_STEP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf-src/shared/trace_step.h"

struct abi_piece;
struct gen;
struct tracegen_plan;

struct gen_steps {
	struct trace_step *items;
	size_t count, cap;
	size_t text_len; /* of the text that they stand for, from its beginning */
	bool lacking;    /* something has no step */
};

/* For the one line that was just written, if it reads something; returns the step's index. */
size_t gen_step(struct gen *gen, const struct trace_step *step);
/* For a line that copies `size` bytes of the register, from bit `shift` on, to record + `at`. */
void gen_step_register(struct gen *gen, const struct abi_piece *piece, unsigned shift,
		       uint32_t size, uint32_t at);
/* The step of this index skips those that were added after it. */
void gen_step_skip(struct gen *gen, size_t step);
/* The same, where the line just written ends what it skips. */
void gen_step_skip_line(struct gen *gen, size_t step);
/* Writes the line in place of all that was written since the text had `len` bytes. It does the
 * same: the steps that were added since stand for it. */
void gen_step_instead(struct gen *gen, size_t len, const char *line);
/* Writes the line with which every value begins. It needs no step. */
void gen_reset(struct gen *gen);

/* As they were before; what was added since is forgotten. */
void gen_steps_cut(struct gen_steps *steps, const struct gen_steps *before);
/* Moves the steps to the plan, when all is written. */
void gen_steps_take(struct gen *gen, struct tracegen_plan *out);

#endif
