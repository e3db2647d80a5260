/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of what is printed of goroutines, for this room alone. */
#ifndef GOROUTINES_PRINT_INTERNAL_H
#define GOROUTINES_PRINT_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct goroutine;
struct goroutines_view;
struct group;
struct json;
struct profile;

/* Those with the same state, stack and creator together, the innermost frames of each:
 *     12  chan receive, 2 minutes
 *         main.worker jobs.go:31
 *         created by main.main jobs.go:12
 */
void goroutines_print_groups(FILE *out, const struct goroutines_view *view);
/* Each by itself, as Go's tracebacks show it; with arguments, if the snapshot has any. */
void goroutines_print_each(FILE *out, const struct goroutines_view *view);
/* "outermost;...;innermost;[state] count", of several processes with "jobs-4711;" in front, as
 * flame graphs are made of */
void goroutines_print_folded(FILE *out, const struct goroutines_view *view);
/* {"type":"goroutine","pid":...}, one object a goroutine */
void goroutines_print_json(FILE *out, const struct goroutines_view *view);
void goroutines_profile(struct profile *profile, const struct goroutines_view *view);
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
