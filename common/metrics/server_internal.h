/* SPDX-License-Identifier: Apache-2.0 */
/* Serves metrics over HTTP, without a thread of its own: whoever waits for other things too waits
 * for its descriptor. No client can hold it up: it never waits for one, has room for a few, and
 * lets each have a few seconds. */
#ifndef SERVER_INTERNAL_H
#define SERVER_INTERNAL_H

#include <stdint.h>
#include <stdio.h>

#include "metrics/exposition_internal.h"

struct endpoint;
struct errmsg;
struct server;

struct server_source {
	/* Reads the numbers if it is time to. The number of the reading; 0: cannot be read. */
	uint64_t (*refresh)(void *ctx);
	void (*write)(void *ctx, FILE *out, enum exposition_format format);
	void *ctx;
	const char *about; /* a line for who asks for / */
};

/* Takes the address: from here on clients may connect, and wait. Where its port is 0, the kernel's
 * choice is put there. NULL and *err on failure. */
struct server *server_open(struct endpoint *endpoint, const struct server_source *source,
			   struct errmsg *err);
void server_close(struct server *server);   /* NULL is all right */
int server_fd(const struct server *server); /* readable when there is something to do */
/* Does it. To be called some times a second as well, for what is due. */
void server_run(struct server *server);

#endif
