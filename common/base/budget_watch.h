/* SPDX-License-Identifier: Apache-2.0 */
/* The last resort against files made to be slow or large to read: it ends the tool with a message
 * if reading takes more time or memory than any reader's budget foresaw, above all in libraries.
 * Nothing is attached while files are read, so the traced program does not notice. */
#ifndef BUDGET_WATCH_H
#define BUDGET_WATCH_H

#include <stdint.h>

/* From here on, the CPU time of the calling thread and the memory of the process are watched. If a
 * watch is running, it continues, and its limits grow by the size of the file at `path`. When a
 * limit is passed, a line on stderr says so and the process exits with status 1. */
void budget_watch_begin(const char *path, uint64_t file_bytes);
/* Another file belongs to the one that is read, such as one with debug information: the limits
 * grow. */
void budget_watch_add(uint64_t file_bytes);
/* From here on a task of another kind is watched, such as a look at a process's memory: the time
 * that it may take is its own, whatever was used before. Both limits are those of the files, parts
 * of which may be read for it; budget_watch_allow() raises them by what the task has found that it
 * has to do. "gostacks: WHOSE: gave up: TASK takes more time than so many should" */
void budget_watch_task(const char *whose, const char *task);
void budget_watch_allow(uint64_t ns, uint64_t bytes);
/* Between these two calls nothing is watched, for work other than reading. */
void budget_watch_pause(void);
void budget_watch_resume(void);

#endif
