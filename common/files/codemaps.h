/* SPDX-License-Identifier: Apache-2.0 */
/* Who has mapped code of which file. */
#ifndef CODEMAPS_H
#define CODEMAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct codemap {
	pid_t pid, tid; /* `tid`: a thread of the process whose memory it is */
	ino_t ino;      /* alone: overlay file systems show one device here and another there */
	uint64_t addr;  /* virtual, of the process */
	uint64_t len;   /* bytes */
	uint64_t off;   /* of the file */
};

/* Calls `each` for all mappings that may be executed, of process `pid` or (0) of all, those of one
 * process after another. Of the processes' mappings some million is read at most: one process may
 * have tens of thousands. Returns 0, or -1: there were more. */
int codemaps_each(pid_t pid, void (*each)(void *ctx, const struct codemap *map), void *ctx);
/* A descriptor of the memory that the mapping is in, for pread(2) by address; the caller closes.
 * -1 with errno: it may not be read (ptrace(2) has the rules), or the process has ended. */
int codemaps_memory(const struct codemap *map);

#endif
