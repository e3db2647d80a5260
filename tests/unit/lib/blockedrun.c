// SPDX-License-Identifier: Apache-2.0
#include "blockedrun.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "blocked/blocked_internal.h"
#include "blocked/stacks_internal.h"
#include "faketool.h"
#include "goroutines/runtime_vars.h"
#include "kernel/bpfmap.h"
#include "kernel/processes.h"
#include "unit.h"

struct blockedrun blockedrun;
static struct selection_item item = {.sites.entry.addr = BLOCKEDRUN_ENTRY};

void blockedrun_begin(void)
{
	blockedrun = (struct blockedrun){.tool = "test"};
	faketool_begin();
	faketool.program = (struct program){.path = "/bin/bank", .release = 27};
	faketool.runtime = (struct goruntime){.g_waitreason = 176};
	faketool.selection = (struct selection){.items = &item, .item_count = 1};
}

void blockedrun_add_sum(uint64_t stack, uint32_t reason, uint64_t waits, uint64_t us,
			uint64_t max_us)
{
	blockedrun.sums[blockedrun.sum_count].key =
		(struct wait_key){.stack = stack,
				  .probe = BLOCKEDRUN_ENTRY + BLOCKEDRUN_BIAS,
				  .pid = BLOCKEDRUN_PID,
				  .reason = reason};
	blockedrun.sums[blockedrun.sum_count++].sum =
		(struct wait_sum){waits, us * BLOCKEDRUN_US, max_us * BLOCKEDRUN_US};
}

void blockedrun_add_open(uint64_t stack, uint32_t reason, uint64_t start_us, bool ended,
			 bool parked)
{
	blockedrun.open_waits[blockedrun.open_count].ended = ended;
	blockedrun.open_waits[blockedrun.open_count].parked = parked;
	blockedrun.open_waits[blockedrun.open_count].key = (struct goroutine_key){
		.id = 1 + blockedrun.open_count, .process.tgid = BLOCKEDRUN_PID};
	blockedrun.open_waits[blockedrun.open_count++].wait =
		(struct wait_begun){.start_ns = start_us * BLOCKEDRUN_US,
				    .stack = stack,
				    .probe = BLOCKEDRUN_ENTRY + BLOCKEDRUN_BIAS,
				    .pid = BLOCKEDRUN_PID,
				    .reason = reason};
}

bool runtime_vars_wait_reasons_of(const struct program *of, char *reasons[WAIT_REASONS])
{
	assert_ptr_equal(of, &faketool.program);
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
	assert_string_equal(tool, blockedrun.tool);
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
	assert_int_equal(bias, BLOCKEDRUN_BIAS);
	return hash / 10;
}

/* --- in place of maps --- */

static bool is_map(int fd, const char *name)
{
	return !strcmp(faketool_map(fd), name);
}

static int result_of(int fd)
{
	errno = EPERM;
	return blockedrun.failing && is_map(fd, blockedrun.failing) ? -1 : 0;
}

int bpfmap_set(int fd, uint32_t value)
{
	assert_true(is_map(fd, "control"));
	blockedrun.control = value;
	return result_of(fd);
}

/* One set of labels, 5 */
int bpfmap_lookup(int fd, const void *key, void *value)
{
	struct wait_labels set = {.sample.labels = 2};

	assert_true(is_map(fd, "label_sets"));
	if (*(const uint64_t *)key != 5)
		return -1;
	memcpy(value, &set, sizeof(set));
	return 0;
}

int bpfmap_delete(int fd, const void *key)
{
	assert_true(is_map(fd, "parked"));
	blockedrun.deleted += *(const uint64_t *)key;
	return 0;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	bool is_sums = is_map(fd, "sums"), is_parked = is_map(fd, "parked");

	if (result_of(fd))
		return -1;
	for (size_t i = 0; is_sums && i < blockedrun.sum_count; i++) {
		assert_int_equal(key_size, sizeof(struct wait_key));
		assert_int_equal(value_size, sizeof(struct wait_sum));
		assert_int_equal(fn(&blockedrun.sums[i].key, &blockedrun.sums[i].sum, arg), 0);
	}
	for (size_t i = 0; !is_sums && i < blockedrun.open_count; i++)
		if (!blockedrun.open_waits[i].ended &&
		    blockedrun.open_waits[i].parked == (is_parked)) {
			assert_int_equal(key_size, is_parked ? 8 : sizeof(struct goroutine_key));
			assert_int_equal(value_size, sizeof(struct wait_begun));
			assert_int_equal(fn(&blockedrun.open_waits[i].key,
					    &blockedrun.open_waits[i].wait, arg),
					 0);
		}
	return 0;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_true(is_map(fd, "losses"));
	assert_int_equal(entries * words, WAIT_LOSSES);
	memcpy(out, blockedrun.lost, sizeof(blockedrun.lost));
	return result_of(fd);
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

/* --- in place of what tells which processes have ended: at 5000 us --- */

static struct processes *const all_processes = (struct processes *)&blockedrun;

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
	return ++blockedrun.looks;
}

uint64_t processes_ended(const struct processes *procs, const struct process_key *process)
{
	(void)procs;
	assert_int_equal(process->tgid, BLOCKEDRUN_PID);
	return 5000 * BLOCKEDRUN_US;
}

int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	(void)procs;
	assert_true(is_map(fd, "waits"));
	for (size_t i = 0; i < blockedrun.open_count; i++)
		if (blockedrun.open_waits[i].ended)
			assert_int_equal(fn(&blockedrun.open_waits[i].key,
					    &blockedrun.open_waits[i].wait, arg),
					 0);
	return 0;
}

void processes_forget(struct processes *procs)
{
	(void)procs;
	for (size_t i = 0; i < blockedrun.open_count; i++)
		if (blockedrun.open_waits[i].ended)
			blockedrun.open_waits[i].wait.reason = 63; /* it is gone */
}

bool processes_due(struct processes *procs)
{
	(void)procs;
	return blockedrun.is_due;
}

struct blocked_before *blocked_before_new(const struct blocked *blocked)
{
	assert_true(is_map(blocked->parked, "parked"));
	assert_int_equal(blockedrun.control, 0);
	return NULL;
}

void blocked_before_note(struct blocked_before *before, uint64_t since_ns)
{
	(void)before;
	assert_true(since_ns && since_ns <= clock_ns());
	blockedrun.notes++;
}

void blocked_before_free(struct blocked_before *before)
{
	(void)before;
}
