/* SPDX-License-Identifier: Apache-2.0 */
/* gofile.h's program with an inlined forwarder: main.inl2's copy calls main.c, and all three have
 * names and arguments of the caller's choice. amd64 and arm64. */
#ifndef GOFILE_FORWARDER_H
#define GOFILE_FORWARDER_H

#include "gofile.h"

struct gofile_forwarder {
	const char *outer, *inner, *callee; /* together not more than 76 bytes */
	uint32_t args;                      /* bytes of the callee's arguments, by pclntab */
};

void gofile_make_forwarder(struct gofile *g, int release, unsigned machine,
			   const struct gofile_forwarder *names);
uint64_t gofile_forwarder_call(const struct gofile *g); /* address of the call */

#endif
