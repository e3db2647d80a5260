/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room kernel uses of bpfmap. */
#ifndef BPFMAP_INTERNAL_H
#define BPFMAP_INTERNAL_H

#include "kernel/bpfmap.h"

int bpfmap_delete(int fd, const void *key);

#endif
