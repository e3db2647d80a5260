// SPDX-License-Identifier: Apache-2.0
#include "goroutines/wait_internal.h"

#include <string.h>

#include "base/mem.h"
#include "golang/release.h"
#include "goroutines/memory.h"
#include "machine/linux.h"
#include "sites/goruntime.h"

enum {
	SUDOG_MAX = 128,
	POLL_MAX = 512,       /* bytes of a pollDesc, or more */
	POLL_STACK = 1 << 10, /* bytes of a stack that are searched for its address */
	FD_MAX = 1 << 24,
};

struct wait_layout wait_layout(enum arch arch, const struct goruntime *rt, int release, bool told)
{
	bool wide = release >= RELEASE_TRACEABLE_SUDOGS;
	struct wait_layout layout = {.known = told && rt->g_gopc, .arch = arch};

	/* gopc, ancestors, startpc, racectx, waiting, cgoCtxt, labels, timer, sleepWhen */
	layout.g_waiting = rt->g_gopc + 32;
	layout.g_timer = rt->g_gopc + 72;
	layout.g_sleep_when = release >= RELEASE_TIMER_CHANNELS ? rt->g_gopc + 80 : 0;
	layout.g_m = rt->g_m;
	layout.m_procid = rt->m_procid;
	layout.sudog_elem = wide ? 32 : 24;
	layout.sudog_link = wide ? 72 : 64;
	layout.sudog_channel = wide ? 96 : 80;
	layout.sudog_len = layout.sudog_channel + 8;
	layout.timer_when = 8;
	layout.channel_type = release >= RELEASE_TIMER_CHANNELS ? 40 : 32;
	layout.semaphores = wide;
	layout.poll_fd = release >= RELEASE_POLL_ATOMIC ? 8 : 16;
	layout.poll_reader = release >= RELEASE_POLL_SEQUENCE ? 32
			     : release >= RELEASE_POLL_ATOMIC ? 24
							      : 40;
	layout.poll_writer =
		release >= RELEASE_POLL_ATOMIC ? layout.poll_reader + 8 : layout.poll_reader + 96;
	return layout;
}

static void add(struct waits *out, enum wait_kind kind, uint64_t object, uint64_t sudog)
{
	out->all = mem_grow(out->all, out->count, &out->cap, sizeof(*out->all));
	out->all[out->count++] = (struct wait){.object = object, .sudog = sudog, .kind = kind};
}

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

/* One sudog for each case of a select, or a single one. They may be linked in a circle, in a
 * program that lies. */
static void read_sudogs(const struct memory *mem, const struct wait_layout *layout,
			const struct wait_source *from, struct waits *out)
{
	uint64_t sudog = from->waiting;
	uint8_t bytes[SUDOG_MAX];

	for (int i = 0; sudog && i < WAIT_CASES_MAX && out->count < WAIT_COUNT_MAX; i++) {
		if (out->reads++ >= WAIT_READS_MAX ||
		    !mem->read(mem->ctx, sudog, bytes, layout->sudog_len) ||
		    word_at(bytes, 0) != from->g)
			return;
		uint64_t channel = word_at(bytes, layout->sudog_channel);

		if (channel)
			add(out, WAIT_CHANNEL, channel, sudog);
		else if (layout->semaphores)
			add(out, WAIT_SEMAPHORE, word_at(bytes, layout->sudog_elem), sudog);
		sudog = word_at(bytes, layout->sudog_link);
	}
}

static void read_timer(const struct memory *mem, const struct wait_layout *layout,
		       const struct wait_source *from, struct waits *out)
{
	uint64_t when = from->sleep_when;

	if (layout->g_sleep_when ||
	    (from->timer && memory_u64(mem, from->timer + layout->timer_when, &when)))
		add(out, WAIT_TIMER, when, 0);
}

static void read_thread(const struct memory *mem, const struct wait_layout *layout,
			const struct wait_source *from, struct waits *out)
{
	uint64_t tid;

	if (from->m && memory_u64(mem, from->m + layout->m_procid, &tid) && tid && tid <= INT32_MAX)
		add(out, WAIT_SYSCALL, tid, 0);
}

/* The last field of a runtime.pollDesc, wherever that is, is its own address. */
static bool has_self(const uint8_t *bytes, size_t from, uint64_t addr)
{
	for (size_t at = from; at + 8 <= POLL_MAX; at += 8)
		if (word_at(bytes, at) == addr)
			return true;
	return false;
}

/* Is this a pollDesc that the goroutine waits at? It names who reads or writes. */
static bool is_poll(const struct memory *mem, const struct wait_layout *layout,
		    const struct wait_source *from, uint64_t addr, struct waits *out)
{
	uint8_t bytes[POLL_MAX];

	if (addr % 8 || out->reads++ >= WAIT_READS_MAX ||
	    !mem->read(mem->ctx, addr, bytes, sizeof(bytes)))
		return false;
	bool reads = word_at(bytes, layout->poll_reader) == from->g;
	bool writes = word_at(bytes, layout->poll_writer) == from->g;
	uint64_t fd = word_at(bytes, layout->poll_fd);

	if (reads == writes || fd > FD_MAX || !has_self(bytes, layout->poll_writer + 8, addr))
		return false;
	add(out, WAIT_FD, fd, 0);
	out->all[out->count - 1].writes = writes;
	return true;
}

/* Functions that wait keep its address, or that of a field in it, on their stack. It was allocated
 * by mmap, not on Go's heap: most of what is on a stack need not be looked at. */
static void read_poll(const struct memory *mem, const struct wait_layout *layout,
		      const struct wait_source *from, struct waits *out)
{
	size_t end = from->stack_len < POLL_STACK ? from->stack_len : POLL_STACK;
	uint64_t before = 0;

	for (size_t at = 0; at + 8 <= end; at += 8) {
		uint64_t addr = word_at(from->stack, at);

		if (!linux_is_mapped(layout->arch, addr) || addr == before)
			continue;
		before = addr;
		if (is_poll(mem, layout, from, addr, out) ||
		    is_poll(mem, layout, from, addr - layout->poll_reader, out) ||
		    is_poll(mem, layout, from, addr - layout->poll_writer, out))
			return;
	}
}

void wait_read(const struct memory *mem, const struct wait_layout *layout,
	       const struct wait_source *from, struct waits *out)
{
	if (out->count >= WAIT_COUNT_MAX)
		return;
	if (from->calls)
		read_thread(mem, layout, from, out);
	else if (from->sleeps)
		read_timer(mem, layout, from, out);
	else if (from->polls)
		read_poll(mem, layout, from, out);
	else
		read_sudogs(mem, layout, from, out);
}
