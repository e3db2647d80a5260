/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool that adds up blocked time runs in, made up: the run, its maps, stacks of which those
 * of ten are shown alike, and which processes have ended. */
#ifndef BLOCKEDRUN_H
#define BLOCKEDRUN_H

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "blocked/blocked_internal.h"
#include "blocked/stacks_internal.h"
#include "bpf-src/shared/latency.h"
#include "goroutines/runtime_vars.h"
#include "kernel/bpfmap.h"
#include "kernel/processes.h"
#include "program/program.h"
#include "selection/selection.h"
#include "sites/goruntime.h"
#include "tracing/toolrun.h"

enum { SUMS = 11, WAITS, CONTROL, LOSSES_MAP, PARKED };
enum { BIAS = 0x10000, ENTRY = 0x401000, ROWS = 8, OPEN = 8, PID = 0x7fffffff, US = 1000 };

/* --- in place of the run --- */

static struct selection_item item = {.sites.entry.addr = ENTRY};
static struct selection selection = {.items = &item, .item_count = 1};
static struct program prog = {.path = "/bin/bank", .release = 27};
static struct goruntime runtime_of;
static char defined[512];
static void (*with_run)(const struct toolrun *run);
static int status;

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &selection;
}

const struct program *tracer_program(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &prog;
}

const struct goruntime *tracer_runtime(const struct tracer *tracer, size_t n)
{
	(void)tracer;
	assert_int_equal(n, 0);
	return &runtime_of;
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	sprintf(defined + strlen(defined), " %s=%#llx", name, (unsigned long long)value);
}

struct bpfprog *tracer_bpf(const struct tracer *tracer)
{
	(void)tracer;
	return NULL;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	static const char *const names[] = {"sums", "waits", "control", "losses", "parked"};

	(void)tracer;
	for (int i = 0; i < 5; i++)
		if (!strcmp(name, names[i]))
			return SUMS + i;
	return -1;
}

int toolrun(struct toolrun *run)
{
	with_run(run);
	return status;
}

bool runtime_vars_wait_reasons_of(const struct program *of, char *reasons[WAIT_REASONS])
{
	assert_ptr_equal(of, &prog);
	free(reasons[3]);
	free(reasons[9]);
	reasons[3] = mem_strdup("chan receive");
	reasons[9] = mem_strdup("sync.Mutex.Lock");
	return true;
}

/* --- in place of stacks: those of a tenth are shown alike --- */

int stacks_define(struct tracer *tracer, const char *tool, struct errmsg *err)
{
	(void)err;
	assert_string_equal(tool, "test");
	tracer_define(tracer, "STACKS_OF", 1);
	return 0;
}

struct stacks *stacks_new(const struct tracer *tracer)
{
	(void)tracer;
	return NULL;
}

void stacks_free(struct stacks *stacks)
{
	(void)stacks;
}

uint64_t stacks_shown(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	(void)stacks;
	assert_int_equal(bias, BIAS);
	return hash / 10;
}

/* --- in place of maps --- */

static struct {
	struct wait_key key;
	struct wait_sum sum;
} sums[ROWS];
static size_t sum_count;
static struct {
	struct goroutine_key key;
	struct wait_begun wait;
	bool ended; /* its process */
	bool parked;
} open_waits[OPEN];
static size_t open_count;
static uint32_t control;
static uint64_t lost[WAIT_LOSSES], deleted;
static int map_that_fails;

int bpfmap_set(int fd, uint32_t value)
{
	assert_int_equal(fd, CONTROL);
	control = value;
	errno = EPERM;
	return fd == map_that_fails ? -1 : 0;
}

int bpfmap_delete(int fd, const void *key)
{
	assert_int_equal(fd, PARKED);
	deleted += *(const uint64_t *)key;
	return 0;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	errno = EPERM;
	if (fd == map_that_fails)
		return -1;
	for (size_t i = 0; fd == SUMS && i < sum_count; i++) {
		assert_int_equal(key_size, sizeof(struct wait_key));
		assert_int_equal(value_size, sizeof(struct wait_sum));
		assert_int_equal(fn(&sums[i].key, &sums[i].sum, arg), 0);
	}
	for (size_t i = 0; fd != SUMS && i < open_count; i++)
		if (!open_waits[i].ended && open_waits[i].parked == (fd == PARKED)) {
			assert_int_equal(key_size, fd == PARKED ? 8 : sizeof(struct goroutine_key));
			assert_int_equal(value_size, sizeof(struct wait_begun));
			assert_int_equal(fn(&open_waits[i].key, &open_waits[i].wait, arg), 0);
		}
	return 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_int_equal(fd, LOSSES_MAP);
	assert_int_equal(entries * words, WAIT_LOSSES);
	errno = EPERM;
	memcpy(out, lost, sizeof(lost));
	return fd == map_that_fails ? -1 : 0;
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

/* --- in place of what tells which processes have ended: at 5000 us --- */

static bool is_due;
static unsigned looks;
static struct processes *const all_processes = (struct processes *)&looks;

struct processes *processes_new(struct bpfprog *bpf)
{
	(void)bpf;
	return all_processes;
}

void processes_free(struct processes *procs)
{
	assert_true(!procs || procs == all_processes);
}

bool processes_look(struct processes *procs)
{
	assert_ptr_equal(procs, all_processes);
	return ++looks;
}

uint64_t processes_ended(const struct processes *procs, const struct process_key *process)
{
	(void)procs;
	assert_int_equal(process->tgid, PID);
	return 5000 * US;
}

int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	(void)procs;
	assert_int_equal(fd, WAITS);
	for (size_t i = 0; i < open_count; i++)
		if (open_waits[i].ended)
			assert_int_equal(fn(&open_waits[i].key, &open_waits[i].wait, arg), 0);
	return 0;
}

void processes_forget(struct processes *procs)
{
	(void)procs;
	for (size_t i = 0; i < open_count; i++)
		if (open_waits[i].ended)
			open_waits[i].wait.reason = 63; /* it is gone */
}

bool processes_due(struct processes *procs)
{
	(void)procs;
	return is_due;
}

static unsigned notes;

struct blocked_before *blocked_before_new(const struct blocked *blocked)
{
	assert_int_equal(blocked->parked, PARKED);
	assert_int_equal(control, 0);
	return NULL;
}

void blocked_before_note(struct blocked_before *before, uint64_t since_ns)
{
	(void)before;
	assert_true(since_ns && since_ns <= clock_ns());
	notes++;
}

void blocked_before_free(struct blocked_before *before)
{
	(void)before;
}

#endif
