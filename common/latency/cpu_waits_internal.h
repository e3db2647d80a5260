/* SPDX-License-Identifier: Apache-2.0 */
/* What cpu_waits.c computes, for its unit test. */
#ifndef CPU_WAITS_INTERNAL_H
#define CPU_WAITS_INTERNAL_H

struct process_turns;

/* Of the time that its threads wanted to run between the two, in how many percent they waited. 0
 * where that cannot be told: threads that had run for longer than all others have ended. */
unsigned cpu_waits_percent(const struct process_turns *before, const struct process_turns *after);

#endif
