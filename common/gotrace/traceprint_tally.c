// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceprint_tally_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "base/tally.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/errorchain_internal.h"
#include "gotrace/traceprint.h"
#include "gotrace/traceprint_event_internal.h"

struct traceprint_tally {
	const struct traceprint_config *config;
	struct tally *lines;
	struct errorchain *chain; /* --origins; NULL: all are counted */
	uint64_t printed;         /* events in the lines that were printed */
	size_t printed_lines;
};

static void begin(struct traceprint_tally *tally)
{
	tally->lines = tally_new();
	if (tally->config->fold_numbers)
		tally_fold_numbers(tally->lines);
	if (tally->config->origins)
		tally->chain = errorchain_new();
}

static void end(struct traceprint_tally *tally)
{
	tally_free(tally->lines);
	errorchain_free(tally->chain);
	tally->chain = NULL;
}

struct traceprint_tally *traceprint_tally_new(const struct traceprint_config *config)
{
	struct traceprint_tally *tally = mem_zalloc(1, sizeof(*tally));

	tally->config = config;
	begin(tally);
	return tally;
}

void traceprint_tally_free(struct traceprint_tally *tally)
{
	if (!tally)
		return;
	end(tally);
	free(tally);
}

/* The text of "main.get: no such key": what the functions that pass an error on have in common. */
static const char *error_text(const char *func, const char *message)
{
	size_t len = strlen(func);

	if (strncmp(message, func, len) == 0 && strncmp(message + len, ": ", 2) == 0)
		return message + len + 2;
	return message;
}

static size_t add_line(struct traceprint_tally *tally, const char *func, const char *line)
{
	return tally_add_to(tally->lines, tally->config->by_func ? func : "", line);
}

void traceprint_tally_add(struct traceprint_tally *tally, const struct traceprint_event *event,
			  const char *message, const char *line)
{
	const struct trace_event *head = event->head;

	/* goroutine 0 is any system stack */
	if (!tally->chain || !head->goid || head->latency_ns > head->time_ns) {
		add_line(tally, event->shown, line);
		return;
	}
	char *func = escape_text(event->shown);
	struct errorchain_call call = {.tgid = head->tgid,
				       .goid = head->goid,
				       .start_ns = head->time_ns - head->latency_ns,
				       .end_ns = head->time_ns,
				       .text = error_text(func, message)};

	if (errorchain_find(tally->chain, &call, &call.origin))
		tally_note(tally->lines, call.origin, func);
	else
		call.origin = add_line(tally, event->shown, line);
	errorchain_add(tally->chain, &call);
	free(func);
}

static void print_line(const char *text, uint64_t count, void *ctx)
{
	struct traceprint_tally *tally = ctx;
	const struct traceprint_config *config = tally->config;

	tally->printed += count;
	tally->printed_lines++;
	if (config->header && !config->user_stack && !config->kernel_stack)
		printf("%-8" PRIu64 " %s\n", count, text);
	else
		printf("%s\n-->COUNT %" PRIu64 "\n\n", text, count);
}

static void print_caller(const char *func, uint64_t count, uint64_t of, void *ctx)
{
	(void)ctx;
	printf("%-8s passed on by %s", "", func);
	if (count != of)
		printf(" (%" PRIu64 ")", count);
	putchar('\n');
}

/* Prints the sum of a function's lines, if it has several. */
static void print_group(const char *func, uint64_t count, size_t lines, void *ctx)
{
	(void)ctx;
	if (!*func || lines < 2)
		return;
	printf("%-8s ", "");
	escape_print(stdout, func);
	printf(": %" PRIu64 ", in %zu lines:\n", count, lines);
}

void traceprint_tally_print(struct traceprint_tally *tally)
{
	const struct traceprint_config *config = tally->config;
	const struct tally_show show = {print_group, print_line, print_caller, tally};
	uint64_t total;
	size_t lines = tally_texts(tally->lines, &total);

	if (config->header && !config->user_stack && !config->kernel_stack)
		printf("%-8s %s\n", "COUNT", config->header);
	else if (config->header)
		puts(config->header);
	tally->printed = 0;
	tally->printed_lines = 0;
	tally_show(tally->lines, config->top, &show);
	fflush(stdout);
	if (tally->printed_lines < lines)
		fprintf(stderr,
			"gotrace: %zu less frequent lines, of %" PRIu64
			" calls, are not printed (--top %zu)\n",
			lines - tally->printed_lines, total - tally->printed, config->top);
	end(tally);
	begin(tally);
}
