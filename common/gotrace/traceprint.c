// SPDX-License-Identifier: Apache-2.0
#include "gotrace/traceprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/column.h"
#include "base/escape.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/traceprint_names_internal.h"
#include "gotrace/traceprint_reader_internal.h"
#include "gotrace/traceprint_tally_internal.h"
#include "tracing/tracer.h"

static const uint64_t NS_PER_S = 1000000000;

/* bcc's columns; on a wide screen FUNC grows, leaving room for the others and a message */
enum { COMM_WIDTH = 15, FUNC_WIDTH = 16, MESSAGE_WIDTH = 24, BESIDE_FUNC = 41 + MESSAGE_WIDTH };

struct traceprint {
	const struct traceprint_config *config;
	struct traceprint_reader *reader;
	struct traceprint_tally *tally; /* -A */
	uint64_t start_ns;              /* CLOCK_MONOTONIC */
	int64_t to_unix_ns;             /* to add to CLOCK_MONOTONIC for ns since 1970 */
	uint64_t printed;
	bool kernel_seen;   /* a kernel stack was printed */
	const char **names; /* of the selection's rows, as FUNC shows them */
	unsigned func_width;
};

/* FUNC's width: that of the longest traced name, if that leaves room for a message. */
static unsigned fit_names(const struct selection *sel, const char *const *names)
{
	unsigned screen = column_screen(), width = FUNC_WIDTH;
	unsigned bound = screen > BESIDE_FUNC ? screen - BESIDE_FUNC : 0;

	for (size_t i = 0; i < sel->row_count; i++) {
		if (!sel->rows[i].funcs && !sel->rows[i].copies)
			continue;
		char *text = escape_text(names[i]);

		width = column_fit(width, bound, text);
		free(text);
	}
	return width;
}

struct traceprint *traceprint_new(const struct traceprint_config *config,
				  const struct traceplan *plan, const struct tracer *tracer)
{
	struct traceprint *print = mem_zalloc(1, sizeof(*print));

	print->config = config;
	print->reader = traceprint_reader_new(plan, tracer, config->aggregate);
	print->names = traceprint_names(tracer_selection(tracer), config->full_names);
	print->func_width = fit_names(tracer_selection(tracer), print->names);
	print->start_ns = clock_ns();
	print->to_unix_ns = (int64_t)clock_to_unix_ns();
	if (config->aggregate)
		print->tally = traceprint_tally_new(config);
	return print;
}

void traceprint_free(struct traceprint *print)
{
	if (!print)
		return;
	traceprint_reader_free(print->reader);
	traceprint_tally_free(print->tally);
	free(print->names);
	free(print);
}

bool traceprint_lacks_kernel(const struct traceprint *print)
{
	return print->config->kernel_stack && print->printed && !print->kernel_seen;
}

void traceprint_header(const struct traceprint *print)
{
	const struct traceprint_config *config = print->config;

	if (config->json || config->aggregate || (config->header && !*config->header))
		return;
	if (config->time)
		printf("%-8s ", "TIME");
	if (config->timestamp)
		printf(config->unix_time ? "%-17s " : "%-8s ", "TIME");
	if (config->cpu)
		printf("%-3s ", "CPU");
	if (config->roots && !config->header)
		printf("%-6s ", "ROOT");
	if (config->header)
		puts(config->header);
	else
		printf("%-7s %-7s %-7s %-*s %-*s %s\n", "PID", "TID", "GOID", COMM_WIDTH, "COMM",
		       (int)print->func_width, "FUNC", "-");
	fflush(stdout);
}

static void print_clock(FILE *out, uint64_t unix_ns)
{
	time_t seconds = unix_ns / NS_PER_S;
	struct tm local;
	char text[16];

	localtime_r(&seconds, &local);
	strftime(text, sizeof(text), "%H:%M:%S", &local);
	fprintf(out, "%-8s ", text);
}

static void print_timestamp(FILE *out, uint64_t ns, bool unix_time)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 ".%06" PRIu64, ns / NS_PER_S, ns % NS_PER_S / 1000);
	if (unix_time)
		fprintf(out, "%-17s ", text);
	else
		fprintf(out, "%-8.8s ", text);
}

/* Prints text of the traced program (names), escaped, then padded. */
static void print_column(FILE *out, const char *text, unsigned width)
{
	char *escaped = escape_text(text);

	column_print(out, escaped, width);
	fputc(' ', out);
	free(escaped);
}

static void print_times(FILE *out, const struct traceprint *print, uint64_t time_ns)
{
	const struct traceprint_config *config = print->config;
	uint64_t unix_ns = time_ns + print->to_unix_ns;

	if (config->time)
		print_clock(out, unix_ns);
	if (config->timestamp && config->unix_time)
		print_timestamp(out, unix_ns, true);
	else if (config->timestamp)
		print_timestamp(out, time_ns > print->start_ns ? time_ns - print->start_ns : 0,
				false);
}

/* with -A, calls of all goroutines are one line */
static void print_who(FILE *out, const struct traceprint *print,
		      const struct traceprint_event *event)
{
	const struct trace_event *head = event->head;

	fprintf(out, "%-7u ", head->tgid);
	if (!print->config->aggregate)
		fprintf(out, "%-7u %-7" PRIu64 " ", head->tid, (uint64_t)head->goid);
	print_column(out, event->comm, COMM_WIDTH);
	print_column(out, print->names[event->row], print->func_width);
}

static void print_event_row(FILE *out, struct traceprint *print,
			    const struct traceprint_event *event, const char *message)
{
	const struct trace_event *head = event->head;

	if (!print->config->aggregate)
		print_times(out, print, head->time_ns);
	if (print->config->cpu && !print->config->aggregate)
		fprintf(out, "%-3u ", head->cpu);
	if (print->config->roots && !print->config->aggregate && !print->config->header)
		fprintf(out, "#%-5u ", head->root);
	if (!print->config->header)
		print_who(out, print, event);
	fprintf(out, "%s\n", message);
	if (head->kernel_frames)
		print->kernel_seen = true;
	if (!head->user_frames && !head->kernel_frames)
		return;
	if (print->config->kernel_stack)
		traceprint_kernel_stack(out, print->reader, event, print->config->addresses);
	if (print->config->user_stack)
		traceprint_user_stack(out, print->reader, event, print->config->addresses,
				      print->config->no_runtime);
	fputc('\n', out);
}

static void tally_row(struct traceprint *print, const struct traceprint_event *event,
		      const char *message)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	print_event_row(out, print, event, message);
	fclose(out);
	text[len ? len - 1 : 0] = 0; /* its newline */
	traceprint_tally_add(print->tally, event, message, text);
	free(text);
}

static char *message_of(const struct traceprint *print, const struct traceprint_event *event)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return mem_strdup("");
	traceprint_message(out, print->reader, event);
	fclose(out);
	return text;
}

/* Is one of the callers a function given by --not-under? */
static bool is_under(const struct traceprint *print, const struct traceprint_event *event)
{
	struct gostack stack;

	if (!print->config->not_under)
		return false;
	stack = traceprint_stack(print->reader, event);
	return gostack_has(&stack, traceprint_symbols(print->reader, event),
			   print->config->not_under);
}

static void put_event(struct traceprint *print, const struct traceprint_event *event,
		      const char *message)
{
	const struct traceprint_config *config = print->config;

	if (config->json)
		traceprint_json(print->reader, event, message,
				event->head->time_ns + print->to_unix_ns);
	else if (config->aggregate)
		tally_row(print, event, message);
	else
		print_event_row(stdout, print, event, message);
	print->printed++;
}

static void show_event(struct traceprint *print, const struct traceprint_event *event)
{
	const struct traceprint_config *config = print->config;
	struct trace_event head = *event->head;
	struct traceprint_event shown = *event;

	if (config->comm && !strstr(event->comm, config->comm))
		return;
	char *message = message_of(print, event);
	bool wanted = !config->message || strstr(message, config->message);

	if (wanted && config->profile)
		traceprint_profile(print->reader, event, message, config->profile);
	shown.head = &head;
	if (!config->user_stack) /* --not-under or --pprof has asked for it */
		head.user_frames = 0;
	if (wanted)
		put_event(print, &shown, message);
	free(message);
}

/* Others may write to the same terminal, as a COMMAND does: the C library would write a full buffer
 * in the middle of a line. */
static void flush_early(void)
{
	if (__fpending(stdout) > __fbufsize(stdout) / 2)
		fflush(stdout);
}

bool traceprint_event(const void *data, size_t len, void *ctx)
{
	struct traceprint *print = ctx;
	struct traceprint_event event;

	if (!traceprint_read(print->reader, data, len, &event) || is_under(print, &event))
		return true;
	if (print->config->header && !print->config->json) { /* a recipe's, with $func for one */
		event.shown = print->names[event.row];
		event.columns = true;
	}
	show_event(print, &event);
	flush_early();
	return !ferror(stdout) && (!print->config->max || print->printed < print->config->max);
}

void traceprint_aggregated(struct traceprint *print)
{
	if (print->tally && !print->config->json)
		traceprint_tally_print(print->tally);
}
