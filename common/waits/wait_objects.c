// SPDX-License-Identifier: Apache-2.0
#include "waits/wait_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "goroutines/memory.h"
#include "goroutines/memory_pages.h"
#include "waits/semaphore_owner_internal.h"
#include "goroutines/snapshot.h"
#include "waits/wait_names_internal.h"
#include "waits/wait_circles_internal.h"
#include "waits/wait_holders_internal.h"
#include "goroutines/wait_still.h"
#include "waits/wait_targets_internal.h"

enum { QUEUE_MAX = 1 << 20 };    /* sudogs read of all queues: they may be linked in a circle */
enum { CHANNELS_TOGETHER = 64 }; /* that are read at one time */
/* With more goroutines than that, circles of channels alone are not sought. */
enum { CHANNELS_ALONE_MAX = 1 << 14 };
enum { CHANNEL_CLOSED = 28, CHANNEL_RECEIVERS = 24, CHANNEL_SENDERS = 40 }; /* from its type */

struct queued { /* a case of a select */
	uint64_t sudog;
	bool sends;
};

struct wait_objects {
	const struct snapshot_source *from;
	const struct snapshot *snap;
	struct wait_channel *channels;
	struct index channel_index;
	size_t channel_count, channel_cap;
	struct queued *queued;
	struct index queued_index;
	size_t queued_count, queued_cap;
	struct wait_lock *locks;
	struct index lock_index;
	size_t lock_count, lock_cap;
	struct wait_circle_step *steps; /* of each goroutine */
	struct wait_names *names;       /* NULL: none are sought */
};

/* --- channels --- */

static size_t find_channel(const struct wait_objects *objects, uint64_t addr)
{
	size_t n = index_first(&objects->channel_index, index_hash(0, addr));

	while (n != INDEX_NONE && objects->channels[n].addr != addr)
		n = index_next(&objects->channel_index, n);
	return n;
}

static struct wait_channel *add_channel(struct wait_objects *objects, uint64_t addr)
{
	size_t n = find_channel(objects, addr);

	if (n != INDEX_NONE)
		return &objects->channels[n];
	index_add(&objects->channel_index, index_hash(0, addr));
	objects->channels = mem_grow(objects->channels, objects->channel_count,
				     &objects->channel_cap, sizeof(*objects->channels));
	struct wait_channel *channel = &objects->channels[objects->channel_count++];

	*channel = (struct wait_channel){.addr = addr};
	return channel;
}

static void read_queue(struct wait_objects *objects, const struct memory *mem, uint64_t sudog,
		       bool sends)
{
	while (sudog && objects->queued_count < QUEUE_MAX) {
		index_add(&objects->queued_index, index_hash(0, sudog));
		objects->queued = mem_grow(objects->queued, objects->queued_count,
					   &objects->queued_cap, sizeof(*objects->queued));
		objects->queued[objects->queued_count++] = (struct queued){sudog, sends};
		if (!memory_u64(mem, sudog + 8, &sudog)) /* next */
			return;
	}
}

static void read_channel(struct wait_objects *objects, const struct memory *mem,
			 struct wait_channel *channel)
{
	uint32_t type = objects->from->waits->channel_type, closed;
	uint64_t words[2], queue;

	channel->is_read =
		mem->read(mem->ctx, channel->addr, words, sizeof(words)) &&
		mem->read(mem->ctx, channel->addr + CHANNEL_CLOSED, &closed, sizeof(closed)) &&
		memory_u64(mem, channel->addr + type, &channel->type);
	if (!channel->is_read)
		return;
	channel->len = words[0];
	channel->cap = words[1];
	channel->closed = closed;
	if (!channel->in_select)
		return;
	if (memory_u64(mem, channel->addr + type + CHANNEL_RECEIVERS, &queue))
		read_queue(objects, mem, queue, false);
	if (memory_u64(mem, channel->addr + type + CHANNEL_SENDERS, &queue))
		read_queue(objects, mem, queue, true);
}

static void read_channels(struct wait_objects *objects)
{
	struct memory_pages *pages = memory_pages_new(objects->from->mem);

	for (size_t i = 0; i < objects->channel_count; i++) {
		if (i % CHANNELS_TOGETHER == 0)
			memory_pages_forget(pages);
		read_channel(objects, memory_pages_memory(pages), &objects->channels[i]);
	}
	memory_pages_free(pages);
}

enum wait_direction wait_objects_direction(const struct wait_objects *objects,
					   const struct goroutine *g, const struct wait *wait)
{
	if (snapshot_is_at_channel(objects->snap, g))
		return strstr(snapshot_state(objects->snap, g), "send") ? WAIT_SENDS
									: WAIT_RECEIVES;
	size_t n = index_first(&objects->queued_index, index_hash(0, wait->sudog));

	while (n != INDEX_NONE && objects->queued[n].sudog != wait->sudog)
		n = index_next(&objects->queued_index, n);
	if (n == INDEX_NONE)
		return WAIT_UNKNOWN;
	return objects->queued[n].sends ? WAIT_SENDS : WAIT_RECEIVES;
}

static void count_waiters(struct wait_objects *objects, const struct goroutine *g)
{
	for (size_t i = 0; i < g->wait_count; i++) {
		const struct wait *wait = &objects->snap->waits.all[g->waits + i];

		if (wait->kind != WAIT_CHANNEL)
			continue;
		struct wait_channel *channel =
			&objects->channels[find_channel(objects, wait->object)];
		enum wait_direction direction = wait_objects_direction(objects, g, wait);

		channel->receivers += direction == WAIT_RECEIVES;
		channel->senders += direction == WAIT_SENDS;
	}
}

static void find_channels(struct wait_objects *objects)
{
	const struct snapshot *snap = objects->snap;

	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];
		bool selects = !snapshot_is_at_channel(snap, g);

		for (size_t j = 0; j < g->wait_count; j++) {
			const struct wait *wait = &snap->waits.all[g->waits + j];

			if (wait->kind == WAIT_CHANNEL)
				add_channel(objects, wait->object)->in_select |= selects;
		}
	}
	read_channels(objects);
	for (size_t i = 0; i < snap->count; i++)
		count_waiters(objects, &snap->all[i]);
}

/* --- locks --- */

static struct wait_lock *find_lock(const struct wait_objects *objects, uint64_t addr)
{
	size_t n = index_first(&objects->lock_index, index_hash(0, addr));

	while (n != INDEX_NONE && objects->locks[n].addr != addr)
		n = index_next(&objects->lock_index, n);
	return n == INDEX_NONE ? NULL : &objects->locks[n];
}

static void add_lock(struct wait_objects *objects, uint64_t addr)
{
	struct wait_lock *lock = find_lock(objects, addr);

	if (lock) {
		lock->waiters++;
		return;
	}
	index_add(&objects->lock_index, index_hash(0, addr));
	objects->locks = mem_grow(objects->locks, objects->lock_count, &objects->lock_cap,
				  sizeof(*objects->locks));
	objects->locks[objects->lock_count++] = (struct wait_lock){.addr = addr, .waiters = 1};
}

static void find_locks(struct wait_objects *objects, struct snapshot *snap,
		       const struct frames *frames)
{
	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];
		struct wait *wait = g->wait_count ? &snap->waits.all[g->waits] : NULL;
		struct semaphore_owner owner = {.kind = WAIT_SEMAPHORE};
		size_t count;

		if (!wait || wait->kind != WAIT_SEMAPHORE)
			continue;
		const uint64_t *stack = snapshot_stack(snap, g->stack, &count);

		frames_all(frames, stack, count, semaphore_owner_frame, &owner);
		wait->kind = owner.kind;
		wait->semaphore = wait->object;
		wait->object = semaphore_owner_addr(&owner, wait->object);
		add_lock(objects, wait->object);
	}
}

static bool is_lock(const struct wait *wait)
{
	return wait->kind == WAIT_SEMAPHORE || wait->kind >= WAIT_MUTEX;
}

static void look_for_names(struct wait_objects *objects, const struct frames *frames,
			   struct lock_fields *fields)
{
	const struct snapshot *snap = objects->snap;

	objects->names = wait_names_new(objects->from, snap, frames, fields, objects->locks,
					objects->lock_count);
	for (size_t i = 0; i < snap->count; i++) {
		const struct goroutine *g = &snap->all[i];
		const struct wait *wait = g->wait_count ? &snap->waits.all[g->waits] : NULL;

		if (wait && is_lock(wait))
			wait_names_waits(objects->names,
					 find_lock(objects, wait->object) - objects->locks, i);
	}
	wait_names_look(objects->names);
}

/* --- who may release them --- */

static void add_goid(uint64_t *goids, size_t *count, uint64_t goid)
{
	if (*count < WAIT_HOLDERS_MAX)
		goids[*count] = goid;
	++*count;
}

/* Of one lock: the first candidate is the likeliest. */
static void note_candidates(const struct snapshot *snap, struct wait_lock *lock,
			    const struct wait_candidate *found, size_t count)
{
	bool by_code = count && found[0].how != CANDIDATE_POINTS;

	for (size_t i = 0; i < count; i++) {
		const struct goroutine *g = &snap->all[found[i].goroutine];

		if (by_code && found[i].how == CANDIDATE_POINTS)
			return;
		if (!by_code && wait_holders_sleeps(snap, g))
			add_goid(lock->keepers, &lock->keeper_count, g->goid);
		else
			add_goid(lock->holders, &lock->holder_count, g->goid);
	}
}

static void note_holders(struct wait_objects *objects, const struct wait_targets *targets,
			 const struct wait_candidates *found)
{
	for (size_t i = 0; i < targets->count; i++) {
		const struct wait_target *target = &targets->all[i];
		struct wait_lock *lock =
			target->kind == WAIT_CHANNEL ? NULL : find_lock(objects, target->addr);

		if (lock)
			note_candidates(objects->snap, lock, &found->all[found->first[i]],
					found->first[i + 1] - found->first[i]);
	}
}

/* Circles of which somebody has gone on are none. */
static void look_again(struct wait_objects *objects)
{
	size_t count = 0, all = objects->snap->count;
	uint32_t *members = mem_alloc((all + 1) * sizeof(*members));
	bool *still = mem_alloc(all + 1);

	for (size_t i = 0; i < all; i++)
		if (objects->steps[i].next != WAIT_NOBODY)
			members[count++] = i;
	if (count)
		wait_still_look(objects->from, objects->snap, members, count, still);
	for (size_t i = 0; i < count; i++) {
		uint32_t at = members[i], next;

		while (!still[i] && (next = objects->steps[at].next) != WAIT_NOBODY) {
			objects->steps[at].next = WAIT_NOBODY;
			at = next;
		}
	}
	free(members);
	free(still);
}

static void find_holders(struct wait_objects *objects, const struct frames *frames,
			 struct lock_fields *fields)
{
	const struct snapshot *snap = objects->snap;
	struct wait_candidates found;
	struct wait_targets targets;

	objects->steps = mem_alloc((snap->count + 1) * sizeof(*objects->steps));
	for (size_t i = 0; i < snap->count; i++)
		objects->steps[i] = (struct wait_circle_step){.next = WAIT_NOBODY};
	if (!frames)
		return;
	wait_targets_find(snap, &targets);
	if (targets.has_locks || (targets.count && snap->count <= CHANNELS_ALONE_MAX)) {
		struct wait_holders_source source = {objects->from, snap, frames, fields, &targets};

		wait_holders_find(&source, &found);
		note_holders(objects, &targets, &found);
		wait_circles_find(&source, &found, objects->steps);
		wait_candidates_free(&found);
		look_again(objects);
	}
	wait_targets_free(&targets);
}

struct wait_objects *wait_objects_new(const struct snapshot_source *from, struct snapshot *snap,
				      const struct frames *frames, struct lock_fields *fields)
{
	struct wait_objects *objects = mem_zalloc(1, sizeof(*objects));

	objects->from = from;
	objects->snap = snap;
	find_channels(objects);
	find_locks(objects, snap, frames);
	find_holders(objects, frames, fields);
	if (fields && objects->lock_count)
		look_for_names(objects, frames, fields);
	return objects;
}

void wait_objects_free(struct wait_objects *objects)
{
	if (!objects)
		return;
	wait_names_free(objects->names);
	index_free(&objects->channel_index);
	index_free(&objects->queued_index);
	index_free(&objects->lock_index);
	free(objects->channels);
	free(objects->queued);
	free(objects->locks);
	free(objects->steps);
	free(objects);
}

const struct wait_channel *wait_objects_channel(const struct wait_objects *objects,
						const struct wait *wait)
{
	return &objects->channels[find_channel(objects, wait->object)];
}

const struct wait_lock *wait_objects_lock(const struct wait_objects *objects,
					  const struct wait *wait)
{
	return find_lock(objects, wait->object);
}

const char *wait_objects_name(const struct wait_objects *objects, const struct wait *wait)
{
	const struct wait_lock *lock = find_lock(objects, wait->object);

	return objects->names ? wait_names_find(objects->names, lock - objects->locks, wait->kind)
			      : NULL;
}

const struct goroutine *wait_objects_next_in_circle(const struct wait_objects *objects,
						    const struct goroutine *g, bool *perhaps)
{
	const struct wait_circle_step *step = &objects->steps[g - objects->snap->all];

	if (perhaps)
		*perhaps = step->how == CIRCLE_PERHAPS;
	return step->next == WAIT_NOBODY ? NULL : &objects->snap->all[step->next];
}
