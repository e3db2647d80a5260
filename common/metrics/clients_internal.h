/* SPDX-License-Identifier: Apache-2.0 */
/* Who may stay when more connect than there is room for: whoever comes last is let in, and the one
 * that an address with many connections made first has to go. An address that has been served is
 * known: its newest connection stays, whatever others do. */
#ifndef CLIENTS_INTERNAL_H
#define CLIENTS_INTERNAL_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

enum {
	CLIENTS_MAX = 32,
	CLIENTS_OF_ADDR = 8,
	CLIENTS_KNOWN = 8,      /* addresses; while there are so many, none becomes known */
	CLIENTS_KNOWN_S = 3600, /* for so long after it has been served last */
};

struct client {
	int fd;
	uint64_t since; /* ns, as clock_ns() */
	struct in6_addr addr;
	unsigned same; /* connections of its address, with this one */
};

struct clients {
	struct client *list[CLIENTS_MAX]; /* in the order in which they came */
	size_t count;
	struct {
		struct in6_addr addr;
		uint64_t until; /* 0: free */
	} known[CLIENTS_KNOWN];
};

/* A connection that has just been made. *victim: the one that has to go for it, or NULL. What is
 * returned is forgotten with clients_forget(), when the connection is closed, and so is *victim. */
struct client *clients_add(struct clients *clients, int fd, const struct sockaddr *addr,
			   uint64_t now, struct client **victim);
/* Frees it; NULL is all right. */
void clients_forget(struct clients *clients, struct client *client);

/* One of this descriptor; NULL: there is none. */
struct client *clients_find(const struct clients *clients, int fd);
/* It has got what it asked for: its address is known from now on. */
void clients_served(struct clients *clients, const struct client *client, uint64_t now);

#endif
