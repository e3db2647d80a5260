/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room kernel uses of bpfprog. */
#ifndef BPFPROG_INTERNAL_H
#define BPFPROG_INTERNAL_H

#include "kernel/bpfprog.h"

#define BPFPROG_PRIVILEGES "run as root, or with CAP_BPF and CAP_PERFMON"

const char *bpfprog_source(const char *file); /* the embedded text; NULL: none */

#endif
