/* SPDX-License-Identifier: Apache-2.0 */
/* The last resort against files that are made to be slow or large to read: what no budget of a
 * reader's foresaw, above all in libraries, ends the tool in words. Nothing is attached while files
 * are read, so that the traced program does not notice. */
#ifndef BUDGET_WATCH_H
#define BUDGET_WATCH_H

#include <stdint.h>

/* Of the thread that calls it: from here on its CPU time and the process's memory are watched. What
 * was begun before goes on; the limits grow by the bytes of the file at `path`. When one of them is
 * passed, a line on stderr says so and the process exits with status 1. */
void budget_watch_begin(const char *path, uint64_t file_bytes);
/* Another file belongs to it, such as one with debug information: the limits grow. */
void budget_watch_add(uint64_t file_bytes);
/* Between these two nothing is watched: what is not reading may take its time. */
void budget_watch_pause(void);
void budget_watch_resume(void);

#endif
