// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpfdelta.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "kernel/bpfmap.h"

struct bpfdelta {
	int fd;
	struct index index; /* of keys */
	uint8_t *keys;      /* key_size bytes each */
	uint64_t *counts;   /* as they were read last */
	size_t key_size, count, keys_cap, counts_cap;
	void (*fn)(void *ctx, const void *key, uint64_t more);
	void *ctx;
};

struct bpfdelta *bpfdelta_new(int fd)
{
	struct bpfdelta *delta = mem_zalloc(1, sizeof(*delta));

	delta->fd = fd;
	return delta;
}

void bpfdelta_free(struct bpfdelta *delta)
{
	if (!delta)
		return;
	index_free(&delta->index);
	free(delta->keys);
	free(delta->counts);
	free(delta);
}

static uint64_t hash_of(const struct bpfdelta *delta, const uint8_t *key)
{
	uint64_t hash = 0, word;

	for (size_t at = 0; at < delta->key_size; at += sizeof(word)) {
		size_t left = delta->key_size - at;

		word = 0;
		memcpy(&word, key + at, left < sizeof(word) ? left : sizeof(word));
		hash = index_hash(hash, word);
	}
	return hash;
}

static uint64_t *count_of(struct bpfdelta *delta, const void *key)
{
	uint64_t hash = hash_of(delta, key);
	size_t size = delta->key_size, n = index_first(&delta->index, hash);

	while (n != INDEX_NONE && memcmp(delta->keys + n * size, key, size) != 0)
		n = index_next(&delta->index, n);
	if (n != INDEX_NONE)
		return &delta->counts[n];
	index_add(&delta->index, hash);
	delta->keys = mem_grow(delta->keys, delta->count, &delta->keys_cap, size);
	delta->counts =
		mem_grow(delta->counts, delta->count, &delta->counts_cap, sizeof(*delta->counts));
	memcpy(delta->keys + delta->count * size, key, size);
	delta->counts[delta->count] = 0;
	return &delta->counts[delta->count++];
}

static int note(const void *key, const void *value, void *arg)
{
	struct bpfdelta *delta = arg;
	uint64_t now, *then = count_of(delta, key);

	memcpy(&now, value, sizeof(now));
	if (now > *then && delta->fn)
		delta->fn(delta->ctx, key, now - *then);
	*then = now;
	return 0;
}

int bpfdelta_each(struct bpfdelta *delta, void (*fn)(void *ctx, const void *key, uint64_t more),
		  void *ctx)
{
	size_t value_size;

	if (bpfmap_sizes(delta->fd, &delta->key_size, &value_size))
		return -1;
	delta->fn = fn;
	delta->ctx = ctx;
	return bpfmap_each(delta->fd, delta->key_size, value_size, note, delta);
}
