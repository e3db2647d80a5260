// SPDX-License-Identifier: Apache-2.0
/* The channels and locks of a snapshot, from memory that is made up; who may release them, and how
 * they wait for each other, is the test's. */
#include "fakemem.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frames/frames.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "goroutines/wait_still.h"
#include "waits/release_code_internal.h"
#include "waits/wait_circles_internal.h"
#include "waits/wait_holders_internal.h"
#include "waits/wait_names_internal.h"
#include "waits/wait_objects.h"
#include "waits/wait_targets_internal.h"

enum {
	MOST = 100,
	CHANNEL = FAKEMEM_BASE + 0x100,
	SUDOG = FAKEMEM_BASE + 0x8000,
	TYPE_AT = 32, /* in a channel */
	UNREAD = 0x800,
	SEMAPHORE = 0xc000000108,
};
enum { RECEIVE = 1, SEND, SELECT, SEMACQUIRE };

static struct goroutine all[MOST];
static struct wait list[MOST];
static struct snapshot its_snap;
static const struct wait_layout layout = {.known = true, .channel_type = TYPE_AT};
static const struct snapshot_source its_memory = {
	.mem = &fakemem_memory, .rt = &fakemem_layout, .waits = &layout};
static struct wait_objects *objects;

static int begin(void **state)
{
	(void)state;
	fakemem_begin(0x10000);
	its_snap = (struct snapshot){.all = all, .waits = {.all = list}};
	its_snap.reasons[RECEIVE] = "chan receive";
	its_snap.reasons[SEND] = "chan send";
	its_snap.reasons[SELECT] = "select";
	its_snap.reasons[SEMACQUIRE] = "semacquire";
	its_snap.stacks = snapshot_stacks_new();
	return 0;
}

static int end(void **state)
{
	(void)state;
	wait_objects_free(objects);
	objects = NULL;
	snapshot_stacks_free(its_snap.stacks);
	return 0;
}

static struct goroutine *add(uint8_t reason)
{
	struct goroutine *g = &all[its_snap.count++];

	*g = (struct goroutine){.goid = 100 + its_snap.count,
				.status = GOROUTINE_WAITING,
				.reason = reason,
				.waits = its_snap.waits.count};
	return g;
}

static struct wait *add_wait(struct goroutine *g, uint8_t kind, uint64_t object)
{
	struct wait *wait = &list[its_snap.waits.count++];

	g->wait_count++;
	*wait = (struct wait){.kind = kind, .object = object};
	return wait;
}

static struct wait *add_one(uint8_t reason, uint8_t kind, uint64_t object)
{
	return add_wait(add(reason), kind, object);
}

/* --- channels --- */

static void put_channel(uint64_t at, uint64_t len, uint64_t cap, uint32_t closed, uint64_t type)
{
	fakemem_put(at, len);
	fakemem_put(at + 8, cap);
	memcpy(fakemem.bytes + (at + 28 - FAKEMEM_BASE), &closed, sizeof(closed));
	fakemem_put(at + TYPE_AT, type);
}

static void expect_channel(const struct wait *wait, struct wait_channel want)
{
	const struct wait_channel *got = wait_objects_channel(objects, wait);

	assert_int_equal(got->addr, want.addr);
	assert_int_equal(got->is_read, want.is_read);
	assert_int_equal(got->closed, want.closed);
	assert_int_equal(got->len, want.len);
	assert_int_equal(got->cap, want.cap);
	assert_int_equal(got->type, want.type);
	assert_int_equal(got->receivers, want.receivers);
	assert_int_equal(got->senders, want.senders);
	assert_int_equal(got->in_select, want.in_select);
}

static void find_channels(void)
{
	wait_objects_free(objects);
	objects = wait_objects_new(&its_memory, &its_snap, NULL, NULL);
}

/* Two receive from one, one sends to another; one cannot be read. */
static void test_channels(void **state)
{
	struct wait *w[5];
	bool perhaps = true;

	(void)state;
	w[0] = add_one(RECEIVE, WAIT_CHANNEL, CHANNEL);
	w[1] = add_one(SEND, WAIT_CHANNEL, CHANNEL + 0x100);
	w[2] = add_one(RECEIVE, WAIT_CHANNEL, CHANNEL);
	w[3] = add_one(RECEIVE, WAIT_CHANNEL, UNREAD);
	w[4] = add_one(RECEIVE, WAIT_TIMER, CHANNEL);
	put_channel(CHANNEL, 2, 10, 0, 0x7000);
	put_channel(CHANNEL + 0x100, 5, 6, 1, 0x7100);
	find_channels();
	expect_channel(w[0], (struct wait_channel){.addr = CHANNEL,
						   .is_read = true,
						   .len = 2,
						   .cap = 10,
						   .type = 0x7000,
						   .receivers = 2});
	assert_ptr_equal(wait_objects_channel(objects, w[2]), wait_objects_channel(objects, w[0]));
	expect_channel(w[1], (struct wait_channel){.addr = CHANNEL + 0x100,
						   .is_read = true,
						   .closed = true,
						   .len = 5,
						   .cap = 6,
						   .type = 0x7100,
						   .senders = 1});
	expect_channel(w[3], (struct wait_channel){.addr = UNREAD, .receivers = 1});
	assert_int_equal(wait_objects_direction(objects, &all[0], w[0]), WAIT_RECEIVES);
	assert_int_equal(wait_objects_direction(objects, &all[1], w[1]), WAIT_SENDS);
	assert_null(wait_objects_next_in_circle(objects, &all[0], &perhaps));
	assert_false(perhaps);
	assert_null(wait_objects_next_in_circle(objects, &all[0], NULL));
}

/* Which way the cases of a select wait, the queues of their channels tell. */
static void test_select(void **state)
{
	struct wait *w[5];

	(void)state;
	struct goroutine *g = add(SELECT);

	for (size_t i = 0; i < 4; i++) {
		w[i] = add_wait(g, WAIT_CHANNEL, CHANNEL + (i & 1) * 0x100);
		w[i]->sudog = SUDOG + i * 0x80;
	}
	w[4] = add_one(RECEIVE, WAIT_CHANNEL, CHANNEL);
	put_channel(CHANNEL, 0, 0, 0, 0x7000);
	put_channel(CHANNEL + 0x100, 0, 0, 0, 0x7000);
	/* the first channel has cases 0 and 2 as receivers, the second one case 1 as a sender; 3
	 * is in no queue */
	fakemem_put(CHANNEL + TYPE_AT + 24, SUDOG + 0x200);
	fakemem_put(SUDOG + 0x200 + 8, w[0]->sudog);
	fakemem_put(w[0]->sudog + 8, w[2]->sudog);
	fakemem_put(CHANNEL + 0x100 + TYPE_AT + 40, w[1]->sudog);
	find_channels();
	assert_int_equal(wait_objects_direction(objects, g, w[0]), WAIT_RECEIVES);
	assert_int_equal(wait_objects_direction(objects, g, w[1]), WAIT_SENDS);
	assert_int_equal(wait_objects_direction(objects, g, w[2]), WAIT_RECEIVES);
	assert_int_equal(wait_objects_direction(objects, g, w[3]), WAIT_UNKNOWN);
	expect_channel(w[0], (struct wait_channel){.addr = CHANNEL,
						   .is_read = true,
						   .type = 0x7000,
						   .receivers = 3,
						   .in_select = true});
	expect_channel(w[1], (struct wait_channel){.addr = CHANNEL + 0x100,
						   .is_read = true,
						   .type = 0x7000,
						   .senders = 1,
						   .in_select = true});
	/* a queue that cannot be read to its end */
	fakemem_put(SUDOG + 0x200 + 8, UNREAD);
	find_channels();
	assert_int_equal(wait_objects_direction(objects, g, w[0]), WAIT_UNKNOWN);
	assert_int_equal(wait_objects_direction(objects, g, w[1]), WAIT_SENDS);
}

/* More than are read at one time; they are counted all the same. */
static void test_many_channels(void **state)
{
	(void)state;
	for (size_t i = 0; i < MOST; i++) {
		add_one(RECEIVE, WAIT_CHANNEL, CHANNEL + i * 0x40);
		put_channel(CHANNEL + i * 0x40, i, i + 1, 0, 0x7000 + i);
	}
	find_channels();
	for (size_t i = 0; i < MOST; i++)
		expect_channel(&list[i], (struct wait_channel){.addr = CHANNEL + i * 0x40,
							       .is_read = true,
							       .len = i,
							       .cap = i + 1,
							       .type = 0x7000 + i,
							       .receivers = 1});
}

/* --- in place of frames, and of what tells who waits for whom --- */

enum stack { MUTEX = 1, NEW_MUTEX, READER, WRITER, WRITERS_MUTEX, GROUP, COND, OTHER };

void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	static const char *const names[][2] = {
		[MUTEX] = {"sync.(*Mutex).lockSlow", "main.main"},
		[NEW_MUTEX] = {"internal/sync.(*Mutex).lockSlow", "sync.(*Cond).Wait"},
		[READER] = {"sync.(*RWMutex).RLock", "main.main"},
		[WRITER] = {"sync.(*RWMutex).Lock", "sync.(*Mutex).lockSlow"},
		[WRITERS_MUTEX] = {"sync.(*Mutex).lockSlow", "sync.(*RWMutex).Lock"},
		[GROUP] = {"sync.(*WaitGroup).Wait", "main.main"},
		[COND] = {"sync.(*Cond).Wait", "main.main"},
		[OTHER] = {"sync.runtime_Semacquire", "main.main"},
	};

	(void)frames;
	assert_int_equal(count, 1);
	for (size_t i = 0; i < 2; i++)
		fn(ctx, &(struct frame){.func = names[addrs[0]][i]});
}

static struct wait_candidate made[16];
static size_t made_count, made_first[16];
static uint64_t sleeps_from; /* goroutines with this ID and later ones sleep */
static struct wait_circle_step made_steps[MOST];
static bool stands_still[MOST];
static size_t asked;

void wait_holders_find(const struct wait_holders_source *source, struct wait_candidates *out)
{
	assert_ptr_equal(source->snap, &its_snap);
	assert_ptr_equal(source->from, &its_memory);
	for (size_t i = 0, at = 0; i <= source->targets->count; i++) {
		while (at < made_count && made[at].target < i)
			at++;
		made_first[i] = at;
	}
	*out = (struct wait_candidates){.all = made, .count = made_count, .first = made_first};
	asked++;
}

bool wait_holders_sleeps(const struct snapshot *snap, const struct goroutine *g)
{
	assert_ptr_equal(snap, &its_snap);
	return g->goid >= sleeps_from;
}

void wait_candidates_free(struct wait_candidates *candidates)
{
	assert_ptr_equal(candidates->all, made);
}

void wait_circles_find(const struct wait_holders_source *source,
		       const struct wait_candidates *candidates, struct wait_circle_step *steps)
{
	assert_ptr_equal(source->snap, &its_snap);
	assert_int_equal(candidates->count, made_count);
	memcpy(steps, made_steps, its_snap.count * sizeof(*made_steps));
}

void wait_still_look(const struct snapshot_source *from, const struct snapshot *snap,
		     const uint32_t *goroutines, size_t count, bool *still)
{
	assert_ptr_equal(from, &its_memory);
	assert_ptr_equal(snap, &its_snap);
	for (size_t i = 0; i < count; i++)
		still[i] = stands_still[goroutines[i]];
}

static const struct wait_lock *named_locks;
static char told[256];

struct wait_names *wait_names_new(const struct snapshot_source *from, const struct snapshot *snap,
				  const struct frames *frames, struct lock_fields *fields,
				  const struct wait_lock *locks, size_t count)
{
	(void)from;
	(void)snap;
	(void)frames;
	(void)fields;
	named_locks = locks;
	snprintf(told, sizeof(told), "%zu locks:", count);
	return (struct wait_names *)told;
}

void wait_names_free(struct wait_names *names)
{
	(void)names;
}

void wait_names_waits(struct wait_names *names, size_t lock, size_t goroutine)
{
	assert_ptr_equal(names, told);
	sprintf(told + strlen(told), " %zu<%zu", lock, goroutine);
}

void wait_names_look(struct wait_names *names)
{
	assert_ptr_equal(names, told);
	strcat(told, " look");
}

const char *wait_names_find(struct wait_names *names, size_t lock, enum wait_kind kind)
{
	static char name[32];

	assert_ptr_equal(names, told);
	snprintf(name, sizeof(name), "%zu of kind %d", lock, kind);
	return name;
}

/* --- locks --- */

static const struct frames frames = {0};

static struct wait *add_locker(enum stack stack, uint64_t semaphore)
{
	struct goroutine *g = add(SEMACQUIRE);

	assert_true(snapshot_stacks_add(its_snap.stacks, &(uint64_t){stack}, 1, &g->stack));
	return add_wait(g, WAIT_SEMAPHORE, semaphore);
}

static void find_locks(struct lock_fields *fields)
{
	wait_objects_free(objects);
	objects = wait_objects_new(&its_memory, &its_snap, &frames, fields);
}

static int begin_locks(void **state)
{
	made_count = asked = 0;
	sleeps_from = UINT64_MAX;
	named_locks = NULL;
	for (size_t i = 0; i < MOST; i++) {
		made_steps[i] = (struct wait_circle_step){.next = WAIT_NOBODY};
		stands_still[i] = true;
	}
	return begin(state);
}

static void test_owners(void **state)
{
	static const struct {
		enum stack stack;
		uint64_t semaphore, object;
		enum wait_kind kind;
	} rows[] = {
		{MUTEX, 0x100c, 0x1008, WAIT_MUTEX},
		{NEW_MUTEX, 0x200c, 0x2008, WAIT_MUTEX},
		{READER, 0x300c, 0x3000, WAIT_RWMUTEX},
		{WRITER, 0x4008, 0x4000, WAIT_RWMUTEX},
		{WRITERS_MUTEX, 0x5004, 0x5000, WAIT_RWMUTEX},
		{GROUP, 0x6008, 0x6000, WAIT_WAITGROUP},
		{GROUP, 0x700c, 0x700c, WAIT_WAITGROUP}, /* before Go 1.18 */
		{COND, 0x8010, 0x8000, WAIT_COND},
		{OTHER, 0x9000, 0x9000, WAIT_SEMAPHORE},
	};
	enum { COUNT = sizeof(rows) / sizeof(*rows) };
	struct wait *w[COUNT];

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		w[i] = add_locker(rows[i].stack, rows[i].semaphore);
	find_locks(NULL);
	for (size_t i = 0; i < COUNT; i++) {
		assert_int_equal(w[i]->kind, rows[i].kind);
		assert_int_equal(w[i]->object, rows[i].object);
		assert_int_equal(w[i]->semaphore, rows[i].semaphore);
		assert_int_equal(wait_objects_lock(objects, w[i])->addr, rows[i].object);
		assert_int_equal(wait_objects_lock(objects, w[i])->waiters, 1);
		assert_null(wait_objects_name(objects, w[i]));
	}
}

/* A mutex and a channel: who may hold the former, the likeliest first, and not too many */
static void test_holders(void **state)
{
	(void)state;
	struct wait *w = add_locker(MUTEX, SEMAPHORE + 4);

	add_locker(MUTEX, SEMAPHORE + 4);
	add_one(SEND, WAIT_CHANNEL, UNREAD);
	for (int i = 0; i < 10; i++)
		add(RECEIVE);
	for (uint32_t i = 0; i < 10; i++)
		made[made_count++] = (struct wait_candidate){0, 12 - i, CANDIDATE_POINTS};
	made[made_count++] = (struct wait_candidate){1, 5, CANDIDATE_POINTS};
	find_locks(NULL);
	const struct wait_lock *lock = wait_objects_lock(objects, w);

	assert_int_equal(lock->addr, SEMAPHORE);
	assert_int_equal(lock->waiters, 2);
	assert_int_equal(lock->holder_count, 10);
	for (size_t i = 0; i < WAIT_HOLDERS_MAX; i++)
		assert_int_equal(lock->holders[i], 113 - i);
	assert_int_equal(lock->keeper_count, 0);
	assert_int_equal(asked, 1);
}

/* Who sleeps with a pointer keeps it only, unless it is by its code that it holds the lock: then
 * who has but the pointer is not told. */
static void test_keepers(void **state)
{
	(void)state;
	struct wait *w = add_locker(MUTEX, SEMAPHORE + 4);

	for (int i = 0; i < 4; i++)
		add(RECEIVE);
	for (uint32_t i = 1; i < 4; i++)
		made[made_count++] = (struct wait_candidate){0, i, CANDIDATE_POINTS};
	sleeps_from = all[2].goid;
	find_locks(NULL);
	const struct wait_lock *lock = wait_objects_lock(objects, w);

	assert_true(lock->holder_count == 1 && lock->holders[0] == all[1].goid);
	assert_true(lock->keeper_count == 2 && lock->keepers[0] == all[2].goid);
	made[0] = (struct wait_candidate){0, 3, CANDIDATE_RELEASES};
	*w = (struct wait){.kind = WAIT_SEMAPHORE, .object = SEMAPHORE + 4};
	find_locks(NULL);
	lock = wait_objects_lock(objects, w);
	assert_true(lock->holder_count == 1 && lock->holders[0] == all[3].goid);
	assert_int_equal(lock->keeper_count, 0);
}

/* Nobody waits for anything that one could release; or nothing tells who may */
static void test_nothing_to_release(void **state)
{
	(void)state;
	find_locks(NULL);
	add_one(SELECT, WAIT_CHANNEL, UNREAD);
	find_locks(NULL);
	assert_int_equal(asked, 0);
	add_one(SEND, WAIT_CHANNEL, UNREAD);
	find_locks(NULL);
	assert_int_equal(asked, 1);
	find_channels();
	assert_int_equal(asked, 1);
}

static void expect_next(size_t i, size_t next, bool perhaps)
{
	bool got;

	assert_ptr_equal(wait_objects_next_in_circle(objects, &all[i], &got), &all[next]);
	assert_int_equal(got, perhaps);
	assert_ptr_equal(wait_objects_next_in_circle(objects, &all[i], NULL), &all[next]);
}

/* Two circles, of the second of which one goes on: then nobody is in it. */
static void test_circles(void **state)
{
	static const uint32_t next[] = {1, 0, 3, 4, 2};

	(void)state;
	for (size_t i = 0; i < 6; i++)
		add_locker(MUTEX, 0x1000 + 0x10 * i);
	for (size_t i = 0; i < 5; i++)
		made_steps[i].next = next[i];
	made_steps[1].how = made_steps[3].how = CIRCLE_PERHAPS;
	find_locks(NULL);
	for (size_t i = 0; i < 5; i++)
		expect_next(i, next[i], i % 2);
	assert_null(wait_objects_next_in_circle(objects, &all[5], NULL));
	stands_still[3] = false;
	find_locks(NULL);
	for (size_t i = 0; i < 2; i++)
		expect_next(i, next[i], i % 2);
	for (size_t i = 2; i < 6; i++)
		assert_null(wait_objects_next_in_circle(objects, &all[i], NULL));
}

/* Names are asked for by lock, of each who waits for it. */
static void test_names(void **state)
{
	struct lock_fields *fields = (void *)told;

	(void)state;
	add_one(SEND, WAIT_CHANNEL, UNREAD);
	add(RECEIVE);
	find_locks(fields);
	assert_null(named_locks); /* there are none */
	struct wait *first = add_locker(MUTEX, 0x1004), *second = add_locker(OTHER, 0x2000);

	add_locker(MUTEX, 0x1004);
	find_locks(fields);
	assert_string_equal(told, "2 locks: 0<2 1<3 0<4 look");
	assert_ptr_equal(named_locks, wait_objects_lock(objects, first));
	assert_ptr_equal(named_locks + 1, wait_objects_lock(objects, second));
	assert_string_equal(wait_objects_name(objects, first), "0 of kind 5");
	assert_string_equal(wait_objects_name(objects, second), "1 of kind 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_channels, begin, end),
		cmocka_unit_test_setup_teardown(test_select, begin, end),
		cmocka_unit_test_setup_teardown(test_many_channels, begin, end),
		cmocka_unit_test_setup_teardown(test_owners, begin_locks, end),
		cmocka_unit_test_setup_teardown(test_holders, begin_locks, end),
		cmocka_unit_test_setup_teardown(test_keepers, begin_locks, end),
		cmocka_unit_test_setup_teardown(test_nothing_to_release, begin_locks, end),
		cmocka_unit_test_setup_teardown(test_circles, begin_locks, end),
		cmocka_unit_test_setup_teardown(test_names, begin_locks, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
