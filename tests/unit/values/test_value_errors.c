// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "value_expect.h"
#include "unit.h"

static const struct shape_limits FOLLOW = {.string_max = 40, .record_max = 8192, .follow = true};

/* two interfaces, a string or two before them: most errors there are */
struct error_value {
	struct capture_string first, second;
	struct capture_interface source, addr, err;
};

static struct capture_itab itabs[8];

static struct capture_interface error_of(int index, const struct gotype *type, bool direct,
					 const void *data)
{
	itabs[index].rtype = capture_rtype(&capture, type, direct);
	return (struct capture_interface){(uintptr_t)&itabs[index], data};
}

static void expect_error(struct capture_interface err, const char *plain, const char *go)
{
	expect(basic("error"), &err, VALUE_PLAIN, plain);
	expect(basic("error"), &err, VALUE_TEXT, plain);
	expect(basic("error"), &err, VALUE_GO, go);
	expect(basic("error"), &err, VALUE_DEEP, go);
}

static const struct gotype *error_string(void)
{
	const struct gotype_field fields[] = {{.name = "s", .type = basic("string")}};

	return pointer(capture_struct(&capture, "errors.errorString", 1, fields));
}

static void test_errors(void **state)
{
	struct capture_string text = {"no such\nkey", 11};
	const uint64_t number = 2, odd = 9999;
	const struct gotype *errno_type = capture_defined(&capture, "syscall.Errno", "uintptr");
	const struct gotype *exceeded =
		capture_struct(&capture, "context.deadlineExceededError", 0, NULL);

	(void)state;
	expect_error(error_of(0, error_string(), true, &text), "no such\\nkey",
		     "*errors.errorString(\"no such\\nkey\")");
	expect_error(error_of(1, errno_type, false, &number), "no such file or directory",
		     "syscall.Errno(\"no such file or directory\")");
	expect_error(error_of(1, errno_type, false, &odd), "errno 9999",
		     "syscall.Errno(\"errno 9999\")");
	expect_error(error_of(2, exceeded, false, &odd), "context deadline exceeded",
		     "context.deadlineExceededError(\"context deadline exceeded\")");
	struct capture_interface err = error_of(0, error_string(), true, &text), none = {0, NULL};

	expect_json(basic("error"), &err, "\"no such\\nkey\"");
	expect(basic("error"), &none, VALUE_PLAIN, "nil");
	expect(errno_type, &number, VALUE_PLAIN, "no such file or directory");
	expect(errno_type, &number, VALUE_GO, "2");
}

static void test_errors_within(void **state)
{
	const uint64_t number = 111;
	struct capture_string text = {"EOF", 3};
	const struct gotype_field path[] = {{.name = "Op", .type = basic("string")},
					    {.name = "Path", .type = basic("string")},
					    {.name = "Err", .type = basic("error")}};
	const struct gotype_field syscall[] = {{.name = "Syscall", .type = basic("string")},
					       {.name = "Err", .type = basic("error")}};
	struct {
		struct capture_string op, path;
		struct capture_interface err;
	} value = {{"open", 4}, {"/x y", 4}, error_of(0, error_string(), true, &text)};
	struct {
		struct capture_string call;
		struct capture_interface err;
	} call = {{"connect", 7}, {0, NULL}};
	const struct gotype *os = pointer(capture_struct(&capture, "os.SyscallError", 2, syscall));

	(void)state;
	call.err =
		error_of(1, capture_defined(&capture, "syscall.Errno", "uintptr"), false, &number);
	expect_error(error_of(2, pointer(capture_struct(&capture, "fs.PathError", 3, path)), true,
			      &value),
		     "open /x y: EOF", "*fs.PathError(\"open /x y: EOF\")");
	expect_error(error_of(3, os, true, &call), "connect: connection refused",
		     "*os.SyscallError(\"connect: connection refused\")");
	value.err = error_of(3, os, true, &call);
	expect_error(error_of(2, pointer(capture_struct(&capture, "fs.PathError", 3, path)), true,
			      &value),
		     "open /x y: connect: connection refused",
		     "*fs.PathError(\"open /x y: connect: connection refused\")");
}

static void test_net_error(void **state)
{
	struct gotype addr = *basic("error");
	const struct gotype_field fields[] = {{.name = "Op", .type = basic("string")},
					      {.name = "Net", .type = basic("string")},
					      {.name = "Source", .type = &addr},
					      {.name = "Addr", .type = &addr},
					      {.name = "Err", .type = basic("error")}};
	struct capture_string text = {"i/o timeout", 11};
	struct error_value value = {{"dial", 4}, {"tcp", 3}, {0, NULL}, {0, NULL}, {0, NULL}};
	const struct gotype *type;

	(void)state;
	addr.name = "net.Addr";
	type = pointer(capture_struct(&capture, "net.OpError", 5, fields));
	value.err = error_of(0, error_string(), true, &text);
	expect_error(error_of(1, type, true, &value), "dial tcp: i/o timeout",
		     "*net.OpError(\"dial tcp: i/o timeout\")");
	value.addr = value.err;
	expect_error(error_of(1, type, true, &value), "dial tcp ...: i/o timeout",
		     "*net.OpError(\"dial tcp ...: i/o timeout\")");
	value.source = value.err;
	expect_error(error_of(1, type, true, &value), "dial tcp ...->...: i/o timeout",
		     "*net.OpError(\"dial tcp ...->...: i/o timeout\")");
}

static void test_errors_by_value(void **state)
{
	const struct gotype_field fields[] = {{.name = "Code", .type = basic("int")}};
	const int64_t code = 7;
	const struct gotype *type = capture_struct(&capture, "main.Failure", 1, fields);
	const struct gotype *kind = capture_defined(&capture, "main.Kind", "int");
	/* another type of a known name: its fields do not fit */
	const struct gotype *other = capture_struct(&capture, "fs.PathError", 1, fields);
	struct capture_interface nil = {1, NULL};

	(void)state;
	struct capture_interface err = error_of(0, pointer(type), true, &code);

	expect(basic("error"), &err, VALUE_PLAIN, "*main.Failure{Code:7}");
	expect(basic("error"), &err, VALUE_GO, "*main.Failure{Code:7}");
	expect(basic("error"), &err, VALUE_DEEP, "&main.Failure{Code:7}");
	expect_json(basic("error"), &err, "\"*main.Failure{Code:7}\"");
	expect(basic("error"), (struct capture_interface[]){error_of(1, type, false, &code)},
	       VALUE_PLAIN, "main.Failure{Code:7}");
	expect(basic("error"), (struct capture_interface[]){error_of(2, kind, false, &code)},
	       VALUE_PLAIN, "main.Kind(7)");
	expect(basic("error"),
	       (struct capture_interface[]){error_of(3, pointer(other), true, &code)}, VALUE_PLAIN,
	       "*fs.PathError{Code:7}");
	nil = error_of(0, pointer(type), true, NULL);
	expect(basic("error"), &nil, VALUE_PLAIN, "(*main.Failure)(nil)");
	nil = error_of(0, error_string(), true, NULL);
	expect(basic("error"), &nil, VALUE_PLAIN, "(*errors.errorString)(nil)");
}

/* nothing but what the record has is read, whatever it says itself */
static void test_hostile(void **state)
{
	const struct gotype_field fields[] = {
		{.name = "s", .type = basic("string")},
		{.name = "l", .type = slice(basic("string"))},
		{.name = "e", .type = basic("error")},
		{.name = "m",
		 .type = capture_map(&capture, "map[int]any", "int", basic("any"), true)},
		{.name = "p", .type = pointer(basic("string"))},
	};
	const struct gotype *type = capture_struct(&capture, "main.T", 5, fields);
	uint32_t end = 0;
	uint64_t random = 88172645463325252ull;
	const struct shape *shape = shape_new(capture.types, type, &FOLLOW, &end);

	(void)state;
	capture_rtype(&capture, error_string(), true);
	capture.source.limits = FOLLOW;
	for (int round = 0; round < 3000; round++) {
		capture.source.len = round % 3 ? end : (uint32_t)(random >> 32) % end;
		/* the sanitizer sees what lies beyond */
		uint8_t *record = malloc(capture.source.len);

		for (uint32_t i = 0; i < capture.source.len; i++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			record[i] = random >> 61 ? (uint8_t)(random >> 33 & 1) : random >> 40;
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
		cmocka_unit_test_setup_teardown(test_errors, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_errors_within, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_net_error, expect_setup, expect_teardown),
		cmocka_unit_test_setup_teardown(test_errors_by_value, expect_setup,
						expect_teardown),
		cmocka_unit_test_setup_teardown(test_hostile, expect_setup, expect_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
