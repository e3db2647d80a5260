/* SPDX-License-Identifier: Apache-2.0 */
/* Where metrics go: a socket's address, or a file. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include <sys/socket.h>

struct errmsg;

struct endpoint {
	const char *file; /* NULL: the address */
	struct sockaddr_storage addr;
	socklen_t addr_len;
};

enum { ENDPOINT_TEXT = 64 };

/* ADDR:PORT, [ADDR]:PORT, :PORT or PORT of 127.0.0.1; what has a slash or ends in .prom is a file's
 * name, which belongs to the caller. 0, or -1 with *err. */
int endpoint_parse(const char *text, struct endpoint *out, struct errmsg *err);

#endif
