// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpfmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/mem.h"
#include "base/number.h"

enum { BATCH = 4096, BATCH_BYTES = 1 << 20, BATCH_LEAST = 16 };

static int bpf_call(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static union bpf_attr element(int fd, const void *key, const void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = fd;
	attr.key = (uintptr_t)key;
	attr.value = (uintptr_t)value;
	return attr;
}

int bpfmap_lookup(int fd, const void *key, void *value)
{
	union bpf_attr attr = element(fd, key, value);

	return bpf_call(BPF_MAP_LOOKUP_ELEM, &attr);
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	union bpf_attr attr = element(fd, key, value);

	return bpf_call(BPF_MAP_UPDATE_ELEM, &attr);
}

int bpfmap_delete(int fd, const void *key)
{
	union bpf_attr attr = element(fd, key, NULL);

	return bpf_call(BPF_MAP_DELETE_ELEM, &attr);
}

int bpfmap_set(int fd, uint32_t value)
{
	uint32_t first = 0;

	return bpfmap_update(fd, &first, &value);
}

/* A per-CPU map has a value for each possible CPU, which the kernel lists as "0-3" or "0,2-5". */
unsigned bpfmap_cpus(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/possible", "re");
	unsigned first, last, cpus = 0;
	char sep;

	while (f && fscanf(f, "%u", &first) == 1) {
		last = first;
		if (fscanf(f, "-%u", &last) < 0)
			last = first;
		cpus = last + 1 > cpus ? last + 1 : cpus;
		if (fscanf(f, "%c", &sep) != 1 || sep != ',')
			break;
	}
	if (f)
		fclose(f);
	return cpus ? cpus : (unsigned)sysconf(_SC_NPROCESSORS_CONF);
}

static void add_cpus(const uint64_t *values, size_t words, unsigned cpus, uint64_t *sums)
{
	for (unsigned cpu = 0; cpu < cpus; cpu++)
		for (size_t j = 0; j < words; j++)
			sums[j] += values[cpu * words + j];
}

static int sum_one_by_one(int fd, size_t entries, size_t words, unsigned cpus, uint64_t *out)
{
	uint64_t *values = mem_zalloc(words * cpus, sizeof(*values));
	int ret = 0;

	for (uint32_t i = 0; i < entries && !ret; i++) {
		ret = bpfmap_lookup(fd, &i, values);
		if (!ret)
			add_cpus(values, words, cpus, out + i * words);
	}
	free(values);
	return ret;
}

struct batch {
	uint32_t token[2]; /* where the kernel goes on: in and out */
	void *keys, *values;
	uint32_t room, count; /* entries: that keys and values can hold; that they do */
	size_t done;
};

static int next_batch(int fd, struct batch *b)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.batch.in_batch = b->done ? (uintptr_t)&b->token[0] : 0;
	attr.batch.out_batch = (uintptr_t)&b->token[1];
	attr.batch.keys = (uintptr_t)b->keys;
	attr.batch.values = (uintptr_t)b->values;
	attr.batch.count = b->room;
	attr.batch.map_fd = fd;
	int ret = bpf_call(BPF_MAP_LOOKUP_BATCH, &attr);

	if (ret && errno == ENOSPC)
		return ret; /* nothing was read */
	b->count = attr.batch.count;
	b->token[0] = b->token[1];
	return ret;
}

/* per-CPU arrays can be read in batches from Linux 5.13 */
static int sum_batches(int fd, size_t entries, size_t words, unsigned cpus, uint64_t *out)
{
	uint32_t *keys = mem_zalloc(BATCH, sizeof(*keys));
	uint64_t *values = mem_zalloc((size_t)BATCH * words * cpus, sizeof(*values));
	struct batch b = {.keys = keys, .values = values, .room = BATCH};
	int ret = 0;

	while (b.done < entries && !ret) {
		ret = next_batch(fd, &b);
		if (ret && (errno != ENOENT || !b.count))
			break;
		for (uint32_t i = 0; i < b.count && keys[i] < entries; i++)
			add_cpus(values + i * words * cpus, words, cpus, out + keys[i] * words);
		b.done += b.count;
	}
	free(keys);
	free(values);
	return b.done >= entries ? 0 : -1;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	unsigned cpus = bpfmap_cpus();

	memset(out, 0, entries * words * sizeof(*out));
	if (!sum_batches(fd, entries, words, cpus, out))
		return 0;
	memset(out, 0, entries * words * sizeof(*out));
	return sum_one_by_one(fd, entries, words, cpus, out);
}

int bpfmap_sizes(int fd, size_t *key_size, size_t *value_size)
{
	struct bpf_map_info info = {0};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	if (bpf_call(BPF_OBJ_GET_INFO_BY_FD, &attr))
		return -1;
	*key_size = info.key_size;
	*value_size = info.value_size;
	return 0;
}

/* The kernel reads whole buckets, at least one at a time. */
static void make_batch(struct batch *b, uint32_t room, size_t key_size, size_t value_size)
{
	free(b->keys);
	free(b->values);
	b->keys = mem_zalloc(room, key_size);
	b->values = mem_zalloc(room, value_size);
	b->room = room;
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	struct batch b = {.keys = NULL};
	int more = 0, stop = 0, error = 0;

	make_batch(&b, BATCH_BYTES / (key_size + value_size) + BATCH_LEAST, key_size, value_size);
	while (!more && !stop) {
		more = next_batch(fd, &b);
		error = more ? errno : 0;
		if (error == ENOSPC) {
			make_batch(&b, 2 * b.room, key_size, value_size);
			more = 0;
			continue;
		}
		if (more && error != ENOENT)
			break;
		for (uint32_t i = 0; i < b.count && !stop; i++)
			stop = fn((char *)b.keys + i * key_size, (char *)b.values + i * value_size,
				  arg);
		b.done = 1;
	}
	free(b.keys);
	free(b.values);
	errno = error;
	return stop || error == ENOENT ? 0 : -1;
}

uint32_t bpfmap_room(uint32_t room)
{
	const char *wish = getenv("GOTOOLS_ROOM");
	uint64_t n;

	return wish && number_parse(wish, room, &n) && n ? (uint32_t)n : room;
}
