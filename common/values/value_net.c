// SPDX-License-Identifier: Apache-2.0
/* Addresses of package net, as Go's src/net/ip.go, mac.go, tcpsock.go, iprawsock.go write them. */
#include <inttypes.h>
#include <string.h>

#include "values/value_known_internal.h"
#include "values/value_read_internal.h"

static const uint8_t FOUR_IN_SIX[12] = {[10] = 0xff, [11] = 0xff};

/* The longest run of two or more zero groups, the first of equal ones: it is written as "::". */
static void find_zeros(const uint16_t groups[8], int *start, int *count)
{
	*start = -1;
	*count = 1;
	for (int i = 0; i < 8; i++) {
		int n = 0;

		while (i + n < 8 && !groups[i + n])
			n++;
		if (n > *count) {
			*start = i;
			*count = n;
		}
	}
}

void value_net_ipv6(const uint8_t *bytes, char text[VALUE_IPV6_MAX])
{
	uint16_t groups[8];
	size_t len = 0;
	int start, count;

	for (int i = 0; i < 8; i++)
		groups[i] = (uint16_t)(bytes[2 * i] << 8 | bytes[2 * i + 1]);
	find_zeros(groups, &start, &count);
	for (int i = 0; i < 8; i++) {
		if (i == start) {
			len += (size_t)snprintf(text + len, VALUE_IPV6_MAX - len, "::");
			i += count - 1;
			continue;
		}
		bool first = i == 0 || (start >= 0 && i == start + count);

		len += (size_t)snprintf(text + len, VALUE_IPV6_MAX - len, first ? "%x" : ":%x",
					groups[i]);
	}
}

/* The 4 bytes of an IPv4 address, which may be stored in 16; NULL: it is none. */
static const uint8_t *ipv4_of(const struct value_bytes *ip)
{
	if (ip->len == 4)
		return ip->bytes;
	if (ip->len == 16 && !memcmp(ip->bytes, FOUR_IN_SIX, sizeof(FOUR_IN_SIX)))
		return ip->bytes + sizeof(FOUR_IN_SIX);
	return NULL;
}

static void print_hex(FILE *out, const struct value_bytes *bytes)
{
	for (uint32_t i = 0; i < bytes->len; i++)
		fprintf(out, "%02x", bytes->bytes[i]);
}

static void print_ip(FILE *out, const struct value_bytes *ip)
{
	const uint8_t *four = ipv4_of(ip);
	char text[VALUE_IPV6_MAX];

	if (four) {
		fprintf(out, "%u.%u.%u.%u", four[0], four[1], four[2], four[3]);
	} else if (ip->len == 16) {
		value_net_ipv6(ip->bytes, text);
		fputs(text, out);
	} else if (ip->len) {
		putc('?', out);
		print_hex(out, ip);
	}
}

/* the bytes of the value itself; false: it is nil, or was not read completely */
static bool read_own(const struct value_source *source, const struct value_at *at,
		     struct value_bytes *out)
{
	return at->type->kind == GOTYPE_SLICE && value_is_byte(at->type->elem) &&
	       value_read_bytes(source, at, out) == VALUE_GOT && out->len == out->count;
}

bool value_net_ip(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes ip;

	if (!read_own(source, at, &ip))
		return false;
	if (!ip.len)
		fputs("<nil>", out);
	print_ip(out, &ip);
	return true;
}

bool value_net_mask(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes mask;

	if (!read_own(source, at, &mask))
		return false;
	if (!mask.len)
		fputs("<nil>", out);
	print_hex(out, &mask);
	return true;
}

bool value_net_hardware(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes addr;

	if (!read_own(source, at, &addr))
		return false;
	for (uint32_t i = 0; i < addr.len; i++)
		fprintf(out, i ? ":%02x" : "%02x", addr.bytes[i]);
	return true;
}

/* {IP, Zone}: fe80::1%eth0 */
static bool read_zoned(const struct value_source *source, const struct value_at *at,
		       struct value_bytes *ip, struct value_bytes *zone)
{
	return value_known_whole(source, at, "IP", ip) &&
	       value_known_whole(source, at, "Zone", zone);
}

static void print_zoned(FILE *out, const struct value_bytes *ip, const struct value_bytes *zone)
{
	print_ip(out, ip);
	if (!zone->len)
		return;
	putc('%', out);
	fwrite(zone->bytes, 1, zone->len, out);
}

bool value_net_addr(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes ip, zone;

	if (!read_zoned(source, at, &ip, &zone))
		return false;
	print_zoned(out, &ip, &zone);
	return true;
}

/* {IP, Port, Zone}: [fe80::1%eth0]:80 */
bool value_net_endpoint(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes ip, zone;
	int64_t port;

	if (!read_zoned(source, at, &ip, &zone) || !value_known_number(source, at, "Port", &port))
		return false;
	bool six =
		(ip.len == 16 && !ipv4_of(&ip)) || (zone.len && memchr(zone.bytes, ':', zone.len));

	if (six)
		putc('[', out);
	print_zoned(out, &ip, &zone);
	fprintf(out, six ? "]:%" PRId64 : ":%" PRId64, port);
	return true;
}

bool value_net_unix(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes name;

	if (!value_known_whole(source, at, "Name", &name))
		return false;
	if (name.len)
		fwrite(name.bytes, 1, name.len, out);
	return true;
}

/* the prefix length of a mask; -1: it is not ones followed by zeros */
static int mask_ones(const uint8_t *mask, uint32_t len)
{
	uint32_t bits = len * 8, ones = 0;

	while (ones < bits && mask[ones / 8] & 0x80 >> ones % 8)
		ones++;
	for (uint32_t i = ones; i < bits; i++) {
		if (mask[i / 8] & 0x80 >> i % 8)
			return -1;
	}
	return (int)ones;
}

/* {IP, Mask}: 10.0.0.0/8; a mask that is no prefix is printed in hexadecimal */
bool value_net_network(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_bytes ip, mask;

	if (!value_known_whole(source, at, "IP", &ip) ||
	    !value_known_whole(source, at, "Mask", &mask))
		return false;
	const uint8_t *four = ipv4_of(&ip);

	if (four && mask.len == 16) {
		mask.bytes += 12;
		mask.len = 4;
	}
	if ((!four && ip.len != 16) || mask.len != (four ? 4 : 16)) {
		fputs("<nil>", out);
		return true;
	}
	int ones = mask_ones(mask.bytes, mask.len);

	print_ip(out, &ip);
	putc('/', out);
	if (ones >= 0)
		fprintf(out, "%d", ones);
	else
		print_hex(out, &mask);
	return true;
}
