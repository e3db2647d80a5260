// SPDX-License-Identifier: Apache-2.0
#include "latency/latency_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "metrics/reading.h"
#include "latency/latency_ends_internal.h"
#include "latency/histogram_internal.h"

enum { SUM_WORDS = sizeof(struct call_sums) / sizeof(uint64_t) };

struct place {        /* one slot of one row's histogram */
	uint64_t key; /* latency_place() */
	uint64_t count;
};

struct snapshot {
	struct call_sums *sums; /* one for each row */
	struct latency_end *ends;
	uint64_t losses[LOSSES];
	uint64_t slots[HISTOGRAM_SLOTS];
	struct place *places; /* by key */
	size_t place_count, place_cap;
};

struct latency {
	int control, sums, losses, extremes, histogram, places;
	struct latency_ends *ends;
	size_t rows;
	bool per_row;
	uint64_t unit_ns;
	uint32_t active, epoch;
	struct snapshot then, now;
	struct snapshot live;          /* of latency_peek(); its arrays are NULL before */
	const struct snapshot *peeked; /* that, or `now` */
	struct call_extremes *ext;     /* of the time between the two */
};

static void make_snapshot(struct snapshot *snap, size_t rows)
{
	snap->sums = mem_zalloc(rows, sizeof(*snap->sums));
	snap->ends = mem_zalloc(rows, sizeof(*snap->ends));
}

static void free_snapshot(struct snapshot *snap)
{
	free(snap->sums);
	free(snap->ends);
	free(snap->places);
}

struct latency *latency_new(struct bpfprog *bpf, size_t rows, bool per_row, uint64_t unit_ns)
{
	struct latency *lat = mem_zalloc(1, sizeof(*lat));

	lat->control = bpfprog_map(bpf, "control");
	lat->sums = bpfprog_map(bpf, "sums");
	lat->losses = bpfprog_map(bpf, "losses");
	lat->extremes = bpfprog_map(bpf, "extremes");
	lat->histogram = bpfprog_map(bpf, "histogram");
	lat->places = bpfprog_map(bpf, "places");
	lat->rows = rows;
	lat->per_row = per_row;
	lat->unit_ns = unit_ns;
	make_snapshot(&lat->then, rows);
	make_snapshot(&lat->now, rows);
	lat->ends = latency_ends_new(bpf, rows);
	lat->ext = mem_zalloc(rows, sizeof(*lat->ext));
	return lat;
}

void latency_free(struct latency *lat)
{
	if (!lat)
		return;
	free_snapshot(&lat->then);
	free_snapshot(&lat->now);
	free_snapshot(&lat->live);
	free(lat->ext);
	latency_ends_free(lat->ends);
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

/* Longest and shortest calls cannot be told from the difference of two readings: the kernel side
 * has two places for them, and uses one while the other is read and cleared. */
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

static unsigned slot_of(const struct place *place)
{
	return (uint32_t)place->key % HISTOGRAM_SLOTS;
}

static int by_place_key(const void *a, const void *b)
{
	uint64_t x = ((const struct place *)a)->key, y = ((const struct place *)b)->key;

	return x < y ? -1 : x > y;
}

static int read_histograms(const struct latency *lat, struct snapshot *now)
{
	if (!lat->per_row)
		return bpfmap_sum_percpu(lat->histogram, HISTOGRAM_SLOTS, 1, now->slots);
	now->place_count = 0;
	if (bpfmap_each(lat->places, sizeof(uint64_t), sizeof(uint64_t), add_place, now))
		return -1;
	if (now->place_count)
		qsort(now->places, now->place_count, sizeof(*now->places), by_place_key);
	memset(now->slots, 0, sizeof(now->slots));
	for (size_t i = 0; i < now->place_count; i++)
		now->slots[slot_of(&now->places[i])] += now->places[i].count;
	return 0;
}

static int read_ends(struct latency *lat, bool final)
{
	if (latency_ends_sweep(lat->ends) || (final && latency_ends_count(lat->ends)))
		return -1;
	memcpy(lat->now.ends, latency_ends_rows(lat->ends), lat->rows * sizeof(*lat->now.ends));
	return 0;
}

static int read_counters(const struct latency *lat, struct snapshot *snap)
{
	if (bpfmap_sum_percpu(lat->sums, lat->rows, SUM_WORDS, (uint64_t *)snap->sums))
		return -1;
	if (bpfmap_sum_percpu(lat->losses, LOSSES, 1, snap->losses))
		return -1;
	return read_histograms(lat, snap);
}

int latency_sweep(struct latency *lat)
{
	return latency_ends_due(lat->ends) ? latency_ends_sweep(lat->ends) : 0;
}

int latency_read(struct latency *lat, bool final)
{
	struct snapshot old = lat->then;

	lat->then = lat->now;
	lat->now = old;
	if (read_extremes(lat))
		return -1;
	if (read_counters(lat, &lat->now))
		return -1;
	return read_ends(lat, final);
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
	const struct latency_end *more = &lat->now.ends[row], *before = &lat->then.ends[row];
	uint64_t min_ns = ~lat->ext[row].not_min_ns;

	out->count += now->count - then->count;
	out->total_ns += now->total_ns - then->total_ns;
	out->errors += now->errors - then->errors;
	out->unread += now->unread - then->unread;
	out->probes_ns += now->probes_ns - then->probes_ns;
	out->unpriced += now->unpriced - then->unpriced;
	out->panicked += now->panicked - then->panicked + more->panicked - before->panicked;
	out->exited += now->exited - then->exited + more->exited - before->exited;
	out->switched += now->switched - then->switched + more->switched - before->switched;
	out->lost += now->lost - then->lost + more->lost - before->lost;
	out->jumped += now->jumped - then->jumped;
	out->process_ended += more->process_ended - before->process_ended;
	out->running += more->running - before->running;
	if (lat->ext[row].max_ns > out->max_ns)
		out->max_ns = lat->ext[row].max_ns;
	if (min_ns < out->min_ns)
		out->min_ns = min_ns;
}

uint64_t latency_row_calls(const struct latency *lat, size_t row)
{
	return lat->now.sums[row].count - lat->then.sums[row].count;
}

static void finish_report(const struct latency *lat, struct latency_report *out)
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
	finish_report(lat, out);
}

static const struct place *find_timed_place(const struct snapshot *snap, uint64_t key)
{
	struct place wanted = {.key = key};

	if (!snap->place_count)
		return NULL;
	return bsearch(&wanted, snap->places, snap->place_count, sizeof(wanted), by_place_key);
}

void latency_row(const struct latency *lat, size_t row, struct latency_report *out)
{
	memset(out, 0, sizeof(*out));
	out->min_ns = UINT64_MAX;
	add_row(lat, row, out);
	for (unsigned slot = 0; out->count && slot < HISTOGRAM_SLOTS; slot++) {
		uint64_t key = latency_place(row, slot);
		const struct place *now = find_timed_place(&lat->now, key);
		const struct place *then = find_timed_place(&lat->then, key);

		out->hist.slots[slot] = (now ? now->count : 0) - (then ? then->count : 0);
	}
	finish_report(lat, out);
}

int latency_peek(struct latency *lat, bool final)
{
	struct snapshot *live = &lat->live;

	lat->peeked = final ? &lat->now : live;
	if (final)
		return 0;
	if (!live->sums)
		make_snapshot(live, lat->rows);
	if (read_counters(lat, live) || latency_ends_sweep(lat->ends))
		return -1;
	return latency_ends_peek(lat->ends, live->ends);
}

/* A call that was too much for map `places` is among the losses, not here. */
static void add_places(const struct latency *lat, size_t row, struct reading *sum)
{
	struct reading_scale scale = reading_scale(lat->unit_ns);
	const struct place *places = lat->peeked->places;
	size_t low = 0, high = lat->peeked->place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places[middle].key < latency_place(row, 0))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < lat->peeked->place_count && places[low].key >> 32 == row; low++) {
		uint64_t value = histogram_low(slot_of(&places[low]));

		sum->buckets[reading_bucket(&scale, value)] += places[low].count;
		sum->calls += places[low].count;
	}
}

void latency_add_reading(const struct latency *lat, size_t row, struct reading *sum)
{
	const struct call_sums *sums = &lat->peeked->sums[row];
	const struct latency_end *ends = &lat->peeked->ends[row];

	sum->total_ns += sums->total_ns;
	sum->panicked += sums->panicked + ends->panicked;
	sum->exited += sums->exited + ends->exited;
	sum->process_ended += ends->process_ended;
	sum->running += ends->running;
	if (lat->peeked->place_count)
		add_places(lat, row, sum);
}

size_t latency_reading_losses(const struct latency *lat, struct reading_loss *out)
{
	static const char *const reasons[LOSSES] = {
		[LOSS_GOROUTINES] = "goroutines_full", [LOSS_PROCESSES] = "processes_full",
		[LOSS_DEEP] = "deep_calls_full",       [LOSS_MEMORY] = "no_memory",
		[LOSS_UNREADABLE] = "unreadable",      [LOSS_PLACES] = "histograms_full",
	};
	struct reading_loss *unseen = &out[LOSSES], *switched = &out[LOSSES + 1],
			    *jumped = &out[LOSSES + 2];

	_Static_assert(LOSSES + 3 == READING_LOSSES, "a reason for each loss");
	for (unsigned i = 0; i < LOSSES; i++)
		out[i] = (struct reading_loss){reasons[i], lat->peeked->losses[i]};
	*unseen = (struct reading_loss){"end_not_seen", 0};
	*switched = (struct reading_loss){"system_stack", 0};
	*jumped = (struct reading_loss){"jump", 0};
	for (size_t row = 0; row < lat->rows; row++) {
		unseen->calls += lat->peeked->sums[row].lost + lat->peeked->ends[row].lost;
		switched->calls +=
			lat->peeked->sums[row].switched + lat->peeked->ends[row].switched;
		jumped->calls += lat->peeked->sums[row].jumped;
	}
	return READING_LOSSES;
}
