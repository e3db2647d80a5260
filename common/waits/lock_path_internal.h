/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room waits uses of lock_path. */
#ifndef LOCK_PATH_INTERNAL_H
#define LOCK_PATH_INTERNAL_H

#include "waits/lock_path.h"

/* In what the struct points to: `bytes` is a copy of its beginning. "main.(*Store).mu" if it has a
 * pointer to the lock at address `lock`, "main.(*inner).mu" if what it points to has the lock. */
char *lock_path_behind(const struct gotype *type, const void *bytes, size_t len, uint64_t lock,
		       enum wait_kind kind);
/* Where code comes to from a pointer to such a struct, as *origin tells of it. */
char *lock_path_along(const struct gotype *type, const struct origin *origin, enum wait_kind kind);

#endif
