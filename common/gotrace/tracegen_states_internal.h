/* SPDX-License-Identifier: Apache-2.0 */
/* $running and the like, with which a return probe's record begins (struct state_times). */
#ifndef TRACEGEN_STATES_INTERNAL_H
#define TRACEGEN_STATES_INTERNAL_H

#include "gotrace/tracegen_internal.h"

uint32_t gen_state_at(enum expr_special special); /* where in the record: a word */
int gen_state_number(struct gen *gen, const struct expr *expr, struct number *out); /* 0 */

#endif
