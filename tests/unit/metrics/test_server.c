// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "metrics/clients_internal.h"
#include "metrics/endpoint.h"
#include "metrics/endpoint_internal.h"
#include "metrics/server_internal.h"
#include "unit.h"

enum { TRIES = 2000, MS = 1000 * 1000 };

static struct endpoint endpoint;
static struct server *server;

static uint64_t refresh(void *ctx)
{
	(void)ctx;
	return 1;
}

static void write_text(void *ctx, FILE *out, enum exposition_format format)
{
	(void)ctx;
	(void)format;
	fputs("a_metric 1\n", out);
}

static int open_server(void **state)
{
	const struct server_source source = {refresh, write_text, NULL, "about\n"};
	struct errmsg err = {0};

	(void)state;
	endpoint = (struct endpoint){0};
	if (endpoint_parse("127.0.0.1:0", &endpoint, &err))
		return -1;
	server = server_open(&endpoint, &source, &err);
	return server ? 0 : -1;
}

static int close_server(void **state)
{
	(void)state;
	server_close(server);
	return 0;
}

/* From 127.0.0.N */
static int connect_from(unsigned n)
{
	struct sockaddr_in from = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + n)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&endpoint.addr, endpoint.addr_len), 0);
	return fd;
}

/* The beginning of what comes, until the server closes the connection; "": nothing has come */
static void read_answer(int fd, char text[16])
{
	char rest[1024];
	ssize_t n = -1;

	memset(text, 0, 16);
	for (int i = 0; i < TRIES && n; i++) {
		server_run(server);
		n = recv(fd, rest, sizeof(rest), MSG_DONTWAIT);
		if (n > 0 && !*text)
			memcpy(text, rest, n < 12 ? n : 12);
		if (n < 0)
			nanosleep(&(struct timespec){.tv_nsec = MS}, NULL);
	}
	assert_int_equal(n, 0);
	close(fd);
}

static void ask(int fd, const char *path)
{
	char request[128];
	int len = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);

	assert_int_equal(send(fd, request, len, MSG_NOSIGNAL), len);
}

static void expect_answer(int fd, const char *path, const char *wanted)
{
	char text[16];

	ask(fd, path);
	read_answer(fd, text);
	assert_string_equal(text, wanted);
}

/* A connection that has ended takes no place, and its descriptor is another's then. */
static void one_after_another(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * CLIENTS_MAX; i++)
		expect_answer(connect_from(1 + i % 3), "/metrics", "HTTP/1.1 200");
}

static void paths(void **state)
{
	static const struct {
		const char *path, *wanted;
	} cases[] = {
		{"/metrics", "HTTP/1.1 200"},       {"/metric%73", "HTTP/1.1 200"},
		{"/metrics?x=%00", "HTTP/1.1 200"}, {"/", "HTTP/1.1 200"},
		{"/metrics%00x", "HTTP/1.1 404"},   {"/metrics%00", "HTTP/1.1 404"},
		{"/metric%73%00", "HTTP/1.1 404"},  {"/%00", "HTTP/1.1 404"},
		{"/metrics%2500", "HTTP/1.1 404"},  {"/metrics/", "HTTP/1.1 404"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_answer(connect_from(1), cases[i].path, cases[i].wanted);
}

/* Silent ones of many addresses, more than there is room for: who asks gets an answer. */
static void silent_ones(void **state)
{
	int fds[3 * CLIENTS_MAX];
	char text[16];

	(void)state;
	for (unsigned i = 0; i < 3 * CLIENTS_MAX; i++) {
		fds[i] = connect_from(2 + i);
		server_run(server);
	}
	expect_answer(connect_from(1), "/metrics", "HTTP/1.1 200");
	ask(fds[3 * CLIENTS_MAX - 1], "/metrics"); /* none had to go but to make room */
	read_answer(fds[3 * CLIENTS_MAX - 1], text);
	assert_string_equal(text, "HTTP/1.1 200");
	for (unsigned i = 0; i < 3 * CLIENTS_MAX - 1; i++)
		close(fds[i]);
}

/* Who was served before, and is slow now, has its place however many come after it. */
static void a_known_one(void **state)
{
	int fds[3 * CLIENTS_MAX], known;

	(void)state;
	expect_answer(connect_from(1), "/metrics", "HTTP/1.1 200");
	known = connect_from(1);
	for (unsigned i = 0; i < 3 * CLIENTS_MAX; i++) {
		fds[i] = connect_from(2 + i);
		server_run(server);
	}
	expect_answer(known, "/metrics", "HTTP/1.1 200");
	for (unsigned i = 0; i < 3 * CLIENTS_MAX; i++)
		close(fds[i]);
}

static bool is_readable(void)
{
	struct pollfd fd = {.fd = server_fd(server), .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

/* Without descriptors who comes has to wait, and the server does not try all the time. */
static void no_descriptors(void **state)
{
	struct rlimit all, few;
	int fd = connect_from(1), next = dup(fd);

	(void)state;
	assert_true(is_readable());
	close(next);
	getrlimit(RLIMIT_NOFILE, &all);
	few = (struct rlimit){.rlim_cur = next, .rlim_max = all.rlim_max};
	setrlimit(RLIMIT_NOFILE, &few);
	server_run(server);
	bool again = is_readable();

	setrlimit(RLIMIT_NOFILE, &all);
	assert_false(again);
	expect_answer(fd, "/metrics", "HTTP/1.1 200");
}

/* Why it does not listen, and what helps */
static void refused(void **state)
{
	static const struct {
		const char *at, *text, *hint; /* at NULL: where another one listens */
	} rows[] = {
		{NULL, "--metrics: 127.0.0.1:%u is in use",
		 "choose another port; ss -ltnp 'sport = :%u' tells who has this one"},
		{"203.0.113.7:9999",
		 "--metrics: cannot listen on 203.0.113.7:%u: this machine has no such address",
		 "\"ip address\" shows those it has; \":%u\" is 127.0.0.1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct server_source source = {refresh, write_text, NULL, "about\n"};
		struct endpoint taken = endpoint;
		struct errmsg err = {0};
		char text[256];

		if (rows[i].at)
			assert_int_equal(endpoint_parse(rows[i].at, &taken, &err), 0);
		assert_null(server_open(&taken, &source, &err));
		snprintf(text, sizeof(text), rows[i].text, endpoint_port(&taken));
		assert_string_equal(err.text, text);
		snprintf(text, sizeof(text), rows[i].hint, endpoint_port(&taken));
		assert_string_equal(err.hint, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_after_another, open_server, close_server),
		cmocka_unit_test_setup_teardown(paths, open_server, close_server),
		cmocka_unit_test_setup_teardown(silent_ones, open_server, close_server),
		cmocka_unit_test_setup_teardown(a_known_one, open_server, close_server),
		cmocka_unit_test_setup_teardown(no_descriptors, open_server, close_server),
		cmocka_unit_test_setup_teardown(refused, open_server, close_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
