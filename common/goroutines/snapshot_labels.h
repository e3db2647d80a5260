/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of goroutines (runtime/pprof), each set of them once. */
#ifndef SNAPSHOT_LABELS_H
#define SNAPSHOT_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct snapshot_labels {
	uint8_t *bytes; /* the owner frees */
	size_t len, cap;
};

struct snapshot_label { /* text of the program: any bytes */
	const char *key, *value;
	size_t key_len, value_len;
};

/* The next label of a set: *at begins as struct goroutine's `labels`. False: there is none;
 * *cut: because more of them could not be read, or would be too much. */
bool snapshot_labels_next(const struct snapshot_labels *labels, uint64_t *at,
			  struct snapshot_label *out, bool *cut);

#endif
