/* SPDX-License-Identifier: Apache-2.0 */
/* gccgo's type descriptors (symbols TYPE..d), as far as names of functions need them. Format:
 * libgo's go/runtime/type.go. */
#ifndef GCCGOTYPE_H
#define GCCGOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;

/* Has the type whose descriptor stands at addr a method of this name with a receiver that is no
 * pointer, its own or promoted? */
bool gccgotype_has_method(const struct image *img, uint64_t addr, const char *name);

#endif
