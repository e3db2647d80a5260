/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <sys/types.h>

/* ns since some time that stays the same until the machine starts again (CLOCK_MONOTONIC, which
 * BPF's bpf_ktime_get_ns() reads too). Async-signal-safe. */
uint64_t clock_ns(void);

/* What to add to clock_ns() to have the ns since 1970 (CLOCK_REALTIME): it changes whenever that
 * clock is set. */
uint64_t clock_to_unix_ns(void);

/* How much of a processor a process has taken, in ns; 0: there is none of this number. */
uint64_t clock_cpu_ns(pid_t pid);

enum { CLOCK_TEXT = sizeof("23:59:59") };

/* The time of day, local time: "23:59:59" */
void clock_text(char text[CLOCK_TEXT]);

#endif
