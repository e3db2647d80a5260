/* SPDX-License-Identifier: Apache-2.0 */
/* Has a process that could not be read ended, or is there another reason? */
#ifndef ENDING_INTERNAL_H
#define ENDING_INTERNAL_H

#include <stdbool.h>

struct process;

/* Waits a moment: the kernel takes the memory of one that ends before it tells of the end. */
bool ending_runs_on(const struct process *proc);

#endif
