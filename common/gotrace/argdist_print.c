// SPDX-License-Identifier: Apache-2.0
/* Counts by value, and bcc's picture of histograms. */
#include "gotrace/argdist_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"

static int by_count(const void *a, const void *b)
{
	const struct argdist_value *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* {"type":"argdist","values":{"k.Name":"bob","len(s)":3},"count":12} */
static void json_value(const struct argdist_config *config, size_t probe,
		       const struct argdist_value *value)
{
	/* an object that has been written already */
	printf("{\"type\":\"argdist\",\"values\":%.*s,", (int)strcspn(value->json, "\n"),
	       value->json);
	printf("\"count\":%" PRIu64, value->count);
	if (config->probe_count > 1) {
		char *name = NULL;
		size_t len;
		FILE *out = open_memstream(&name, &len);
		struct json json;

		if (out) {
			json_init(&json, out);
			json_string(&json, config->probes[probe]);
			fclose(out);
			printf(",\"probe\":%s", name);
		}
		free(name);
	}
	puts("}");
}

static void text_value(const struct argdist_value *value)
{
	printf("\t%-10" PRIu64 " %s\n", value->count, *value->text ? value->text : "total calls");
}

static void print_values(const struct argdist_config *config, size_t probe,
			 struct argdist_counts *counts)
{
	bool cut = config->top && counts->count > config->top;
	size_t first = cut ? counts->count - config->top : 0;
	uint64_t others = 0;

	if (counts->count)
		qsort(counts->values, counts->count, sizeof(*counts->values), by_count);
	if (!config->json)
		printf("\t%-10s %s\n", "COUNT", "EVENT");
	for (size_t i = 0; i < first; i++)
		others += counts->values[i].count;
	if (others && !config->json)
		printf("\t%-10" PRIu64 " (%zu other value%s)\n", others, first,
		       first == 1 ? "" : "s");
	for (size_t i = first; i < counts->count; i++) {
		if (config->json)
			json_value(config, probe, &counts->values[i]);
		else
			text_value(&counts->values[i]);
	}
}

struct row {
	char low[24], high[24]; /* decimal */
	uint64_t count;
};

/* The n-th of 2 * ARGDIST_ROWS - 1 rows, of the lowest numbers first; 0 is with 1. */
static struct row row_at(const struct argdist_counts *counts, int n)
{
	int log2 = n - (ARGDIST_ROWS - 1);
	int row = abs(log2);
	uint64_t low = row > 1 ? 1ULL << (row - 1) : row == 1 && log2 < 0;
	uint64_t high = row < 64 ? (1ULL << row) - 1 : UINT64_MAX;
	struct row out = {.count = log2 < 0 ? counts->below[row] : counts->rows[row]};

	if (log2 >= 0) {
		snprintf(out.low, sizeof(out.low), "%" PRIu64, low);
		snprintf(out.high, sizeof(out.high), "%" PRIu64, high);
	} else { /* of the 64th row there is one number alone */
		snprintf(out.low, sizeof(out.low), "-%" PRIu64, row < 64 ? high : low);
		snprintf(out.high, sizeof(out.high), "-%" PRIu64, low);
	}
	return out;
}

struct bounds {
	int first, last; /* rows; first > last: none */
	uint64_t most, sum;
};

static struct bounds bounds_of(const struct argdist_counts *counts)
{
	struct bounds out = {.first = 2 * ARGDIST_ROWS, .last = -1};

	for (int n = 0; n < 2 * ARGDIST_ROWS - 1; n++) {
		uint64_t count = row_at(counts, n).count;

		if (!count)
			continue;
		out.first = n < out.first ? n : out.first;
		out.last = n;
		out.most = count > out.most ? count : out.most;
		out.sum += count;
	}
	return out;
}

static bool is_row(int n)
{
	return n != ARGDIST_ROWS - 1; /* log2_row() is never 0 */
}

static void json_histogram(const struct argdist_config *config, size_t probe, const char *expr,
			   const struct argdist_counts *counts, const struct bounds *bounds)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "argdist");
	json_member_string(&json, "expr", expr);
	json_member_u64(&json, "count", bounds->sum);
	json_key(&json, "buckets");
	json_array(&json);
	for (int n = bounds->first; n <= bounds->last; n++) {
		struct row row = row_at(counts, n);

		if (!row.count)
			continue;
		json_array(&json);
		json_number(&json, row.low);
		json_number(&json, row.high);
		json_u64(&json, row.count);
		json_array_end(&json);
	}
	json_array_end(&json);
	if (config->probe_count > 1)
		json_member_string(&json, "probe", config->probes[probe]);
	json_object_end(&json);
}

static void text_histogram(const char *expr, const struct argdist_counts *counts,
			   const struct bounds *bounds)
{
	static const char stars[] = "****************************************";
	bool wide = bounds->last > ARGDIST_ROWS - 1 + 32 || bounds->first < ARGDIST_ROWS - 1 - 32;
	int number = wide ? 20 : 10, width = wide ? 20 : 40;

	if (bounds->last < 0)
		return;
	printf("%*s%-*s : count     distribution\n", wide ? 15 : 5, "", wide ? 29 : 19, expr);
	for (int n = bounds->first; n <= bounds->last; n++) {
		struct row row = row_at(counts, n);
		int filled = (int)((long double)row.count * width / bounds->most);

		if (is_row(n))
			printf("%*s -> %-*s : %-8" PRIu64 " |%-*.*s|\n", number, row.low, number,
			       row.high, row.count, width, filled, stars);
	}
}

void argdist_print(const struct argdist_config *config, size_t probe, const char *expr,
		   struct argdist_counts *counts)
{
	struct bounds bounds;

	if (!config->json) {
		escape_print(stdout, config->probes[probe]);
		putchar('\n');
	}
	if (!config->histograms[probe]) {
		print_values(config, probe, counts);
		return;
	}
	bounds = bounds_of(counts);
	if (!config->json)
		text_histogram(expr, counts, &bounds);
	else if (bounds.sum)
		json_histogram(config, probe, expr, counts, &bounds);
}
