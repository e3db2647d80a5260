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
/* In what the struct points to: `bytes` is a copy of its beginning. "main.(*Store).mu" if it has a
 * pointer to the lock at address `lock`, "main.(*inner).mu" if what it points to has the lock. */
char *lock_path_behind(const struct gotype *type, const void *bytes, size_t len, uint64_t lock,
		       enum wait_kind kind);
/* Where code comes to from a pointer to such a struct, as *origin tells of it. */
char *lock_path_along(const struct gotype *type, const struct origin *origin, enum wait_kind kind);

#endif
