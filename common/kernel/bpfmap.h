/* SPDX-License-Identifier: Apache-2.0 */
/* Access to BPF maps from the tools. `fd` comes from bpfprog_map(). All functions return 0, or -1
 * with errno. */
#ifndef BPFMAP_H
#define BPFMAP_H

#include <stddef.h>
#include <stdint.h>

int bpfmap_lookup(int fd, const void *key, void *value); /* per-CPU: one value for each CPU */
int bpfmap_update(int fd, const void *key, const void *value);
int bpfmap_delete(int fd, const void *key);
int bpfmap_set(int fd, uint32_t value); /* the first entry of an array of u32 */

unsigned bpfmap_cpus(void); /* values a per-CPU map holds for each key */

/* Adds up a per-CPU array whose values are `words` u64 each: out[i * words + j] is the sum over
 * all CPUs of word j of entry i. */
int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out);

/* How many bytes its keys and values have. */
int bpfmap_sizes(int fd, size_t *key_size, size_t *value_size);
/* Calls fn for each entry of a hash, in no order, with copies. Entries that come or go meanwhile
 * are seen or not; fn may delete any. It returns nonzero to stop. */
int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg);
/* How many entries a map is to have: `room`, or fewer, for tests, by GOTOOLS_ROOM=n. */
uint32_t bpfmap_room(uint32_t room);

#endif
