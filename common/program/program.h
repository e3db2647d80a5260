/* SPDX-License-Identifier: Apache-2.0 */
/* The file of one Go program: ELF image, function table, and the release that built it. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct errmsg;
struct heldfile;
struct image;
struct functab;
struct process;
struct toolchain;

struct program {
	const char *path; /* as messages show it: /usr/bin/etcd, /proc/123/exe */
	struct heldfile *file;
	struct image *img;
	struct functab *tab;
	const struct toolchain *toolchain;
	int release; /* N of Go 1.N; the lowest with this layout where the file does not say */
	bool release_told; /* it does */
};

/* `file` becomes the program's, NULL too: then *err says why. NULL and *err, which names the file:
 * not readable, not ELF, not Go, ... Caller closes. */
struct program *program_open(struct heldfile *file, struct errmsg *err);
/* The load bias in a process that executes it: what was linked at address `addr` is in memory at
 * addr + *bias. False: the process has not mapped it, or may not be asked. */
bool program_bias(const struct program *prog, const struct process *proc, uint64_t *bias);
void program_close(struct program *prog); /* NULL is all right */

#endif
