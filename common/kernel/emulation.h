/* SPDX-License-Identifier: Apache-2.0 */
/* Does this kernel let a uprobe's program carry out the probed instruction (Linux 6.19): may it
 * write registers, and is the instruction left out where it has changed the instruction pointer?
 * The tool tries it on itself. */
#ifndef EMULATION_H
#define EMULATION_H

#include <stdbool.h>

struct emulation_trial;

/* Starts the trial in a thread of its own. The answer is there after some milliseconds; detaching
 * takes some hundredths of a second more. The caller ends it. */
struct emulation_trial *emulation_trial_start(void);
/* Waits for the answer. No with GOTOOLS_EMULATE=no, and without the privileges to try. */
bool emulation_trial_answer(struct emulation_trial *trial);
void emulation_trial_end(struct emulation_trial *trial); /* NULL is all right */

#endif
