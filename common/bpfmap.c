// SPDX-License-Identifier: Apache-2.0
#include "bpfmap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "mem.h"

enum { BATCH = 4096 };

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

static int next_key(int fd, const void *key, void *next)
{
	union bpf_attr attr = element(fd, key, next);

	return bpf_call(BPF_MAP_GET_NEXT_KEY, &attr);
}

/* The kernel lays out a value for each CPU that could ever be there, as "0-3" or "0,2-5". */
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
	uint32_t *keys;
	uint64_t *values;
	uint32_t count;
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
	attr.batch.count = BATCH;
	attr.batch.map_fd = fd;
	int ret = bpf_call(BPF_MAP_LOOKUP_BATCH, &attr);

	b->count = attr.batch.count;
	b->token[0] = b->token[1];
	return ret;
}

/* per-CPU arrays can be read in batches from Linux 5.13 */
static int sum_batches(int fd, size_t entries, size_t words, unsigned cpus, uint64_t *out)
{
	struct batch b = {
		.keys = mem_zalloc(BATCH, sizeof(uint32_t)),
		.values = mem_zalloc((size_t)BATCH * words * cpus, sizeof(uint64_t)),
	};
	int ret = 0;

	while (b.done < entries && !ret) {
		ret = next_batch(fd, &b);
		if (ret && (errno != ENOENT || !b.count))
			break;
		for (uint32_t i = 0; i < b.count && b.keys[i] < entries; i++)
			add_cpus(b.values + i * words * cpus, words, cpus, out + b.keys[i] * words);
		b.done += b.count;
	}
	free(b.keys);
	free(b.values);
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

int bpfmap_clear_percpu(int fd, size_t entries, size_t words)
{
	void *zeroes = mem_zalloc(words * bpfmap_cpus(), sizeof(uint64_t));
	int ret = 0;

	for (uint32_t i = 0; i < entries && !ret; i++)
		ret = bpfmap_update(fd, &i, zeroes);
	free(zeroes);
	return ret;
}

/* The key after the current one is fetched before fn may delete the current one. */
int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	char *key = mem_zalloc(2, key_size), *next = key + key_size;
	char *value = mem_zalloc(1, value_size);
	int more = next_key(fd, NULL, key), stop = 0;

	while (!more && !stop) {
		more = next_key(fd, key, next);
		if (!bpfmap_lookup(fd, key, value))
			stop = fn(key, value, arg);
		memcpy(key, next, key_size);
	}
	int error = more ? errno : 0;

	free(key);
	free(value);
	errno = error;
	return stop || error == ENOENT ? 0 : -1;
}
