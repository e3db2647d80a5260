/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of goroutines, as text and as JSON. */
#ifndef LABELS_PRINT_INTERNAL_H
#define LABELS_PRINT_INTERNAL_H

#include <stdio.h>

struct goroutine;
struct goroutines_view;
struct json;
struct snapshot;

/* " {user: u1}", as Go's tracebacks have it; nothing where there are none */
void labels_print(FILE *out, const struct snapshot *snap, const struct goroutine *g);
/* "labels" */
void labels_json(struct json *json, const struct goroutines_view *view, const struct goroutine *g);

#endif
