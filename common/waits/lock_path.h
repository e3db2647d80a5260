/* SPDX-License-Identifier: Apache-2.0 */
/* Where a struct has a lock, or what else goroutines wait for: "main.(*Store).inner[3].mu". Each
 * NULL: it has none there. The caller frees. */
#ifndef LOCK_PATH_H
#define LOCK_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "goroutines/wait.h"

struct gotype;
struct origin;

/* `off` bytes from its beginning, a lock of this kind, or, with `points`, a pointer to one. */
char *lock_path(const struct gotype *type, uint64_t off, enum wait_kind kind, bool points);

#endif
