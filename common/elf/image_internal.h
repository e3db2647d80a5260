/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room elf uses of image. */
#ifndef IMAGE_INTERNAL_H
#define IMAGE_INTERNAL_H

#include "elf/image.h"

/* address of .eh_frame_hdr, which call frame information is found by; 0: there is none */
uint64_t image_eh_frame(const struct image *img);

#endif
