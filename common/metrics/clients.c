// SPDX-License-Identifier: Apache-2.0
#include "metrics/clients_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"

#define NS_PER_S 1000000000ull

/* IPv4 as IPv6 has it; all that are neither are one */
static struct in6_addr key_of(const struct sockaddr *addr)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)addr;
	struct in6_addr key = {0};

	if (addr->sa_family == AF_INET6)
		return ((const struct sockaddr_in6 *)addr)->sin6_addr;
	if (addr->sa_family == AF_INET) {
		key.s6_addr[10] = key.s6_addr[11] = 0xff;
		memcpy(&key.s6_addr[12], &v4->sin_addr, 4);
	}
	return key;
}

static bool is_same(const struct in6_addr *a, const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* How many connections the address has; of each of them `same` is changed by `change`. */
static unsigned count_same(struct clients *clients, const struct in6_addr *addr, int change)
{
	unsigned count = 0;

	for (size_t i = 0; i < clients->count; i++) {
		if (!is_same(&clients->list[i]->addr, addr))
			continue;
		clients->list[i]->same += change;
		count++;
	}
	return count;
}

static int find_known(const struct clients *clients, const struct in6_addr *addr, uint64_t now)
{
	for (int i = 0; i < CLIENTS_KNOWN; i++)
		if (clients->known[i].until > now && is_same(&clients->known[i].addr, addr))
			return i;
	return -1;
}

static struct client *oldest_of(const struct clients *clients, const struct in6_addr *addr)
{
	for (size_t i = 0; i < clients->count; i++)
		if (is_same(&clients->list[i]->addr, addr))
			return clients->list[i];
	return NULL;
}

/* The oldest one of those whose address has most, but for the newest one of a known address. */
static struct client *least_worthy(const struct clients *clients, uint64_t now)
{
	struct client *worst = NULL;
	bool kept[CLIENTS_KNOWN] = {0};

	for (size_t i = clients->count; i-- > 0;) {
		struct client *client = clients->list[i];
		int known = find_known(clients, &client->addr, now);

		if (known >= 0 && !kept[known])
			kept[known] = true;
		else if (!worst || client->same >= worst->same)
			worst = client;
	}
	return worst;
}

static void leave(struct clients *clients, struct client *client)
{
	size_t i = 0;

	while (i < clients->count && clients->list[i] != client)
		i++;
	if (i == clients->count)
		return;
	for (clients->count--; i < clients->count; i++)
		clients->list[i] = clients->list[i + 1];
	count_same(clients, &client->addr, -1);
}

struct client *clients_add(struct clients *clients, int fd, const struct sockaddr *addr,
			   uint64_t now, struct client **victim)
{
	struct client *client = mem_zalloc(1, sizeof(*client));

	*client = (struct client){.fd = fd, .since = now, .addr = key_of(addr)};
	*victim = NULL;
	if (count_same(clients, &client->addr, 0) >= CLIENTS_OF_ADDR)
		*victim = oldest_of(clients, &client->addr);
	else if (clients->count == CLIENTS_MAX)
		*victim = least_worthy(clients, now);
	if (*victim)
		leave(clients, *victim);
	client->same = 1 + count_same(clients, &client->addr, 1);
	clients->list[clients->count++] = client;
	return client;
}

void clients_forget(struct clients *clients, struct client *client)
{
	if (client)
		leave(clients, client);
	free(client);
}

struct client *clients_find(const struct clients *clients, int fd)
{
	for (size_t i = 0; i < clients->count; i++)
		if (clients->list[i]->fd == fd)
			return clients->list[i];
	return NULL;
}

void clients_served(struct clients *clients, const struct client *client, uint64_t now)
{
	int i = find_known(clients, &client->addr, now);

	for (int free = 0; i < 0 && free < CLIENTS_KNOWN; free++)
		if (clients->known[free].until <= now)
			i = free;
	if (i < 0)
		return;
	clients->known[i].addr = client->addr;
	clients->known[i].until = now + CLIENTS_KNOWN_S * NS_PER_S;
}
