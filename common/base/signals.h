/* SPDX-License-Identifier: Apache-2.0 */
/* SIGINT, SIGTERM and SIGHUP: somebody wants the tool to end. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <pthread.h>
#include <stdbool.h>

/* From here on they end the tool in order, also where it was started with them ignored, as a
 * script's `command &` has SIGINT; but nohup(1) has SIGHUP ignored for good reason, and so it
 * stays. To be called first of all. Until signals_hold() nothing is gathered: the first signal ends
 * the process at once, with status 0 and a word on stderr. `tool` is not copied. */
void signals_take(const char *tool);
/* From here on the first signal only makes the descriptor readable that this returns (the module's;
 * -1 with errno: none could be made); a second one ends the process at once, with 128 and its
 * number as status. Signals that come within a tenth of a second are one. */
int signals_hold(void);
bool signals_came(void);
/* Called where a signal ends the process; async-signal-safe, and called once at most. */
void signals_at_end(void (*clean_up)(void));
/* Called before this module says a word; async-signal-safe. */
void signals_before_words(void (*fn)(void));
/* The end has come otherwise: the next signal is the second. */
void signals_over(void);
/* The default action for all of them, but for an ignored SIGHUP: for a tool that gathers nothing,
 * and whose output would be cut short. */
void signals_default(void);

/* As pthread_create(), true where it could: a thread that takes no signals. Those above are for the
 * first thread: it handles them when its system call is over, not in the middle. The kernel leaves
 * breakpoints behind where a process ends while one of its threads attaches or detaches. */
bool signals_thread(pthread_t *thread, void *(*run)(void *), void *ctx);

/* Says `text` on stderr and ends the process as a signal would, with status 1. Async-signal-safe.
 */
_Noreturn void signals_give_up(const char *text);

/* Around fork(): no signal is handled between before and after. The child, which is to execve, gets
 * back what this process was started with. Async-signal-safe. */
void signals_before_fork(void);
void signals_after_fork(bool child);

#endif
