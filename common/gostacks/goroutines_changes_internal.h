/* SPDX-License-Identifier: Apache-2.0 */
/* What two snapshots of a process differ in: how many goroutines do the same, then and now. */
#ifndef GOSTACKS_CHANGES_H
#define GOSTACKS_CHANGES_H

#include <stdio.h>

#include "gostacks/goroutines_print.h"

struct json;

/* COUNT  CHANGE   STATE
 *     12      +3   chan receive
 *         main.worker jobs.go:31
 * The largest growth first, what has gone last. Nothing, if there is no difference. */
void goroutines_print_changes(FILE *out, const struct goroutines_view *before,
			      const struct goroutines_view *now);
/* {"type":"change","pid":...,"count":12,"change":3,...}, one object a line. `before` NULL: all that
 * there is. `time` adds to each object; NULL: nothing. */
void goroutines_json_changes(FILE *out, const struct goroutines_view *before,
			     const struct goroutines_view *now, void (*time)(struct json *json));

#endif
