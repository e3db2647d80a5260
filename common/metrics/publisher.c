// SPDX-License-Identifier: Apache-2.0
#include "metrics/publisher.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "metrics/endpoint_internal.h"
#include "metrics/exposition_internal.h"
#include "metrics/series_internal.h"
#include "metrics/server_internal.h"

#define NS_PER_S 1000000000ull

enum { FILE_S = 15, FRESH_NS = 50 * 1000 * 1000, COST = 10 };

struct publisher {
	struct publisher_spec spec;
	struct endpoint endpoint;
	struct server *server; /* either of the two */
	struct outfile *file;
	char *about;
	const struct publisher_source *source; /* NULL: nothing can be read yet */
	void *ctx;
	struct series_table *table;
	struct reading_loss losses[READING_LOSSES];
	size_t loss_count;
	uint64_t readings, fresh_until, due;
	bool overflow_said, failure_said;
};

static void say(const struct publisher *pub, const char *text)
{
	fprintf(stderr, "%s: ", pub->spec.tool);
	escape_print(stderr, text);
	fputc('\n', stderr);
}

/* An error that tracing goes on after: said once, until it works again. */
static void say_failure(struct publisher *pub, const struct errmsg *err)
{
	if (!pub->failure_said)
		say(pub, err->text);
	pub->failure_said = true;
}

static void say_overflow(struct publisher *pub)
{
	if (pub->overflow_said || !series_overflowed(pub->table))
		return;
	pub->overflow_said = true;
	fprintf(stderr,
		"%s: --metrics: more than %zu functions are called: the others are added up as "
		"func=\"other\"\n"
		"hint: --max-series N lets more have metrics of their own\n",
		pub->spec.tool, pub->spec.max_series);
}

static int take_reading(struct publisher *pub, bool final, struct errmsg *err)
{
	if (pub->source->read(pub->ctx, final, err))
		return -1;
	if (!pub->source->write)
		series_update(pub->table, pub->source->add_row, pub->ctx);
	if (pub->source->losses)
		pub->loss_count = pub->source->losses(pub->ctx, pub->losses);
	pub->readings++;
	say_overflow(pub);
	return 0;
}

/* Whoever asks without a pause gets the same reading again, so that reading takes no more than a
 * tenth of the tool's time. */
static uint64_t refresh(void *ctx)
{
	struct publisher *pub = ctx;
	struct errmsg err = {0};
	uint64_t begun = clock_ns();

	if (pub->readings && begun < pub->fresh_until)
		return pub->readings;
	if (!pub->source || take_reading(pub, false, &err)) {
		say_failure(pub, &err);
		return 0;
	}
	uint64_t cost = (clock_ns() - begun) * COST;

	pub->fresh_until = begun + (cost > FRESH_NS ? cost : FRESH_NS);
	pub->failure_said = false;
	return pub->readings;
}

static void write_rows(const struct publisher *pub, FILE *out, enum exposition_format format)
{
	struct exposition exp = {.table = pub->table,
				 .timed = pub->source->unit_ns != 0,
				 .losses = pub->losses,
				 .loss_count = pub->loss_count};

	for (unsigned i = 0; pub->source->state && i < READING_STATES; i++)
		exp.states[i] = pub->source->state(pub->ctx, i);
	if (exp.timed)
		exp.scale = reading_scale(pub->source->unit_ns);
	exposition_write(out, format, &exp);
}

static void write_text(void *ctx, FILE *out, enum exposition_format format)
{
	const struct publisher *pub = ctx;

	if (!pub->source->write) {
		write_rows(pub, out, format);
		return;
	}
	pub->source->write(pub->ctx, out, format == EXPOSITION_OPENMETRICS);
	exposition_end(out, format);
}

static int write_file(struct publisher *pub, bool final, struct errmsg *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;
	int ret;

	if (take_reading(pub, final, err))
		return -1;
	out = open_memstream(&text, &len);
	if (!out)
		return errmsg_set(err, "--metrics: out of memory");
	write_text(pub, out, EXPOSITION_TEXT);
	fclose(out);
	ret = outfile_write(pub->file, text, len, err);
	free(text);
	return ret;
}

/* Collectors run as somebody else. */
static const struct outfile_spec prom_file = {
	.option = "--metrics",
	.folder = ": it is the one that node_exporter's --collector.textfile.directory names",
	.shared = true,
};

struct publisher *publisher_open(const struct publisher_spec *spec, struct errmsg *err)
{
	struct publisher *pub = mem_zalloc(1, sizeof(*pub));
	struct server_source source = {.refresh = refresh, .write = write_text, .ctx = pub};
	int ret = endpoint_parse(spec->where, &pub->endpoint, err);

	pub->spec = *spec;
	pub->table = series_new(spec->max_series);
	pub->about = mem_printf("%s (bcc-gotools): its metrics are at /metrics\n", spec->tool);
	source.about = pub->about;
	if (!ret && pub->endpoint.file)
		pub->file = outfile_open(pub->endpoint.file, &prom_file, err);
	else if (!ret)
		pub->server = server_open(&pub->endpoint, &source, err);
	if (pub->file || pub->server)
		return pub;
	publisher_close(pub);
	return NULL;
}

void publisher_close(struct publisher *pub)
{
	if (!pub)
		return;
	server_close(pub->server);
	outfile_close(pub->file);
	series_free(pub->table);
	free(pub->about);
	free(pub);
}

void publisher_add_row(struct publisher *pub, size_t row, const char *func, const char *binary)
{
	series_add_row(pub->table, row, func, binary);
}

int publisher_begin(struct publisher *pub, const struct publisher_source *source, void *ctx,
		    struct errmsg *err)
{
	char text[ENDPOINT_TEXT];

	pub->source = source;
	pub->ctx = ctx;
	if (pub->file) {
		pub->due = pub->spec.interval_ns ? UINT64_MAX : clock_ns() + FILE_S * NS_PER_S;
		return write_file(pub, false, err);
	}
	endpoint_text(&pub->endpoint, text);
	fprintf(stderr, "%s: metrics: http://%s/metrics\n", pub->spec.tool, text);
	return 0;
}

int publisher_fd(const struct publisher *pub)
{
	return pub->server ? server_fd(pub->server) : -1;
}

static void try_file(struct publisher *pub)
{
	struct errmsg err = {0};

	if (write_file(pub, false, &err))
		say_failure(pub, &err);
	else
		pub->failure_said = false;
}

void publisher_run(struct publisher *pub)
{
	if (pub->server)
		server_run(pub->server);
	if (pub->file && clock_ns() >= pub->due) {
		try_file(pub);
		pub->due = clock_ns() + FILE_S * NS_PER_S;
	}
}

void publisher_tick(struct publisher *pub)
{
	if (pub->file)
		try_file(pub);
}

int publisher_end(struct publisher *pub, struct errmsg *err)
{
	/* detaching may take long: whoever asks meanwhile is not to wait for it */
	server_close(pub->server);
	pub->server = NULL;
	return pub->file ? write_file(pub, true, err) : 0;
}
