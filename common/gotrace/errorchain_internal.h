/* SPDX-License-Identifier: Apache-2.0 */
/* Which errors were passed on: the call that returned an error has made one, on the same goroutine,
 * that returned it before, and its text has the other's. Of each goroutine the last errors are
 * remembered; one that came before these is not found. */
#ifndef ERRORCHAIN_INTERNAL_H
#define ERRORCHAIN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errorchain;

struct errorchain_call {
	uint32_t tgid;
	uint64_t goid;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	const char *text;          /* of the error */
	size_t origin; /* the caller's own number of what is passed on: an index of its table */
};

struct errorchain *errorchain_new(void);
void errorchain_free(struct errorchain *chain); /* NULL is all right */
/* In the order of returns. True: the call has passed on the error of an earlier one, whose *origin
 * is the result. */
bool errorchain_find(struct errorchain *chain, const struct errorchain_call *call, size_t *origin);
/* Remembers the call, with its origin: its own or the one found. Copies the text. */
void errorchain_add(struct errorchain *chain, const struct errorchain_call *call);

#endif
