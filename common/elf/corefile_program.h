/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a core file is one of a certain program, and where that had been loaded. */
#ifndef COREFILE_PROGRAM_H
#define COREFILE_PROGRAM_H

#include <stdint.h>

struct corefile;
struct image;

enum corefile_match {
	COREFILE_SAME,   /* the build ID in memory is the file's */
	COREFILE_OTHER,  /* it is not */
	COREFILE_UNTOLD, /* one of them has none */
};

/* *bias: what was linked at address `addr` is in memory at addr + *bias. */
enum corefile_match corefile_program(const struct corefile *core, const struct image *img,
				     uint64_t *bias);

#endif
