/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room metrics uses of reading. */
#ifndef READING_INTERNAL_H
#define READING_INTERNAL_H

#include "metrics/reading.h"

uint64_t reading_bound_ns(const struct reading_scale *scale, unsigned i);
void reading_add(struct reading *sum, const struct reading *more);
/* Calls seen, however they ended; 0: there is nothing to publish. */
uint64_t reading_weight(const struct reading *reading);

#endif
