// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "goroutines/frame_print.h"
#include "goroutines/frames.h"
#include "tracing/locks_show_parts.h"
#include "tracing/toolrun.h"

static void number(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_u64(json, value);
}

static void text(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

static void stack(const struct locks_show *show, struct json *json, struct lock_stack stack)
{
	size_t count;
	const struct lock_frame *frames = locks_frames(show, stack, &count);

	json_key(json, "stack");
	json_array(json);
	for (size_t i = 0; i < count; i++) {
		struct frame frame = {
			.func = frames[i].func, .file = frames[i].file, .line = frames[i].line};

		json_object(json);
		frame_json(json, &frame);
		if (frames[i].inlined) {
			json_key(json, "inlined");
			json_bool(json, true);
		}
		json_object_end(json);
	}
	json_array_end(json);
}

static void waiters(const struct locks_show *show, struct json *json, const struct lock *lock)
{
	struct lock_rows rows = locks_waiters(show, lock);

	json_key(json, "waiters");
	json_array(json);
	for (size_t i = 0; i < rows.count; i++) {
		json_object(json);
		text(json, "op", locks_op_text(rows.all[i].what));
		number(json, "waits", rows.all[i].waits);
		number(json, "total_ns", rows.all[i].ns);
		number(json, "max_ns", rows.all[i].max_ns);
		number(json, "sleeps", rows.all[i].sleeps);
		stack(show, json, rows.all[i].stack);
		json_object_end(json);
	}
	json_array_end(json);
	free(rows.all);
}

static void holders(const struct locks_show *show, struct json *json, const struct lock *lock)
{
	static const char *const how[] = {[LOCK_HELD] = "goroutine",
					  [LOCK_READERS] = "readers",
					  [LOCK_FREE] = "nobody",
					  [LOCK_UNKNOWN] = "unknown"};
	struct lock_rows rows = locks_holders(show, lock);

	json_key(json, "holders");
	json_array(json);
	for (size_t i = 0; i < rows.count; i++) {
		json_object(json);
		text(json, "held_by", how[rows.all[i].what]);
		if (rows.all[i].what == LOCK_READERS)
			number(json, "readers", rows.all[i].readers);
		number(json, "ns", rows.all[i].ns);
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
		number(json, "goid", wait->who.id);
		text(json, "op", locks_op_text(wait->op));
		number(json, "since_ns", locks_between(wait->since_ns, until));
		json_key(json, "ended");
		json_bool(json, wait->ended_ns);
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
	number(json, "goid", lock->holder);
	json_key(json, "certain");
	json_bool(json, lock->is_certain);
	number(json, "since_ns", locks_between(lock->holder_ns, locks_until(show, lock)));
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
	text(&json, "type", "lock");
	if (show->timestamp)
		toolrun_json_time(&json);
	number(&json, "pid", lock->pid);
	text(&json, "comm", process);
	text(&json, "kind", lock->is_rw ? "rwmutex" : "mutex");
	text(&json, "addr", addr);
	text(&json, "name", name);
	number(&json, "waits", lock->waits);
	number(&json, "total_ns", lock->total_ns);
	number(&json, "max_ns", lock->max_ns);
	number(&json, "sleeps", lock->sleeps);
	number(&json, "spins", lock->spun.count);
	number(&json, "spin_ns", lock->spun.ns);
	number(&json, "found_free", lock->found_free.count);
	number(&json, "found_free_ns", lock->found_free.ns);
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
