/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room kernel uses of bpfprog. */
#ifndef BPFPROG_INTERNAL_H
#define BPFPROG_INTERNAL_H

#include "kernel/bpfprog.h"

const char *bpfprog_source(const char *file); /* the embedded text; NULL: none */

#endif
