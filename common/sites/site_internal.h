/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room sites uses of site. */
#ifndef SITE_INTERNAL_H
#define SITE_INTERNAL_H

#include "sites/site.h"

/* A finder over bytes instead of a file, of code for `arch`; the bytes stay the caller's. */
struct site_finder *site_finder_new_code(enum arch arch, const struct insn_code *code);

#endif
