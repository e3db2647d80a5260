/* SPDX-License-Identifier: Apache-2.0 */
/* Can this kernel keep probes to one process? Some compare threads where they should compare
 * processes (before 6.10, but for vendors' fixes), so it is tried out: on the tool itself. */
#ifndef ATTACH_TRIAL_H
#define ATTACH_TRIAL_H

#include <stdbool.h>

struct attach_trial;

/* Takes some hundredths of a second, nearly all of it waiting: begun here, in a thread of its own.
 * Caller ends it. */
struct attach_trial *attach_trial_start(void);
/* Waits for the answer, and frees. Does attach_new() with a pid see the hits of all threads of that
 * process, and is there a way to know of its execve? No without the privileges to try, and with
 * GOTOOLS_ALONE=no, for tests. */
bool attach_trial_end(struct attach_trial *trial);

#endif
