/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room golang uses of gotype. */
#ifndef GOTYPE_INTERNAL_H
#define GOTYPE_INTERNAL_H

#include "golang/gotype.h"

const struct gotype *gotypes_array(struct gotypes *types, const struct gotype *elem,
				   uint64_t count);

#endif
