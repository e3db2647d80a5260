// SPDX-License-Identifier: Apache-2.0
#include "value_expect.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "values/value_internal.h"
#include "unit.h"

struct capture capture;

void expect_with(const struct shape_limits *limits)
{
	capture_free(&capture);
	capture_init(&capture, limits);
}

int expect_setup(void **state)
{
	static const struct shape_limits limits = {.string_max = 40, .record_max = 4096};

	(void)state;
	capture_init(&capture, &limits);
	return 0;
}

int expect_teardown(void **state)
{
	(void)state;
	capture_free(&capture);
	return 0;
}

const struct gotype *basic(const char *name)
{
	const struct gotype *type = gotypes_basic(capture.types, name);

	assert_non_null(type);
	return type;
}

const struct gotype *pointer(const struct gotype *elem)
{
	return gotypes_pointer(capture.types, elem);
}

const struct gotype *slice(const struct gotype *elem)
{
	return gotypes_slice(capture.types, elem);
}

char *expect_text_of(const struct shape *shape, enum value_style style)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	value_print(out, shape, &capture.source, style);
	fclose(out);
	assert_int_equal(strlen(text), len);
	return text;
}

void expect_shape(const struct shape *shape, enum value_style style, const char *expected)
{
	char *text = expect_text_of(shape, style);

	assert_string_equal(text, expected);
	free(text);
}

void expect(const struct gotype *type, const void *value, enum value_style style,
	    const char *expected)
{
	capture.end = 0;
	expect_shape(capture_value(&capture, type, value), style, expected);
}

void expect_json(const struct gotype *type, const void *value, const char *expected)
{
	char *text;
	size_t len;
	struct json json;
	FILE *out = open_memstream(&text, &len);

	capture.end = 0;
	const struct shape *shape = capture_value(&capture, type, value);

	json_init(&json, out);
	json_array(&json);
	value_json(&json, shape, &capture.source);
	fputc(']', out);
	fclose(out);
	assert_int_equal(text[0], '[');
	text[len - 1] = '\0';
	assert_string_equal(text + 1, expected);
	free(text);
}
