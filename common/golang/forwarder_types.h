/* SPDX-License-Identifier: Apache-2.0 */
/* Types of the standard library that the signatures of forwarders need, for programs that do not
 * tell what they are. */
#ifndef FORWARDER_TYPES_H
#define FORWARDER_TYPES_H

#include "golang/signature.h"

struct forwarder_types {
	const struct signature_names *program; /* asked first; may be NULL */
	struct gotypes *memory;
	int minor; /* Go 1.MINOR of the program */
};

/* For struct signature_names; ctx is a struct forwarder_types. */
const struct gotype *forwarder_type(void *ctx, const char *name);

#endif
