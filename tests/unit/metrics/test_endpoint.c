// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "metrics/endpoint_internal.h"
#include "unit.h"

static void addresses(void **state)
{
	static const char *const known[][2] = {
		{":9435", "127.0.0.1:9435"},    {"9435", "127.0.0.1:9435"},
		{"localhost:1", "127.0.0.1:1"}, {"10.1.2.3:65535", "10.1.2.3:65535"},
		{"0.0.0.0:0", "0.0.0.0:0"},     {"[::1]:9435", "[::1]:9435"},
		{"[::]:80", "[::]:80"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct endpoint endpoint;
		struct errmsg err = {0};
		char text[ENDPOINT_TEXT];

		if (endpoint_parse(known[i][0], &endpoint, &err))
			fail_msg("%s", err.text);
		assert_null(endpoint.file);
		endpoint_text(&endpoint, text);
		assert_string_equal(text, known[i][1]);
		assert_int_equal(endpoint.addr_len, text[0] == '[' ? sizeof(struct sockaddr_in6)
								   : sizeof(struct sockaddr_in));
		assert_int_equal(endpoint_port(&endpoint),
				 strtoul(strrchr(text, ':') + 1, NULL, 10));
	}
}

static void files(void **state)
{
	static const char *const names[] = {"a.prom", "./metrics", "/run/x:80", ".prom", "[/]:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct endpoint endpoint;

		assert_int_equal(endpoint_parse(names[i], &endpoint, NULL), 0);
		assert_ptr_equal(endpoint.file, names[i]);
	}
}

static void neither(void **state)
{
	static const char *const texts[] = {"",         ":",       "65536",   ":-1",
					    "a.promo",  "::1:80",  "[::1:80", "::1]:80",
					    "[]:80",    "[:80",    "]:80",    "[1.2.3.4]:80",
					    "1.2.3:80", "host:80", "80:"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct endpoint endpoint;
		struct errmsg err = {0};

		if (!endpoint_parse(texts[i], &endpoint, &err))
			fail_msg("\"%s\" is taken", texts[i]);
		assert_non_null(strstr(err.text, texts[i]));
		assert_non_null(strstr(err.hint, ":9435"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(files),
		cmocka_unit_test(neither),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
