// SPDX-License-Identifier: Apache-2.0
#include "metrics/endpoint_internal.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/number.h"

static bool is_file(const char *text)
{
	const char *dot = strrchr(text, '.');

	return strchr(text, '/') || (dot && !strcmp(dot, ".prom"));
}

static int take_addr(const char *name, size_t len, bool six, uint16_t port, struct endpoint *out)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&out->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out->addr;
	char text[INET6_ADDRSTRLEN];

	if (len >= sizeof(text))
		return -1;
	snprintf(text, sizeof(text), "%.*s", (int)len, name);
	if (six) {
		*v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
		out->addr_len = sizeof(*v6);
		return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1 ? 0 : -1;
	}
	*v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	out->addr_len = sizeof(*v4);
	if (!len || !strcmp(text, "localhost"))
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (inet_pton(AF_INET, text, &v4->sin_addr) != 1)
		return -1;
	return 0;
}

static int bad_endpoint(const char *text, const char *what, struct errmsg *err)
{
	errmsg_set(err, "--metrics: \"%s\": %s", text, what);
	errmsg_hint(err,
		    "\":9435\" is served as http://127.0.0.1:9435/metrics, \"0.0.0.0:9435\" on "
		    "all addresses; FILE.prom is written for node_exporter's textfile collector");
	return -1;
}

int endpoint_parse(const char *text, struct endpoint *out, struct errmsg *err)
{
	const char *colon = strrchr(text, ':'), *end = colon ? colon : text;
	bool six = *text == '[';
	uint64_t port;

	*out = (struct endpoint){0};
	if (is_file(text)) {
		out->file = text;
		return 0;
	}
	if (!number_parse(colon ? colon + 1 : text, UINT16_MAX, &port))
		return bad_endpoint(text, "neither ADDR:PORT nor FILE.prom", err);
	if (six && (end - text < 2 || end[-1] != ']'))
		return bad_endpoint(text, "an IPv6 address needs a bracket on each side", err);
	if (take_addr(text + six, end - text - 2 * six, six, port, out))
		return bad_endpoint(text, "not an address in numbers", err);
	return 0;
}

unsigned endpoint_port(const struct endpoint *endpoint)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&endpoint->addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&endpoint->addr;

	return ntohs(v4->sin_family == AF_INET ? v4->sin_port : v6->sin6_port);
}

void endpoint_text(const struct endpoint *endpoint, char text[ENDPOINT_TEXT])
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)&endpoint->addr;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&endpoint->addr;
	bool six = v4->sin_family == AF_INET6;
	char name[INET6_ADDRSTRLEN] = "";

	inet_ntop(v4->sin_family, six ? (const void *)&v6->sin6_addr : &v4->sin_addr, name,
		  sizeof(name));
	snprintf(text, ENDPOINT_TEXT, six ? "[%s]:%u" : "%s:%u", name, endpoint_port(endpoint));
}
