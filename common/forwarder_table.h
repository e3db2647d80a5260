/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Go's standard library whose body is one call that passes parameters on as they are.
 * Source: Go's own, of each version named; tests/forwarders checks every row against them. */
#ifndef FORWARDER_TABLE_H
#define FORWARDER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct forwarder_row {
	const char *name, *signature; /* a method's receiver first */
	const char *callee, *callee_signature;
	/* For each parameter the callee's that it is passed as, '0' and up; '-': none, or another
	 * value. Then '=': the callee's results are returned as they are. */
	const char *passes;
	uint8_t from, to; /* Go 1.from to 1.to */
};

/* The row of a function of Go 1.MINOR, with this callee. NULL: there is none. */
const struct forwarder_row *forwarder_row(const char *name, const char *callee, int minor);
/* The n-th; NULL: there are no more. */
const struct forwarder_row *forwarder_row_at(size_t n);

#endif
