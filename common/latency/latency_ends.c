// SPDX-License-Identifier: Apache-2.0
#include "latency/latency_ends_internal.h"

#include <stdlib.h>

#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/processes.h"

struct latency_ends {
	/* maps; -1: the kernel side has none */
	int goroutines, deep_calls, marks, clocks, clocks_then, members;
	size_t rows;
	struct processes *procs;
	struct latency_end *of; /* one for each row */
	bool gone;              /* the calls being counted are of processes that are gone */
};

struct latency_ends *latency_ends_new(struct bpfprog *bpf, size_t rows)
{
	struct latency_ends *ends = mem_zalloc(1, sizeof(*ends));

	ends->goroutines = bpfprog_map(bpf, "goroutines");
	ends->deep_calls = bpfprog_map(bpf, "deep_calls");
	ends->marks = bpfprog_map(bpf, "marks");
	ends->clocks = bpfprog_map(bpf, "clocks");
	ends->clocks_then = bpfprog_map(bpf, "clocks_then");
	ends->members = bpfprog_map(bpf, "root_members");
	ends->rows = rows;
	ends->procs = processes_new(bpf);
	ends->of = mem_zalloc(rows, sizeof(*ends->of));
	return ends;
}

void latency_ends_free(struct latency_ends *ends)
{
	if (!ends)
		return;
	processes_free(ends->procs);
	free(ends->of);
	free(ends);
}

const struct latency_end *latency_ends_rows(const struct latency_ends *ends)
{
	return ends->of;
}

static void count_ended(struct latency_end *end, uint64_t how)
{
	switch ((enum ending)how) {
	case PANICKED:
		end->panicked++;
		break;
	case EXITED:
		end->exited++;
		break;
	case SWITCHED:
		end->switched++;
		break;
	case LOST:
		end->lost++;
	}
}

/* a call that the goroutine still counts */
static void count_left(struct latency_ends *ends, const struct calls *calls, uint32_t row)
{
	if (calls->ended)
		count_ended(&ends->of[row], calls->ended - 1);
	else if (ends->gone)
		ends->of[row].process_ended++;
	else
		ends->of[row].running++;
}

/* A deep call that its goroutine no longer counts: many ended at once, and the kernel side has not
 * come to count this one. */
static void count_stale(struct latency_ends *ends, const struct deep_key *deep,
			const struct call *call)
{
	struct end_mark mark;
	bool known = !bpfmap_lookup(ends->marks, &deep->who, &mark) && deep->index < mark.count &&
		     call->start_ns <= mark.at_ns;

	count_ended(&ends->of[call->row], known ? mark.how : PANICKED);
}

static int count_goroutine(const void *key, const void *value, void *ctx)
{
	const struct calls *calls = value;
	struct latency_ends *ends = ctx;

	(void)key;
	for (uint64_t i = 0; i < calls->count && i < CALLS_INLINE; i++)
		if (calls->call[i].row < ends->rows)
			count_left(ends, calls, calls->call[i].row);
	return 0;
}

static int count_deep(const void *key, const void *value, void *ctx)
{
	const struct deep_key *deep = key;
	const struct call *call = value;
	struct latency_ends *ends = ctx;
	struct calls calls;

	if (call->row >= ends->rows)
		return 0;
	if (!bpfmap_lookup(ends->goroutines, &deep->who, &calls) && deep->index < calls.count)
		count_left(ends, &calls, call->row);
	else
		count_stale(ends, deep, call);
	return 0;
}

static int sweep_map(struct latency_ends *ends, int fd,
		     int (*fn)(const void *key, const void *value, void *arg))
{
	return fd < 0 ? 0 : processes_sweep(ends->procs, fd, fn, ends);
}

/* deep calls first: what became of them is looked up in `goroutines` and `marks` */
static int sweep_maps(struct latency_ends *ends)
{
	if (sweep_map(ends, ends->deep_calls, count_deep) ||
	    sweep_map(ends, ends->goroutines, count_goroutine))
		return -1;
	if (sweep_map(ends, ends->clocks, NULL) || sweep_map(ends, ends->clocks_then, NULL) ||
	    sweep_map(ends, ends->members, NULL))
		return -1;
	return sweep_map(ends, ends->marks, NULL);
}

int latency_ends_sweep(struct latency_ends *ends)
{
	int ret;

	if (!processes_look(ends->procs))
		return 0;
	ends->gone = true;
	ret = sweep_maps(ends);
	ends->gone = false;
	processes_forget(ends->procs);
	return ret;
}

bool latency_ends_due(struct latency_ends *ends)
{
	return processes_due(ends->procs);
}

static int count_all(struct latency_ends *ends, int fd,
		     int (*fn)(const void *key, const void *value, void *arg))
{
	size_t key_size, value_size;

	if (fd < 0)
		return 0;
	if (bpfmap_sizes(fd, &key_size, &value_size))
		return -1;
	return bpfmap_each(fd, key_size, value_size, fn, ends);
}

int latency_ends_count(struct latency_ends *ends)
{
	if (count_all(ends, ends->goroutines, count_goroutine))
		return -1;
	return count_all(ends, ends->deep_calls, count_deep);
}

/* A call that has ended otherwise, but is still in a map, has not been counted yet: the kernel side
 * or the end of tracing will, and until then it is nowhere, lest it be counted twice. */
int latency_ends_peek(struct latency_ends *ends, struct latency_end *out)
{
	struct latency_end *own = ends->of, *all = mem_zalloc(ends->rows, sizeof(*all));
	int ret;

	ends->of = all;
	ret = latency_ends_count(ends);
	ends->of = own;
	for (size_t row = 0; row < ends->rows; row++) {
		out[row] = own[row];
		out[row].running = all[row].running;
	}
	free(all);
	return ret;
}
