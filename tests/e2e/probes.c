// SPDX-License-Identifier: Apache-2.0
/* Drives the kernel side with probes given by hand, for the tests beside it:
 *   probes PROGRAM FILE SECONDS -DNAME=VALUE... ADDR:OFF:KIND:ROW[:ADJUST[:COPY]]...
 * Addresses and offsets in hexadecimal, KIND as in bpf-src/cookie.h. Prints what the maps hold. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../bpf-src/cookie.h"
#include "../../bpf-src/histogram_index.h"
#include "../../bpf-src/latency.h"
#include "attach.h"
#include "bpfmap.h"
#include "bpfprog.h"
#include "errmsg.h"
#include "mem.h"

struct request {
	const char *program, *path;
	double seconds;
	struct bpfprog_define defs[32];
	size_t ndefs, rows;
	struct attach_probe *probes;
	size_t count;
};

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const struct errmsg *err)
{
	fprintf(stderr, "%s\n", err->text);
	if (err->hint[0])
		fprintf(stderr, "hint: %s\n", err->hint);
	exit(1);
}

static void add_define(struct request *r, char *text)
{
	char *value = strchr(text, '=');
	struct bpfprog_define *d = &r->defs[r->ndefs++];

	if (value)
		*value++ = '\0';
	d->name = text;
	d->value = value ? strtoull(value, NULL, 0) : 1;
	if (!strcmp(d->name, "ROWS"))
		r->rows = d->value;
}

static void add_probe(struct request *r, const char *text)
{
	struct attach_probe *p = &r->probes[r->count++];
	unsigned kind = 0, row = 0, copy = 0;
	int adjust = 0;

	if (sscanf(text, "%" SCNx64 ":%" SCNx64 ":%u:%u:%d:%u", &p->addr, &p->off, &kind, &row,
		   &adjust, &copy) < 4) {
		fprintf(stderr, "not a probe: %s\n", text);
		exit(2);
	}
	p->cookie = cookie_make(row, kind, adjust, copy);
}

static void print_counts(const struct bpfprog *prog, const struct request *r)
{
	uint64_t *sums = mem_zalloc(r->rows, sizeof(*sums));

	if (bpfmap_sum_percpu(bpfprog_map(prog, "counts"), r->rows, 1, sums))
		perror("counts");
	for (size_t i = 0; i < r->rows; i++)
		printf("row %zu count %" PRIu64 "\n", i, sums[i]);
	free(sums);
}

static void print_row(const struct latency_outcome *o, const struct latency_extremes *e, size_t row)
{
	printf("row %zu count %" PRIu64 " total %" PRIu64 " panicked %" PRIu64 " switched %" PRIu64
	       " untracked %" PRIu64 " min %" PRIu64 " max %" PRIu64 "\n",
	       row, o->count, o->total, o->panicked, o->switched, o->untracked, ~e->inverted_min,
	       e->max);
}

static int print_running(const void *key, const void *value, void *arg)
{
	const struct latency_key *k = key;

	(void)value, (void)arg;
	printf("running row %u goid %" PRIu64 " depth %" PRIu64 "\n", k->row, k->goid, k->depth);
	return 0;
}

static int print_end(void *arg, void *data, size_t size)
{
	const struct latency_end *e = data;

	(void)arg, (void)size;
	printf("end kind %u goid %" PRIu64 " depth %" PRIu64 "\n", e->kind, e->goid, e->depth);
	return 0;
}

static void print_slots(const struct bpfprog *prog)
{
	uint64_t *slots = mem_zalloc(HISTOGRAM_SLOTS, sizeof(*slots)), total = 0;

	bpfmap_sum_percpu(bpfprog_map(prog, "slots"), HISTOGRAM_SLOTS, 1, slots);
	for (size_t i = 0; i < HISTOGRAM_SLOTS; i++)
		total += slots[i];
	printf("slots hold %" PRIu64 "\n", total);
	free(slots);
}

static void print_latency(const struct bpfprog *prog, const struct request *r)
{
	struct latency_outcome *o = mem_zalloc(r->rows, sizeof(*o));
	uint64_t tallies[LATENCY_TALLIES];
	struct latency_extremes e;

	bpfmap_sum_percpu(bpfprog_map(prog, "outcomes"), r->rows, LATENCY_OUTCOME_WORDS,
			  (uint64_t *)o);
	for (uint32_t i = 0; i < r->rows; i++) {
		bpfmap_lookup(bpfprog_map(prog, "extremes"), &i, &e);
		print_row(&o[i], &e, i);
	}
	bpfmap_sum_percpu(bpfprog_map(prog, "tallies"), LATENCY_TALLIES, 1, tallies);
	printf("lost ends %" PRIu64 " slots %" PRIu64 " goroutines %" PRIu64 "\n", tallies[0],
	       tallies[1], tallies[2]);
	print_slots(prog);
	bpfmap_each(bpfprog_map(prog, "inflight"), sizeof(struct latency_key),
		    sizeof(struct latency_value), print_running, NULL);
	free(o);
}

static void parse(struct request *r, int argc, char **argv)
{
	if (argc < 4)
		exit(2);
	r->program = argv[1];
	r->path = argv[2];
	r->seconds = atof(argv[3]);
	r->probes = mem_zalloc(argc, sizeof(*r->probes));
	for (int i = 4; i < argc; i++)
		if (!strncmp(argv[i], "-D", 2))
			add_define(r, argv[i] + 2);
		else
			add_probe(r, argv[i]);
}

/* prints "attached" when every probe is there, so that a test can start its target */
static void trace(struct request *r, struct bpfprog *prog, enum attach_how how)
{
	struct errmsg err = {0};
	int fd = bpfprog_load(prog, "on_probe", attach_prog_type(how), &err);
	struct latency_control on = {.active = 1};
	uint32_t zero = 0;

	if (fd < 0)
		fail(&err);
	if (how == ATTACH_PERF_ADDRESS &&
	    attach_fill_sites(bpfprog_map(prog, "sites"), strtoull(getenv("START_CODE"), NULL, 16),
			      r->probes, r->count, &err))
		fail(&err);
	double start = seconds_now();
	struct attach *at = attach_new(how, fd, r->path, r->probes, r->count, &err);

	if (!at)
		fail(&err);
	if (bpfprog_map(prog, "control") >= 0)
		bpfmap_update(bpfprog_map(prog, "control"), &zero, &on);
	printf("attached %.3f\n", seconds_now() - start);
	fflush(stdout);
	usleep(r->seconds * 1e6);
	start = seconds_now();
	attach_free(at);
	printf("detached %.3f\n", seconds_now() - start);
}

int main(int argc, char **argv)
{
	struct request r = {0};
	struct errmsg err = {0};

	parse(&r, argc, argv);
	double start = seconds_now();
	struct bpfprog *prog = bpfprog_compile(r.program, r.defs, r.ndefs, &err);

	if (!prog)
		fail(&err);
	printf("compiled %.3f %s\n", seconds_now() - start, bpfprog_chatter(prog));
	struct bpfprog_ring *ring = NULL;

	if (bpfprog_map(prog, "ends") >= 0)
		ring = bpfprog_ring_open(prog, "ends", print_end, NULL, &err);
	trace(&r, prog, attach_how());
	if (ring)
		bpfprog_ring_poll(ring, 0);
	bpfprog_ring_close(ring);
	for (size_t i = 0; i < r.count; i++)
		if (r.probes[i].refused)
			printf("refused %" PRIx64 ": %s\n", r.probes[i].addr, r.probes[i].refused);
	if (bpfprog_map(prog, "counts") >= 0)
		print_counts(prog, &r);
	if (bpfprog_map(prog, "outcomes") >= 0)
		print_latency(prog, &r);
	bpfprog_free(prog);
	free(r.probes);
	return 0;
}
