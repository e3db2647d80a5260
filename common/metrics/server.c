// SPDX-License-Identifier: Apache-2.0
#include "metrics/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "metrics/endpoint.h"

#define NS_PER_S 1000000000ull

enum {
	CLIENTS = 16,
	CLIENTS_OF_ADDR = 8,
	CLIENT_MEMORY = 16 << 10, /* for its request, beside the response */
	BACKLOG = 16,
	IDLE_S = 5,   /* a client that says nothing, or reads nothing */
	WHOLE_S = 10, /* from first to last, however busily */
	RUN_NS = 20 * 1000 * 1000,
};

struct client {
	int fd; /* -1: free */
	uint64_t since;
};

struct server {
	struct server_source source;
	struct MHD_Daemon *daemon;
	int epoll;
	struct client clients[CLIENTS];
	struct MHD_Response *made[EXPOSITION_FORMATS]; /* of reading `made_of` */
	uint64_t made_of[EXPOSITION_FORMATS];
};

static enum MHD_Result answer(struct MHD_Connection *conn, unsigned status, const char *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", "text/plain; charset=utf-8");
	MHD_add_response_header(response, "Connection", "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	enum MHD_Result ret = MHD_queue_response(conn, status, response);

	MHD_destroy_response(response);
	return ret;
}

static struct MHD_Response *make_response(const struct server *server,
					  enum exposition_format format)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	server->source.write(server->source.ctx, out, format);
	fclose(out);
	struct MHD_Response *response =
		MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	if (!response) {
		free(text);
		return NULL;
	}
	MHD_add_response_header(response, "Content-Type", exposition_type(format));
	MHD_add_response_header(response, "Connection", "close");
	return response;
}

/* One text is shared by all who ask for the same reading: slow clients hold no copies. */
static enum MHD_Result answer_metrics(struct server *server, struct MHD_Connection *conn)
{
	enum exposition_format format = exposition_wanted(
		MHD_lookup_connection_value(conn, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
	uint64_t reading = server->source.refresh(server->source.ctx);

	if (!reading)
		return answer(conn, MHD_HTTP_INTERNAL_SERVER_ERROR, "cannot read the numbers\n");
	if (server->made_of[format] != reading) {
		if (server->made[format])
			MHD_destroy_response(server->made[format]);
		server->made[format] = make_response(server, format);
		server->made_of[format] = server->made[format] ? reading : 0;
	}
	if (!server->made[format])
		return MHD_NO;
	return MHD_queue_response(conn, MHD_HTTP_OK, server->made[format]);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *conn, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **state)
{
	struct server *server = ctx;

	(void)version;
	(void)body;
	(void)body_len;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer(conn, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (!strcmp(url, "/metrics"))
		return answer_metrics(server, conn);
	if (!strcmp(url, "/"))
		return answer(conn, MHD_HTTP_OK, server->source.about);
	return answer(conn, MHD_HTTP_NOT_FOUND, "there is only /metrics\n");
}

static void on_connection(void *ctx, struct MHD_Connection *conn, void **state,
			  enum MHD_ConnectionNotificationCode what)
{
	struct server *server = ctx;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct client *client = *state;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (client)
			client->fd = -1;
		return;
	}
	for (unsigned i = 0; info && i < CLIENTS; i++) {
		if (server->clients[i].fd >= 0)
			continue;
		server->clients[i] = (struct client){info->connect_fd, clock_ns()};
		*state = &server->clients[i];
		return;
	}
}

/* The library's own timeout begins again with each byte. */
static void end_slow_clients(struct server *server)
{
	uint64_t now = clock_ns();

	for (unsigned i = 0; i < CLIENTS; i++)
		if (server->clients[i].fd >= 0 &&
		    now - server->clients[i].since > WHOLE_S * NS_PER_S)
			shutdown(server->clients[i].fd, SHUT_RDWR);
}

static int fail(const struct endpoint *endpoint, struct errmsg *err)
{
	int error = errno;
	char text[ENDPOINT_TEXT];

	endpoint_text(endpoint, text);
	if (error == EADDRINUSE) {
		errmsg_set(err, "--metrics: %s is in use", text);
		errmsg_hint(err,
			    "choose another port; ss -ltnp 'sport = :%u' tells who has this one",
			    endpoint_port(endpoint));
	} else if (error == EACCES) {
		errmsg_set(err, "--metrics: no permission to listen on %s", text);
		errmsg_hint(err,
			    "choose a port from 1024 on; those below need CAP_NET_BIND_SERVICE");
	} else if (error == EADDRNOTAVAIL) {
		errmsg_set(err, "--metrics: cannot listen on %s: this machine has no such address",
			   text);
		errmsg_hint(err, "\"ip address\" shows those it has; \":%u\" is 127.0.0.1",
			    endpoint_port(endpoint));
	} else {
		errmsg_set(err, "--metrics: cannot listen on %s: %s", text, strerror(error));
	}
	return -1;
}

static int listen_at(struct endpoint *endpoint, struct errmsg *err)
{
	int fd = socket(endpoint->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0)
		return fail(endpoint, err);
	/* a tool that is started again need not wait for the connections of the one before */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&endpoint->addr, endpoint->addr_len) ||
	    listen(fd, BACKLOG) ||
	    getsockname(fd, (struct sockaddr *)&endpoint->addr, &endpoint->addr_len)) {
		fail(endpoint, err);
		close(fd);
		return -1;
	}
	return fd;
}

/* What clients do wrong is no news. */
static void say_nothing(void *ctx, const char *fmt, va_list ap)
{
	(void)ctx;
	(void)fmt;
	(void)ap;
}

static struct MHD_Daemon *start(struct server *server, int fd)
{
	return MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, server,
		MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CLIENTS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned)CLIENTS_OF_ADDR, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
}

struct server *server_open(struct endpoint *endpoint, const struct server_source *source,
			   struct errmsg *err)
{
	struct server *server;
	const union MHD_DaemonInfo *info;
	int fd = listen_at(endpoint, err);

	if (fd < 0)
		return NULL;
	server = mem_zalloc(1, sizeof(*server));
	server->source = *source;
	for (unsigned i = 0; i < CLIENTS; i++)
		server->clients[i].fd = -1;
	server->daemon = start(server, fd);
	info = server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)
			      : NULL;
	if (info) {
		server->epoll = info->epoll_fd;
		return server;
	}
	errmsg_set(err, "--metrics: cannot start a server: %s", strerror(errno));
	if (!server->daemon)
		close(fd);
	server_close(server);
	return NULL;
}

void server_close(struct server *server)
{
	if (!server)
		return;
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	for (unsigned i = 0; i < EXPOSITION_FORMATS; i++)
		if (server->made[i])
			MHD_destroy_response(server->made[i]);
	free(server);
}

int server_fd(const struct server *server)
{
	return server->epoll;
}

void server_run(struct server *server)
{
	uint64_t begun = clock_ns();
	MHD_UNSIGNED_LONG_LONG left;

	end_slow_clients(server);
	do
		MHD_run(server->daemon);
	while (clock_ns() - begun < RUN_NS && MHD_get_timeout(server->daemon, &left) == MHD_YES &&
	       !left);
}
