/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room kernel uses of attach. */
#ifndef ATTACH_INTERNAL_H
#define ATTACH_INTERNAL_H

#include "kernel/attach.h"

/* Attaches again to the same process. The kernel knows the process by its first thread; if another
 * thread has executed a program, it is the first thread from then on, and none of its hits gets
 * through. 0; -1 with *err if a probe is lost. */
int attach_again(struct attach *at, struct errmsg *err);
/* Detaches the probes that attach_again() has replaced, which takes longer than attaching again. */
void attach_forget(struct attach *at);

#endif
