/* SPDX-License-Identifier: Apache-2.0 */
/* Many pieces of a process's memory, read by one system call. */
#ifndef PROCESS_PIECES_H
#define PROCESS_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct process;

struct process_piece {
	uint64_t addr;
	void *out;
	size_t len;
};

/* PROCESS_PIECES at most. How many of them, from the first on, have been read whole; none where the
 * system does not let the tool do so. It is read what the process has for its memory now: unlike
 * process_memory(), another program's once it has executed one. */
enum { PROCESS_PIECES = 256 };
size_t process_pieces(const struct process *proc, const struct process_piece *pieces, size_t count);

#endif
