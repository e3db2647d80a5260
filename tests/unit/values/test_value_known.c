// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "golang/gotype_internal.h"
#include "value_expect.h"
#include "unit.h"

static struct capture_itab itab;

static struct capture_interface held(const struct gotype *type, bool direct, const void *data)
{
	itab.rtype = capture_rtype(&capture, type, direct);
	return (struct capture_interface){(uintptr_t)&itab, data};
}

struct endpoint {
	const void *ip;
	int64_t len, cap, port;
	struct capture_string zone;
};

static void expect_endpoint(const void *ip, int64_t len, const char *zone, const char *expected)
{
	struct gotype bytes = *slice(basic("uint8"));
	const struct gotype_field fields[] = {{.name = "IP", .type = &bytes},
					      {.name = "Port", .type = basic("int")},
					      {.name = "Zone", .type = basic("string")}};
	struct endpoint value = {ip, len, len, 8080, {zone, (int64_t)strlen(zone)}};
	char quoted[128];

	bytes.name = "net.IP";
	bytes.defined = true;
	struct capture_interface addr =
		held(pointer(capture_struct(&capture, "net.TCPAddr", 3, fields)), true, &value);

	expect(basic("error"), &addr, VALUE_PLAIN, expected);
	snprintf(quoted, sizeof(quoted), "*net.TCPAddr(\"%s\")", expected);
	expect(basic("error"), &addr, VALUE_DEEP, quoted);
}

static void test_endpoints(void **state)
{
	const uint8_t four[] = {127, 0, 0, 1}, local[16] = {0xfe, 0x80, [15] = 1}, any[16] = {0};
	const uint8_t in_six[16] = {[10] = 0xff, 0xff, 192, 0, 2, 1};

	(void)state;
	expect_endpoint(four, 4, "", "127.0.0.1:8080");
	expect_endpoint(in_six, 16, "", "192.0.2.1:8080");
	expect_endpoint(local, 16, "eth0", "[fe80::1%eth0]:8080");
	expect_endpoint(any, 16, "", "[::]:8080");
	expect_endpoint(NULL, 0, "", ":8080");
}

/* What is no address is shown as the struct that it is. */
static void test_odd_endpoint(void **state)
{
	const struct gotype_field fields[] = {{.name = "Port", .type = basic("int")}};
	int64_t port = 80;
	struct capture_interface addr =
		held(pointer(capture_struct(&capture, "net.TCPAddr", 1, fields)), true, &port);

	(void)state;
	expect(basic("error"), &addr, VALUE_PLAIN, "*net.TCPAddr{Port:80}");
}

struct bounds {
	int64_t x, y;
	uint8_t is_signed, code;
};

static void expect_bounds(struct bounds value, const char *expected)
{
	const struct gotype_field fields[] = {{.name = "x", .type = basic("int64")},
					      {.name = "y", .type = basic("int")},
					      {.name = "signed", .type = basic("bool")},
					      {.name = "code", .type = basic("uint8")}};
	struct capture_interface err =
		held(capture_struct(&capture, "runtime.boundsError", 4, fields), false, &value);

	expect(basic("error"), &err, VALUE_PLAIN, expected);
}

static void test_bounds(void **state)
{
	(void)state;
	expect_bounds((struct bounds){4, 1, 1, 0},
		      "runtime error: index out of range [4] with length 1");
	expect_bounds((struct bounds){-1, 1, 1, 0}, "runtime error: index out of range [-1]");
	expect_bounds((struct bounds){-1, 1, 0, 0}, "runtime error: index out of range "
						    "[18446744073709551615] with length 1");
	expect_bounds((struct bounds){5, 3, 1, 3},
		      "runtime error: slice bounds out of range [5:3]");
	expect_bounds((struct bounds){5, 3, 1, 7},
		      "runtime error: slice bounds out of range [5:3:]");
	/* one whose text is not known, as it differs between versions of Go */
	expect_bounds((struct bounds){5, 3, 1, 8},
		      "runtime.boundsError{x:5, y:3, signed:true, code:8}");
}

struct invalid {
	int64_t reason;
	struct capture_string detail;
};

static void expect_invalid(int64_t reason, const char *detail, const char *expected)
{
	const struct gotype_field fields[] = {{.name = "Reason", .type = basic("int")},
					      {.name = "Detail", .type = basic("string")}};
	struct invalid value = {reason, {detail, (int64_t)strlen(detail)}};
	struct capture_interface err = held(
		capture_struct(&capture, "x509.CertificateInvalidError", 2, fields), false, &value);

	expect(basic("error"), &err, VALUE_PLAIN, expected);
}

/* Reasons of which each has a text, or none that is the same in all versions of Go */
static void test_invalid(void **state)
{
	static const struct {
		int64_t reason;
		const char *detail, *said;
	} rows[] = {
		{-1, "d", "x509.CertificateInvalidError{Reason:-1, Detail:\"d\"}"},
		{0, "d", "x509: certificate is not authorized to sign other certificates"},
		{1, "d", "x509: certificate has expired or is not yet valid: d"},
		{1, "", "x509: certificate has expired or is not yet valid: "},
		{7, "d",
		 "x509: issuer has name constraints but leaf contains unknown or "
		 "unconstrained name: d"},
		{8, "d", "x509.CertificateInvalidError{Reason:8, Detail:\"d\"}"},
		{9, "d",
		 "x509: a root or intermediate certificate is not authorized for an "
		 "extended key usage: d"},
		{10, "d", "x509.CertificateInvalidError{Reason:10, Detail:\"d\"}"},
		{1,
		 "a detail that is longer than what is read of it, which is cut, and that is said "
		 "of it, too",
		 "x509: certificate has expired or is not yet valid: a detail that is "
		 "longer than what is rea..."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		expect_invalid(rows[i].reason, rows[i].detail, rows[i].said);
}

struct big {
	bool negative;
	const uint64_t *words;
	int64_t len, cap;
};

static void expect_big(bool negative, int64_t len, const uint64_t *words, const char *expected)
{
	const struct gotype_field fields[] = {{.name = "neg", .type = basic("bool")},
					      {.name = "abs", .type = slice(basic("uint"))}};
	struct big value = {negative, words, len, len};

	expect(capture_struct(&capture, "big.Int", 2, fields), &value, VALUE_PLAIN, expected);
}

static void test_big(void **state)
{
	const uint64_t words[] = {5, 0, 0, 0}, most[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
	const uint64_t rounds[] = {0, 1}, groups[] = {UINT64_C(10000000000000000000), 0};
	uint64_t many[513] = {1};

	(void)state;
	expect_big(false, 0, words, "0");
	expect_big(false, 3, words + 1, "0");
	expect_big(true, 4, words, "-5");
	expect_big(false, 2, rounds, "18446744073709551616");
	expect_big(false, 1, groups, "10000000000000000000");
	expect_big(true, 3, most, "-6277101735386680763835789423207666416102355444464034512895");
	expect_big(false, 513, many, "big.Int{neg:false, abs:[]uint{1, 0, 0, 0, 0, 0, 0, 0, ...}}");
}

static void test_uuid(void **state)
{
	uint8_t bytes[16];
	struct gotype type = *gotypes_array(capture.types, basic("uint8"), 16);

	(void)state;
	for (unsigned i = 0; i < 16; i++)
		bytes[i] = (uint8_t)(i * 17);
	type.name = "uuid.UUID";
	type.defined = true;
	expect(&type, bytes, VALUE_PLAIN, "00112233-4455-6677-8899-aabbccddeeff");
	/* OpenTelemetry's */
	type.name = "trace.TraceID";
	expect(&type, bytes, VALUE_PLAIN, "00112233445566778899aabbccddeeff");
	type = *gotypes_array(capture.types, basic("uint8"), 8);
	type.name = "trace.SpanID";
	type.defined = true;
	expect(&type, bytes, VALUE_PLAIN, "0011223344556677");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_endpoints, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_odd_endpoint, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_bounds, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_invalid, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_big, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_uuid, expect_setup, expect_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
