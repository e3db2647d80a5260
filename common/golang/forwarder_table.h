/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of Go's standard library that make one call, to which they pass parameters as they are.
 * The table is common/golang/forwarders.txt, made from Go's sources by tests/forwarders/table. */
#ifndef FORWARDER_TABLE_H
#define FORWARDER_TABLE_H

#include <stdbool.h>

struct gotypes;

struct forwarder_row {         /* texts are of the gotypes that were given */
	const char *signature; /* a method's receiver first */
	const char *callee_signature;
	/* For each parameter the callee's that it is passed as, '0' and up; '-': none, or another
	 * value. Then '=': the callee's results are returned as they are. */
	const char *passes;
};

/* The row of a function of Go 1.MINOR, with this callee. false: there is none. */
bool forwarder_row(struct gotypes *memory, const char *name, const char *callee, int minor,
		   struct forwarder_row *out);
/* What a type is made of in Go 1.MINOR, of those that the rows name: "interface{M()}". NULL: not
 * known. */
const char *forwarder_made_of(struct gotypes *memory, const char *type, int minor);

#endif
