/* SPDX-License-Identifier: Apache-2.0 */
/* A probe in the tool's own code, to try the kernel out: for kernel/ only. */
#ifndef ATTACH_SELF_INTERNAL_H
#define ATTACH_SELF_INTERNAL_H

#include <stdint.h>

struct attach;

/* In this process alone, at an address of its own program. NULL: cannot be attached. */
struct attach *attach_self(uintptr_t addr, int prog_fd);

#endif
