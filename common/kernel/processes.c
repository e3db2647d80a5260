// SPDX-License-Identifier: Apache-2.0
#include "kernel/processes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"

enum { TRACEPOINTS = 2, REST = 10 /* pause between sweeps, in times of what the last one took */ };

struct gone {
	struct process_key key; /* sorted by it */
	uint64_t end_ns;
};

struct processes {
	int map;                /* `gone`; -1: processes are not followed */
	int links[TRACEPOINTS]; /* -1: not attached */
	struct gone *gone;
	size_t count, cap;
	uint64_t looked_ns, due_ns; /* CLOCK_MONOTONIC */
};

struct processes *processes_new(struct bpfprog *bpf)
{
	static const char *const watched[TRACEPOINTS][2] = {
		{"on_process_exit", "sched_process_exit"},
		{"on_process_exec", "sched_process_exec"},
	};
	struct processes *procs = mem_zalloc(1, sizeof(*procs));

	procs->map = bpfprog_map(bpf, "gone");
	for (int i = 0; i < TRACEPOINTS; i++)
		procs->links[i] = procs->map < 0 ? -1
						 : bpfprog_at_tracepoint(bpf, watched[i][0],
									 watched[i][1], NULL);
	return procs;
}

void processes_free(struct processes *procs)
{
	if (!procs)
		return;
	for (int i = 0; i < TRACEPOINTS; i++)
		if (procs->links[i] >= 0)
			close(procs->links[i]);
	free(procs->gone);
	free(procs);
}

static int by_process(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct process_key));
}

static int add_gone(const void *key, const void *value, void *arg)
{
	struct processes *procs = arg;

	procs->gone = mem_grow(procs->gone, procs->count, &procs->cap, sizeof(*procs->gone));
	struct gone *gone = &procs->gone[procs->count++];

	memcpy(&gone->key, key, sizeof(gone->key));
	memcpy(&gone->end_ns, value, sizeof(gone->end_ns));
	return 0;
}

bool processes_look(struct processes *procs)
{
	procs->count = 0;
	procs->looked_ns = clock_ns();
	if (procs->map < 0)
		return false;
	bpfmap_each(procs->map, sizeof(struct process_key), sizeof(uint64_t), add_gone, procs);
	if (procs->count)
		qsort(procs->gone, procs->count, sizeof(*procs->gone), by_process);
	return procs->count;
}

/* NULL: it is not gone */
static const struct gone *find(const struct processes *procs, const struct process_key *process)
{
	if (!procs->count)
		return NULL;
	return bsearch(process, procs->gone, procs->count, sizeof(*procs->gone), by_process);
}

uint64_t processes_ended(const struct processes *procs, const struct process_key *process)
{
	const struct gone *gone = find(procs, process);

	return gone ? gone->end_ns : 0;
}

struct sweep {
	const struct processes *procs;
	int fd;
	int (*fn)(const void *key, const void *value, void *arg);
	void *arg;
};

static int sweep_entry(const void *key, const void *value, void *arg)
{
	const struct goroutine_key *who = key;
	const struct sweep *sweep = arg;

	if (!find(sweep->procs, &who->process))
		return 0;
	if (!sweep->fn || !sweep->fn(key, value, sweep->arg))
		bpfmap_delete(sweep->fd, key);
	return 0;
}

int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	struct sweep sweep = {procs, fd, fn, arg};
	size_t key_size, value_size;

	if (bpfmap_sizes(fd, &key_size, &value_size))
		return -1;
	return bpfmap_each(fd, key_size, value_size, sweep_entry, &sweep);
}

void processes_forget(struct processes *procs)
{
	uint64_t now = clock_ns();

	for (size_t i = 0; i < procs->count; i++)
		bpfmap_delete(procs->map, &procs->gone[i].key);
	procs->count = 0;
	procs->due_ns = now + REST * (now - procs->looked_ns);
}

bool processes_due(struct processes *procs)
{
	return procs->map >= 0 && clock_ns() >= procs->due_ns;
}
