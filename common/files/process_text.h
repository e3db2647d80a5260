/* SPDX-License-Identifier: Apache-2.0 */
/* A text of /proc/PID, for process*.c only. */
#ifndef PROCESS_TEXT_H
#define PROCESS_TEXT_H

#include <stdio.h>

struct process;

FILE *process_text(const struct process *proc, const char *name); /* NULL: it cannot be read */

#endif
