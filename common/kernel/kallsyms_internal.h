/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room kernel uses of kallsyms. */
#ifndef KALLSYMS_INTERNAL_H
#define KALLSYMS_INTERNAL_H

#include "kernel/kallsyms.h"

struct kallsyms *kallsyms_open_file(const char *path, struct errmsg *err); /* of that format */

#endif
