/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room frames uses of frame_args. */
#ifndef FRAME_ARGS_INTERNAL_H
#define FRAME_ARGS_INTERNAL_H

#include "frames/frame_args.h"

/* How many bytes of them are needed. */
uint16_t frame_args_size(const struct frames *frames, const struct functab_func *fn);

#endif
