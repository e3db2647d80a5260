/* SPDX-License-Identifier: Apache-2.0 */
/* What is in the arguments of goroutines' frames: of each frame its length, and its bytes. */
#ifndef SNAPSHOT_ARGS_H
#define SNAPSHOT_ARGS_H

#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_NO_ARGS UINT64_MAX

struct unwound_frames;

struct snapshot_args {
	uint8_t *bytes; /* the owner frees */
	size_t len, cap;
};

#endif
