/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room files uses of heldfile. */
#ifndef HELDFILE_INTERNAL_H
#define HELDFILE_INTERNAL_H

#include "files/heldfile.h"

/* heldfile_open() of an O_PATH descriptor, which is closed; `shown` is the path for messages. */
struct heldfile *heldfile_take(struct fileroot *root, int path_fd, const char *shown,
			       struct errmsg *err);

#endif
