// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "files/process.h"
#include "files/process_files.h"
#include "unit.h"

/* What the tool says of a descriptor of its own; released with the next one */
static const char *name_of(int fd)
{
	static char *name;
	struct process *self = process_open(getpid(), NULL);
	struct process_files *files = process_files_new(self);

	free(name);
	name = process_files_name(files, fd);
	process_files_free(files);
	process_close(self);
	return name ? name : "(null)";
}

static int bound(int family, int type)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(family, type, 0);
	int ret = family == AF_INET ? bind(fd, (struct sockaddr *)&v4, sizeof(v4))
				    : bind(fd, (struct sockaddr *)&v6, sizeof(v6));

	if (ret) /* no IPv6 */
		skip();
	return fd;
}

static unsigned port_of(int fd)
{
	struct sockaddr_in6 addr; /* the port is in the same place in both */
	socklen_t len = sizeof(addr);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	return ntohs(addr.sin6_port);
}

static void expect(int fd, const char *format)
{
	char wanted[64];

	snprintf(wanted, sizeof(wanted), format, port_of(fd));
	assert_string_equal(name_of(fd), wanted);
	close(fd);
}

static void test_listening(void **state)
{
	int fd = bound(AF_INET, SOCK_STREAM);

	(void)state;
	assert_int_equal(listen(fd, 1), 0);
	expect(fd, "tcp 127.0.0.1:%u, listening");
}

static void test_listening_v6(void **state)
{
	int fd = bound(AF_INET6, SOCK_STREAM);

	(void)state;
	assert_int_equal(listen(fd, 1), 0);
	expect(fd, "tcp6 [::1]:%u, listening");
}

static void test_datagrams(void **state)
{
	(void)state;
	expect(bound(AF_INET, SOCK_DGRAM), "udp 127.0.0.1:%u");
}

static void test_datagrams_v6(void **state)
{
	(void)state;
	expect(bound(AF_INET6, SOCK_DGRAM), "udp6 [::1]:%u");
}

static void test_peer(void **state)
{
	int one = bound(AF_INET, SOCK_STREAM), two = bound(AF_INET, SOCK_STREAM);
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port_of(one))};
	char wanted[64];

	(void)state;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(listen(one, 1), 0);
	assert_int_equal(connect(two, (struct sockaddr *)&addr, sizeof(addr)), 0);
	snprintf(wanted, sizeof(wanted), "tcp 127.0.0.1:%u, peer 127.0.0.1:%u", port_of(two),
		 port_of(one));
	assert_string_equal(name_of(two), wanted);
	close(one);
	close(two);
}

static void test_others(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_string_equal(name_of(ends[0]), "pipe");
	close(ends[0]);
	close(ends[1]);
	assert_string_equal(name_of(1000), "(null)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listening), cmocka_unit_test(test_listening_v6),
		cmocka_unit_test(test_datagrams), cmocka_unit_test(test_datagrams_v6),
		cmocka_unit_test(test_peer),      cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
