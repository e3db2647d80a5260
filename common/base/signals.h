/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT, SIGTERM and SIGHUP: somebody wants the tool to end. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <pthread.h>
#include <stdbool.h>

/* From here on these signals end the tool in an orderly way, even if it was started with SIGINT
 * ignored, as scripts do for `command &`. An ignored SIGHUP stays ignored, because of nohup(1).
 * Call this first of all. Until signals_hold() there is nothing to print: the first signal ends
 * the process at once, with a message on stderr and status 0. `tool` is not copied. */
void signals_take(const char *tool);
/* From here on the first signal only makes the returned descriptor readable (it belongs to this
 * module; -1 with errno: it could not be made). A second signal ends the process at once, with
 * status 128 plus its number. Signals within a tenth of a second count as one. */
int signals_hold(void);
bool signals_came(void);
/* Called where a signal ends the process; async-signal-safe, and called once at most. */
void signals_at_end(void (*clean_up)(void));
/* Tracing has ended for another reason: the next signal counts as the second. */
void signals_over(void);
/* Restores the default action for all of them except an ignored SIGHUP: for a tool that gathers
 * nothing, and whose output may be cut short. */
void signals_default(void);

/* As pthread_create(), true where it could: a thread that takes no signals. Those above are for the
 * first thread: it handles them when its system call is over, not in the middle. The kernel leaves
 * breakpoints behind where a process ends while one of its threads attaches or detaches. */
bool signals_thread(pthread_t *thread, void *(*run)(void *), void *ctx);

/* Around fork(): no signal is handled between before and after. The child, which is to execve, gets
 * back what this process was started with. Async-signal-safe. */
void signals_before_fork(void);
void signals_after_fork(bool child);

#endif
