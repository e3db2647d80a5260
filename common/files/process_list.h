/* SPDX-License-Identifier: Apache-2.0 */
/* The processes that there are. */
#ifndef PROCESS_LIST_H
#define PROCESS_LIST_H

#include <stddef.h>
#include <sys/types.h>

/* No kernel threads and none that have ended, by PID. The caller frees. */
pid_t *process_list(size_t *count);

#endif
