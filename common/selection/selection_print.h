/* SPDX-License-Identifier: Apache-2.0 */
/* What the user is told of a selection. */
#ifndef SELECTION_PRINT_H
#define SELECTION_PRINT_H

#include <stdbool.h>
#include <stdio.h>

struct json;
struct selection;

/* What the user should know before tracing, a line each:
 *   fmt.Println is inlined: tracing 3 copies, in main.main, main.run */
void selection_print_notes(FILE *out, const struct selection *sel);

/* The row's name, and where several programs have rows, whose it is: "main.main (etcd)"; malloc'd,
 * not escaped. */
char *selection_row_text(const struct selection *sel, size_t row);
/* Its program's path where several have rows, as heldfile_place(); malloc'd. Else NULL. */
char *selection_row_binary(const struct selection *sel, size_t row);
/* The same as member "binary", if there is any. */
void selection_json_binary(const struct selection *sel, size_t row, struct json *json);

size_t selection_traced(const struct selection *sel); /* how many different names */
/* Which are not, and why: a line per item with `each`, else a line per reason. */
void selection_print_skipped(FILE *out, const struct selection *sel, const char *tool, bool each);

#endif
