// SPDX-License-Identifier: Apache-2.0
/* Addresses of package net/netip: Go's src/net/netip/netip.go. An address is 128 bits and a pointer
 * that tells its kind and zone. Since Go 1.23 it points to a struct with both. Before, it is either
 * one of two variables' addresses, which only the program itself can tell apart, or points to the
 * zone, which is not read. */
#include <inttypes.h>
#include <string.h>

#include "values/value_known_internal.h"
#include "values/value_read_internal.h"

struct addr {
	uint64_t high, low;
	bool valid, is_four;
	struct value_bytes zone;
	bool other_zone; /* there is a zone, but it is not known */
};

/* of Go 1.23 and later; false: not read */
static bool read_detail(const struct value_source *source, const struct value_at *detail,
			struct addr *out)
{
	int64_t is_six;

	if (!value_known_number(source, detail, "isV6", &is_six) ||
	    !value_known_whole(source, detail, "zoneV6", &out->zone))
		return false;
	out->is_four = !is_six;
	return true;
}

static bool read_intern(const struct value_source *source, const struct value_at *value,
			struct addr *out)
{
	struct value_at held;
	uint64_t word;

	if (!value_field(value, "cmpVal", &held) ||
	    value_read_word(source, &held, 0, &word) != VALUE_GOT)
		return false;
	out->other_zone = word;
	out->is_four = !word && !out->high && out->low >> 32 == 0xffff;
	return true;
}

static bool read_addr(const struct value_source *source, const struct value_at *at,
		      struct addr *out)
{
	struct value_at bits, z, pointer;
	struct value_pointee kind;
	uint64_t word;

	memset(out, 0, sizeof(*out));
	if (!value_field(at, "addr", &bits) || !value_field(at, "z", &z) ||
	    value_read_word(source, &bits, 0, &out->high) != VALUE_GOT ||
	    value_read_word(source, &bits, 8, &out->low) != VALUE_GOT)
		return false;
	if (!value_field(&z, "value", &pointer))
		pointer = z;
	if (value_read_word(source, &pointer, 0, &word) != VALUE_GOT)
		return false;
	out->valid = word;
	if (!word)
		return true;
	if (pointer.type->kind != GOTYPE_POINTER ||
	    value_read_pointee(source, &pointer, &kind) != VALUE_GOT)
		return false;
	return read_detail(source, &kind.at, out) || read_intern(source, &kind.at, out);
}

static void print_four(FILE *out, const struct addr *addr)
{
	uint32_t four = (uint32_t)addr->low;

	fprintf(out, "%u.%u.%u.%u", four >> 24, four >> 16 & 0xff, four >> 8 & 0xff, four & 0xff);
}

static void print_addr(FILE *out, const struct addr *addr)
{
	char text[VALUE_IPV6_MAX];
	uint8_t bytes[16];

	if (!addr->valid) {
		fputs("invalid IP", out);
		return;
	}
	if (addr->is_four) {
		print_four(out, addr);
		return;
	}
	for (int i = 0; i < 8; i++) {
		bytes[i] = (uint8_t)(addr->high >> (56 - 8 * i));
		bytes[8 + i] = (uint8_t)(addr->low >> (56 - 8 * i));
	}
	if (!addr->high && addr->low >> 32 == 0xffff) {
		fputs("::ffff:", out);
		print_four(out, addr);
	} else {
		value_net_ipv6(bytes, text);
		fputs(text, out);
	}
	if (addr->zone.len) {
		putc('%', out);
		fwrite(addr->zone.bytes, 1, addr->zone.len, out);
	} else if (addr->other_zone) {
		fputs("%...", out);
	}
}

bool value_netip_addr(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct addr addr;

	if (!read_addr(source, at, &addr))
		return false;
	print_addr(out, &addr);
	return true;
}

/* {ip, port} */
bool value_netip_port(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_at field;
	struct addr addr;
	int64_t port;

	if (!value_field(at, "ip", &field) || !read_addr(source, &field, &addr) ||
	    !value_known_number(source, at, "port", &port))
		return false;
	if (!addr.valid) {
		fputs("invalid AddrPort", out);
		return true;
	}
	if (!addr.is_four)
		putc('[', out);
	print_addr(out, &addr);
	fprintf(out, addr.is_four ? ":%" PRId64 : "]:%" PRId64, port);
	return true;
}

/* {ip, bits}; since Go 1.21 the field is one more than the bits */
bool value_netip_prefix(FILE *out, const struct value_source *source, const struct value_at *at)
{
	struct value_at field;
	struct addr addr;
	int64_t bits;

	if (!value_field(at, "ip", &field) || !read_addr(source, &field, &addr))
		return false;
	if (value_known_number(source, at, "bitsPlusOne", &bits))
		bits--;
	else if (!value_known_number(source, at, "bits", &bits))
		return false;
	if (!addr.valid || bits < 0 || bits > (addr.is_four ? 32 : 128)) {
		fputs("invalid Prefix", out);
		return true;
	}
	print_addr(out, &addr);
	fprintf(out, "/%" PRId64, bits);
	return true;
}
