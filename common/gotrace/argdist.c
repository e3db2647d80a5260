// SPDX-License-Identifier: Apache-2.0
#include "gotrace/argdist_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "base/mem.h"
#include "bpf-src/shared/trace.h"
#include "gotrace/traceprint_reader_internal.h"
#include "kernel/bpfdelta.h"
#include "kernel/bpfmap.h"
#include "probespec/probespec.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

struct argdist {
	const struct argdist_config *config;
	const struct traceplan *plan;
	const struct tracer *tracer;
	struct traceprint_reader *reader;
	struct bpfdelta *delta;        /* NULL: counts are cumulative */
	struct argdist_counts *counts; /* of each PROBE */
	uint8_t *event;                /* room for struct trace_event and a record */
	size_t record_size;
	uint64_t cut, unread; /* calls, in all */
};

struct argdist *argdist_new(const struct argdist_config *config, const struct traceplan *plan,
			    const struct tracer *tracer)
{
	struct argdist *dist = mem_zalloc(1, sizeof(*dist));

	dist->config = config;
	dist->plan = plan;
	dist->tracer = tracer;
	dist->reader = traceprint_reader_new(plan, tracer, false);
	dist->record_size = traceplan_record_max(plan);
	dist->event = mem_zalloc(1, sizeof(struct trace_event) + dist->record_size);
	dist->counts = mem_zalloc(config->probe_count, sizeof(*dist->counts));
	if (!config->cumulative)
		dist->delta = bpfdelta_new(tracer_map(tracer, "keys"));
	return dist;
}

static void forget(struct argdist_counts *counts)
{
	for (size_t i = 0; i < counts->count; i++) {
		free(counts->values[i].text);
		free(counts->values[i].json);
	}
	free(counts->values);
	index_free(&counts->index);
	*counts = (struct argdist_counts){0};
}

void argdist_free(struct argdist *dist)
{
	if (!dist)
		return;
	for (size_t i = 0; i < dist->config->probe_count; i++)
		forget(&dist->counts[i]);
	free(dist->counts);
	free(dist->event);
	bpfdelta_free(dist->delta);
	traceprint_reader_free(dist->reader);
	free(dist);
}

/* Keys whose values have the same text are the same value: of several functions, or processes. */
static struct argdist_value *value_with(struct argdist_counts *counts, char *text)
{
	uint64_t hash = index_hash_text(0, text);
	size_t n = index_first(&counts->index, hash);

	while (n != INDEX_NONE && strcmp(counts->values[n].text, text) != 0)
		n = index_next(&counts->index, n);
	if (n != INDEX_NONE) {
		free(text);
		return &counts->values[n];
	}
	index_add(&counts->index, hash);
	counts->values =
		mem_grow(counts->values, counts->count, &counts->cap, sizeof(*counts->values));
	counts->values[counts->count] = (struct argdist_value){.text = text};
	return &counts->values[counts->count++];
}

static char *text_of(struct argdist *dist, const struct traceprint_event *event, bool json)
{
	struct json to;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return mem_strdup("");
	json_init(&to, out);
	if (json)
		traceprint_json_exprs(&to, dist->reader, event);
	else
		traceprint_message(out, dist->reader, event);
	fclose(out);
	return text;
}

static void add_value(struct argdist *dist, struct argdist_counts *counts,
		      const struct traceprint_event *event, uint64_t more)
{
	struct argdist_value *value = value_with(counts, text_of(dist, event, false));

	value->count += more;
	if (argdist_is_cut(event))
		dist->cut += more;
	if (dist->config->json && !value->json)
		value->json = text_of(dist, event, true);
}

static void add_row(struct argdist *dist, struct argdist_counts *counts,
		    const struct traceprint_event *event, uint64_t more)
{
	const struct tracegen_arg *arg = event->item->args;
	int64_t number[2] = {0, -1}; /* the row, and the state */

	if (arg->kind == TRACEGEN_NUMBER && arg->at + sizeof(number) <= event->record_len)
		memcpy(number, event->record + arg->at, sizeof(number));
	if (number[1] || number[0] <= -ARGDIST_ROWS || number[0] >= ARGDIST_ROWS)
		dist->unread += more;
	else if (number[0] < 0)
		counts->below[-number[0]] += more;
	else
		counts->rows[number[0]] += more;
}

/* $comm is in the record. */
static void find_comm(struct traceprint_event *event)
{
	for (size_t i = 0; i < event->item->arg_count; i++) {
		const struct tracegen_arg *arg = &event->item->args[i];

		if (arg->kind == TRACEGEN_SPECIAL && arg->special == SPECIAL_COMM &&
		    arg->at + sizeof(event->comm) - 1 <= event->record_len)
			memcpy(event->comm, event->record + arg->at, sizeof(event->comm) - 1);
	}
}

static void add_key(void *ctx, const void *key, uint64_t more)
{
	struct argdist *dist = ctx;
	const struct selection *sel = tracer_selection(dist->tracer);
	struct trace_key_head head;
	struct trace_event *to = (struct trace_event *)dist->event;
	struct traceprint_event event;

	memcpy(&head, key, sizeof(head));
	*to = (struct trace_event){.bias = head.bias, .item = head.item, .how = head.how};
	memcpy(to + 1, (const uint8_t *)key + sizeof(head), dist->record_size);
	if (!traceprint_read(dist->reader, to, sizeof(*to) + dist->record_size, &event))
		return;
	size_t probe = sel->items[head.item].group;

	find_comm(&event);
	if (dist->config->histograms[probe])
		add_row(dist, &dist->counts[probe], &event, more);
	else
		add_value(dist, &dist->counts[probe], &event, more);
}

static int add_whole(const void *key, const void *value, void *ctx)
{
	uint64_t count;

	memcpy(&count, value, sizeof(count));
	add_key(ctx, key, count);
	return 0;
}

static int read_keys(struct argdist *dist, struct errmsg *err)
{
	int fd = tracer_map(dist->tracer, "keys"), ret;
	size_t key_size, value_size;

	dist->cut = dist->config->cumulative ? 0 : dist->cut;
	dist->unread = dist->config->cumulative ? 0 : dist->unread;
	if (dist->delta)
		ret = bpfdelta_each(dist->delta, add_key, dist);
	else
		ret = bpfmap_sizes(fd, &key_size, &value_size) ||
		      bpfmap_each(fd, key_size, value_size, add_whole, dist);
	if (ret)
		return errmsg_set(err, "cannot read what was counted: %s", strerror(errno));
	return 0;
}

int argdist_show(struct argdist *dist, struct errmsg *err)
{
	if (read_keys(dist, err))
		return -1;
	for (size_t i = 0; i < dist->config->probe_count; i++) {
		const struct probespec *spec = traceplan_spec(dist->plan, i);

		argdist_print(dist->config, i, spec->arg_count ? spec->arg_texts[0] : "",
			      &dist->counts[i]);
		forget(&dist->counts[i]);
	}
	fflush(stdout);
	return 0;
}

void argdist_say_lost(const struct argdist *dist)
{
	if (dist->cut)
		fprintf(stderr,
			"goargdist: values of %" PRIu64 " call%s were cut, and count as one where "
			"they begin alike: only %" PRIu32 " bytes of a string were read\n"
			"hint: -Z SIZE reads more\n",
			dist->cut, dist->cut == 1 ? "" : "s", dist->config->string_max);
	if (dist->unread)
		fprintf(stderr,
			"goargdist: %" PRIu64 " call%s not in a histogram: the number could not be "
			"read\n",
			dist->unread, dist->unread == 1 ? "" : "s");
}
