/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

/* ns since some time that stays the same until the machine starts again (CLOCK_MONOTONIC, which
 * BPF's bpf_ktime_get_ns() reads too). Async-signal-safe. */
uint64_t clock_ns(void);

#endif
