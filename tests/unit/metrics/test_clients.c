// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "metrics/clients_internal.h"
#include "unit.h"

#define S 1000000000ull

static struct clients clients;

static void add(unsigned family, const char *text, int fd, uint64_t now, int victim_fd)
{
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr *addr = family == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	void *bytes = family == AF_INET ? (void *)&v4.sin_addr : (void *)&v6.sin6_addr;
	struct client *victim;

	assert_int_equal(inet_pton(family, text, bytes), 1);
	assert_non_null(clients_add(&clients, fd, addr, now, &victim));
	assert_int_equal(victim ? victim->fd : -1, victim_fd);
	clients_forget(&clients, victim);
}

/* Of an address of its own; its descriptor is 100 and so many */
static void add_other(unsigned n, int victim_fd)
{
	char text[32];

	snprintf(text, sizeof(text), "10.0.%u.%u", n / 256, n % 256);
	add(AF_INET, text, 100 + (int)n, n, victim_fd);
}

static void serve(int fd, uint64_t now)
{
	clients_served(&clients, clients_find(&clients, fd), now);
}

static int forget_all(void **state)
{
	(void)state;
	while (clients.count)
		clients_forget(&clients, clients.list[clients.count - 1]);
	clients = (struct clients){0};
	return 0;
}

static void the_oldest_goes(void **state)
{
	(void)state;
	for (unsigned n = 0; n < CLIENTS_MAX; n++)
		add_other(n, -1);
	assert_int_equal(clients.count, CLIENTS_MAX);
	add_other(200, 100);
	add_other(201, 101);
	assert_int_equal(clients.count, CLIENTS_MAX);
	clients_forget(&clients, clients_find(&clients, 110));
	assert_null(clients_find(&clients, 110));
	add_other(202, -1);
	add_other(203, 102);
}

static void of_one_address_a_few(void **state)
{
	(void)state;
	add_other(1, -1);
	for (int i = 0; i < CLIENTS_OF_ADDR; i++)
		add(AF_INET, "10.1.1.1", i, 0, -1);
	add(AF_INET, "10.1.1.1", 20, 0, 0);
	add(AF_INET6, "::ffff:10.1.1.1", 21, 0, 1); /* the same */
	clients_forget(&clients, clients_find(&clients, 5));
	add(AF_INET, "10.1.1.1", 22, 0, -1);
	for (int i = 0; i < 2 * CLIENTS_OF_ADDR; i++) {
		char text[32];

		snprintf(text, sizeof(text), "2001:db8::%x", i);
		add(AF_INET6, text, 200 + i, 0, -1);
	}
	assert_non_null(clients_find(&clients, 101));
}

/* Who made one connection stays, however old it is, while others made many. */
static void of_many_one_goes(void **state)
{
	unsigned n = 0;

	(void)state;
	for (; n < CLIENTS_MAX - 5; n++)
		add_other(n, -1);
	for (int i = 0; i < 3; i++)
		add(AF_INET, "10.1.1.1", i, 0, -1);
	for (int i = 0; i < 2; i++)
		add(AF_INET, "10.1.1.2", 10 + i, 0, -1);
	add_other(n++, 0);
	add_other(n++, 1); /* of those that have two each, the oldest */
	add_other(n++, 10);
	add_other(n++, 100);
}

static void who_was_served_stays(void **state)
{
	(void)state;
	add(AF_INET, "10.1.1.1", 0, 0, -1);
	serve(0, S);
	clients_forget(&clients, clients_find(&clients, 0));
	add(AF_INET, "10.1.1.1", 1, 2 * S, -1);
	add(AF_INET, "10.1.1.1", 2, 2 * S, -1);
	for (unsigned n = 0; n < CLIENTS_MAX - 2; n++)
		add_other(n, -1);
	add_other(200, 1);   /* but for its older ones */
	add_other(201, 100); /* all others have to go before */
	for (unsigned n = 202; n < 200 + 2 * CLIENTS_MAX; n++)
		add_other(n, n < 200 + CLIENTS_MAX - 1 ? (int)n - 101 : (int)n + 101 - CLIENTS_MAX);
	assert_non_null(clients_find(&clients, 2));
}

/* Whoever comes later does not take the place of who was known before, until it is not seen again.
 */
static void few_are_known(void **state)
{
	uint64_t later = (CLIENTS_KNOWN_S + 2) * S;

	(void)state;
	for (unsigned n = 0; n <= CLIENTS_KNOWN; n++) {
		add_other(n, -1);
		serve(100 + (int)n, S);
	}
	serve(101, 3 * S);
	assert_int_equal(clients.known[CLIENTS_KNOWN - 1].until, (CLIENTS_KNOWN_S + 1) * S);
	for (unsigned i = 0; i < CLIENTS_KNOWN; i++)
		assert_int_not_equal(clients.known[i].addr.s6_addr[15], CLIENTS_KNOWN);
	serve(100 + CLIENTS_KNOWN, later);
	unsigned first = 0, last = 0;

	for (unsigned i = 0; i < CLIENTS_KNOWN; i++) {
		first += clients.known[i].addr.s6_addr[15] == 1 && clients.known[i].until > later;
		last += clients.known[i].addr.s6_addr[15] == CLIENTS_KNOWN;
	}
	assert_int_equal(first, 1); /* it had been served again meanwhile */
	assert_int_equal(last, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(the_oldest_goes, forget_all),
		cmocka_unit_test_teardown(of_one_address_a_few, forget_all),
		cmocka_unit_test_teardown(of_many_one_goes, forget_all),
		cmocka_unit_test_teardown(who_was_served_stays, forget_all),
		cmocka_unit_test_teardown(few_are_known, forget_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
