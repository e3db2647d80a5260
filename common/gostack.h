/* SPDX-License-Identifier: Apache-2.0 */
/* Return addresses to lines of a stack, from the program's file alone: it may have ended.
 *         main.add +0x0
 *         main.run +0x4f (inlined)
 *         main.main +0x2a
 *         created by main.start in goroutine 1
 * and with file and line under -a:
 *         0x0000000000482f2f main.main +0x2a /src/main.go:12 */
#ifndef GOSTACK_H
#define GOSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct image;
struct json;
struct pclntab;

struct gostack { /* addresses as in the process's memory */
	const uint64_t
		*frames; /* frames[0] is where the probe stands, the others return addresses */
	size_t count;
	uint64_t bias;
	uint64_t created_by;  /* 0: not known */
	uint64_t parent_goid; /* 0: not known */
	bool cut;             /* there are more frames than were read */
};

/* Innermost first, inlined frames expanded; each line indented by 8. `detail`: address, file and
 * line. What is in no Go function is named by the file's symbols where it has some, else
 * [unknown]. */
void gostack_print(FILE *out, const struct gostack *stack, const struct image *img,
		   const struct pclntab *tab, bool detail);
/* An array of {"func":..., "off":N, "file":..., "line":N, "inlined":true} */
void gostack_json(struct json *json, const struct gostack *stack, const struct image *img,
		  const struct pclntab *tab);

#endif
