// SPDX-License-Identifier: Apache-2.0
#include "latency.h"

#include <stdlib.h>
#include <string.h>

#include "../bpf-src/latency_shared.h"
#include "bpfmap.h"
#include "bpfprog.h"
#include "mem.h"

enum { SUM_WORDS = sizeof(struct call_sums) / sizeof(uint64_t) };

struct place {        /* one slot of one row's histogram */
	uint64_t key; /* row << 32 | slot */
	uint64_t count;
};

struct snapshot {
	struct call_sums *sums; /* one for each row */
	uint64_t losses[LOSSES];
	uint64_t slots[HISTOGRAM_SLOTS];
	struct place *places; /* by key */
	size_t place_count, place_cap;
};

struct latency {
	int control, goroutines, deep_calls, marks, sums, losses, extremes, histogram, places;
	size_t rows;
	bool per_row;
	uint64_t unit_ns;
	uint32_t active, epoch;
	struct snapshot then, now;
	struct call_extremes *ext; /* of the time between the two */
	uint64_t *running;         /* one for each row */
};

struct latency *latency_new(const struct bpfprog *bpf, size_t rows, bool per_row, uint64_t unit_ns)
{
	struct latency *lat = mem_zalloc(1, sizeof(*lat));

	lat->control = bpfprog_map(bpf, "control");
	lat->goroutines = bpfprog_map(bpf, "goroutines");
	lat->deep_calls = bpfprog_map(bpf, "deep_calls");
	lat->marks = bpfprog_map(bpf, "marks");
	lat->sums = bpfprog_map(bpf, "sums");
	lat->losses = bpfprog_map(bpf, "losses");
	lat->extremes = bpfprog_map(bpf, "extremes");
	lat->histogram = bpfprog_map(bpf, "histogram");
	lat->places = bpfprog_map(bpf, "places");
	lat->rows = rows;
	lat->per_row = per_row;
	lat->unit_ns = unit_ns;
	lat->then.sums = mem_zalloc(rows, sizeof(*lat->then.sums));
	lat->now.sums = mem_zalloc(rows, sizeof(*lat->now.sums));
	lat->ext = mem_zalloc(rows, sizeof(*lat->ext));
	lat->running = mem_zalloc(rows, sizeof(*lat->running));
	return lat;
}

void latency_free(struct latency *lat)
{
	if (!lat)
		return;
	free(lat->then.sums);
	free(lat->then.places);
	free(lat->now.sums);
	free(lat->now.places);
	free(lat->ext);
	free(lat->running);
	free(lat);
}

static int write_control(const struct latency *lat)
{
	uint32_t key = 0, value[2] = {lat->active, lat->epoch};

	return bpfmap_update(lat->control, &key, value);
}

int latency_switch(struct latency *lat, bool on)
{
	lat->active = on;
	return write_control(lat);
}

/* Longest and shortest calls can't be subtracted: they have two places, one of which is in use
 * while the other is read and cleared. */
static int read_extremes(struct latency *lat)
{
	struct call_extremes none = {0};
	uint32_t old = lat->epoch;

	lat->epoch = !old;
	if (write_control(lat))
		return -1;
	for (size_t row = 0; row < lat->rows; row++) {
		uint32_t key = row * 2 + old;

		if (bpfmap_lookup(lat->extremes, &key, &lat->ext[row]))
			return -1;
		if (lat->ext[row].max_ns | lat->ext[row].not_min_ns)
			bpfmap_update(lat->extremes, &key, &none);
	}
	return 0;
}

static int add_place(const void *key, const void *value, void *ctx)
{
	struct snapshot *snap = ctx;

	snap->places =
		mem_grow(snap->places, snap->place_count, &snap->place_cap, sizeof(*snap->places));
	struct place *place = &snap->places[snap->place_count++];

	memcpy(&place->key, key, sizeof(place->key));
	memcpy(&place->count, value, sizeof(place->count));
	return 0;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct place *)a)->key, y = ((const struct place *)b)->key;

	return x < y ? -1 : x > y;
}

static int read_histograms(struct latency *lat)
{
	struct snapshot *now = &lat->now;

	if (!lat->per_row)
		return bpfmap_sum_percpu(lat->histogram, HISTOGRAM_SLOTS, 1, now->slots);
	now->place_count = 0;
	if (bpfmap_each(lat->places, sizeof(uint64_t), sizeof(uint64_t), add_place, now))
		return -1;
	if (now->place_count)
		qsort(now->places, now->place_count, sizeof(*now->places), by_key);
	return 0;
}

static void count_ended(struct latency *lat, uint32_t row, uint64_t how)
{
	struct call_sums *sums = &lat->now.sums[row];

	switch ((enum ending)how) {
	case PANICKED:
		sums->panicked++;
		break;
	case EXITED:
		sums->exited++;
		break;
	case SWITCHED:
		sums->switched++;
		break;
	case LOST:
		sums->lost++;
	}
}

/* a call that the goroutine still counts */
static void count_left(struct latency *lat, const struct calls *calls, uint32_t row)
{
	if (calls->ended)
		count_ended(lat, row, calls->ended - 1);
	else
		lat->running[row]++;
}

/* One that it does not count any more: many ended at once, and nobody has come to count it. */
static void count_stale(struct latency *lat, const struct deep_key *deep, const struct call *call)
{
	struct end_mark mark;
	bool known = !bpfmap_lookup(lat->marks, &deep->who, &mark) && deep->index < mark.count &&
		     call->start_ns <= mark.at_ns;

	count_ended(lat, call->row, known ? mark.how : PANICKED);
}

static int count_running(const void *key, const void *value, void *ctx)
{
	const struct calls *calls = value;
	struct latency *lat = ctx;

	(void)key;
	for (uint64_t i = 0; i < calls->count && i < CALLS_INLINE; i++)
		if (calls->call[i].row < lat->rows)
			count_left(lat, calls, calls->call[i].row);
	return 0;
}

static int count_deep(const void *key, const void *value, void *ctx)
{
	const struct deep_key *deep = key;
	const struct call *call = value;
	struct latency *lat = ctx;
	struct calls calls;

	if (call->row >= lat->rows)
		return 0;
	if (!bpfmap_lookup(lat->goroutines, &deep->who, &calls) && deep->index < calls.count)
		count_left(lat, &calls, call->row);
	else
		count_stale(lat, deep, call);
	return 0;
}

static int read_running(struct latency *lat)
{
	if (bpfmap_each(lat->goroutines, sizeof(struct goroutine_key), sizeof(struct calls),
			count_running, lat))
		return -1;
	return bpfmap_each(lat->deep_calls, sizeof(struct deep_key), sizeof(struct call),
			   count_deep, lat);
}

int latency_read(struct latency *lat, bool final)
{
	struct snapshot old = lat->then;

	lat->then = lat->now;
	lat->now = old;
	if (read_extremes(lat))
		return -1;
	if (bpfmap_sum_percpu(lat->sums, lat->rows, SUM_WORDS, (uint64_t *)lat->now.sums))
		return -1;
	if (bpfmap_sum_percpu(lat->losses, LOSSES, 1, lat->now.losses) || read_histograms(lat))
		return -1;
	return final ? read_running(lat) : 0;
}

uint64_t latency_lost(const struct latency *lat, unsigned loss)
{
	return lat->now.losses[loss] - lat->then.losses[loss];
}

uint64_t latency_lost_in_all(const struct latency *lat, unsigned loss)
{
	return lat->now.losses[loss];
}

static void add_row(const struct latency *lat, size_t row, struct latency_report *out)
{
	const struct call_sums *now = &lat->now.sums[row], *then = &lat->then.sums[row];
	uint64_t min_ns = ~lat->ext[row].not_min_ns;

	out->count += now->count - then->count;
	out->total_ns += now->total_ns - then->total_ns;
	out->panicked += now->panicked - then->panicked;
	out->exited += now->exited - then->exited;
	out->switched += now->switched - then->switched;
	out->lost += now->lost - then->lost;
	out->running += lat->running[row];
	if (lat->ext[row].max_ns > out->max_ns)
		out->max_ns = lat->ext[row].max_ns;
	if (min_ns < out->min_ns)
		out->min_ns = min_ns;
}

static void finish(const struct latency *lat, struct latency_report *out)
{
	struct histogram *h = &out->hist;

	if (out->min_ns > out->max_ns)
		out->min_ns = out->max_ns; /* nothing was timed */
	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++)
		h->count += h->slots[i];
	h->total = out->total_ns / lat->unit_ns;
	h->min = out->min_ns / lat->unit_ns;
	h->max = out->max_ns / lat->unit_ns;
}

void latency_total(const struct latency *lat, struct latency_report *out)
{
	memset(out, 0, sizeof(*out));
	out->min_ns = UINT64_MAX;
	for (size_t row = 0; row < lat->rows; row++)
		add_row(lat, row, out);
	for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++)
		out->hist.slots[i] = lat->now.slots[i] - lat->then.slots[i];
	finish(lat, out);
}

static const struct place *find_place(const struct snapshot *snap, uint64_t key)
{
	struct place wanted = {.key = key};

	if (!snap->place_count)
		return NULL;
	return bsearch(&wanted, snap->places, snap->place_count, sizeof(wanted), by_key);
}

void latency_row(const struct latency *lat, size_t row, struct latency_report *out)
{
	memset(out, 0, sizeof(*out));
	out->min_ns = UINT64_MAX;
	add_row(lat, row, out);
	for (unsigned slot = 0; out->count && slot < HISTOGRAM_SLOTS; slot++) {
		uint64_t key = (uint64_t)row << 32 | slot;
		const struct place *now = find_place(&lat->now, key);
		const struct place *then = find_place(&lat->then, key);

		out->hist.slots[slot] = (now ? now->count : 0) - (then ? then->count : 0);
	}
	finish(lat, out);
}
