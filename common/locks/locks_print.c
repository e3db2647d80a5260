// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/mem.h"
#include "frames/frame_print.h"
#include "frames/frames.h"
#include "locks/locks_show_internal.h"
#include "locks/locks_internal.h"

enum { ROWS_MAX = 8, TIME_TEXT = 24 }; /* of a lock, of each sort */

struct printing {
	const struct locks_show *show;
	size_t left_out; /* how many locks are to be, yet */
	uint64_t locks, waits, ns, going_on;
	uint64_t unwaited_locks; /* that nobody waited for, and what was got of them */
	struct lock_unwaited unwaited;
};

/* Three digits: "12.3ms" */
static const char *time_text(char text[TIME_TEXT], uint64_t ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	size_t i = 0;

	while (i < 3 && (double)ns < units[i].ns * 0.9995)
		i++;
	double value = (double)ns / units[i].ns;
	int digits = units[i].ns == 1 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;

	snprintf(text, TIME_TEXT, "%.*f%s", digits, value, units[i].unit);
	return text;
}

static void print_trace(const struct printing *out, struct lock_stack stack)
{
	size_t count;
	const struct frame *frames = locks_frames(out->show, stack, &count);

	if (!count)
		fputs("[lost]", stdout);
	for (size_t i = 0; i < count; i++) {
		if (i)
			printf("\n%38s", "");
		frame_print(stdout, &frames[i]);
	}
}

/* What is waited for, and where. */
static void print_waiters(const struct printing *out, const struct lock_rows *rows)
{
	char total[TIME_TEXT], longest[TIME_TEXT];

	for (size_t i = 0; i < rows->count && i < ROWS_MAX; i++) {
		const struct lock_row *row = &rows->all[i];

		printf("%8s %8" PRIu64 " %8s    %-8s ", time_text(total, row->ns), row->waits,
		       time_text(longest, row->max_ns), locks_op_text(row->what));
		print_trace(out, row->stack);
		putchar('\n');
	}
}

static void print_rest(const struct lock_rows *rows, const char *what)
{
	uint64_t ns = 0;
	char total[TIME_TEXT];

	for (size_t i = ROWS_MAX; i < rows->count; i++)
		ns += rows->all[i].ns;
	if (rows->count > ROWS_MAX)
		printf("%8s %8s %8s    %s%zu other stacks\n", time_text(total, ns), "", "", what,
		       rows->count - ROWS_MAX);
}

static void print_holder(const struct printing *out, const struct lock_row *row)
{
	switch ((enum lock_holder)row->what) {
	case LOCK_HELD:
		fputs("held by  ", stdout);
		print_trace(out, row->stack);
		break;
	case LOCK_READERS:
		printf("readers  %" PRIu64 ", not told apart; last ", row->readers);
		print_trace(out, row->stack);
		break;
	case LOCK_FREE:
		fputs("free     until the waiter had it", stdout);
		break;
	case LOCK_UNKNOWN:
		fputs("unknown  because events were lost", stdout);
		break;
	}
	putchar('\n');
}

static void print_holders(const struct printing *out, const struct lock *lock,
			  const struct lock_rows *rows)
{
	char total[TIME_TEXT];

	for (size_t i = 0; i < rows->count && i < ROWS_MAX; i++) {
		const struct lock_row *row = &rows->all[i];

		printf("%8s %7.1f%% %8s    ", time_text(total, row->ns),
		       100.0 * (double)row->ns / (double)lock->total_ns, "");
		print_holder(out, row);
	}
}

/* Who was seen to get it, while others wait. */
static void print_last_holder(const struct printing *out, const struct lock *lock)
{
	char since[TIME_TEXT];

	if (!lock->waiting)
		return;
	if (!lock->holder) {
		printf("%26s    held by  who got it without a wait: not known\n", "");
		return;
	}
	printf("%8s %8s %8s    %s by goroutine %" PRIu64 ", ",
	       time_text(since, locks_between(lock->holder_ns, locks_until(out->show, lock))), "",
	       "", lock->is_certain ? "held" : "last got", lock->holder);
	if (lock->holder_waited)
		print_trace(out, lock->holder_stack);
	else
		fputs("which got it without a wait", stdout);
	putchar('\n');
}

static void print_waiting(const struct printing *out, const struct lock *lock)
{
	struct lock_rows rows = locks_waiting(out->show, lock);
	char total[TIME_TEXT], longest[TIME_TEXT];

	for (size_t i = 0; i < rows.count && i < ROWS_MAX; i++) {
		const struct lock_row *row = &rows.all[i];

		printf("%8s %8" PRIu64 " %8s    %-8s ", time_text(total, row->ns), row->waits,
		       time_text(longest, row->max_ns), locks_op_text(row->what));
		print_trace(out, row->stack);
		printf(" [%s: goroutine %" PRIu64 "%s]\n",
		       row->ended ? "waited to the end of the process" : "still waits", row->goid,
		       row->waits > 1 ? " and others" : "");
	}
	print_rest(&rows, "Lock     still in ");
	print_last_holder(out, lock);
	free(rows.all);
}

static void print_head(const struct printing *out, const struct lock *lock)
{
	const char *name = out->show->name ? out->show->name(out->show->ctx, lock) : NULL;
	char total[TIME_TEXT], longest[TIME_TEXT];

	printf("\n%8s %8" PRIu64 " %8s  ", time_text(total, lock->total_ns), lock->waits,
	       time_text(longest, lock->max_ns));
	if (name) {
		escape_print(stdout, name);
		putchar(' ');
	}
	printf("%s 0x%" PRIx64, locks_type_text(lock), lock->addr);
	if (out->show->processes) {
		char *process = locks_process_text(lock);

		fputs(" of ", stdout);
		escape_print(stdout, process);
		printf(" (%" PRIu32 ")", lock->pid);
		free(process);
	}
	putchar('\n');
}

static void print_unwaited(const struct lock_unwaited *sum, const char *how)
{
	char total[TIME_TEXT];

	if (sum->count)
		printf("%8s %8" PRIu64 " %8s    got without a wait, %s\n",
		       time_text(total, sum->ns), sum->count, "", how);
}

static void print_lock(const struct printing *out, const struct lock *lock)
{
	struct lock_rows waiters = locks_waiters(out->show, lock);
	struct lock_rows holders = locks_holders(out->show, lock);

	print_head(out, lock);
	print_waiters(out, &waiters);
	print_rest(&waiters, "");
	print_holders(out, lock, &holders);
	print_rest(&holders, "held by  ");
	print_unwaited(&lock->spun, "taken at first");
	print_unwaited(&lock->found_free, "free at once");
	print_waiting(out, lock);
	free(waiters.all);
	free(holders.all);
}

static void add_lock(void *ctx, const struct lock *lock)
{
	struct printing *out = ctx;

	for (const struct lock_wait *wait = lock->waiting; wait; wait = wait->next)
		out->going_on++;
	if (!lock->waits && !lock->waiting) {
		out->unwaited_locks++;
		out->unwaited.count += lock->spun.count + lock->found_free.count;
		out->unwaited.ns += lock->spun.ns + lock->found_free.ns;
		return;
	}
	out->locks++;
	out->waits += lock->waits;
	out->ns += lock->total_ns;
}

static void print_one(void *ctx, const struct lock *lock)
{
	struct printing *out = ctx;

	if (!lock->waits && !lock->waiting)
		return;
	if (out->left_out)
		out->left_out--;
	else
		print_lock(out, lock);
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_sums(const struct printing *out)
{
	char text[TIME_TEXT];

	printf("\n%" PRIu64 " lock%s, %" PRIu64 " wait%s, %s\n", out->locks, plural(out->locks),
	       out->waits, plural(out->waits), time_text(text, out->ns));
	if (out->going_on)
		printf("%" PRIu64 " wait%s not ended\n", out->going_on,
		       out->going_on == 1 ? " has" : "s have");
	if (out->unwaited.count)
		printf("%" PRIu64 " other%s, got without a wait %" PRIu64 " time%s, %s\n",
		       out->unwaited_locks, plural(out->unwaited_locks), out->unwaited.count,
		       plural(out->unwaited.count), time_text(text, out->unwaited.ns));
}

void locks_print(const struct locks_show *show, struct locks *locks)
{
	struct printing out = {.show = show};

	locks_each(locks, add_lock, &out);
	if (out.locks > show->locks_max)
		out.left_out = out.locks - show->locks_max;
	printf("%8s %8s %8s  %s\n", "WAITED", "WAITS", "LONGEST", "LOCK");
	locks_each(locks, print_one, &out);
	print_sums(&out);
}
