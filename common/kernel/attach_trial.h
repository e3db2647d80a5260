/* SPDX-License-Identifier: Apache-2.0 */
/* Can this kernel keep probes to one process? Before 6.10 some compare threads instead of
 * processes, and vendors port the fix back, so the tool tries it on itself. */
#ifndef ATTACH_TRIAL_H
#define ATTACH_TRIAL_H

#include <stdbool.h>

struct attach_trial;

/* Starts the trial in a thread of its own. It takes some hundredths of a second, nearly all of it
 * waiting. The caller ends it. */
struct attach_trial *attach_trial_start(void);
/* Waits for the answer, and frees. Does attach_new() with a pid see the hits of all threads of that
 * process, and is there a way to know of its execve? No without the privileges to try, and with
 * GOTOOLS_ALONE=no, for tests. */
bool attach_trial_end(struct attach_trial *trial);

#endif
