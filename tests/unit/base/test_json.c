// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "unit.h"

static void test_lines(void **state)
{
	struct json json;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	json_init(&json, out);
	for (int i = 0; i < 2; i++) {
		json_object(&json);
		json_member_string(&json, "type", "latency");
		json_member_string(&json, "func", NULL);
		json_key(&json, "buckets");
		json_array(&json);
		for (uint64_t low = 0; low < 2; low++) {
			json_array(&json);
			json_u64(&json, low);
			json_u64(&json, UINT64_MAX);
			json_array_end(&json);
		}
		json_array_end(&json);
		json_key(&json, "none");
		json_object(&json);
		json_object_end(&json);
		json_member_i64(&json, "low", INT64_MIN);
		json_member_bool(&json, "yes", true);
		json_object_end(&json);
	}
	fclose(out);
#define LINE                                                                                       \
	"{\"type\":\"latency\",\"func\":null,\"buckets\":[[0,18446744073709551615],"               \
	"[1,18446744073709551615]],\"none\":{},\"low\":-9223372036854775808,\"yes\":true}\n"
	assert_string_equal(text, LINE LINE);
	free(text);
}

static void test_strings(void **state)
{
	static const struct {
		const char *raw, *quoted;
	} rows[] = {
		{"", "\"\"\n"},
		{"a\"b\\c/", "\"a\\\"b\\\\c/\"\n"},
		{"\n\t\x01\x1b\x7f", "\"\\n\\t\\u0001\\u001b\\u007f\"\n"},
		{"\xc2\x9b", "\"\\u009b\"\n"},
		{"\xc3\xbc\xf0\x9f\x98\x80", "\"\xc3\xbc\xf0\x9f\x98\x80\"\n"},
		{"a\xff\xe4\xb8"
		 "b",
		 "\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
		 "b\"\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[128] = "";
		FILE *out = fmemopen(buf, sizeof(buf), "w");
		struct json json;

		json_init(&json, out);
		json_string(&json, rows[i].raw);
		putc('\n', out);
		fclose(out);
		assert_string_equal(buf, rows[i].quoted);
	}
}

static void test_bytes_hold_nul(void **state)
{
	char buf[64] = "";
	FILE *out = fmemopen(buf, sizeof(buf), "w");
	struct json json;

	(void)state;
	json_init(&json, out);
	json_bytes(&json, "a\0b", 3);
	fclose(out);
	assert_string_equal(buf, "\"a\\u0000b\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_bytes_hold_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
