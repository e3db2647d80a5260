/* SPDX-License-Identifier: Apache-2.0 */
/* The maps and the ring buffer of fakekernel.h, as programs name and call them. */
#ifndef FAKEMAP_H
#define FAKEMAP_H

#include "fakekernel.h"

struct fakemap {
	const char *name, *type;
	size_t key_size, value_size, room;
	size_t count;
	struct fakeentry *entries; /* the last one inserted is first */
};

void *fakemap_lookup(struct fakemap *map, const void *key);
long fakemap_update(struct fakemap *map, const void *key, const void *value, bool only_new);
long fakemap_delete(struct fakemap *map, const void *key);
/* The i-th key that a hash has, in the order in which they came; NULL: there are no more. */
const void *fakemap_key(const struct fakemap *map, size_t i);
void *fakering_reserve(size_t size);
void fakering_submit(void *event, u64 flags);
long fakering_output(const void *data, size_t size, u64 flags);

#define FAKEMAP(type, k, v, name, room)                                                            \
	static struct fakemap name##_map = {#name, type, sizeof(k), sizeof(v), room, 0, NULL};     \
	static v *fakemap_##name##_lookup(const k *key)                                            \
	{                                                                                          \
		return fakemap_lookup(&name##_map, key);                                           \
	}                                                                                          \
	static long fakemap_##name##_update(const k *key, const v *value)                          \
	{                                                                                          \
		return fakemap_update(&name##_map, key, value, false);                             \
	}                                                                                          \
	static long fakemap_##name##_insert(const k *key, const v *value)                          \
	{                                                                                          \
		return fakemap_update(&name##_map, key, value, true);                              \
	}                                                                                          \
	static long fakemap_##name##_delete(const k *key)                                          \
	{                                                                                          \
		return fakemap_delete(&name##_map, key);                                           \
	}                                                                                          \
	static const struct {                                                                      \
		v *(*lookup)(const k *key);                                                        \
		long (*update)(const k *key, const v *value);                                      \
		long (*insert)(const k *key, const v *value);                                      \
		long (*delete)(const k *key);                                                      \
	} name __attribute__((unused)) = {fakemap_##name##_lookup, fakemap_##name##_update,        \
					  fakemap_##name##_insert, fakemap_##name##_delete}

#define NO_TEXT(name) _Static_assert(1, #name) /* none has */
#define BPF_ARRAY(name, v, room) FAKEMAP("array", u32, v, name, room)
#define BPF_PERCPU_ARRAY(name, v, room) FAKEMAP("array", u32, v, name, room)
#define BPF_TABLE(type, k, v, name, room) FAKEMAP(type, k, v, name, room)
#define BPF_F_TABLE(type, k, v, name, room, flags) FAKEMAP(type, k, v, name, room)

#define BPF_RINGBUF_OUTPUT(name, pages)                                                            \
	static const struct {                                                                      \
		void *(*ringbuf_reserve)(size_t size);                                             \
		void (*ringbuf_submit)(void *event, u64 flags);                                    \
		long (*ringbuf_output)(const void *data, size_t size, u64 flags);                  \
	} name __attribute__((unused)) = {fakering_reserve, fakering_submit, fakering_output}

/* What a counter of a program's map is: of map `losses`, say */
#define FAKEGOROUTINE_COUNT(map, i)                                                                \
	({                                                                                         \
		u32 at_ = (i);                                                                     \
		*(map).lookup(&at_);                                                               \
	})

#endif
