// SPDX-License-Identifier: Apache-2.0
#include "fakerun.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "blocked/losses.h"
#include "bpf-src/shared/latency.h"
#include "faketool.h"
#include "kernel/bpfmap.h"
#include "kernel/processes.h"
#include "unit.h"

struct fakerun fakerun;

void fakerun_begin(void)
{
	fakerun = (struct fakerun){.now_ns = 5000};
}

uint64_t clock_ns(void)
{
	return fakerun.now_ns;
}

uint64_t clock_to_unix_ns(void)
{
	return 7000 - fakerun.now_ns;
}

/* --- maps --- */

int bpfmap_set(int fd, uint32_t value)
{
	assert_string_equal(faketool_map(fd), "active");
	return faketool_result(value ? "on" : "off");
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_int_equal(key_size, fakerun.key_size);
	assert_int_equal(value_size, fakerun.value_size);
	for (size_t i = 0; i < fakerun.entry_count; i++)
		assert_int_equal(fn(fakerun.entries[i].key, fakerun.entries[i].value, arg), 0);
	return faketool_result(faketool_map(fd));
}

int bpfmap_lookup(int fd, const void *key, void *value)
{
	if (!strcmp(faketool_map(fd), "lost")) {
		memcpy(value, &fakerun.lost, sizeof(fakerun.lost));
		return 0;
	}
	for (size_t i = 0; i < fakerun.entry_count; i++)
		if (!memcmp(fakerun.entries[i].key, key, fakerun.key_size)) {
			memcpy(value, fakerun.entries[i].value, fakerun.value_size);
			return 0;
		}
	return -1;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	faketool_note("%s[%u] = %u\n", faketool_map(fd), *(const uint32_t *)key,
		      *(const uint32_t *)value);
	return faketool_result("update");
}

uint32_t bpfmap_room(uint32_t room)
{
	return room;
}

void losses_say(int map, const char *tool, const char *const *said, uint64_t *counts, size_t kinds)
{
	assert_string_equal(faketool_map(map), "losses");
	for (size_t i = 0; i < kinds; i++) {
		counts[i] = i;
		fprintf(stderr, "%s: %d %s\n", tool, (int)i, said[i] ? said[i] : "-");
	}
}

/* --- events --- */

struct events *events_new(int ring_fd, events_fn *fn, void *ctx, struct errmsg *err)
{
	assert_string_equal(faketool_map(ring_fd), "events");
	fakerun.event = fn;
	fakerun.event_ctx = ctx;
	return faketool_answer("events", err) ? NULL : FAKETOOL_SOME(events);
}

void events_free(struct events *events)
{
	assert_true(!events || events == FAKETOOL_SOME(events));
}

bool events_read(struct events *events, bool all)
{
	assert_ptr_equal(events, FAKETOOL_SOME(events));
	faketool_result(all ? "read all" : "read some");
	return true;
}

bool fakerun_send(const void *event, size_t len)
{
	return fakerun.event(event, len, fakerun.event_ctx);
}

/* --- processes --- */

struct processes *processes_new(struct bpfprog *bpf)
{
	assert_null(bpf);
	return FAKETOOL_SOME(processes);
}

void processes_free(struct processes *procs)
{
	assert_true(!procs || procs == FAKETOOL_SOME(processes));
}

bool processes_due(struct processes *procs)
{
	assert_ptr_equal(procs, FAKETOOL_SOME(processes));
	return fakerun.is_due;
}

bool processes_look(struct processes *procs)
{
	assert_ptr_equal(procs, FAKETOOL_SOME(processes));
	faketool_result("look at processes");
	return fakerun.has_gone;
}

uint64_t processes_ended(const struct processes *procs, const struct process_key *process)
{
	assert_ptr_equal(procs, FAKETOOL_SOME(processes));
	return process->tgid == FAKERUN_PID ? fakerun.ended_ns : 0;
}

int processes_sweep(const struct processes *procs, int fd,
		    int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_ptr_equal(procs, FAKETOOL_SOME(processes));
	faketool_note("sweep %s\n", faketool_map(fd));
	for (size_t i = 0; fn && i < fakerun.entry_count; i++)
		faketool_note("kept %d\n",
			      fn(fakerun.entries[i].key, fakerun.entries[i].value, arg));
	return 0;
}

void processes_forget(struct processes *procs)
{
	assert_ptr_equal(procs, FAKETOOL_SOME(processes));
	faketool_result("forget processes");
}
