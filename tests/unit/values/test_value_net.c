// SPDX-License-Identifier: Apache-2.0
/* Addresses of packages net and net/netip. */
#include <string.h>

#include "unit.h"
#include "value_expect.h"

#define IN_SIX(a, b, c, d) [10] = 0xff, 0xff, a, b, c, d

static const uint8_t four[4] = {10, 0, 255, 1}, in_six[16] = {IN_SIX(192, 0, 2, 1)},
		     local[16] = {0xfe, 0x80, [15] = 1};

/* --- net --- */

static const struct gotype *bytes_of(const char *name)
{
	struct gotype *type = (struct gotype *)slice(basic("uint8"));

	if (name) {
		static struct gotype named[4];
		static size_t next;
		struct gotype *mine = &named[next++ % 4];

		*mine = *type;
		mine->name = (char *)name;
		mine->defined = true;
		return mine;
	}
	return type;
}

static void expect_bytes(const char *type, const void *bytes, int64_t len, const char *want)
{
	const struct capture_slice value = {bytes, len, len};

	expect(bytes_of(type), &value, VALUE_PLAIN, want);
}

static void test_ip(void **state)
{
	static const struct {
		uint8_t bytes[16];
		const char *want;
	} rows[] = {
		{{0}, "::"},
		{{[15] = 1}, "::1"},
		{{0xfe, 0x80, [15] = 1}, "fe80::1"},
		{{0x20, 1, 0x0d, 0xb8, [8] = 0x12, 0x34, [15] = 5}, "2001:db8::1234:0:0:5"},
		{{0, 1, 0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7}, "1:0:2:3:4:5:6:7"},
		{{0, 1, 0, 0, 0, 0, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7}, "1::3:4:5:6:7"},
		{{0, 0, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 7}, "0:0:2:3::7"},
		{{0, 0, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0, 0}, "::3:4:0:0:0"},
		{{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 0, 0, 0}, "1:2:3:4:5:6::"},
		{{0x12, 0x34, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0xab, 0xcd},
		 "1234:2:3:4:5:6:7:abcd"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_bytes("net.IP", rows[i].bytes, 16, rows[i].want);
	expect_bytes("net.IP", four, 4, "10.0.255.1");
	expect_bytes("net.IP", in_six, 16, "192.0.2.1");
	expect_bytes("net.IP", in_six, 5, "?0000000000");
	expect_bytes("net.IP", four, 0, "<nil>");
	expect_bytes("net.IPMask", four, 4, "0a00ff01");
	expect_bytes("net.IPMask", four, 0, "<nil>");
	expect_bytes("net.HardwareAddr", local, 6, "fe:80:00:00:00:00");
	expect_bytes("net.HardwareAddr", local, 1, "fe");
	expect_bytes("net.HardwareAddr", local, 0, "");
}

struct two_slices {
	struct capture_slice ip, mask;
};

static void expect_network(const void *ip, int64_t ip_len, const void *mask, int64_t mask_len,
			   const char *want)
{
	const struct gotype_field fields[] = {{.name = "IP", .type = bytes_of("net.IP")},
					      {.name = "Mask", .type = bytes_of("net.IPMask")}};
	const struct two_slices value = {{ip, ip_len, ip_len}, {mask, mask_len, mask_len}};

	expect(capture_struct(&capture, "net.IPNet", 2, fields), &value, VALUE_PLAIN, want);
}

static void test_network(void **state)
{
	const uint8_t twenty[4] = {255, 255, 240}, holes[4] = {255, 0, 255}, none[4] = {0},
		      all[16] = {255, 255, 255, 255, 255, 255, 255, 255,
				 255, 255, 255, 255, 255, 255, 255, 255},
		      ten[16] = {255, 192}, long_mask[16] = {[12] = 255, 254};

	(void)state;
	expect_network(four, 4, twenty, 4, "10.0.255.1/20");
	expect_network(four, 4, none, 4, "10.0.255.1/0");
	expect_network(four, 4, all, 4, "10.0.255.1/32");
	expect_network(four, 4, holes, 4, "10.0.255.1/ff00ff00");
	expect_network(in_six, 16, twenty, 4, "192.0.2.1/20");
	expect_network(in_six, 16, long_mask, 16, "192.0.2.1/15");
	expect_network(local, 16, ten, 16, "fe80::1/10");
	expect_network(local, 16, all, 16, "fe80::1/128");
	expect_network(local, 16, twenty, 4, "<nil>");
	expect_network(four, 4, twenty, 3, "<nil>");
	expect_network(local, 5, twenty, 4, "<nil>");
	expect_network(four, 0, twenty, 4, "<nil>");
}

struct zoned {
	struct capture_slice ip;
	struct capture_string zone;
};

static void expect_zoned(const void *ip, int64_t len, const char *zone, const char *want)
{
	const struct gotype_field fields[] = {{.name = "IP", .type = bytes_of("net.IP")},
					      {.name = "Zone", .type = basic("string")}};
	const struct zoned value = {{ip, len, len}, {zone, (int64_t)strlen(zone)}};

	expect(capture_struct(&capture, "net.IPAddr", 2, fields), &value, VALUE_PLAIN, want);
}

static void test_zoned(void **state)
{
	const struct gotype_field fields[] = {{.name = "Name", .type = basic("string")},
					      {.name = "Net", .type = basic("string")}};
	const struct capture_string unix_addr[] = {{"/run/x", 6}, {"unix", 4}}, unnamed[2] = {{0}};

	(void)state;
	expect_zoned(local, 16, "eth0", "fe80::1%eth0");
	expect_zoned(four, 4, "", "10.0.255.1");
	expect_zoned(four, 0, "", "");
	expect(capture_struct(&capture, "net.UnixAddr", 2, fields), unix_addr, VALUE_PLAIN,
	       "/run/x");
	expect(capture_struct(&capture, "net.UnixAddr", 2, fields), unnamed, VALUE_PLAIN, "");
}

/* --- net/netip, from Go 1.23 on --- */

struct detail {
	uint64_t is_six;
	struct capture_string zone;
};

struct netip_addr {
	uint64_t high, low;
	const struct detail *detail;
};

static const struct gotype *detail_type(void)
{
	const struct gotype_field fields[] = {{.name = "isV6", .type = basic("bool")},
					      {.name = "zoneV6", .type = basic("string")}};

	return pointer(capture_struct(&capture, "netip.addrDetail", 2, fields));
}

static const struct gotype *addr_type(void)
{
	const struct gotype_field bits[] = {{.name = "hi", .type = basic("uint64")},
					    {.name = "lo", .type = basic("uint64")}};
	const struct gotype_field handle[] = {{.name = "value", .type = detail_type()}};
	const struct gotype_field fields[] = {
		{.name = "addr", .type = capture_struct(&capture, "netip.uint128", 2, bits)},
		{.name = "z", .type = capture_struct(&capture, "unique.Handle[x]", 1, handle)}};

	return capture_struct(&capture, "netip.Addr", 2, fields);
}

static void expect_addr(uint64_t high, uint64_t low, const struct detail *detail, const char *want)
{
	const struct netip_addr value = {high, low, detail};

	expect(addr_type(), &value, VALUE_PLAIN, want);
}

static const struct detail v4 = {0}, v6 = {.is_six = 1}, zone = {1, {"eth1", 4}};

static void test_addr(void **state)
{
	(void)state;
	expect_addr(0, 0, NULL, "invalid IP");
	expect_addr(0, 0xffff0a0b0c0d, &v4, "10.11.12.13");
	expect_addr(0, 0xffff0a0b0c0d, &v6, "::ffff:10.11.12.13");
	expect_addr(0, 0xffffff0a0b0c0d, &v6, "::ff:ffff:a0b:c0d");
	expect_addr(1, 0xffff0a0b0c0d, &v6, "::1:0:ffff:a0b:c0d");
	expect_addr(0xfe80000000000000, 0x0123456789abcdef, &zone, "fe80::123:4567:89ab:cdef%eth1");
}

struct netip_port {
	struct netip_addr addr;
	uint64_t port;
};

static void expect_port(struct netip_port value, const char *want)
{
	const struct gotype_field fields[] = {{.name = "ip", .type = addr_type()},
					      {.name = "port", .type = basic("uint16")}};

	expect(capture_struct(&capture, "netip.AddrPort", 2, fields), &value, VALUE_PLAIN, want);
}

static void expect_prefix(const char *field, struct netip_port value, const char *want)
{
	const struct gotype_field fields[] = {{.name = "ip", .type = addr_type()},
					      {.name = (char *)field, .type = basic("uint8")}};

	expect(capture_struct(&capture, "netip.Prefix", 2, fields), &value, VALUE_PLAIN, want);
}

static void test_port_and_prefix(void **state)
{
	const struct netip_addr ten = {0, 0xffff0a000001, &v4}, six = {1ULL << 48, 2, &v6},
				none = {0};

	(void)state;
	expect_port((struct netip_port){ten, 80}, "10.0.0.1:80");
	expect_port((struct netip_port){six, 65535}, "[1::2]:65535");
	expect_port((struct netip_port){none, 80}, "invalid AddrPort");
	expect_prefix("bitsPlusOne", (struct netip_port){ten, 25}, "10.0.0.1/24");
	expect_prefix("bitsPlusOne", (struct netip_port){ten, 1}, "10.0.0.1/0");
	expect_prefix("bitsPlusOne", (struct netip_port){ten, 0}, "invalid Prefix");
	expect_prefix("bitsPlusOne", (struct netip_port){ten, 33}, "10.0.0.1/32");
	expect_prefix("bitsPlusOne", (struct netip_port){ten, 34}, "invalid Prefix");
	expect_prefix("bitsPlusOne", (struct netip_port){six, 129}, "1::2/128");
	expect_prefix("bitsPlusOne", (struct netip_port){six, 130}, "invalid Prefix");
	expect_prefix("bitsPlusOne", (struct netip_port){none, 1}, "invalid Prefix");
	expect_prefix("bits", (struct netip_port){ten, 24}, "10.0.0.1/24"); /* before Go 1.21 */
}

/* --- before Go 1.23: z points to a struct that is told by its address alone --- */

static void test_old_addr(void **state)
{
	const struct gotype_field bits[] = {{.name = "hi", .type = basic("uint64")},
					    {.name = "lo", .type = basic("uint64")}};
	const struct gotype_field kind[] = {{.name = "cmpVal", .type = basic("uint64")}};
	const struct gotype_field fields[] = {
		{.name = "addr", .type = capture_struct(&capture, "netip.uint128", 2, bits)},
		{.name = "z", .type = pointer(capture_struct(&capture, "intern.Value", 1, kind))}};
	const struct gotype *type = capture_struct(&capture, "netip.Addr", 2, fields);
	const uint64_t without = 0, with = 1;
	const struct {
		uint64_t high, low;
		const uint64_t *z;
		const char *want;
	} rows[] = {
		{0, 0xffff0a0b0c0d, &without, "10.11.12.13"},
		{0, 0xffff0a0b0c0d, &with, "::ffff:10.11.12.13%..."},
		{1, 0xffff0a0b0c0d, &without, "::1:0:ffff:a0b:c0d"},
		{0, 1, &without, "::1"},
		{0xfe80ULL << 48, 1, &with, "fe80::1%..."},
		{0, 0, NULL, "invalid IP"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect(type, &rows[i], VALUE_PLAIN, rows[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ip, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_network, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_zoned, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_addr, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_port_and_prefix, expect_setup,
						expect_teardown),
		cmocka_unit_test_setup_teardown(test_old_addr, expect_setup, expect_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
