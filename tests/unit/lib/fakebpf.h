/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the kernel's bpf(2), perf_event_open(2) and ioctl(2) on what these return: each call
 * is written down (steps.h) with what was asked of it, BPF programs instruction by instruction.
 * What they return are numbers from FAKEBPF_FD on. For tests that have this of their own. */
#ifndef FAKEBPF_H
#define FAKEBPF_H

#include <stdint.h>

#include "steps.h"

enum { FAKEBPF_FD = 1000 };

extern struct fakebpf {
	int error;      /* of the call that fails */
	int made;       /* descriptors */
	uint64_t value; /* of any entry of any map */
} fakebpf;

/* All goes well but for what fails, as in steps.h. */
void fakebpf_begin(const char *fails, int error);

#endif
