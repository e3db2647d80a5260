/* SPDX-License-Identifier: Apache-2.0 */
/* Who is told what a PROBE says that was probably not meant. */
#ifndef TRACEGEN_TOLD_H
#define TRACEGEN_TOLD_H

struct tracegen_told {
	void (*warn)(void *ctx, const char *warning); /* the same one may come several times */
	void *ctx;
	const char *text; /* the PROBE as typed */
};

#endif
