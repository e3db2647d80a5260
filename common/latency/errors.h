/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions have an error as their last result, and where it is when they return: the kernel
 * side, compiled with ERRORS, counts those that are not nil. */
#ifndef LATENCY_ERRORS_H
#define LATENCY_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

struct errmsg;
struct errors;
struct tracer;

struct errors *errors_new(void);         /* the caller frees */
void errors_free(struct errors *errors); /* NULL is all right */

/* tracer_config's `plan`; ctx is the errors. 0: where nothing is known of a function's results,
 * nothing is counted. */
int errors_plan(void *ctx, struct tracer *tracer, struct errmsg *err);
/* Before the kernel side is switched on. -1 with *err. */
int errors_begin(const struct errors *errors, struct tracer *tracer, struct errmsg *err);

/* Are the errors of this row of the selection counted? False: the last result is no error; or not
 * known; or its functions have it in different places; or some of them are inlined copies. */
bool errors_counted(const struct errors *errors, size_t row);

#endif
