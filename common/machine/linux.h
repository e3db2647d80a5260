/* SPDX-License-Identifier: Apache-2.0 */
/* What Linux does otherwise on each machine. */
#ifndef LINUX_H
#define LINUX_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/arch.h"

/* The system calls in which programs wait, and others that take long; NULL: none of them. */
const char *linux_call_name(enum arch arch, int number);
/* May it be what mmap() gives to who asks for no address? It begins at the top. */
bool linux_is_mapped(enum arch arch, uint64_t addr);

#endif
