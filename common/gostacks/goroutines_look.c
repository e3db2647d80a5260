// SPDX-License-Identifier: Apache-2.0
#include "gostacks/goroutines_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/mem.h"
#include "files/process_files.h"
#include "files/process_stop.h"
#include "gostacks/goprocess_internal.h"
#include "gostacks/goprocesses.h"
#include "gostacks/goroutines_changes_internal.h"
#include "gostacks/goroutines_print.h"
#include "gostacks/goroutines_print_internal.h"
#include "waits/wait_objects.h"

struct looked { /* a snapshot, and what is wanted of it */
	struct snapshot snap;
	unsigned char *picked;
	struct wait_context waits;
	struct goroutines_view view;
};

static void print_text(struct goroutines_look *look, const struct goroutines_view *view)
{
	bool each = look->each || look->pick.goid;

	if (look->has_printed)
		putchar('\n');
	look->has_printed = true;
	if (!each || view->several)
		goroutines_print_title(stdout, view);
	if (each && view->several)
		putchar('\n');
	if (each)
		goroutines_print_each(stdout, view);
	else
		goroutines_print_groups(stdout, view);
}

static void print(struct goroutines_look *look, const struct goroutines_view *view)
{
	if (look->json)
		goroutines_print_json(stdout, view);
	else if (look->folded)
		goroutines_print_folded(stdout, view);
	else
		print_text(look, view);
	if (look->profile)
		goroutines_profile(look->profile, view);
	goroutines_print_left_out(view->snap, 0, "gostacks");
}

/* Not where Go's own words are all that shall be there, nor where it is not asked for. */
static bool shows_waits(const struct goroutines_look *look)
{
	return !look->again && !look->full && !look->folded;
}

static struct goprocess_wanted wanted_of(const struct goroutines_look *look)
{
	bool each = look->each || look->pick.goid || look->json;

	return (struct goprocess_wanted){
		.args = look->full, .waits = shows_waits(look), .labels = each && !look->again};
}

/* With --stop, what is read of the program's file is in memory before the process stands still. */
static int read_ahead(const struct goroutines_look *look, const struct goprocesses_one *one,
		      struct errmsg *err)
{
	struct goprocess_wanted wanted = wanted_of(look);
	struct snapshot snap;

	if (goprocess_snapshot(one->gp, &wanted, &snap, err))
		return -1;
	wait_objects_free(goprocess_waits(one->gp, &snap));
	snapshot_free(&snap);
	return 0;
}

static int read_process(const struct goroutines_look *look, const struct goprocesses_one *one,
			struct looked *out, struct errmsg *err)
{
	if (look->stop && read_ahead(look, one, err))
		return -1;
	struct process_stop *stop = look->stop ? process_stop_new(one->proc, err) : NULL;
	struct goprocess_wanted wanted = wanted_of(look);

	wanted.stop = stop;
	if (look->stop && !stop)
		return -1;
	int ret = goprocess_snapshot(one->gp, &wanted, &out->snap, err);

	out->waits = (struct wait_context){0};
	if (!ret)
		out->waits.objects = goprocess_waits(one->gp, &out->snap);
	if (!stop)
		return ret;
	uint64_t ns = process_stop_end(stop);

	goroutines_print_stopped(stderr, "gostacks", one->pid, ns);
	return ret;
}

static int call_of(void *ctx, pid_t tid)
{
	return process_files_syscall(ctx, tid);
}

static int hold(const struct goroutines_look *look, const struct goprocesses_one *one,
		struct looked *out, size_t *count, struct errmsg *err)
{
	const struct frames *frames = goprocess_frames(one->gp);

	if (read_process(look, one, out, err))
		return -1;
	if (one->proc) {
		out->waits.files = process_files_new(one->proc);
		out->waits.call = call_of;
		out->waits.call_ctx = out->waits.files;
	} else {
		out->waits.call = goprocess_core_call;
		out->waits.call_ctx = one->gp;
	}
	out->waits.arch = goprocess_arch(one->gp);
	out->waits.type_name = goprocess_type;
	out->waits.type_ctx = one->gp;
	out->picked = goroutines_pick(&look->pick, &out->snap, frames, count);
	out->view = (struct goroutines_view){.snap = &out->snap,
					     .picked = out->picked,
					     .frames = frames,
					     .pid = one->pid,
					     .release = goprocess_release(one->gp),
					     .name = one->name,
					     .several = one->several,
					     .has_labels = goprocess_has_labels(one->gp),
					     .shows_labels = wanted_of(look).labels &&
							     goprocess_shows_labels(one->gp)};
	if (out->waits.objects)
		out->view.waits = &out->waits;
	return 0;
}

static void let_go(struct looked *looked)
{
	free(looked->picked);
	wait_objects_free(looked->waits.objects);
	process_files_free(looked->waits.files);
	snapshot_free(&looked->snap);
}

enum { STATES_NAMED = 8 };

struct state_count {
	const char *state;
	size_t count;
};

static int by_count(const void *a, const void *b)
{
	const struct state_count *one = a, *other = b;

	return (one->count < other->count) - (one->count > other->count);
}

/* The states of these goroutines, and how many are in each, most first; up to `cap` states.
 * `part`: those with this in their names, whatever its letter case; NULL: all. */
static size_t count_states(const struct looked *looked, const unsigned char *of, const char *part,
			   struct state_count *out, size_t cap)
{
	size_t count = 0;

	for (size_t i = 0; i < looked->snap.count; i++) {
		const char *state = snapshot_state(&looked->snap, &looked->snap.all[i]);
		size_t at = 0;

		if (!of[i] || (part && !strcasestr(state, part)))
			continue;
		while (at < count && strcmp(out[at].state, state) != 0)
			at++;
		if (at == cap)
			continue;
		if (at == count)
			out[count++] = (struct state_count){.state = state};
		out[at].count++;
	}
	qsort(out, count, sizeof(*out), by_count);
	return count;
}

static void print_states(const char *state, const struct state_count *states, size_t count)
{
	fputs("gostacks: no goroutine is in state \"", stderr);
	escape_print(stderr, state);
	fputs("\"", stderr);
	for (size_t i = 0; i < count; i++) {
		fprintf(stderr, "%s%zu in \"", i ? ", " : "; there are ", states[i].count);
		escape_print(stderr, states[i].state);
		fputc('"', stderr);
	}
	fputc('\n', stderr);
}

/* "mutex" for "sync.Mutex.Lock" looks as if none waited for a lock: names the states that there
 * are. Not if it is one of them, or one that any program has. */
static void say_no_state(const struct goroutines_look *look, const struct looked *looked)
{
	static const char *const always[] = {"running", "runnable", "waiting", "syscall"};
	const struct goroutines_pick any = {.system = look->pick.system};
	const char *state = look->pick.state;
	struct state_count states[STATES_NAMED];
	size_t count;

	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		if (!strcmp(always[i], state))
			return;
	unsigned char *of = goroutines_pick(&any, &looked->snap, looked->view.frames, &count);

	count = count_states(looked, of, state, states, STATES_NAMED);
	if (!count)
		count = count_states(looked, of, NULL, states, STATES_NAMED);
	free(of);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(states[i].state, state))
			return;
	print_states(state, states, count);
}

static int show(struct goroutines_look *look, const struct goprocesses_one *one, uint64_t *shown,
		struct errmsg *err)
{
	struct looked looked;
	size_t count;

	if (hold(look, one, &looked, &count, err))
		return -1;
	*shown = count;
	/* of several processes, those that have nothing of what is asked for are left out */
	if (count || (!looked.view.several && !look->pick.goid))
		print(look, &looked.view);
	if (!count && look->pick.state && !looked.view.several)
		say_no_state(look, &looked);
	let_go(&looked);
	return 0;
}

static void print_changes(const struct goroutines_look *look, const struct looked *now)
{
	const struct goroutines_view *before = look->before ? &look->before->view : NULL;

	if (look->json) {
		goroutines_json_changes(stdout, before, &now->view, look->json_time);
		return;
	}
	goroutines_print_title(stdout, &now->view);
	if (before)
		goroutines_print_changes(stdout, before, &now->view);
	else
		goroutines_print_groups(stdout, &now->view);
}

static int look_again(struct goroutines_look *look, const struct goprocesses_one *one,
		      struct errmsg *err)
{
	struct looked *now = mem_zalloc(1, sizeof(*now));
	size_t count;

	if (hold(look, one, now, &count, err)) {
		free(now);
		return -1;
	}
	print_changes(look, now);
	if (!count && look->pick.state && !look->before && !now->view.several)
		say_no_state(look, now);
	goroutines_print_left_out(&now->snap, 0, "gostacks");
	goroutines_look_end(look);
	look->before = now;
	return 0;
}

int goroutines_look(struct goroutines_look *look, const struct goprocesses_one *one,
		    uint64_t *count, struct errmsg *err)
{
	return look->again ? look_again(look, one, err) : show(look, one, count, err);
}

void goroutines_look_end(struct goroutines_look *look)
{
	if (look->before)
		let_go(look->before);
	free(look->before);
	look->before = NULL;
}
