// SPDX-License-Identifier: Apache-2.0
/* Errors that lead to others: by lists, by pointers, by what they embed; addresses that are left
 * out; and known types whose bytes are not what they should be. */
#include <stdlib.h>
#include <string.h>

#include "value_expect.h"
#include "unit.h"

static struct capture_itab itabs[8];

static struct capture_interface error_of(int index, const struct gotype *type, const void *data)
{
	itabs[index].rtype = capture_rtype(&capture, type, type->kind == GOTYPE_POINTER);
	return (struct capture_interface){(uintptr_t)&itabs[index], data};
}

static const struct gotype *error_string(void)
{
	const struct gotype_field fields[] = {{.name = "s", .type = basic("string")}};

	return pointer(capture_struct(&capture, "errors.errorString", 1, fields));
}

static const struct gotype *join_error(void)
{
	const struct gotype_field fields[] = {{.name = "errs", .type = slice(basic("error"))}};

	return pointer(capture_struct(&capture, "errors.joinError", 1, fields));
}

static void expect_joined(const struct capture_slice *errs, const char *expected)
{
	struct capture_interface joined = error_of(1, join_error(), errs);

	expect(basic("error"), &joined, VALUE_PLAIN, expected);
}

/* there is room for four elements */
static int setup_joined(void **state)
{
	static const struct shape_limits limits = {.string_max = 64, .record_max = 4096};

	(void)state;
	capture_init(&capture, &limits);
	return 0;
}

static void test_joined(void **state)
{
	const struct gotype_field call[] = {{.name = "Syscall", .type = basic("string")},
					    {.name = "Err", .type = basic("error")}};
	struct capture_string first = {"first", 5}, second = {"second", 6};
	struct {
		struct capture_string name;
		struct capture_interface err;
	} failed = {{"bind", 4}, error_of(0, error_string(), &second)};
	struct capture_interface a = error_of(0, error_string(), &first);
	struct capture_interface c =
		error_of(2, pointer(capture_struct(&capture, "os.SyscallError", 2, call)), &failed);
	struct capture_interface list[] = {a, c, a, c}, inner[2];

	(void)state;
	expect_joined(&(struct capture_slice){list, 1, 1}, "first");
	expect_joined(&(struct capture_slice){list, 3, 4}, "first\\nbind: second\\nfirst");
	/* there are six levels: the last has none */
	expect_joined(&(struct capture_slice){list, 4, 4},
		      "first\\nbind: second\\nfirst\\nbind: ...");
	expect_joined(&(struct capture_slice){NULL, 0, 0}, "nil");
	expect_joined(&(struct capture_slice){(void *)1, 2, 2}, "<fault>");
	/* a list in a list, which has to wait for what comes after it; and as the last */
	struct capture_slice two = {list, 2, 2}, outer = {inner, 2, 2};

	inner[0] = error_of(1, join_error(), &two);
	inner[1] = a;
	expect_joined(&outer, "...\\n...\\nfirst");
	inner[0] = a;
	inner[1] = error_of(1, join_error(), &two);
	expect_joined(&outer, "first\\nfirst\\nbind: second");
	/* one that holds itself, and more elements than anybody has */
	inner[1] = error_of(1, join_error(), &outer);
	outer.len = outer.cap = 2;
	expect_joined(&outer, "first\\nfirst\\nfirst\\n...");
}

/* pointers to gRPC's states are followed where an error holds them */
static void test_status(void **state)
{
	const struct gotype_field parts[] = {{.name = "Code", .type = basic("int32")},
					     {.name = "Message", .type = basic("string")}};
	struct gotype to_parts = *pointer(capture_struct(&capture, "status.Status", 2, parts));

	to_parts.rtype = capture_rtype(&capture, &to_parts, true);
	const struct gotype_field one[] = {{.name = "s", .type = &to_parts}};
	struct gotype to_status = *pointer(capture_struct(&capture, "status.Status", 1, one));

	to_status.rtype = capture_rtype(&capture, &to_status, true);
	const struct gotype_field in_error[] = {{.name = "s", .type = &to_status}};
	const struct gotype *type = pointer(capture_struct(&capture, "status.Error", 1, in_error));
	struct {
		int64_t code;
		struct capture_string message;
	} value = {5, {"no such thing", 13}};
	const void *inner = &value, *outer = &inner;
	struct capture_interface err = error_of(0, type, &outer);

	(void)state;
	expect(basic("error"), &err, VALUE_PLAIN,
	       "rpc error: code = NotFound desc = no such thing");
	expect(&to_status, &outer, VALUE_GO, "rpc error: code = NotFound desc = no such thing");
	value.code = -1;
	expect(basic("error"), &err, VALUE_PLAIN,
	       "rpc error: code = Code(4294967295) desc = no such thing");
	inner = NULL;
	capture.source.no_addresses = true;
	expect(basic("error"), &err, VALUE_PLAIN, "0x...");
	outer = NULL;
	expect(basic("error"), &err, VALUE_PLAIN, "nil");
	/* it leads back to itself */
	const void *loop[3] = {loop};

	outer = loop;
	free(expect_text_of(capture_value(&capture, basic("error"), &err), VALUE_PLAIN));
}

static bool yes(void *ctx, uint64_t rtype)
{
	(void)ctx;
	(void)rtype;
	return true;
}

static void test_promoted(void **state)
{
	struct capture_string text = {"EOF", 3};
	struct {
		struct capture_interface err;
		int64_t code;
	} value = {error_of(0, error_string(), &text), 3};
	const struct gotype_field fields[] = {{.name = "error", .type = basic("error")},
					      {.name = "code", .type = basic("int")}};
	const struct gotype *type = capture_struct(&capture, "main.T", 2, fields);
	struct capture_interface err = error_of(1, pointer(type), &value);

	(void)state;
	expect(basic("error"), &err, VALUE_PLAIN,
	       "*main.T{error:*errors.errorString(\"EOF\"), code:3}");
	capture.source.promotes_error = yes;
	expect(basic("error"), &err, VALUE_PLAIN, "EOF");
	expect(basic("error"), &err, VALUE_GO, "*main.T(\"EOF\")");
	value.err = (struct capture_interface){0, NULL};
	expect(basic("error"), &err, VALUE_PLAIN, "nil");
}

static void test_no_addresses(void **state)
{
	int64_t number = 7;
	const void *to = &number;
	const struct gotype *any = basic("any");
	struct capture_interface held = {capture_rtype(&capture, pointer(basic("int")), true),
					 &number};

	(void)state;
	capture.source.no_addresses = true;
	expect(pointer(basic("int")), &to, VALUE_GO, "0x...");
	expect(basic("unsafe.Pointer"), &to, VALUE_PLAIN, "0x...");
	expect(any, &held, VALUE_GO, "(*int)(0x...)");
	to = NULL;
	expect(pointer(basic("int")), &to, VALUE_GO, "nil");
	/* no pointer, though it may be one */
	expect(basic("uintptr"), &number, VALUE_GO, "0x7");
}

static const struct gotype *url_of(const char *name)
{
	const struct gotype *text = basic("string"), *flag = basic("bool");
	const struct gotype_field user[] = {{.name = "username", .type = text},
					    {.name = "password", .type = text},
					    {.name = "passwordSet", .type = flag}};
	const struct gotype_field fields[] = {
		{.name = "Scheme", .type = text},
		{.name = "Opaque", .type = text},
		{.name = "User",
		 .type = pointer(capture_struct(&capture, "url.Userinfo", 3, user))},
		{.name = "Host", .type = text},
		{.name = "Path", .type = text},
		{.name = "RawPath", .type = text},
		{.name = "RawQuery", .type = text},
		{.name = "Fragment", .type = text},
		{.name = "RawFragment", .type = text},
		{.name = "ForceQuery", .type = flag}};

	return capture_struct(&capture, name, 10, fields);
}

static const struct gotype *number_of(void)
{
	const struct gotype_field fields[] = {{.name = "neg", .type = basic("bool")},
					      {.name = "abs", .type = slice(basic("uint"))}};

	return capture_struct(&capture, "big.Int", 2, fields);
}

static const struct gotype *time_of(void)
{
	const struct gotype_field zone[] = {{.name = "name", .type = basic("string")},
					    {.name = "offset", .type = basic("int")}};
	const struct gotype_field location[] = {
		{.name = "cacheStart", .type = basic("int64")},
		{.name = "cacheEnd", .type = basic("int64")},
		{.name = "cacheZone",
		 .type = pointer(capture_struct(&capture, "time.zone", 2, zone))}};
	const struct gotype_field fields[] = {
		{.name = "wall", .type = basic("uint64")},
		{.name = "ext", .type = basic("int64")},
		{.name = "loc",
		 .type = pointer(capture_struct(&capture, "time.Location", 3, location))}};

	return capture_struct(&capture, "time.Time", 3, fields);
}

static const struct gotype *netip_of(const char *name)
{
	const struct gotype_field detail[] = {{.name = "isV6", .type = basic("bool")},
					      {.name = "zoneV6", .type = basic("string")}};
	const struct gotype *to = pointer(capture_struct(&capture, "netip.addrDetail", 2, detail));
	const struct gotype_field addr[] = {{.name = "addr", .type = basic("complex128")},
					    {.name = "z", .type = to}};
	const struct gotype_field prefix[] = {
		{.name = "ip", .type = capture_struct(&capture, "netip.Addr", 2, addr)},
		{.name = "bitsPlusOne", .type = basic("uint8")}};

	return capture_struct(&capture, name, 2, prefix);
}

/* What is cut is said to be, and what is too long is no number. */
static void test_cut(void **state)
{
	static const uint64_t words[9] = {[8] = 1};
	struct {
		uint64_t negative;
		struct capture_slice abs;
	} number = {1, {words, 8, 8}};
	struct capture_string url[10] = {{"http", 4}, {NULL, 0}};
	const char path[] = "/0123456789012345678901234567890123456789012345678901234567890";
	uint64_t *user = (uint64_t *)&url[2];

	(void)state;
	expect(number_of(), &number, VALUE_GO, "-0");
	number.abs.len = 9;
	expect(number_of(), &number, VALUE_GO,
	       "big.Int{neg:true, abs:[]uint{0, 0, 0, 0, 0, 0, 0, 0, ...}}");
	/* the user takes one word alone: what follows is laid out behind it */
	memset(user, 0, 8);
	memcpy((char *)url + 40, &(struct capture_string){"h", 1}, 16);
	memcpy((char *)url + 56, &(struct capture_string){path, sizeof(path) - 1}, 16);
	memset((char *)url + 72, 0, sizeof(url) - 72);
	expect(url_of("url.URL"), url, VALUE_GO,
	       "http://h/012345678901234567890123456789012345678...");
}

static struct capture_string string_of(const char *text)
{
	return (struct capture_string){text, (int64_t)strlen(text)};
}

/* As URL.String() has it: an escaped form that the URL was given is kept, if it is one of the path,
 * or of the fragment. */
static void test_urls(void **state)
{
	static const struct {
		const char *path, *raw, *fragment, *raw_fragment, *want;
	} rows[] = {
		{"/a b", "", "", "", "/a%20b"},       {"/a/b", "/a%2Fb", "", "", "/a%2Fb"},
		{"/a/b", "/a%2fb", "", "", "/a%2fb"}, {"/a/b", "/a%2Fc", "", "", "/a/b"},
		{"/a/b", "/a%2", "", "", "/a/b"},     {"/a/b", "/a%zFb", "", "", "/a/b"},
		{"/a/b", "/a%2zb", "", "", "/a/b"},   {"/\x05P", "/%05%50", "", "", "/%05%50"},
		{"/a", "/ab", "", "", "/a"},          {"/ab", "/a", "", "", "/ab"},
		{"/a b", "/a b", "", "", "/a%20b"},   {"/a!b", "/a!b", "", "", "/a!b"},
		{"/a!b", "", "", "", "/a%21b"},       {"*", "", "", "", "*"},
		{"*a", "", "", "", "%2Aa"},           {"/", "", "x y", "", "/#x%20y"},
		{"/", "", "x/y", "x%2Fy", "/#x%2Fy"}, {"/", "", "x/y", "x%2Fz", "/#x/y"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct {
			struct capture_string scheme, opaque;
			const void *user;
			struct capture_string host, path, raw, query, fragment, raw_fragment;
			bool force_query;
		} url = {.path = string_of(rows[i].path),
			 .raw = string_of(rows[i].raw),
			 .fragment = string_of(rows[i].fragment),
			 .raw_fragment = string_of(rows[i].raw_fragment)};

		expect(url_of("url.URL"), &url, VALUE_GO, rows[i].want);
	}
}

/* nothing but what the record has is read, whatever it says itself */
static void test_hostile(void **state)
{
	const struct gotype *types[] = {pointer(url_of("url.URL")), number_of(), time_of(),
					netip_of("netip.Prefix"), join_error()};
	uint64_t random = 88172645463325252ull;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		const struct gotype *type = types[round % 5];
		uint32_t end = 0;
		const struct shape *shape = shape_new(
			capture.types, round % 2 ? basic("error") : type, &capture.limits, &end);

		capture_rtype(&capture, type, type->kind == GOTYPE_POINTER);
		capture.source.len = round % 3 ? end : (uint32_t)(random >> 32) % end;
		/* the sanitizer sees what lies beyond */
		uint8_t *record = malloc(capture.source.len);

		for (uint32_t i = 0; i < capture.source.len; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			record[i] = random >> 61 ? (uint8_t)(random >> 33 & 1) : random >> 40;
		}
		if (round % 2 && capture.source.len >= 40) { /* it holds that type */
			uint64_t rtype =
				capture_rtype(&capture, type, type->kind == GOTYPE_POINTER);

			memcpy(record + 16, &rtype, sizeof(rtype));
		}
		capture.source.record = record;
		for (enum value_style style = VALUE_PLAIN; style <= VALUE_TEXT; style++)
			free(expect_text_of(shape, style));
		free(record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_joined, setup_joined, expect_teardown),
		cmocka_unit_test_setup_teardown(test_status, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_promoted, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_no_addresses, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_cut, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_urls, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_hostile, expect_setup, expect_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
