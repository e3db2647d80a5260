/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of what is printed of goroutines, for this room alone. */
#ifndef GOROUTINES_PRINT_PARTS_H
#define GOROUTINES_PRINT_PARTS_H

#include <stdbool.h>
#include <stdio.h>

struct goroutine;
struct goroutines_view;
struct group;
struct json;

/* "chan receive, 2 minutes" and the end of the line */
void goroutines_print_state(FILE *out, const struct goroutines_view *view,
			    const struct group *group);
/* Below it, the innermost frames and the creator. */
void goroutines_print_where(FILE *out, const struct goroutines_view *view,
			    const struct goroutine *g);
/* "stack", "frames" and "created_by", `with_parent` with the creator's goid. */
void goroutines_json_where(struct json *json, const struct goroutines_view *view,
			   const struct goroutine *g, bool with_parent);

#endif
