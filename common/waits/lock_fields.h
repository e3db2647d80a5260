/* SPDX-License-Identifier: Apache-2.0 */
/* What a program calls its locks, and whatever else goroutines wait for in the same way: by the
 * variable, "main.mu", or by the field of the struct that a function's parameter points to,
 * "main.(*Store).mu". */
#ifndef LOCK_FIELDS_H
#define LOCK_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "goroutines/wait.h"

struct gotype;
struct lock_fields;
struct program;

#define LOCK_FIELDS_STRUCT_MAX (UINT64_C(1) << 20) /* bytes of a struct with a lock */

/* Reads nothing yet. The program outlives it; addresses are with load bias 0. */
struct lock_fields *lock_fields_new(const struct program *prog);
void lock_fields_free(struct lock_fields *fields); /* NULL is all right */

/* "main.mu", or "main.cache+0x18": the variable that has this address; NULL: none. The caller
 * frees. */
char *lock_fields_variable(struct lock_fields *fields, uint64_t addr);
/* The struct that a parameter points to: of the function with the instruction at `at`, the one that
 * is kept `off` bytes into its arguments (struct abi_value's `slot`). NULL: not known, or it is
 * another kind of parameter. */
const struct gotype *lock_fields_param(struct lock_fields *fields, uint64_t at, uint32_t off);
/* Is it a function of package sync? Its structs are parts of others. */
bool lock_fields_in_sync(const char *func);
struct lock_callee {     /* a function that waits for a lock that it was given */
	uint64_t addr;   /* where it begins */
	uint32_t before; /* bytes from the lock to its first argument */
	enum wait_kind kind;
	bool in_sync; /* names in package sync will do, too */
};

#endif
