// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/pprof_internal.h"
#include "profile/profile_internal.h"
#include "unit.h"

static const struct profile_type types[] = {{"waits", "count"}, {"delay", "nanoseconds"}};
static const struct profile_spec spec = {
	.tool = "test", .types = types, .type_count = 2, .shown = 1};

/* --- what is in a message, field by field --- */

struct field {
	unsigned number;
	uint64_t value; /* or, of bytes: how many */
	const uint8_t *bytes;
};

static uint64_t varint(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	do
		value |= (uint64_t)(**at & 0x7f) << shift;
	while (shift += 7, *(*at)++ & 0x80);
	return value;
}

static bool next(const uint8_t **at, const uint8_t *end, struct field *out)
{
	if (*at >= end)
		return false;
	uint64_t tag = varint(at);

	*out = (struct field){.number = tag >> 3, .value = varint(at)};
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	if ((tag & 7) != 2)
		return true;
	out->bytes = *at;
	*at += out->value;
	assert_true(*at <= end);
	return true;
}

/* The nth field with this number; false: there are not so many. */
static bool find(const uint8_t *bytes, size_t len, unsigned number, size_t nth, struct field *out)
{
	const uint8_t *at = bytes;

	while (next(&at, bytes + len, out))
		if (out->number == number && !nth--)
			return true;
	return false;
}

struct written {
	uint8_t *bytes;
	size_t len;
};

static struct written write_out(struct profile *profile)
{
	struct written out;

	out.bytes = pprof_bytes(profile, &out.len);
	profile_free(profile);
	return out;
}

static void expect_text(const struct written *out, size_t number, const char *wanted)
{
	struct field text;

	assert_true(find(out->bytes, out->len, 6, number, &text));
	assert_int_equal(text.value, strlen(wanted));
	assert_memory_equal(text.bytes, wanted, text.value);
}

static size_t count(const struct written *out, unsigned number)
{
	struct field field;
	size_t n = 0;

	while (find(out->bytes, out->len, number, n, &field))
		n++;
	return n;
}

/* The values of a sample */
static void expect_sample(const struct written *out, size_t nth, uint64_t first, uint64_t second)
{
	struct field sample, values;

	assert_true(find(out->bytes, out->len, 2, nth, &sample));
	assert_true(find(sample.bytes, sample.value, 2, 0, &values));
	const uint8_t *at = values.bytes;

	assert_int_equal(varint(&at), first);
	assert_int_equal(varint(&at), second);
	assert_true(at == values.bytes + values.value);
}

/* --- */

static void add(struct profile *profile, const char *word, const char *state, uint64_t waits,
		uint64_t ns)
{
	profile_word(profile, word);
	profile_label(profile, "state", state);
	profile_add(profile, (uint64_t[]){waits, ns});
}

static void adds_up_what_is_the_same(void **state)
{
	struct profile *profile = profile_new(&spec);

	(void)state;
	add(profile, "[one]", "sleep", 1, 10);
	add(profile, "[two]", "sleep", 2, 500);
	add(profile, "[one]", "select", 3, 30);
	add(profile, "[one]", "sleep", 4, 40);
	add(profile, "[one]", NULL, 0, UINT64_MAX);
	struct written out = write_out(profile);

	assert_int_equal(count(&out, 2), 4);
	assert_int_equal(count(&out, 4), 2); /* locations */
	expect_sample(&out, 0, 0, INT64_MAX);
	expect_sample(&out, 1, 2, 500);
	expect_sample(&out, 2, 5, 50);
	expect_sample(&out, 3, 3, 30);
	free(out.bytes);
}

static void begins_with_the_empty_text(void **state)
{
	struct written out = write_out(profile_new(&spec));
	struct field field;

	(void)state;
	expect_text(&out, 0, "");
	assert_true(find(out.bytes, out.len, 14, 0, &field)); /* default_sample_type */
	expect_text(&out, field.value, "delay");
	assert_int_equal(count(&out, 1), 2);
	free(out.bytes);
}

/* pprof prints names as they are: to a terminal. */
static void escapes_names(void **state)
{
	struct profile *profile = profile_new(&spec);

	(void)state;
	add(profile, "\x1b[31m\xff", "a\nb", 1, 1);
	struct written out = write_out(profile);

	expect_text(&out, 1, "\\x1b[31m\\xff");
	expect_text(&out, 2, "state");
	expect_text(&out, 3, "a\\nb");
	free(out.bytes);
}

/* Sums stay what they are, whatever there is no room for. */
static void has_a_row_for_the_rest(void **state)
{
	enum { ROWS = 1 << 18, MORE = 10 };
	struct profile *profile = profile_new(&spec);

	(void)state;
	for (uint64_t i = 0; i < ROWS + MORE; i++) {
		profile_word(profile, "[one]");
		profile_number(profile, "pid", i);
		profile_add(profile, (uint64_t[]){1, 1});
	}
	struct written out = write_out(profile);
	const uint8_t *at = out.bytes;
	struct field field;
	size_t rows = 0;

	while (next(&at, out.bytes + out.len, &field))
		rows += field.number == 2;
	assert_int_equal(rows, ROWS + 1);
	expect_sample(&out, 0, MORE, MORE);
	free(out.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_up_what_is_the_same),
		cmocka_unit_test(begins_with_the_empty_text),
		cmocka_unit_test(escapes_names),
		cmocka_unit_test(has_a_row_for_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
