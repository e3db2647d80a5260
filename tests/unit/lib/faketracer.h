/* SPDX-License-Identifier: Apache-2.0 */
/* All that tracing/tracer.c asks of others, who write it down (steps.h): no file is read, nothing
 * is compiled, and nothing attached. */
#ifndef FAKETRACER_H
#define FAKETRACER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/attach.h"
#include "machine/arch.h"
#include "steps.h"

struct toolchain;
struct heldfile;

extern struct world {
	enum arch arch;
	const struct toolchain *toolchain;
	enum attach_how how;
	const char *written; /* the file that was written to */
	bool sleepable, other_side, moved;
	uint32_t parts;
	unsigned running; /* programs */
	bool follows, watched;
	const char *empty; /* the program in which nothing matches */
} world;

/* All is as it should be but for what fails, as in steps.h. */
void world_begin(const char *fails);
struct heldfile *world_file(const char *path);

#endif
