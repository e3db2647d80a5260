/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room machine uses of registers. */
#ifndef REGISTERS_INTERNAL_H
#define REGISTERS_INTERNAL_H

#include "machine/registers.h"

/* A name may be of a part. NULL: there is none such. */
const struct registers_general *registers_by_name(enum arch arch, const char *name);

#endif
