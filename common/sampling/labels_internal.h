/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of a sample's goroutine (runtime/pprof). */
#ifndef LABELS_INTERNAL_H
#define LABELS_INTERNAL_H

#include <stdint.h>

struct profile;
struct profile_sample;

/* Adds them to the row that is being made, by their keys in order. `words`: the sample's, all of
 * sample->count. Nothing in them is trusted. `key` NULL: all of them; else the one with that key.
 */
void labels_add(const struct profile_sample *sample, const uint64_t *words, const char *key,
		struct profile *profile);

#endif
