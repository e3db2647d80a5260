// SPDX-License-Identifier: Apache-2.0
/* https://prometheus.io/docs/instrumenting/exposition_formats/ for text, and
 * https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md */
#include "metrics/exposition_internal.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "metrics/family.h"
#include "metrics/series_internal.h"
#include "metrics/reading_internal.h"

#define NS_PER_S 1000000000ull

struct family { /* a number of each function */
	const char *name, *help;
	size_t value; /* its place in struct reading */
	bool gauge;
};

static const struct family counted = {"gofunc_calls", "Calls of the function.",
				      offsetof(struct reading, calls), false};
static const struct family timed[] = {
	{"gofunc_calls", "Calls that returned: those in gofunc_latency_seconds.",
	 offsetof(struct reading, calls), false},
	{"gofunc_panicked", "Calls ended by a panic.", offsetof(struct reading, panicked), false},
	{"gofunc_exited", "Calls ended by runtime.Goexit.", offsetof(struct reading, exited),
	 false},
	{"gofunc_process_ended", "Calls that had not returned when their process ended.",
	 offsetof(struct reading, process_ended), false},
	{"gofunc_running", "Calls that have not returned yet.", offsetof(struct reading, running),
	 true},
};

const char *exposition_type(enum exposition_format format)
{
	return format == EXPOSITION_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

static bool is_type(const char *range, size_t len, const char *type)
{
	size_t own = strcspn(range, ";, \t");

	return own <= len && own == strlen(type) && !strncasecmp(range, type, own);
}

/* the `q=` of a media range, 1 without one */
static double quality(const char *range, size_t len)
{
	for (size_t i = 0; i + 3 < len; i++) {
		if (range[i] != ';')
			continue;
		size_t name = i + 1 + strspn(range + i + 1, " \t");

		if (name + 2 < len && strchr("qQ", range[name]) && range[name + 1] == '=')
			return strtod(range + name + 2, NULL);
	}
	return 1;
}

enum exposition_format exposition_wanted(const char *accept)
{
	double best[EXPOSITION_FORMATS] = {0};

	while (accept && *accept) {
		accept += strspn(accept, ", \t");
		size_t len = strcspn(accept, ",");
		enum exposition_format format = EXPOSITION_FORMATS;

		if (is_type(accept, len, "application/openmetrics-text"))
			format = EXPOSITION_OPENMETRICS;
		else if (is_type(accept, len, "text/plain"))
			format = EXPOSITION_TEXT;
		if (format < EXPOSITION_FORMATS && quality(accept, len) > best[format])
			best[format] = quality(accept, len);
		accept += len;
	}
	return best[EXPOSITION_OPENMETRICS] > 0 &&
			       best[EXPOSITION_OPENMETRICS] >= best[EXPOSITION_TEXT]
		       ? EXPOSITION_OPENMETRICS
		       : EXPOSITION_TEXT;
}

static void head(FILE *out, enum exposition_format format, const char *name, const char *type,
		 const char *help)
{
	family_head(out, format == EXPOSITION_OPENMETRICS, name, type, help);
}

static void write_family(FILE *out, enum exposition_format format, const struct series_table *table,
			 const struct family *family)
{
	const struct series *series;

	head(out, format, family->name, family->gauge ? "gauge" : "counter", family->help);
	for (size_t i = 0; (series = series_at(table, i)); i++) {
		uint64_t value;

		memcpy(&value, (const char *)&series->now + family->value, sizeof(value));
		fprintf(out, "%s%s{%s} %" PRIu64 "\n", family->name, family->gauge ? "" : "_total",
			series->labels, value);
	}
}

/* The shortest decimal number that is read as the same: "1.023e-06". */
static void shortest(char text[32], double value)
{
	int digits = 1;

	do
		snprintf(text, 32, "%.*g", digits, value);
	while (strtod(text, NULL) != value && digits++ < 17);
}

static void write_seconds(FILE *out, uint64_t ns)
{
	family_seconds(out, ns);
	fputc('\n', out);
}

static void write_histogram(FILE *out, const struct reading_scale *scale,
			    const struct series *series, char bounds[][32])
{
	static const char name[] = "gofunc_latency_seconds";
	const struct reading *now = &series->now;
	uint64_t below = 0;

	for (unsigned i = 0; i <= scale->count; i++) {
		below += now->buckets[i];
		fprintf(out, "%s_bucket{%s,le=\"%s\"} %" PRIu64 "\n", name, series->labels,
			i < scale->count ? bounds[i] : "+Inf", below);
	}
	fprintf(out, "%s_sum{%s} ", name, series->labels);
	write_seconds(out, now->total_ns);
	fprintf(out, "%s_count{%s} %" PRIu64 "\n", name, series->labels, below);
}

static void write_histograms(FILE *out, enum exposition_format format, const struct exposition *exp)
{
	const struct series *series;
	char bounds[READING_BUCKETS][32];

	for (unsigned i = 0; i < exp->scale.count; i++)
		shortest(bounds[i], (double)reading_bound_ns(&exp->scale, i) / NS_PER_S);
	head(out, format, "gofunc_latency_seconds", "histogram",
	     "Time from call to return, of calls that returned.");
	if (format == EXPOSITION_OPENMETRICS)
		fputs("# UNIT gofunc_latency_seconds seconds\n", out);
	for (size_t i = 0; (series = series_at(exp->table, i)); i++)
		write_histogram(out, &exp->scale, series, bounds);
}

static bool was_before(const struct exposition *exp, unsigned state)
{
	for (unsigned i = 0; i < state; i++)
		if (!strcmp(exp->states[i], exp->states[state]))
			return true;
	return false;
}

/* States of one name are one to whoever reads them. */
static void write_state(FILE *out, const struct exposition *exp, const struct series *series,
			unsigned state)
{
	uint64_t ns = 0;

	for (unsigned i = state; i < READING_STATES; i++)
		if (!strcmp(exp->states[i], exp->states[state]))
			ns += series->now.state_ns[i];
	if (!ns && state) /* the first one is there always */
		return;
	fprintf(out, "gofunc_state_seconds_total{%s,state=\"", series->labels);
	family_label(out, exp->states[state]);
	fputs("\"} ", out);
	write_seconds(out, ns);
}

static void write_states(FILE *out, enum exposition_format format, const struct exposition *exp)
{
	const struct series *series;
	bool again[READING_STATES];

	for (unsigned i = 0; i < READING_STATES; i++)
		again[i] = was_before(exp, i);
	head(out, format, "gofunc_state_seconds", "counter",
	     "Time of calls that returned, by the state of their goroutine.");
	if (format == EXPOSITION_OPENMETRICS)
		fputs("# UNIT gofunc_state_seconds seconds\n", out);
	for (size_t i = 0; (series = series_at(exp->table, i)); i++)
		for (unsigned state = 0; state < READING_STATES; state++)
			if (!again[state])
				write_state(out, exp, series, state);
}

static void write_losses(FILE *out, enum exposition_format format, const struct exposition *exp)
{
	head(out, format, "gofunc_lost", "counter",
	     "Calls that are in no other metric, by the reason.");
	for (size_t i = 0; i < exp->loss_count; i++)
		fprintf(out, "gofunc_lost_total{reason=\"%s\"} %" PRIu64 "\n",
			exp->losses[i].reason, exp->losses[i].calls);
}

void exposition_write(FILE *out, enum exposition_format format, const struct exposition *exp)
{
	size_t count = exp->timed ? sizeof(timed) / sizeof(timed[0]) : 1;

	for (size_t i = 0; i < count; i++)
		write_family(out, format, exp->table, exp->timed ? &timed[i] : &counted);
	if (exp->timed) {
		write_histograms(out, format, exp);
		if (exp->states[0])
			write_states(out, format, exp);
		write_losses(out, format, exp);
	}
	exposition_end(out, format);
}

void exposition_end(FILE *out, enum exposition_format format)
{
	if (format == EXPOSITION_OPENMETRICS)
		fputs("# EOF\n", out);
}
