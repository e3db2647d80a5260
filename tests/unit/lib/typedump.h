/* SPDX-License-Identifier: Apache-2.0 */
/* Types and signatures as text in which nothing of them is left out. A type has a number, and a
 *line of its own at the end:
 *
 *	func receiver dictionary -1 (t 1 by address, _ 2 guess) (~r0 2)
 *	1 struct main.T 16/8 defined at 404000 {next@0 3, n@8 2 embedded}
 */
#ifndef TYPEDUMP_H
#define TYPEDUMP_H

#include "golang/gofunc.h"

enum { TYPEDUMP_MAX = 64 };

struct typedump {
	const struct gotype *types[TYPEDUMP_MAX];
	size_t count, written;
	char text[8192];
	size_t len;
};

__attribute__((format(printf, 2, 3))) void typedump_text(struct typedump *dump, const char *format,
							 ...);
/* its number; 0: there is none */
size_t typedump_number(struct typedump *dump, const struct gotype *type);
void typedump_func(struct typedump *dump, const struct gofunc *fn);
/* The lines of types that have not been written, and of those that are parts of them. */
void typedump_types(struct typedump *dump);
/* ... and then all of it is to be `want`. */
void typedump_expect(struct typedump *dump, const char *want);

#endif
