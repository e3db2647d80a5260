// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "frames/frame_print.h"
#include "frames/frames.h"
#include "locks/locks_show_internal.h"
#include "tracing/toolrun.h"
#include "locks/locks_internal.h"

static void stack(const struct locks_show *show, struct json *json, struct lock_stack stack)
{
	size_t count;
	const struct frame *frames = locks_frames(show, stack, &count);

	json_key(json, "stack");
	json_array(json);
	for (size_t i = 0; i < count; i++)
		frame_json_object(json, &frames[i]);
	json_array_end(json);
}

static void waiters(const struct locks_show *show, struct json *json, const struct lock *lock)
{
	struct lock_rows rows = locks_waiters(show, lock);

	json_key(json, "waiters");
	json_array(json);
	for (size_t i = 0; i < rows.count; i++) {
		json_object(json);
		json_member_string(json, "op", locks_op_text(rows.all[i].what));
		json_member_u64(json, "waits", rows.all[i].waits);
		json_member_u64(json, "total_ns", rows.all[i].ns);
		json_member_u64(json, "max_ns", rows.all[i].max_ns);
		json_member_u64(json, "sleeps", rows.all[i].sleeps);
		stack(show, json, rows.all[i].stack);
		json_object_end(json);
	}
	json_array_end(json);
	free(rows.all);
}

static void holders(const struct locks_show *show, struct json *json, const struct lock *lock)
{
	struct lock_rows rows = locks_holders(show, lock);

	json_key(json, "holders");
	json_array(json);
	for (size_t i = 0; i < rows.count; i++) {
		json_object(json);
		json_member_string(json, "held_by", locks_holder_text(rows.all[i].what));
		if (rows.all[i].what == LOCK_READERS)
			json_member_u64(json, "readers", rows.all[i].readers);
		json_member_u64(json, "ns", rows.all[i].ns);
		stack(show, json, rows.all[i].stack);
		json_object_end(json);
	}
	json_array_end(json);
	free(rows.all);
}

static void waiting(const struct locks_show *show, struct json *json, const struct lock *lock)
{
	uint64_t until = locks_until(show, lock);

	json_key(json, "waiting");
	json_array(json);
	for (const struct lock_wait *wait = lock->waiting; wait; wait = wait->next) {
		json_object(json);
		json_member_u64(json, "goid", wait->who.id);
		json_member_string(json, "op", locks_op_text(wait->op));
		json_member_u64(json, "since_ns", locks_between(wait->since_ns, until));
		json_member_bool(json, "ended", wait->ended_ns);
		stack(show, json, wait->stack);
		json_object_end(json);
	}
	json_array_end(json);
}

/* Who was seen to get it, while others wait. */
static void holder(const struct locks_show *show, struct json *json, const struct lock *lock)
{
	json_key(json, "holder");
	if (!lock->waiting || !lock->holder) {
		json_null(json);
		return;
	}
	json_object(json);
	json_member_u64(json, "goid", lock->holder);
	json_member_bool(json, "certain", lock->is_certain);
	json_member_u64(json, "since_ns", locks_between(lock->holder_ns, locks_until(show, lock)));
	stack(show, json, lock->holder_stack);
	json_object_end(json);
}

static void json_lock(void *ctx, const struct lock *lock)
{
	const struct locks_show *show = ctx;
	const char *name = show->name ? show->name(show->ctx, lock) : NULL;
	char *process = locks_process_text(lock), addr[24];
	struct json json;

	snprintf(addr, sizeof(addr), "0x%" PRIx64, lock->addr);
	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "lock");
	if (show->timestamp)
		toolrun_json_time(&json);
	json_member_u64(&json, "pid", lock->pid);
	json_member_string(&json, "comm", process);
	json_member_string(&json, "kind", lock->is_rw ? "rwmutex" : "mutex");
	json_member_string(&json, "addr", addr);
	json_member_string(&json, "name", name);
	json_member_u64(&json, "waits", lock->waits);
	json_member_u64(&json, "total_ns", lock->total_ns);
	json_member_u64(&json, "max_ns", lock->max_ns);
	json_member_u64(&json, "sleeps", lock->sleeps);
	json_member_u64(&json, "spins", lock->spun.count);
	json_member_u64(&json, "spin_ns", lock->spun.ns);
	json_member_u64(&json, "found_free", lock->found_free.count);
	json_member_u64(&json, "found_free_ns", lock->found_free.ns);
	waiters(show, &json, lock);
	holders(show, &json, lock);
	waiting(show, &json, lock);
	holder(show, &json, lock);
	json_object_end(&json);
	free(process);
}

void locks_json(const struct locks_show *show, struct locks *locks)
{
	struct locks_show copy = *show;

	locks_each(locks, json_lock, &copy);
}
