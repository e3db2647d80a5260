/* SPDX-License-Identifier: Apache-2.0 */
/* A file's bytes in memory, copied block by block when they are first asked for: much of a program
 * is never looked at. */
#ifndef HELDFILE_BYTES_INTERNAL_H
#define HELDFILE_BYTES_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#ifndef HELDFILE_BLOCK_SIZE
#define HELDFILE_BLOCK_SIZE (1 << 16)
#endif

enum { HELDFILE_BLOCK = HELDFILE_BLOCK_SIZE }; /* bytes that are copied at a time, at least */

enum { HELDFILE_CUT = -1, HELDFILE_LARGE = -2 };

struct heldfile_bytes {
	int fd;
	uint64_t size;  /* of the file when it was opened */
	uint8_t *data;  /* address space for all of it, once something is asked for */
	uint8_t *have;  /* one bit for each block of it: copied */
	uint64_t asked; /* bytes read from the file, in total, with those of failed reads */
	int error; /* why reading has failed for good: HELDFILE_*, or an errno; 0: it has not */
};

/* as heldfile_at and heldfile_read */
const void *heldfile_bytes_at(struct heldfile_bytes *bytes, uint64_t off, uint64_t len);
bool heldfile_bytes_read(struct heldfile_bytes *bytes, uint64_t off, uint64_t len, void *out);
void heldfile_bytes_free(struct heldfile_bytes *bytes);

#endif
