// SPDX-License-Identifier: Apache-2.0
#include "metrics/server_internal.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "metrics/clients_internal.h"
#include "metrics/endpoint_internal.h"

#define NS_PER_S 1000000000ull

enum {
	CLIENT_MEMORY = 16 << 10, /* for its request, beside the response */
	CLIENT_QUEUE = 4 << 10,   /* what the kernel keeps of it until it is read */
	BACKLOG = 4096,
	AT_ONCE = 4,  /* are let in before those that are in are looked after */
	IDLE_S = 5,   /* a client that says nothing, or reads nothing */
	WHOLE_S = 10, /* from first to last, however busily */
	RUN_NS = 20 * 1000 * 1000,
};

/* so that none has to go before the library has seen it */
_Static_assert((int)AT_ONCE < (int)CLIENTS_OF_ADDR, "as many as an address may have");

struct server {
	struct server_source source;
	struct MHD_Daemon *daemon;
	int listening, epoll; /* `epoll`: of the library's own, and of `listening` unless deaf */
	bool deaf;            /* there are no descriptors for more */
	struct clients clients;
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

static struct client *client_of(const struct server *server, struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? clients_find(&server->clients, info->connect_fd) : NULL;
}

static void note_served(struct server *server, struct MHD_Connection *conn)
{
	struct client *client = client_of(server, conn);

	if (client)
		clients_served(&server->clients, client, clock_ns());
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
	note_served(server, conn);
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

	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		*state = client_of(server, conn);
	else
		clients_forget(&server->clients, *state);
}

/* The library's own timeout begins again with each byte. */
static void end_slow_clients(struct server *server)
{
	uint64_t now = clock_ns();

	for (size_t i = 0; i < server->clients.count; i++)
		if (now - server->clients.list[i]->since > WHOLE_S * NS_PER_S)
			shutdown(server->clients.list[i]->fd, SHUT_RDWR);
}

/* A path ends with a NUL for C, and goes on for who asks: such a one is nowhere. */
static size_t unescape(void *ctx, struct MHD_Connection *conn, char *text)
{
	(void)ctx;
	(void)conn;
	return strstr(text, "%00") ? strlen(text) : MHD_http_unescape(text);
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
	int on = 1, queue = CLIENT_QUEUE;

	if (fd < 0)
		return fail(endpoint, err);
	/* a tool that is started again need not wait for the connections of the one before */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof(queue)); /* of all it accepts */
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

static struct MHD_Daemon *start(struct server *server)
{
	return MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		on_request, server, MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL,
		/* those that have to go are counted until they are gone */
		MHD_OPTION_CONNECTION_LIMIT, 2U * CLIENTS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)IDLE_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY,
		MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, server, MHD_OPTION_END);
}

static int watch(struct server *server, int fd)
{
	return epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){EPOLLIN, {0}});
}

static int start_all(struct server *server)
{
	const union MHD_DaemonInfo *info;

	server->epoll = epoll_create1(EPOLL_CLOEXEC);
	server->daemon = start(server);
	info = server->daemon ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)
			      : NULL;
	if (!info || server->epoll < 0)
		return -1;
	return watch(server, info->epoll_fd) || watch(server, server->listening) ? -1 : 0;
}

struct server *server_open(struct endpoint *endpoint, const struct server_source *source,
			   struct errmsg *err)
{
	struct server *server;
	int fd = listen_at(endpoint, err);

	if (fd < 0)
		return NULL;
	server = mem_zalloc(1, sizeof(*server));
	server->source = *source;
	server->listening = fd;
	if (!start_all(server))
		return server;
	errmsg_set(err, "--metrics: cannot start a server: %s", strerror(errno));
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
	close(server->listening);
	if (server->epoll >= 0)
		close(server->epoll);
	free(server);
}

int server_fd(const struct server *server)
{
	return server->epoll;
}

static void let_in(struct server *server, int fd, const struct sockaddr *addr, socklen_t addr_len)
{
	struct client *victim;

	clients_add(&server->clients, fd, addr, clock_ns(), &victim);
	if (victim)
		shutdown(victim->fd, SHUT_RDWR);
	/* what it does not take it closes, and may have forgotten then */
	if (MHD_add_connection(server->daemon, fd, addr, addr_len) != MHD_YES)
		clients_forget(&server->clients, clients_find(&server->clients, fd));
}

/* Without descriptors there is nothing to be done for who waits, which is not to be tried all the
 * time. */
static void go_deaf(struct server *server, bool deaf)
{
	if (server->deaf == deaf)
		return;
	server->deaf = deaf;
	if (deaf)
		epoll_ctl(server->epoll, EPOLL_CTL_DEL, server->listening, NULL);
	else
		watch(server, server->listening);
}

/* Whoever is not let in stays in the kernel's queue, where others who come find no room. May there
 * be more? */
static bool let_some_in(struct server *server)
{
	for (int i = 0; i < AT_ONCE; i++) {
		struct sockaddr_storage addr;
		socklen_t len = sizeof(addr);
		int fd = accept4(server->listening, (struct sockaddr *)&addr, &len,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			let_in(server, fd, (struct sockaddr *)&addr, len);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			go_deaf(server, true);
		if (errno == EAGAIN || server->deaf)
			return false;
	}
	return true;
}

void server_run(struct server *server)
{
	uint64_t begun = clock_ns();
	MHD_UNSIGNED_LONG_LONG left;
	bool more;

	go_deaf(server, false);
	end_slow_clients(server);
	do {
		more = let_some_in(server);
		MHD_run(server->daemon);
		more = more || (MHD_get_timeout(server->daemon, &left) == MHD_YES && !left);
	} while (more && clock_ns() - begun < RUN_NS);
}
