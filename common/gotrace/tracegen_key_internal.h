/* SPDX-License-Identifier: Apache-2.0 */
/* From records to keys, by which goargdist counts calls. */
#ifndef TRACEGEN_KEY_INTERNAL_H
#define TRACEGEN_KEY_INTERNAL_H

#include "gotrace/tracegen_internal.h"

/* Writes code that makes a record a key: of equal values it is the same, bytes not in use are zero.
 * When all that is in the record is laid out. */
void gen_key(struct gen *gen, const struct tracegen_plan *plan);

#endif
