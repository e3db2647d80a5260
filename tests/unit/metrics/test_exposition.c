// SPDX-License-Identifier: Apache-2.0
/* What is published of counters, to the letter: labels, series, both formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/exposition_internal.h"
#include "metrics/family.h"
#include "metrics/label_internal.h"
#include "metrics/series_internal.h"
#include "metrics/reading_internal.h"
#include "unit.h"

enum { ROWS = 6 };

struct counts {
	struct reading rows[ROWS];
};

static void add_row(void *ctx, size_t row, struct reading *sum)
{
	reading_add(sum, &((struct counts *)ctx)->rows[row]);
}

static void expect_label(const char *value, const char *escaped)
{
	char *text = NULL, wanted[128];
	size_t len;
	FILE *out = open_memstream(&text, &len);

	family_label(out, value);
	fclose(out);
	assert_string_equal(text, escaped);
	free(text);
	snprintf(wanted, sizeof(wanted), "func=\"%s\",binary=\"/a b\"", escaped);
	text = label_pair(value, "/a b");
	assert_string_equal(text, wanted);
	free(text);
}

static void labels_are_escaped(void **state)
{
	(void)state;
	expect_label("main.(*T[int]).Do-fm", "main.(*T[int]).Do-fm");
	expect_label("a\\b", "a\\\\b");
	expect_label("say \"no\"", "say \\\"no\\\"");
	expect_label("two\nlines", "two\\nlines");
	expect_label("größe.世界·f", "größe.世界·f");
	/* a terminal would act on these */
	expect_label("\x1b[2J\t\x7f", "\\\\x1b[2J\\\\x09\\\\x7f");
	expect_label("\xe2\x80\xae", "\\\\xe2\\\\x80\\\\xae");
	/* not UTF-8: cut short, overlong, a surrogate, a byte of none */
	expect_label("a\xe4\xb8", "a\\\\xe4\\\\xb8");
	expect_label("\xc0\xaf", "\\\\xc0\\\\xaf");
	expect_label("\xed\xa0\x80!", "\\\\xed\\\\xa0\\\\x80!");
	expect_label("\xff", "\\\\xff");
}

static const char *text_of(enum exposition_format format, const struct exposition *exp)
{
	static char kept[1 << 16];
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	exposition_write(out, format, exp);
	fclose(out);
	assert_true(len < sizeof(kept));
	memcpy(kept, text, len + 1);
	free(text);
	return kept;
}

static const char *calls_of(const struct series_table *table)
{
	struct exposition exp = {.table = table};

	return text_of(EXPOSITION_TEXT, &exp);
}

static void counts_are_written(void **state)
{
	struct counts counts = {{{.calls = 12}, {0}}};
	struct series_table *table = series_new(10);
	struct exposition exp = {.table = table};

	(void)state;
	series_add_row(table, 0, "main.f", "/app");
	series_add_row(table, 1, "main.g", "/app");
	series_update(table, add_row, &counts);
	assert_string_equal(text_of(EXPOSITION_TEXT, &exp),
			    "# HELP gofunc_calls_total Calls of the function.\n"
			    "# TYPE gofunc_calls_total counter\n"
			    "gofunc_calls_total{func=\"main.f\",binary=\"/app\"} 12\n"
			    "gofunc_calls_total{func=\"main.g\",binary=\"/app\"} 0\n");
	assert_string_equal(text_of(EXPOSITION_OPENMETRICS, &exp),
			    "# HELP gofunc_calls Calls of the function.\n"
			    "# TYPE gofunc_calls counter\n"
			    "gofunc_calls_total{func=\"main.f\",binary=\"/app\"} 12\n"
			    "gofunc_calls_total{func=\"main.g\",binary=\"/app\"} 0\n"
			    "# EOF\n");
	counts.rows[0].calls = UINT64_MAX;
	series_update(table, add_row, &counts);
	assert_non_null(strstr(calls_of(table),
			       "{func=\"main.f\",binary=\"/app\"} 18446744073709551615\n"));
	series_free(table);
}

/* Fewer functions than rows: those called most get a place, and keep it. */
static void others_are_added_up(void **state)
{
	struct counts counts = {{{0}, {.calls = 5}, {.calls = 7}, {.calls = 6}, {.panicked = 1}}};
	struct series_table *table = series_new(2);
	char name[8][3] = {"a", "b", "c", "d", "e", "f"};

	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		series_add_row(table, i, name[i], i == 5 ? "/y" : "/x");
	series_update(table, add_row, &counts);
	assert_true(series_overflowed(table));
	assert_string_equal(strchr(calls_of(table), 'g'),
			    "gofunc_calls_total Calls of the function.\n"
			    "# TYPE gofunc_calls_total counter\n"
			    "gofunc_calls_total{func=\"c\",binary=\"/x\"} 7\n"
			    "gofunc_calls_total{func=\"d\",binary=\"/x\"} 6\n"
			    "gofunc_calls_total{func=\"other\",binary=\"/x\"} 5\n");
	assert_int_equal(series_at(table, 2)->now.panicked, 1);
	counts.rows[0].calls = 1000;
	counts.rows[5].calls = 3;
	counts.rows[2].calls = 8;
	series_update(table, add_row, &counts);
	assert_non_null(strstr(calls_of(table), "c\",binary=\"/x\"} 8\n"));
	assert_non_null(strstr(calls_of(table), "other\",binary=\"/x\"} 1005\n"));
	assert_non_null(strstr(calls_of(table), "other\",binary=\"/y\"} 3\n"));
	assert_null(series_at(table, 4));
	series_free(table);
}

/* Room for two of three rows: a function is there once it is called. */
static void places_go_to_the_called(void **state)
{
	struct counts counts = {{{0}, {.calls = 1}, {0}}};
	struct series_table *table = series_new(2);

	(void)state;
	series_add_row(table, 0, "a", "/x");
	series_add_row(table, 1, "b", "/x");
	series_add_row(table, 2, "c", "/x");
	series_update(table, add_row, &counts);
	assert_non_null(strstr(calls_of(table), "{func=\"b\",binary=\"/x\"} 1\n"));
	assert_null(series_at(table, 1));
	counts.rows[2].running = 1;
	series_update(table, add_row, &counts);
	assert_non_null(strstr(calls_of(table), "{func=\"c\",binary=\"/x\"} 0\n"));
	assert_false(series_overflowed(table));
	series_free(table);
}

/* The same labels twice would make the whole text invalid. */
static void labels_are_unique(void **state)
{
	struct counts counts = {{{.calls = 1}, {.calls = 2}, {.calls = 4}, {.calls = 8}}};
	struct series_table *table = series_new(9);

	(void)state;
	series_add_row(table, 0, "a\xff", "/x");
	series_add_row(table, 1, "a\\xff", "/x");
	series_add_row(table, 2, "other", "/x");
	series_add_row(table, 3, "a\xff", "/y");
	series_update(table, add_row, &counts);
	const char *text = calls_of(table);
	const char *hit = strstr(text, "{func=\"a\\\\xff\",binary=\"/x\"} 3\n");

	assert_non_null(hit);
	assert_null(strstr(hit + 1, "{func=\"a\\\\xff\",binary=\"/x\"}"));
	assert_non_null(strstr(text, "{func=\"a\\\\xff\",binary=\"/y\"} 8\n"));
	assert_non_null(strstr(text, "{func=\"other\",binary=\"/x\"} 4\n"));
	series_free(table);
}

/* Numbers of one name are one state; what was never seen is left out, but for the first. */
static void states_are_written(void **state)
{
	struct counts counts = {
		{{.total_ns = 6, .state_ns = {[1] = 1, [3] = 2000000003, [9] = 2}}}};
	struct series_table *table = series_new(2);
	struct exposition exp = {table, true, reading_scale(1), NULL, 0, {0}};

	(void)state;
	series_add_row(table, 0, "f", "/x");
	series_add_row(table, 1, "g", "/x");
	series_update(table, add_row, &counts);
	assert_null(strstr(text_of(EXPOSITION_TEXT, &exp), "gofunc_state"));
	for (unsigned i = 0; i < READING_STATES; i++)
		exp.states[i] = i == 0   ? "running"
				: i == 1 ? "chan \"receive\""
				: i == 2 ? "sleep"
					 : "waiting";
	assert_non_null(strstr(text_of(EXPOSITION_OPENMETRICS, &exp),
			       "# TYPE gofunc_state_seconds counter\n"
			       "# UNIT gofunc_state_seconds seconds\n"));
	assert_non_null(
		strstr(text_of(EXPOSITION_TEXT, &exp),
		       "# TYPE gofunc_state_seconds_total counter\n"
		       "gofunc_state_seconds_total{func=\"f\",binary=\"/x\",state=\"running\"} "
		       "0.000000000\n"
		       "gofunc_state_seconds_total{func=\"f\",binary=\"/x\",state=\"chan "
		       "\\\"receive\\\"\"} "
		       "0.000000001\n"
		       "gofunc_state_seconds_total{func=\"f\",binary=\"/x\",state=\"waiting\"} "
		       "2.000000005\n"
		       "gofunc_state_seconds_total{func=\"g\",binary=\"/x\",state=\"running\"} "
		       "0.000000000\n#"));
	series_free(table);
}

static void endings_are_counted_apart(void **state)
{
	struct counts counts = {
		{{.calls = 1, .panicked = 2, .exited = 3, .process_ended = 4, .running = 5}}};
	struct series_table *table = series_new(1);
	struct reading_loss losses[] = {{"no_memory", 6}};
	struct exposition exp = {table, true, reading_scale(1), losses, 1, {0}};

	(void)state;
	series_add_row(table, 0, "f", "/x");
	series_update(table, add_row, &counts);
	series_update(table, add_row, &counts); /* each time anew, not on top of it */
	const char *text = text_of(EXPOSITION_TEXT, &exp);

	assert_non_null(strstr(text, "gofunc_panicked_total{func=\"f\",binary=\"/x\"} 2\n"));
	assert_non_null(strstr(text, "gofunc_exited_total{func=\"f\",binary=\"/x\"} 3\n"));
	assert_non_null(strstr(text, "gofunc_process_ended_total{func=\"f\",binary=\"/x\"} 4\n"));
	assert_non_null(strstr(text, "# TYPE gofunc_running gauge\n"
				     "gofunc_running{func=\"f\",binary=\"/x\"} 5\n"));
	assert_non_null(strstr(text, "gofunc_lost_total{reason=\"no_memory\"} 6\n"));
	series_free(table);
}

static void take_time(struct reading *reading, const struct reading_scale *scale, uint64_t ns)
{
	reading->buckets[reading_bucket(scale, ns / scale->unit_ns)]++;
	reading->calls++;
	reading->total_ns += ns;
}

static uint64_t bucket(const char *text, const char *bound)
{
	char start[128];

	snprintf(start, sizeof(start),
		 "gofunc_latency_seconds_bucket{func=\"f\",binary=\"/x\",le=\"%s\"} ", bound);
	const char *hit = strstr(text, start);

	assert_non_null(hit);
	return strtoull(hit + strlen(start), NULL, 10);
}

static void buckets_hold_what_is_below(void **state)
{
	static const uint64_t times[] = {0,    255,        256,         1023,
					 1024, 5000000000, 68719476735, 68719476736};
	struct counts counts = {0};
	struct reading_scale scale = reading_scale(1);
	struct series_table *table = series_new(1);
	struct exposition exp = {table, true, scale, NULL, 0, {0}};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		take_time(&counts.rows[0], &scale, times[i]);
	series_add_row(table, 0, "f", "/x");
	series_update(table, add_row, &counts);
	const char *text = text_of(EXPOSITION_OPENMETRICS, &exp);

	assert_int_equal(bucket(text, "2.55e-07"), 2);
	assert_int_equal(bucket(text, "5.11e-07"), 3);
	assert_int_equal(bucket(text, "1.023e-06"), 4);
	assert_int_equal(bucket(text, "2.047e-06"), 5);
	assert_int_equal(bucket(text, "4.294967295"), 5);
	assert_int_equal(bucket(text, "8.589934591"), 6);
	assert_int_equal(bucket(text, "68.719476735"), 7);
	assert_int_equal(bucket(text, "+Inf"), 8);
	assert_non_null(strstr(text, "_sum{func=\"f\",binary=\"/x\"} 142.438956029\n"));
	assert_non_null(strstr(text, "_count{func=\"f\",binary=\"/x\"} 8\n"));
	assert_non_null(strstr(text, "# UNIT gofunc_latency_seconds seconds\n"));
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	text = text_of(EXPOSITION_TEXT, &exp);
	assert_null(strstr(text, "# UNIT"));
	assert_null(strstr(text, "# EOF"));
	series_free(table);
}

/* A time of 1999 ns is in microsecond 1, of the row 0 -> 1. */
static void bounds_follow_the_unit(void **state)
{
	struct reading_scale us = reading_scale(1000), ms = reading_scale(1000000);

	(void)state;
	assert_int_equal(reading_bound_ns(&us, 0), 999);
	assert_int_equal(reading_bucket(&us, 0), 0);
	assert_int_equal(reading_bucket(&us, 1), 1);
	assert_int_equal(reading_bound_ns(&us, 1), 1999);
	assert_int_equal(reading_bucket(&us, UINT64_MAX), us.count);
	assert_int_equal(reading_bound_ns(&ms, ms.count - 1), 65535999999);
	assert_true(us.count < READING_BUCKETS && ms.count < READING_BUCKETS);
}

static void accept_is_followed(void **state)
{
	static const struct {
		const char *accept;
		enum exposition_format format;
	} asked[] = {
		{NULL, EXPOSITION_TEXT},
		{"", EXPOSITION_TEXT},
		{"*/*", EXPOSITION_TEXT},
		{"text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", EXPOSITION_TEXT},
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		 "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 EXPOSITION_OPENMETRICS},
		{"Application/OpenMetrics-Text", EXPOSITION_OPENMETRICS},
		{"text/plain, application/openmetrics-text; q=0.9", EXPOSITION_TEXT},
		{"text/plain;q=0.5, application/openmetrics-text;q=0.5", EXPOSITION_OPENMETRICS},
		{"text/plain;q=0.2 ,\tapplication/openmetrics-text; q=0.3", EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;q=0", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=,text/plain;q=0.5", EXPOSITION_OPENMETRICS},
		{"application/openmetrics-textual", EXPOSITION_TEXT},
		{"application/openmetrics", EXPOSITION_TEXT},
		{",;,;q=,;q", EXPOSITION_TEXT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		if (exposition_wanted(asked[i].accept) != asked[i].format)
			fail_msg("Accept: %s", asked[i].accept ? asked[i].accept : "(none)");
	assert_non_null(strstr(exposition_type(EXPOSITION_TEXT), "text/plain; version=0.0.4"));
	assert_non_null(strstr(exposition_type(EXPOSITION_OPENMETRICS),
			       "application/openmetrics-text; version=1.0.0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_escaped),
		cmocka_unit_test(counts_are_written),
		cmocka_unit_test(others_are_added_up),
		cmocka_unit_test(places_go_to_the_called),
		cmocka_unit_test(labels_are_unique),
		cmocka_unit_test(endings_are_counted_apart),
		cmocka_unit_test(states_are_written),
		cmocka_unit_test(buckets_hold_what_is_below),
		cmocka_unit_test(bounds_follow_the_unit),
		cmocka_unit_test(accept_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
