/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a program's variables, where its file has symbols. */
#ifndef VARIABLE_NAMES_INTERNAL_H
#define VARIABLE_NAMES_INTERNAL_H

#include <stdint.h>

struct image;
struct variable_names;

struct variable_names *variable_names_new(const struct image *img); /* which outlives it */
void variable_names_free(struct variable_names *names);             /* NULL is all right */
/* Of the variable that has this address, with load bias 0, and where it begins; NULL: there is
 * none. */
const char *variable_names_at(const struct variable_names *names, uint64_t addr, uint64_t *begin);

#endif
