/* SPDX-License-Identifier: Apache-2.0 */
/* Receives warnings about what a PROBE says but probably does not mean. */
#ifndef TRACEGEN_TOLD_INTERNAL_H
#define TRACEGEN_TOLD_INTERNAL_H

struct tracegen_told {
	void (*warn)(void *ctx, const char *warning); /* the same one may come several times */
	void *ctx;
	const char *text; /* the PROBE as typed */
};

#endif
