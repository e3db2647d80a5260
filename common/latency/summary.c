// SPDX-License-Identifier: Apache-2.0
#include "latency/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "latency/errors.h"
#include "latency/histogram_internal.h"
#include "latency/latency.h"
#include "latency/latency_internal.h"
#include "latency/latency_show_internal.h"
#include "selection/selection.h"
#include "selection/selection_print.h"

/* Times are as wide as the longest in their column, and these at least; columns that are not shown
 * have the width 0. */
enum {
	TOTAL,
	NET,
	AVG,
	NET_AVG,
	P50,
	P99,
	MAX,
	TIMES,
	CALLS_WIDTH = 8,
	TIME_WIDTH = 6,
	ERRORS_WIDTH = 7,
	TEXT = 32
};

static const char *const heads[TIMES] = {"TOTAL", "NET", "AVG", "NETAVG", "P50", "P99", "MAX"};

uint64_t summary_net_ns(const struct latency_report *report)
{
	return report->probes_ns < report->total_ns ? report->total_ns - report->probes_ns : 0;
}

struct sorted {
	uint64_t total_ns;
	const char *name;
	size_t row;
};

static int compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

size_t *summary_order(const struct summary_view *view, size_t *count)
{
	const struct selection *sel = view->sel;
	struct sorted *sorted = mem_zalloc(sel->row_count + 1, sizeof(*sorted));
	struct latency_report *report = mem_alloc(sizeof(*report));
	size_t *order = mem_zalloc(sel->row_count + 1, sizeof(*order));

	*count = 0;
	for (size_t row = 0; row < sel->row_count; row++) {
		latency_row(view->lat, row, report);
		if (latency_report_is_empty(report))
			continue;
		sorted[*count].total_ns = view->net ? summary_net_ns(report) : report->total_ns;
		sorted[*count].name = sel->rows[row].name;
		sorted[(*count)++].row = row;
	}
	qsort(sorted, *count, sizeof(*sorted), compare);
	for (size_t i = 0; i < *count; i++)
		order[i] = sorted[i].row;
	free(report);
	free(sorted);
	return order;
}

static void write_average(const struct latency_words *words, uint64_t ns, char text[TEXT])
{
	uint64_t whole = ns / words->unit_ns;

	if (words->unit_ns == 1000)
		snprintf(text, TEXT, "%" PRIu64 ".%" PRIu64, whole, ns % 1000 / 100);
	else if (words->unit_ns == 1000000)
		snprintf(text, TEXT, "%" PRIu64 ".%03" PRIu64, whole, ns % 1000000 / 1000);
	else
		snprintf(text, TEXT, "%" PRIu64, whole);
}

static void write_times(const struct latency_words *words, const struct latency_report *report,
			char texts[TIMES][TEXT])
{
	const struct histogram *h = &report->hist;
	uint64_t net_ns = summary_net_ns(report);
	const uint64_t times[TIMES] = {[TOTAL] = report->total_ns / words->unit_ns,
				       [NET] = net_ns / words->unit_ns,
				       [P50] = histogram_percentile(h, 50),
				       [P99] = histogram_percentile(h, 99),
				       [MAX] = h->max};

	for (unsigned i = 0; i < TIMES; i++)
		snprintf(texts[i], TEXT, "%" PRIu64, times[i]);
	write_average(words, report->total_ns / report->count, texts[AVG]);
	write_average(words, net_ns / report->count, texts[NET_AVG]);
}

static void print_line(const char *calls, const char *const texts[TIMES], const int widths[TIMES])
{
	printf("%*s", CALLS_WIDTH, calls);
	for (unsigned i = 0; i < TIMES; i++)
		if (widths[i])
			printf(" %*s", widths[i], texts[i]);
	putchar(' ');
}

static void print_errors(const struct summary_view *view, size_t row, uint64_t errors)
{
	if (view->errors && errors_counted(view->errors, row))
		printf("%*" PRIu64 " ", ERRORS_WIDTH, errors);
	else if (view->errors)
		printf("%*s ", ERRORS_WIDTH, "-");
}

static void print_row(const struct latency_words *words, const struct latency_report *report,
		      const int widths[TIMES])
{
	char texts[TIMES][TEXT], calls[TEXT];
	const char *pointers[TIMES];

	write_times(words, report, texts);
	for (unsigned i = 0; i < TIMES; i++)
		pointers[i] = texts[i];
	snprintf(calls, sizeof(calls), "%" PRIu64, report->count);
	print_line(calls, pointers, widths);
}

static void fit(const struct latency_words *words, const struct latency_report *report,
		int widths[TIMES])
{
	char texts[TIMES][TEXT];

	write_times(words, report, texts);
	for (unsigned i = 0; i < TIMES; i++)
		if (widths[i] && (int)strlen(texts[i]) > widths[i])
			widths[i] = (int)strlen(texts[i]);
}

static void print_table(const struct summary_view *view, const size_t *order, size_t count)
{
	struct latency_report *report = mem_alloc(sizeof(*report));
	int widths[TIMES];

	for (unsigned i = 0; i < TIMES; i++)
		widths[i] = view->net || (i != NET && i != NET_AVG) ? TIME_WIDTH : 0;
	for (size_t i = 0; i < count; i++) {
		latency_row(view->lat, order[i], report);
		if (report->count)
			fit(view->words, report, widths);
	}
	print_line("CALLS", heads, widths);
	if (view->errors)
		printf("%*s ", ERRORS_WIDTH, "ERRORS");
	puts("FUNC");
	for (size_t i = 0; i < count; i++) {
		latency_row(view->lat, order[i], report);
		if (!report->count)
			continue;
		print_row(view->words, report, widths);
		print_errors(view, order[i], report->errors);
		char *name = selection_row_text(view->sel, order[i]);

		escape_print(stdout, name);
		putchar('\n');
		free(name);
	}
	free(report);
	printf("times in %s\n", view->words->unit);
	if (view->net)
		puts("NET, NETAVG: about what is left of TOTAL and AVG without the work of probes");
}

void summary_print(const struct summary_view *view, const size_t *order, size_t count)
{
	struct latency_report *report = mem_alloc(sizeof(*report));
	uint64_t returned = 0;

	for (size_t row = 0; row < view->sel->row_count; row++)
		returned += latency_row_calls(view->lat, row);
	if (returned)
		print_table(view, order, count);
	else
		puts(view->words->none);
	for (size_t i = 0; i < count; i++) {
		latency_row(view->lat, order[i], report);
		latency_print_unreturned(view->words, report, view->sel->rows[order[i]].name);
	}
	free(report);
}
