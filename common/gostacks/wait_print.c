// SPDX-License-Identifier: Apache-2.0
#include "gostacks/wait_print_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "files/process_files.h"
#include "goroutines/snapshot.h"
#include "machine/linux.h"
#include "waits/wait_objects.h"

#define SECOND_NS 1000000000ULL

enum { CIRCLES_TOLD = 8, CIRCLE_TOLD = 8 }; /* and goroutines of each */

struct waiting { /* a goroutine, and one of its waits */
	const struct wait_context *waits;
	const struct snapshot *snap;
	const struct goroutine *g;
	const struct wait *wait;
};

static const struct wait *wait_at(const struct snapshot *snap, const struct goroutine *g, size_t i)
{
	return &snap->waits.all[g->waits + i];
}

bool wait_print_is_lock(const struct snapshot *snap, const struct goroutine *g)
{
	uint8_t kind = g->wait_count == 1 ? wait_at(snap, g, 0)->kind : WAIT_TIMER;

	return kind == WAIT_MUTEX || kind == WAIT_RWMUTEX;
}

static const char *lock_type(const struct wait *wait)
{
	switch (wait->kind) {
	case WAIT_MUTEX:
		return "sync.Mutex";
	case WAIT_RWMUTEX:
		return "sync.RWMutex";
	case WAIT_WAITGROUP:
		return "sync.WaitGroup";
	case WAIT_COND:
		return "sync.Cond";
	default:
		return "semaphore";
	}
}

static const char *element(const struct waiting *w, const struct wait_channel *channel)
{
	if (!channel->is_read)
		return NULL;
	return w->waits->type_name(w->waits->type_ctx, channel->type);
}

/* malloc'd; NULL: not known */
static char *file_name(const struct waiting *w)
{
	if (!w->waits->files)
		return NULL;
	return process_files_name(w->waits->files, (int)w->wait->object);
}

static int call_number(const struct waiting *w)
{
	return w->waits->call(w->waits->call_ctx, (pid_t)w->wait->object);
}

/* --- text --- */

/* "sync.Mutex 0xc00008c060 main.(*Store).mu", without the name where that is not known */
static void print_lock_name(FILE *out, const struct wait_objects *objects, const struct wait *wait)
{
	const char *name = wait_objects_name(objects, wait);

	fprintf(out, "%s 0x%" PRIx64, lock_type(wait), wait->object);
	if (!name)
		return;
	fputc(' ', out);
	escape_print(out, name);
}

/* "with 3 others", or of a lock, "with 1 other" */
static void print_others(FILE *out, size_t count)
{
	if (count)
		fprintf(out, ", with %zu other%s", count, count == 1 ? "" : "s");
}

static void print_channel_name(FILE *out, const struct waiting *w,
			       const struct wait_channel *channel)
{
	const char *type = element(w, channel);

	fputs("chan ", out);
	escape_print(out, type ? type : "?");
	fprintf(out, " 0x%" PRIx64, channel->addr);
}

static void print_channel(FILE *out, const struct waiting *w)
{
	static const char *const words[] = {[WAIT_UNKNOWN] = "for",
					    [WAIT_RECEIVES] = "to receive from",
					    [WAIT_SENDS] = "to send to"};
	const struct wait_channel *channel = wait_objects_channel(w->waits->objects, w->wait);
	enum wait_direction direction = wait_objects_direction(w->waits->objects, w->g, w->wait);
	size_t beside = direction == WAIT_RECEIVES ? channel->receivers
			: direction == WAIT_SENDS  ? channel->senders
						   : 1;

	fprintf(out, "waits %s ", words[direction]);
	print_channel_name(out, w, channel);
	if (channel->is_read)
		fprintf(out, ", %" PRIu64 " of %" PRIu64 "%s", channel->len, channel->cap,
			channel->closed ? ", closed" : "");
	print_others(out, beside ? beside - 1 : 0);
}

/* "1, 5 or 3 more" */
static void print_goids(FILE *out, const uint64_t *goids, size_t count, const char *last)
{
	size_t told = count < WAIT_HOLDERS_MAX ? count : WAIT_HOLDERS_MAX;

	for (size_t i = 0; i < told; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", goids[i]);
	if (told < count)
		fprintf(out, " %s %zu more", last, count - told);
}

static void print_lock(FILE *out, const struct waiting *w)
{
	const struct wait_lock *lock = wait_objects_lock(w->waits->objects, w->wait);

	fputs("waits for ", out);
	print_lock_name(out, w->waits->objects, w->wait);
	print_others(out, lock->waiters - 1);
	if (w->wait->kind != WAIT_MUTEX && w->wait->kind != WAIT_RWMUTEX)
		return;
	if (lock->holder_count)
		fputs("; held? by goroutine ", out);
	print_goids(out, lock->holders, lock->holder_count, "or");
	if (lock->keeper_count)
		fprintf(out, "; goroutine%s ", lock->keeper_count == 1 ? "" : "s");
	print_goids(out, lock->keepers, lock->keeper_count, "and");
	if (lock->keeper_count)
		fprintf(out, " keep%s a pointer to it", lock->keeper_count == 1 ? "s" : "");
}

static bool is_in_circle(const struct waiting *w)
{
	return wait_objects_next_in_circle(w->waits->objects, w->g, NULL);
}

static void print_timer(FILE *out, const struct waiting *w)
{
	uint64_t now = w->snap->when_ns, due = w->wait->object;
	uint64_t left = due > now ? (due - now) / (SECOND_NS / 1000) : 0;

	if (w->snap->timeless) {
		fputs("waits in time.Sleep", out);
		return;
	}
	fprintf(out, "waits until %" PRIu64 ".%03" PRIu64 " seconds from now", left / 1000,
		left % 1000);
}

static void print_fd(FILE *out, const struct waiting *w)
{
	char *name = file_name(w);

	fprintf(out, "waits to %s file descriptor %" PRIu64,
		w->wait->writes ? "write to" : "read from", w->wait->object);
	if (w->waits->files)
		fputs(": ", out);
	if (w->waits->files)
		escape_print(out, name ? name : "?");
	free(name);
}

static void print_call(FILE *out, const struct waiting *w)
{
	int number = call_number(w);
	const char *name = linux_call_name(w->waits->arch, number);

	fputs("is in system call ", out);
	if (name)
		fputs(name, out);
	else if (number >= 0)
		fprintf(out, "%d", number);
	else
		fputc('?', out);
	fprintf(out, ", thread %" PRIu64, w->wait->object);
}

void wait_print(FILE *out, const char *indent, const struct wait_context *waits,
		const struct snapshot *snap, const struct goroutine *g)
{
	static void (*const print[])(FILE *, const struct waiting *) = {
		[WAIT_CHANNEL] = print_channel, [WAIT_SEMAPHORE] = print_lock,
		[WAIT_TIMER] = print_timer,     [WAIT_FD] = print_fd,
		[WAIT_SYSCALL] = print_call,    [WAIT_MUTEX] = print_lock,
		[WAIT_RWMUTEX] = print_lock,    [WAIT_WAITGROUP] = print_lock,
		[WAIT_COND] = print_lock};

	for (size_t i = 0; i < g->wait_count; i++) {
		struct waiting w = {waits, snap, g, wait_at(snap, g, i)};

		fputs(indent, out);
		print[w.wait->kind](out, &w);
		fputs(is_in_circle(&w) ? "; deadlock?\n" : "\n", out);
	}
}

/* "sync.Mutex 0xc00008c060 main.(*Store).mu", "chan int 0xc00008c060" */
static void print_object(FILE *out, const struct waiting *w)
{
	if (w->wait->kind == WAIT_CHANNEL)
		print_channel_name(out, w, wait_objects_channel(w->waits->objects, w->wait));
	else
		print_lock_name(out, w->waits->objects, w->wait);
}

static void print_circle(FILE *out, const struct wait_context *waits, const struct snapshot *snap,
			 const struct goroutine *first)
{
	const struct goroutine *g = first;

	fprintf(out, "deadlock? goroutine %" PRIu64, g->goid);
	for (size_t told = 0; told < CIRCLE_TOLD; told++) {
		struct waiting w = {waits, snap, g, wait_at(snap, g, 0)};
		bool perhaps;

		g = wait_objects_next_in_circle(waits->objects, g, &perhaps);
		fputs(" -> ", out);
		print_object(out, &w);
		fprintf(out, " -> %sgoroutine %" PRIu64, perhaps ? "perhaps " : "", g->goid);
		if (g == first)
			break;
	}
	fputs(g == first ? "\n" : " -> ...\n", out);
}

void wait_print_circles(FILE *out, const struct wait_context *waits, const struct snapshot *snap,
			const unsigned char *picked)
{
	unsigned char *seen = mem_zalloc(snap->count + 1, 1);
	size_t told = 0;

	for (size_t i = 0; i < snap->count && told < CIRCLES_TOLD; i++) {
		const struct goroutine *first = &snap->all[i], *g = first;
		bool any = false;

		while (g && !seen[g - snap->all]) {
			seen[g - snap->all] = 1;
			any |= picked[g - snap->all];
			g = wait_objects_next_in_circle(waits->objects, g, NULL);
		}
		if (!any || g != first)
			continue;
		print_circle(out, waits, snap, first);
		told++;
	}
	free(seen);
}

/* --- JSON --- */

static void json_address(struct json *json, const char *key, uint64_t addr)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	json_member_string(json, key, text);
}

/* Of what is hardly ever a part of a deadlock: only if it may be. */
static void json_in_circle(struct json *json, const struct waiting *w)
{
	if (!is_in_circle(w))
		return;
	json_member_bool(json, "maybe_deadlock", true);
}

static void json_channel(struct json *json, const struct waiting *w)
{
	static const char *const words[] = {
		[WAIT_UNKNOWN] = NULL, [WAIT_RECEIVES] = "receive", [WAIT_SENDS] = "send"};
	const struct wait_channel *channel = wait_objects_channel(w->waits->objects, w->wait);

	json_member_string(json, "kind", "channel");
	json_address(json, "addr", channel->addr);
	json_member_string(json, "direction",
			   words[wait_objects_direction(w->waits->objects, w->g, w->wait)]);
	json_member_string(json, "elem", element(w, channel));
	json_key(json, "len");
	channel->is_read ? json_u64(json, channel->len) : json_null(json);
	json_key(json, "cap");
	channel->is_read ? json_u64(json, channel->cap) : json_null(json);
	json_key(json, "closed");
	channel->is_read ? json_bool(json, channel->closed) : json_null(json);
	json_member_u64(json, "receivers", channel->receivers);
	json_member_u64(json, "senders", channel->senders);
	json_in_circle(json, w);
}

static void json_goids(struct json *json, const char *key, const uint64_t *goids, size_t count)
{
	json_key(json, key);
	json_array(json);
	for (size_t i = 0; i < count && i < WAIT_HOLDERS_MAX; i++)
		json_u64(json, goids[i]);
	json_array_end(json);
}

static void json_lock(struct json *json, const struct waiting *w)
{
	static const char *const kinds[] = {[WAIT_SEMAPHORE] = "semaphore",
					    [WAIT_MUTEX] = "mutex",
					    [WAIT_RWMUTEX] = "rwmutex",
					    [WAIT_WAITGROUP] = "waitgroup",
					    [WAIT_COND] = "cond"};
	const struct wait_lock *lock = wait_objects_lock(w->waits->objects, w->wait);

	json_member_string(json, "kind", kinds[w->wait->kind]);
	json_address(json, "addr", lock->addr);
	json_member_string(json, "name", wait_objects_name(w->waits->objects, w->wait));
	json_member_u64(json, "waiters", lock->waiters);
	if (w->wait->kind != WAIT_MUTEX && w->wait->kind != WAIT_RWMUTEX) {
		json_in_circle(json, w);
		return;
	}
	json_goids(json, "maybe_held_by", lock->holders, lock->holder_count);
	if (lock->keeper_count)
		json_goids(json, "pointer_kept_by", lock->keepers, lock->keeper_count);
	json_member_bool(json, "maybe_deadlock", is_in_circle(w));
}

static void json_fd(struct json *json, const struct waiting *w)
{
	char *name = file_name(w);

	json_member_string(json, "kind", "fd");
	json_member_u64(json, "fd", w->wait->object);
	json_member_string(json, "direction", w->wait->writes ? "write" : "read");
	json_member_string(json, "file", name);
	free(name);
}

static void json_timer(struct json *json, const struct waiting *w)
{
	json_member_string(json, "kind", "timer");
	json_key(json, "due_ns");
	if (w->snap->timeless)
		json_null(json);
	else
		json_i64(json, (int64_t)(w->wait->object - w->snap->when_ns));
}

static void json_call(struct json *json, const struct waiting *w)
{
	int number = call_number(w);

	json_member_string(json, "kind", "syscall");
	json_key(json, "number");
	if (number >= 0)
		json_i64(json, number);
	else
		json_null(json);
	json_member_string(json, "name", linux_call_name(w->waits->arch, number));
	json_member_u64(json, "tid", w->wait->object);
}

static void json_one(struct json *json, const struct waiting *w)
{
	static void (*const print[])(struct json *, const struct waiting *) = {
		[WAIT_CHANNEL] = json_channel, [WAIT_SEMAPHORE] = json_lock,
		[WAIT_TIMER] = json_timer,     [WAIT_FD] = json_fd,
		[WAIT_SYSCALL] = json_call,    [WAIT_MUTEX] = json_lock,
		[WAIT_RWMUTEX] = json_lock,    [WAIT_WAITGROUP] = json_lock,
		[WAIT_COND] = json_lock};

	json_object(json);
	print[w->wait->kind](json, w);
	json_object_end(json);
}

void wait_json(struct json *json, const struct wait_context *waits, const struct snapshot *snap,
	       const struct goroutine *g)
{
	struct waiting w = {waits, snap, g, NULL};

	if (!g->wait_count) {
		json_null(json);
		return;
	}
	w.wait = wait_at(snap, g, 0);
	if (w.wait->kind != WAIT_CHANNEL || snapshot_is_at_channel(snap, g)) {
		json_one(json, &w);
		return;
	}
	json_object(json);
	json_member_string(json, "kind", "select");
	json_key(json, "cases");
	json_array(json);
	for (size_t i = 0; i < g->wait_count; i++) {
		w.wait = wait_at(snap, g, i);
		json_one(json, &w);
	}
	json_array_end(json);
	json_object_end(json);
}
