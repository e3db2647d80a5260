// SPDX-License-Identifier: Apache-2.0
/* The accounts of locks as a profile: the stacks of those who wait, and of those who hold. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "locks/lock_stacks_internal.h"
#include "locks/locks_internal.h"
#include "locks/locks_show_internal.h"
#include "profile/profile.h"

static const struct profile_type types[] = {
	{"waits", "count"}, {"delay", "nanoseconds"}, {"held", "nanoseconds"}};
const struct profile_spec locks_profile_spec = {
	.tool = "golocks", .types = types, .type_count = 3, .shown = 1};

struct profiling {
	struct locks_show show;
	struct profile *profile;
};

static void add_stack(const struct profiling *out, struct lock_stack stack, const char *word)
{
	struct frames program = lock_stacks_frames(out->show.stacks, stack.bias);
	struct profile_at at = {out->profile, &program};
	size_t count;
	const struct frame *frames = locks_frames(&out->show, stack, &count);

	for (size_t i = 0; i < count; i++)
		profile_frame(&at, &frames[i]);
	if (!count)
		profile_word(out->profile, word);
}

static void add_lock(const struct profiling *out, const struct lock *lock, const char *process)
{
	const char *name = out->show.name ? out->show.name(out->show.ctx, lock) : NULL;
	char addr[24];

	snprintf(addr, sizeof(addr), "0x%" PRIx64, lock->addr);
	profile_label(out->profile, "lock", name ? name : addr);
	profile_label(out->profile, "addr", addr);
	profile_label(out->profile, "kind", lock->is_rw ? "rwmutex" : "mutex");
	profile_number(out->profile, "pid", lock->pid);
	profile_label(out->profile, "comm", process);
}

static void add_waiters(const struct profiling *out, const struct lock *lock, const char *process)
{
	struct lock_rows rows = locks_waiters(&out->show, lock);

	for (size_t i = 0; i < rows.count; i++) {
		add_stack(out, rows.all[i].stack, "[lost]");
		add_lock(out, lock, process);
		profile_label(out->profile, "op", locks_op_text(rows.all[i].what));
		profile_add(out->profile, (uint64_t[]){rows.all[i].waits, rows.all[i].ns, 0});
	}
	free(rows.all);
}

static void add_holders(const struct profiling *out, const struct lock *lock, const char *process)
{
	struct lock_rows rows = locks_holders(&out->show, lock);

	for (size_t i = 0; i < rows.count; i++) {
		const char *how = locks_holder_text(rows.all[i].what);
		char word[24];

		snprintf(word, sizeof(word), "[%s]", how);
		add_stack(out, rows.all[i].stack, word);
		add_lock(out, lock, process);
		profile_label(out->profile, "held_by", how);
		profile_add(out->profile, (uint64_t[]){0, 0, rows.all[i].ns});
	}
	free(rows.all);
}

static void profile_lock(void *ctx, const struct lock *lock)
{
	const struct profiling *out = ctx;
	char *process = locks_process_text(lock);

	add_waiters(out, lock, process);
	add_holders(out, lock, process);
	free(process);
}

void locks_profile(const struct locks_show *show, struct locks *locks, struct profile *profile)
{
	struct profiling out = {*show, profile};

	out.show.frames = SIZE_MAX;
	locks_each(locks, profile_lock, &out);
}
