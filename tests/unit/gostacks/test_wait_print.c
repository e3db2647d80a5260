// SPDX-License-Identifier: Apache-2.0
/* What goroutines wait for, as gostacks prints it, of channels and locks that are made up. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/json.h"
#include "files/process_files.h"
#include "goroutines/snapshot.h"
#include "gostacks/wait_print_internal.h"
#include "printed.h"
#include "waits/wait_objects.h"

enum { GS = 12, NOW_NS = 1000000, REASON_CHAN = 3, REASON_SELECT = 4 };

static struct goroutine all[GS];
static struct wait list[GS];
static struct snapshot snap;
static unsigned char picked[GS];
static struct wait_channel channel;
static struct wait_lock lock;
static enum wait_direction direction;
static const char *lock_name, *file;
static int number;
static const struct goroutine *next[GS]; /* in circles */
static bool perhaps_next;

/* --- in place of waits/wait_objects.c and of a process's files --- */

const struct wait_channel *wait_objects_channel(const struct wait_objects *objects,
						const struct wait *wait)
{
	(void)objects;
	(void)wait;
	return &channel;
}

const struct wait_lock *wait_objects_lock(const struct wait_objects *objects,
					  const struct wait *wait)
{
	(void)objects;
	(void)wait;
	return &lock;
}

const char *wait_objects_name(const struct wait_objects *objects, const struct wait *wait)
{
	(void)objects;
	(void)wait;
	return lock_name;
}

enum wait_direction wait_objects_direction(const struct wait_objects *objects,
					   const struct goroutine *g, const struct wait *wait)
{
	(void)objects;
	(void)g;
	(void)wait;
	return direction;
}

const struct goroutine *wait_objects_next_in_circle(const struct wait_objects *objects,
						    const struct goroutine *g, bool *perhaps)
{
	(void)objects;
	if (perhaps)
		*perhaps = perhaps_next;
	return next[g - all];
}

char *process_files_name(struct process_files *files, int fd)
{
	assert_ptr_equal(files, &file);
	assert_int_equal(fd, 7);
	return file ? strdup(file) : NULL;
}

static int call_of(void *ctx, pid_t tid)
{
	(void)ctx;
	assert_int_equal(tid, 7);
	return number;
}

static const char *type_name(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr ? "main.T\x1b" : NULL;
}

static struct wait_context waits = {.call = call_of, .type_name = type_name};

/* --- one goroutine --- */

static int begin(void **state)
{
	(void)state;
	memset(all, 0, sizeof(all));
	memset(list, 0, sizeof(list));
	memset(next, 0, sizeof(next));
	memset(picked, 0, sizeof(picked));
	snap = (struct snapshot){
		.all = all, .count = 1, .waits = {.all = list, .count = GS}, .when_ns = NOW_NS};
	snap.reasons[REASON_CHAN] = "chan receive";
	snap.reasons[REASON_SELECT] = "select";
	for (size_t i = 0; i < GS; i++)
		all[i] = (struct goroutine){.goid = 10 + i,
					    .status = GOROUTINE_WAITING,
					    .reason = REASON_CHAN,
					    .waits = i,
					    .wait_count = 1};
	channel = (struct wait_channel){.addr = 0xc0};
	lock = (struct wait_lock){.addr = 0xd0, .waiters = 1};
	direction = WAIT_UNKNOWN;
	lock_name = file = NULL;
	waits.files = NULL;
	perhaps_next = false;
	return 0;
}

static void set(unsigned char kind, uint64_t object)
{
	list[0] = (struct wait){.kind = kind, .object = object};
}

static void expect(const char *want)
{
	printed_begin();
	wait_print(stdout, "  ", &waits, &snap, &all[0]);
	printed_expect(want);
}

static void expect_json(const char *want)
{
	struct json json;

	printed_begin();
	json_init(&json, stdout);
	wait_json(&json, &waits, &snap, &all[0]);
	char *text = printed_end();

	text[strcspn(text, "\n")] = '\0';
	assert_string_equal(text, want);
	free(text);
}

static void test_channels(void **state)
{
	(void)state;
	set(WAIT_CHANNEL, 0xc0);
	expect("  waits for chan ? 0xc0\n");
	expect_json("{\"kind\":\"channel\",\"addr\":\"0xc0\",\"direction\":null,\"elem\":null,"
		    "\"len\":null,\"cap\":null,\"closed\":null,\"receivers\":0,\"senders\":0}");
	channel = (struct wait_channel){.addr = 0xc0,
					.is_read = true,
					.type = 1,
					.len = 2,
					.cap = 10,
					.receivers = 3,
					.senders = 2};
	expect("  waits for chan main.T\\x1b 0xc0, 2 of 10\n");
	direction = WAIT_RECEIVES;
	expect("  waits to receive from chan main.T\\x1b 0xc0, 2 of 10, with 2 others\n");
	expect_json("{\"kind\":\"channel\",\"addr\":\"0xc0\",\"direction\":\"receive\","
		    "\"elem\":\"main.T\\u001b\",\"len\":2,\"cap\":10,\"closed\":false,"
		    "\"receivers\":3,\"senders\":2}");
	direction = WAIT_SENDS;
	channel.closed = true;
	expect("  waits to send to chan main.T\\x1b 0xc0, 2 of 10, closed, with 1 other\n");
	channel.senders = 1;
	channel.type = 0;
	next[0] = &all[1];
	expect("  waits to send to chan ? 0xc0, 2 of 10, closed; deadlock?\n");
	expect_json("{\"kind\":\"channel\",\"addr\":\"0xc0\",\"direction\":\"send\","
		    "\"elem\":null,\"len\":2,\"cap\":10,\"closed\":true,"
		    "\"receivers\":3,\"senders\":1,\"maybe_deadlock\":true}");
}

/* In a select, all of its cases */
static void test_select(void **state)
{
	(void)state;
	set(WAIT_CHANNEL, 0xc0);
	list[1] = list[0];
	all[0].wait_count = 2;
	all[0].reason = REASON_SELECT;
	direction = WAIT_SENDS;
	expect("  waits to send to chan ? 0xc0\n  waits to send to chan ? 0xc0\n");
#define CASE                                                                                       \
	"{\"kind\":\"channel\",\"addr\":\"0xc0\",\"direction\":\"send\",\"elem\":null,"            \
	"\"len\":null,\"cap\":null,\"closed\":null,\"receivers\":0,\"senders\":0}"
	expect_json("{\"kind\":\"select\",\"cases\":[" CASE "," CASE "]}");
	assert_false(wait_print_is_lock(&snap, &all[0]));
	all[0].wait_count = 0;
	expect("");
	expect_json("null");
}

static void test_locks(void **state)
{
	static const struct {
		unsigned char kind;
		const char *text, *json;
		bool is_lock;
	} kinds[] = {
		{WAIT_MUTEX, "sync.Mutex", "mutex", true},
		{WAIT_RWMUTEX, "sync.RWMutex", "rwmutex", true},
		{WAIT_WAITGROUP, "sync.WaitGroup", "waitgroup", false},
		{WAIT_COND, "sync.Cond", "cond", false},
		{WAIT_SEMAPHORE, "semaphore", "semaphore", false},
	};
	char text[256], json[256];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		begin(state);
		set(kinds[i].kind, 0xd0);
		lock.waiters = 3;
		lock.holder_count = 2;
		lock.holders[0] = 8;
		lock.holders[1] = 9;
		snprintf(text, sizeof(text), "  waits for %s 0xd0, with 2 others%s\n",
			 kinds[i].text, kinds[i].is_lock ? "; held? by goroutine 8, 9" : "");
		expect(text);
		snprintf(json, sizeof(json),
			 "{\"kind\":\"%s\",\"addr\":\"0xd0\",\"name\":null,\"waiters\":3%s}",
			 kinds[i].json,
			 kinds[i].is_lock ? ",\"maybe_held_by\":[8,9],\"maybe_deadlock\":false"
					  : "");
		expect_json(json);
		assert_int_equal(wait_print_is_lock(&snap, &all[0]), kinds[i].is_lock);
	}
}

/* Who only keeps a pointer to it, beside others or alone */
static void test_lock_keepers(void **state)
{
	(void)state;
	set(WAIT_MUTEX, 0xd0);
	lock.keepers[0] = 6;
	lock.keepers[1] = 7;
	lock.keeper_count = 1;
	expect("  waits for sync.Mutex 0xd0; goroutine 6 keeps a pointer to it\n");
	lock.keeper_count = 2;
	lock.holders[0] = 8;
	lock.holder_count = 1;
	expect("  waits for sync.Mutex 0xd0; held? by goroutine 8; goroutines 6, 7 keep a pointer "
	       "to it\n");
	expect_json("{\"kind\":\"mutex\",\"addr\":\"0xd0\",\"name\":null,\"waiters\":1,"
		    "\"maybe_held_by\":[8],\"pointer_kept_by\":[6,7],\"maybe_deadlock\":false}");
	lock.keeper_count = WAIT_HOLDERS_MAX + 2;
	lock.holder_count = 0;
	for (size_t i = 0; i < WAIT_HOLDERS_MAX; i++)
		lock.keepers[i] = i + 1;
	expect("  waits for sync.Mutex 0xd0; goroutines 1, 2, 3, 4, 5, 6, 7, 8 and 2 more keep a "
	       "pointer to it\n");
}

/* By its name; holders up to as many as are kept; a circle */
static void test_lock_details(void **state)
{
	(void)state;
	set(WAIT_MUTEX, 0xd0);
	lock_name = "main.mu\x1b";
	expect("  waits for sync.Mutex 0xd0 main.mu\\x1b\n");
	for (size_t i = 0; i < WAIT_HOLDERS_MAX; i++)
		lock.holders[i] = i + 1;
	lock.holder_count = WAIT_HOLDERS_MAX;
	lock.waiters = 2;
	expect("  waits for sync.Mutex 0xd0 main.mu\\x1b, with 1 other; held? by goroutine "
	       "1, 2, 3, 4, 5, 6, 7, 8\n");
	lock.holder_count += 3;
	next[0] = &all[1];
	expect("  waits for sync.Mutex 0xd0 main.mu\\x1b, with 1 other; held? by goroutine "
	       "1, 2, 3, 4, 5, 6, 7, 8 or 3 more; deadlock?\n");
	expect_json("{\"kind\":\"mutex\",\"addr\":\"0xd0\",\"name\":\"main.mu\\u001b\","
		    "\"waiters\":2,\"maybe_held_by\":[1,2,3,4,5,6,7,8],\"maybe_deadlock\":true}");
	set(WAIT_COND, 0xd0);
	expect_json("{\"kind\":\"cond\",\"addr\":\"0xd0\",\"name\":\"main.mu\\u001b\","
		    "\"waiters\":2,\"maybe_deadlock\":true}");
}

static void test_timers(void **state)
{
	(void)state;
	set(WAIT_TIMER, NOW_NS + UINT64_C(62015999999));
	expect("  waits until 62.015 seconds from now\n");
	expect_json("{\"kind\":\"timer\",\"due_ns\":62015999999}");
	set(WAIT_TIMER, NOW_NS - 5); /* it is due */
	expect("  waits until 0.000 seconds from now\n");
	expect_json("{\"kind\":\"timer\",\"due_ns\":-5}");
	snap.timeless = true;
	expect("  waits in time.Sleep\n");
	expect_json("{\"kind\":\"timer\",\"due_ns\":null}");
	assert_false(wait_print_is_lock(&snap, &all[0]));
}

static void test_files(void **state)
{
	(void)state;
	set(WAIT_FD, 7);
	expect("  waits to read from file descriptor 7\n");
	expect_json("{\"kind\":\"fd\",\"fd\":7,\"direction\":\"read\",\"file\":null}");
	waits.files = (struct process_files *)&file;
	expect("  waits to read from file descriptor 7: ?\n");
	list[0].writes = true;
	file = "pipe\n";
	expect("  waits to write to file descriptor 7: pipe\\n\n");
	expect_json("{\"kind\":\"fd\",\"fd\":7,\"direction\":\"write\",\"file\":\"pipe\\n\"}");
}

static void test_calls(void **state)
{
	(void)state;
	set(WAIT_SYSCALL, 7);
	number = SYS_read;
	expect("  is in system call read, thread 7\n");
	expect_json("{\"kind\":\"syscall\",\"number\":0,\"name\":\"read\",\"tid\":7}");
	number = 100000;
	expect("  is in system call 100000, thread 7\n");
	expect_json("{\"kind\":\"syscall\",\"number\":100000,\"name\":null,\"tid\":7}");
	number = -1;
	expect("  is in system call ?, thread 7\n");
	expect_json("{\"kind\":\"syscall\",\"number\":null,\"name\":null,\"tid\":7}");
}

/* --- circles --- */

static void expect_circles(const char *want)
{
	printed_begin();
	wait_print_circles(stdout, &waits, &snap, picked);
	printed_expect(want);
}

/* Each once, if any of its goroutines is picked */
static void test_circles(void **state)
{
	(void)state;
	snap.count = 5;
	list[0].kind = WAIT_MUTEX;
	list[2].kind = WAIT_CHANNEL;
	list[0].object = 0xd0;
	next[0] = &all[2];
	next[2] = &all[0];
	next[3] = &all[4]; /* waits for one of the circle of 4 alone */
	next[4] = &all[4];
	expect_circles("");
	picked[2] = 1;
	lock_name = "main.mu";
	expect_circles("deadlock? goroutine 10 -> sync.Mutex 0xd0 main.mu -> goroutine 12 -> "
		       "chan ? 0xc0 -> goroutine 10\n");
	picked[2] = 0;
	picked[0] = 1;
	perhaps_next = true;
	expect_circles("deadlock? goroutine 10 -> sync.Mutex 0xd0 main.mu -> perhaps goroutine 12 "
		       "-> chan ? 0xc0 -> perhaps goroutine 10\n");
}

/* Of a long one the beginning; of many circles some */
static void test_many_circles(void **state)
{
	enum { TOLD = 8 };
	char *text, *at;
	size_t lines = 0;

	(void)state;
	snap.count = GS;
	for (size_t i = 0; i < GS; i++) {
		list[i].kind = WAIT_MUTEX;
		list[i].object = 0xd0;
		picked[i] = 1;
		next[i] = &all[(i + 1) % (TOLD + 1)];
	}
#define STEP(n) " -> sync.Mutex 0xd0 -> goroutine " #n
	snap.count = TOLD + 1;
	expect_circles("deadlock? goroutine 10" STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
			       STEP(16) STEP(17) STEP(18) " -> ...\n");
	next[TOLD - 1] = &all[0];
	next[TOLD] = NULL;
	expect_circles("deadlock? goroutine 10" STEP(11) STEP(12) STEP(13) STEP(14) STEP(15)
			       STEP(16) STEP(17) STEP(10) "\n");
	snap.count = GS;
	for (size_t i = 0; i < GS; i++)
		next[i] = &all[i];
	printed_begin();
	wait_print_circles(stdout, &waits, &snap, picked);
	text = printed_end();
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, TOLD);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_channels, begin),
		cmocka_unit_test_setup(test_select, begin),
		cmocka_unit_test_setup(test_locks, begin),
		cmocka_unit_test_setup(test_lock_details, begin),
		cmocka_unit_test_setup(test_lock_keepers, begin),
		cmocka_unit_test_setup(test_timers, begin),
		cmocka_unit_test_setup(test_files, begin),
		cmocka_unit_test_setup(test_calls, begin),
		cmocka_unit_test_setup(test_circles, begin),
		cmocka_unit_test_setup(test_many_circles, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
