/* SPDX-License-Identifier: Apache-2.0 */
/* PC-value tables, each decoded once: functions may share a table, and a long one may be asked for
 * each of its addresses. */
#ifndef PCVALUE_INDEX_INTERNAL_H
#define PCVALUE_INDEX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcvalue_index;

/* Of the `len` bytes at `data`, which outlive it; `quantum` as in pcvalue_begin. */
struct pcvalue_index *pcvalue_index_new(const uint8_t *data, size_t len, unsigned quantum);
void pcvalue_index_free(struct pcvalue_index *index); /* NULL is all right */

/* The value `pc` bytes into a function whose table begins at `off` bytes of `data`. false: the
 * table ends before, is malformed, or the tables together are longer than what they lie in. */
bool pcvalue_index_at(struct pcvalue_index *index, uint32_t off, uint64_t pc, int32_t *value);

#endif
