// SPDX-License-Identifier: Apache-2.0
/* The ring's layout is the kernel's (kernel/bpf/ringbuf.c): a page with the reader's position, a
 * page with the writers', then the data, mapped twice in a row so that no record is torn. Positions
 * only grow. A record begins with its length, whose top two bits are flags, and four bytes of the
 * kernel's own. */
#include "kernel/events.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/kernelfeature_internal.h"

enum { RECORD_HEADER = 8, KEEP_NS = 10 * 1000 * 1000 };
static const uint32_t record_busy = 1u << 31, record_discarded = 1u << 30;

struct event {
	uint64_t time_ns;
	size_t at; /* in the store; grows in the order of arrival */
	size_t len;
};

struct store { /* events taken out of the ring */
	struct event *items;
	size_t count, cap; /* cap is mem_grow's */
	char *bytes;
	size_t used, size;
};

struct events {
	int ring_fd, epoll_fd;
	size_t page, ring_size;
	uint64_t *read_pos; /* NULL: not mapped */
	char *written;      /* the writers' page, and the data from `page` on; or NULL */
	uint64_t seen;      /* all records before this position were looked at */
	uint64_t *held;     /* positions before `seen` of records that are still being written */
	size_t held_count, held_cap;
	struct store store, spare;
	events_fn *fn;
	void *ctx;
	bool enough;
};

int events_check(struct errmsg *err)
{
	if (kernelfeature_ringbuf())
		return 0;
	return errmsg_set(err, "this kernel has no BPF ring buffer: Linux 5.8 or later is needed");
}

static size_t ring_size(int fd)
{
	struct bpf_map_info info;

	return bpfcall_info(fd, &info, sizeof(info)) ? 0 : info.max_entries;
}

static int map_ring(struct events *events)
{
	size_t page = events->page, rest = page + 2 * events->ring_size;
	void *reader = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, events->ring_fd, 0);

	if (reader == MAP_FAILED)
		return -1;
	events->read_pos = reader;
	void *written = mmap(NULL, rest, PROT_READ, MAP_SHARED, events->ring_fd, page);

	if (written == MAP_FAILED)
		return -1;
	events->written = written;
	events->seen = *events->read_pos;
	return 0;
}

/* Edge-triggered: a ring with something in it is always readable, but its reader is to be woken up
 * only when the kernel side says so. */
static int watch_ring(struct events *events)
{
	struct epoll_event wanted = {.events = EPOLLIN | EPOLLET};

	events->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (events->epoll_fd < 0)
		return -1;
	return epoll_ctl(events->epoll_fd, EPOLL_CTL_ADD, events->ring_fd, &wanted);
}

static int open_ring(struct events *events)
{
	events->ring_size = ring_size(events->ring_fd);
	if (!events->ring_size || map_ring(events))
		return -1;
	return watch_ring(events);
}

struct events *events_new(int ring_fd, events_fn *fn, void *ctx, struct errmsg *err)
{
	struct events *events = mem_zalloc(1, sizeof(*events));

	events->ring_fd = ring_fd;
	events->epoll_fd = -1;
	events->page = sysconf(_SC_PAGESIZE);
	events->fn = fn;
	events->ctx = ctx;
	if (!open_ring(events))
		return events;
	errmsg_set(err, "cannot read the kernel's ring buffer: %s", strerror(errno));
	events_free(events);
	return NULL;
}

static void free_store(struct store *store)
{
	free(store->items);
	free(store->bytes);
}

void events_free(struct events *events)
{
	if (!events)
		return;
	if (events->epoll_fd >= 0)
		close(events->epoll_fd);
	if (events->read_pos)
		munmap(events->read_pos, events->page);
	if (events->written)
		munmap(events->written, events->page + 2 * events->ring_size);
	free_store(&events->store);
	free_store(&events->spare);
	free(events->held);
	free(events);
}

int events_fd(const struct events *events)
{
	return events->epoll_fd;
}

static size_t record_aligned(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

static void make_room(struct store *store, size_t len)
{
	if (store->size - store->used >= len)
		return;
	size_t size = 2 * store->size + len;
	char *bytes = mem_alloc(size);

	if (store->used)
		memcpy(bytes, store->bytes, store->used);
	free(store->bytes);
	store->bytes = bytes;
	store->size = size;
}

static void put_record(struct store *store, const char *data, size_t len)
{
	struct event event = {.at = store->used, .len = len};

	memcpy(&event.time_ns, data, sizeof(event.time_ns));
	make_room(store, record_aligned(len));
	memcpy(store->bytes + store->used, data, len);
	store->used += record_aligned(len);
	store->items = mem_grow(store->items, store->count, &store->cap, sizeof(event));
	store->items[store->count++] = event;
}

static size_t length_of(uint32_t head)
{
	return head & ~(record_busy | record_discarded);
}

/* Copies the record at a position, unless it is still being written or was discarded. Returns its
 * head. */
static uint32_t take_record(struct events *events, uint64_t pos)
{
	const char *data = events->written + events->page;
	const char *record = data + (pos & (events->ring_size - 1));
	uint32_t head = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
	size_t len = length_of(head);

	if (!(head & (record_busy | record_discarded)) && len >= sizeof(uint64_t))
		put_record(&events->store, record + RECORD_HEADER, len);
	return head;
}

/* Frees the ring's room before the first held record. */
static void give_back(struct events *events)
{
	uint64_t pos = events->held_count ? events->held[0] : events->seen;

	__atomic_store_n(events->read_pos, pos, __ATOMIC_RELEASE);
}

static void take_held(struct events *events)
{
	size_t still = 0;

	for (size_t i = 0; i < events->held_count; i++)
		if (take_record(events, events->held[i]) & record_busy)
			events->held[still++] = events->held[i];
	events->held_count = still;
	give_back(events);
}

/* Copies what is in the ring now, to free its room however long printing takes; records written
 * meanwhile are left for the next time. A record that is still being written is passed over: its
 * writer may wait for the traced program's memory for any time. */
static void take_records(struct events *events)
{
	uint64_t end = __atomic_load_n((uint64_t *)events->written, __ATOMIC_ACQUIRE);

	take_held(events);
	while (events->seen < end) {
		uint32_t head = take_record(events, events->seen);

		if (head & record_busy) {
			events->held = mem_grow(events->held, events->held_count, &events->held_cap,
						sizeof(*events->held));
			events->held[events->held_count++] = events->seen;
		}
		events->seen += record_aligned(length_of(head) + RECORD_HEADER);
		give_back(events);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* Sorted already, mostly. */
static void sort(struct store *store)
{
	size_t i = 1;

	while (i < store->count && by_time(&store->items[i - 1], &store->items[i]) < 0)
		i++;
	if (i < store->count)
		qsort(store->items, store->count, sizeof(*store->items), by_time);
}

/* Drops the events before this one. */
static void keep_from(struct events *events, size_t from)
{
	struct store *store = &events->store, *spare = &events->spare, old;

	spare->count = spare->used = 0;
	for (size_t i = from; i < store->count; i++)
		put_record(spare, store->bytes + store->items[i].at, store->items[i].len);
	old = *store;
	*store = *spare;
	*spare = old;
}

bool events_read(struct events *events, bool all)
{
	/* no older events are to be expected, except from writers that were held up for long */
	uint64_t newest = all ? UINT64_MAX : clock_ns() - KEEP_NS;
	const struct store *store = &events->store;
	struct epoll_event woken;
	size_t i;

	epoll_wait(events->epoll_fd, &woken, 1, 0);
	take_records(events);
	sort(&events->store);
	for (i = 0; i < store->count && store->items[i].time_ns <= newest && !events->enough; i++) {
		const struct event *event = &store->items[i];

		events->enough = !events->fn(store->bytes + event->at, event->len, events->ctx);
	}
	keep_from(events, events->enough ? store->count : i);
	return !events->enough;
}
