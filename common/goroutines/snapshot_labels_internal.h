/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room goroutines uses of snapshot_labels. */
#ifndef SNAPSHOT_LABELS_INTERNAL_H
#define SNAPSHOT_LABELS_INTERNAL_H

struct snapshot;
struct snapshot_source;

/* Reads the labels of all goroutines of the snapshot, where `labels` is an address so far. */
void snapshot_labels_read(const struct snapshot_source *from, struct snapshot *out);

#endif
