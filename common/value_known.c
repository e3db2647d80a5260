// SPDX-License-Identifier: Apache-2.0
/* What String() or Error() of a few types would say whose text is more than their fields in a row:
 * addresses (Go's src/net/ip.go, tcpsock.go), indices out of range (src/runtime/error.go). */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "value_parts.h"

static bool read_field(const struct value_source *source, const struct value_at *at,
		       const char *name, int64_t *out)
{
	struct value_at field;

	return value_field(at, name, &field) && value_read_number(source, &field, out) == VALUE_GOT;
}

static bool read_bytes(const struct value_source *source, const struct value_at *at,
		       const char *name, struct value_bytes *out)
{
	struct value_at field;

	return value_field(at, name, &field) &&
	       (field.type->kind == GOTYPE_STRING || field.type->kind == GOTYPE_SLICE) &&
	       value_read_bytes(source, &field, out) == VALUE_GOT && out->len == out->count;
}

/* IPv4 may be in 16 bytes as well, behind 10 zero bytes and two of 0xff. */
static bool ip_text(const struct value_bytes *ip, char *text, size_t size)
{
	static const uint8_t in_six[12] = {[10] = 0xff, [11] = 0xff};

	if (ip->len == 4)
		return inet_ntop(AF_INET, ip->bytes, text, (socklen_t)size);
	if (ip->len != 16)
		return false;
	if (!memcmp(ip->bytes, in_six, sizeof(in_six)))
		return inet_ntop(AF_INET, ip->bytes + sizeof(in_six), text, (socklen_t)size);
	/* Go does not write ::1.2.3.4 so */
	return inet_ntop(AF_INET6, ip->bytes, text, (socklen_t)size) && !strchr(text, '.');
}

/* {IP, Port, Zone}: [fe80::1%eth0]:80 */
static bool print_endpoint(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes ip, zone;
	char text[INET6_ADDRSTRLEN] = "";
	int64_t port;

	if (!read_field(source, at, "Port", &port) || !read_bytes(source, at, "Zone", &zone))
		return false;
	struct value_at field;

	if (!value_field(at, "IP", &field) || field.type->kind != GOTYPE_SLICE)
		return false;
	enum value_got got = value_read_bytes(source, &field, &ip);

	if (got != VALUE_NIL && (got != VALUE_GOT || ip.len != ip.count ||
				 (ip.count && !ip_text(&ip, text, sizeof(text)))))
		return false;
	bool six = strchr(text, ':');

	fprintf(out, "%s%s", six ? "[" : "", text);
	if (zone.len) {
		putc('%', out);
		fwrite(zone.bytes, 1, zone.len, out);
	}
	fprintf(out, "%s:%" PRId64, six ? "]" : "", port);
	return true;
}

static bool print_name(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes name;

	if (!read_bytes(source, at, "Name", &name))
		return false;
	fwrite(name.bytes, 1, name.len, out);
	return true;
}

/* By code, in the order of Go's constants; %x is put in for x, %y for y; without y where x is
 * negative. */
static const struct {
	const char *text, *negative;
} BOUNDS[] = {
	{"index out of range [%x] with length %y", "index out of range [%x]"},
	{"slice bounds out of range [:%x] with length %y", "slice bounds out of range [:%x]"},
	{"slice bounds out of range [:%x] with capacity %y", "slice bounds out of range [:%x]"},
	{"slice bounds out of range [%x:%y]", "slice bounds out of range [%x:]"},
	{"slice bounds out of range [::%x] with length %y", "slice bounds out of range [::%x]"},
	{"slice bounds out of range [::%x] with capacity %y", "slice bounds out of range [::%x]"},
	{"slice bounds out of range [:%x:%y]", "slice bounds out of range [:%x:]"},
	{"slice bounds out of range [%x:%y:]", "slice bounds out of range [%x::]"},
};

static bool print_bounds(FILE *out, const struct value_source *source, const struct value_at *at)
{
	int64_t x, y, is_signed, code;

	if (!read_field(source, at, "x", &x) || !read_field(source, at, "y", &y) ||
	    !read_field(source, at, "signed", &is_signed) || !read_field(source, at, "code", &code))
		return false;
	if (code < 0 || code >= (int64_t)(sizeof(BOUNDS) / sizeof(BOUNDS[0])))
		return false;
	fputs("runtime error: ", out);
	for (const char *p = is_signed && x < 0 ? BOUNDS[code].negative : BOUNDS[code].text; *p;
	     p++) {
		if (*p != '%')
			putc(*p, out);
		else if (*++p == 'y' || is_signed)
			fprintf(out, "%" PRId64, *p == 'y' ? y : x);
		else
			fprintf(out, "%" PRIu64, (uint64_t)x);
	}
	return true;
}

static const struct {
	const char *type;
	bool (*print)(FILE *out, const struct value_source *source, const struct value_at *at);
} KNOWN[] = {
	{"*net.TCPAddr", print_endpoint},
	{"*net.UDPAddr", print_endpoint},
	{"*net.UnixAddr", print_name},
	{"runtime.boundsError", print_bounds},
};

char *value_known_message(const struct value_source *source, const struct value_held *held,
			  size_t *len)
{
	char *message = NULL;
	size_t i = 0;

	while (i < sizeof(KNOWN) / sizeof(KNOWN[0]) && strcmp(KNOWN[i].type, held->type->name))
		i++;
	if (i == sizeof(KNOWN) / sizeof(KNOWN[0]))
		return NULL;
	FILE *out = open_memstream(&message, len);

	if (!out)
		return NULL;
	bool printed = KNOWN[i].print(out, source, &held->value);

	fclose(out);
	if (printed)
		return message;
	free(message);
	return NULL;
}
