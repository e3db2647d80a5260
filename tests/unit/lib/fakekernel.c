// SPDX-License-Identifier: Apache-2.0
#include "fakekernel.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "unit.h"

enum { MAPS_MAX = 64 };

struct fakeentry {
	struct fakeentry *next;
	u8 *key, *value;
};

struct fakekernel fakekernel;
static struct fakemap *maps[MAPS_MAX]; /* that have been used */
static size_t map_count;
static struct fakeentry *deleted; /* may be read yet */

static void free_entries(struct fakeentry *entry)
{
	while (entry) {
		struct fakeentry *next = entry->next;

		free(entry->key);
		free(entry->value);
		free(entry);
		entry = next;
	}
}

void fakekernel_begin(void)
{
	for (size_t i = 0; i < map_count; i++) {
		free_entries(maps[i]->entries);
		maps[i]->entries = NULL;
		maps[i]->count = 0;
	}
	map_count = 0;
	free_entries(deleted);
	deleted = NULL;
	memset(&fakekernel, 0, sizeof(fakekernel));
	fakekernel.ring_room = FAKEKERNEL_EVENTS;
	fakemem_begin(FAKEMEM_MAX);
}

long fakekernel_read(void *to, u32 size, const void *from)
{
	if ((uintptr_t)from < 4096) {
		memset(to, 0, size);
		return -EFAULT;
	}
	memcpy(to, from, size);
	return 0;
}

long fakekernel_read_user(void *to, u32 size, const void *from)
{
	bool absent = fakekernel.pages_absent;

	fakekernel.pages_absent -= absent;
	if (!absent && fakemem_memory.read(NULL, (uintptr_t)from, to, size))
		return 0;
	memset(to, 0, size);
	return -EFAULT;
}

/* --- helpers --- */

u64 bpf_ktime_get_ns(void)
{
	u64 now = fakekernel.ns;

	fakekernel.ns += fakekernel.ns_step;
	return now;
}

u64 bpf_get_current_pid_tgid(void)
{
	return fakekernel.ids;
}

long bpf_get_ns_current_pid_tgid(u64 dev, u64 ino, struct bpf_pidns_info *ns, u32 size)
{
	(void)dev;
	(void)ino;
	(void)size;
	ns->tgid = fakekernel.ns_ids >> 32;
	ns->pid = fakekernel.ns_ids;
	return fakekernel.ns_ids ? 0 : -2;
}

u64 bpf_get_current_task(void)
{
	return (u64)fakekernel.task;
}

u32 bpf_get_smp_processor_id(void)
{
	return fakekernel.cpu;
}

u32 bpf_get_prandom_u32(void)
{
	return fakekernel.random;
}

long bpf_get_current_comm(char *to, u32 size)
{
	memcpy(to, fakekernel.comm, size);
	return 0;
}

u64 bpf_get_attach_cookie(struct pt_regs *ctx)
{
	(void)ctx;
	return fakekernel.cookie;
}

/* --- maps --- */

static struct fakeentry *add_entry(struct fakemap *map, const void *key)
{
	struct fakeentry *entry = mem_zalloc(1, sizeof(*entry));
	bool used = false;

	for (size_t i = 0; i < map_count; i++)
		used |= maps[i] == map;
	if (!used) {
		assert_true(map_count < MAPS_MAX);
		maps[map_count++] = map;
	}
	entry->key = mem_zalloc(1, map->key_size);
	entry->value = mem_zalloc(1, map->value_size);
	memcpy(entry->key, key, map->key_size);
	entry->next = map->entries;
	map->entries = entry;
	map->count++;
	return entry;
}

static struct fakeentry **find_entry(struct fakemap *map, const void *key)
{
	struct fakeentry **at = &map->entries;

	while (*at && memcmp((*at)->key, key, map->key_size) != 0)
		at = &(*at)->next;
	return at;
}

static void remove_entry(struct fakemap *map, struct fakeentry **at)
{
	struct fakeentry *entry = *at;

	*at = entry->next;
	entry->next = deleted;
	deleted = entry;
	map->count--;
}

static bool is_array(const struct fakemap *map)
{
	return !strcmp(map->type, "array");
}

void *fakemap_lookup(struct fakemap *map, const void *key)
{
	struct fakeentry *entry = *find_entry(map, key);

	if (!entry && is_array(map) && *(const u32 *)key < map->room)
		entry = add_entry(map, key);
	return entry ? entry->value : NULL;
}

long fakemap_update(struct fakemap *map, const void *key, const void *value, bool only_new)
{
	struct fakeentry **at = find_entry(map, key);

	if (fakekernel.refuses && !strcmp(fakekernel.refuses, map->name))
		return -ENOMEM;
	if (*at && only_new)
		return -EEXIST;
	if (is_array(map)) {
		void *to = fakemap_lookup(map, key);

		if (to)
			memcpy(to, value, map->value_size);
		return to ? 0 : -E2BIG;
	}
	if (*at) {
		remove_entry(map, at);
	} else if (map->count >= map->room) {
		if (strcmp(map->type, "lru_hash") != 0)
			return -E2BIG;
		for (at = &map->entries; (*at)->next;)
			at = &(*at)->next;
		remove_entry(map, at);
	}
	memcpy(add_entry(map, key)->value, value, map->value_size);
	return 0;
}

long fakemap_delete(struct fakemap *map, const void *key)
{
	struct fakeentry **at = find_entry(map, key);

	if (!*at)
		return -ENOENT;
	remove_entry(map, at);
	return 0;
}

const void *fakemap_key(const struct fakemap *map, size_t i)
{
	const struct fakeentry *entry = map->entries;

	if (i >= map->count)
		return NULL;
	for (i = map->count - 1 - i; i; i--)
		entry = entry->next;
	return entry->key;
}

/* --- the ring buffer --- */

void *fakering_reserve(size_t size)
{
	struct fakeevent *event = &fakekernel.events[fakekernel.event_count];

	if (!fakekernel.ring_room)
		return NULL;
	assert_true(fakekernel.event_count < FAKEKERNEL_EVENTS && size <= sizeof(event->data));
	fakekernel.ring_room--;
	memset(event->data, 0xa5, size); /* as memory that was used before */
	event->len = size;
	return event->data;
}

void fakering_submit(void *event, u64 flags)
{
	assert_ptr_equal(event, fakekernel.events[fakekernel.event_count].data);
	fakekernel.events[fakekernel.event_count++].flags = flags;
}

long fakering_output(const void *data, size_t size, u64 flags)
{
	void *to = fakering_reserve(size);

	if (!to)
		return -EAGAIN;
	memcpy(to, data, size);
	fakering_submit(to, flags);
	return 0;
}
