// SPDX-License-Identifier: Apache-2.0
/* What a lock is called: by a variable, by what the code of those who wait says, and by what they
 * have as their first argument. What the program says is made up. */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/process.h"
#include "frames/frame_args.h"
#include "golang/gotype.h"
#include "locks/lock_names.h"
#include "locks/lock_stacks_internal.h"
#include "locks/locks.h"
#include "program/program.h"
#include "waits/lock_fields.h"
#include "waits/lock_path.h"

enum {
	BIAS = 0x1000,
	LOCK = 0x9018,   /* a lock in a struct at 0x9000 */
	GLOBAL = 0x5000, /* in the program's data, with the load bias */
	STACK = 1,
	OF_CODE = 40, /* stacks from here on are named by their code */
	IN_SYNC = 60, /* ... only by that of package sync */
	CALLEE_AT = 0x100,
	OLD_AT = 0x200, /* its first argument may be out of date */
	OBJECT = 0x40,  /* place in the memory's file of an object that points to the lock */
};

static const struct program app;
static struct lock_names *names;
static struct frame called[3];
static struct lock_trace trace;
static unsigned opened, asked;
static char memory[] = "/tmp/lock_names.XXXXXX";

/* --- in place of locks/lock_stacks.c --- */

const struct lock_trace *lock_stacks_find(struct lock_stacks *stacks, struct lock_stack stack)
{
	(void)stacks;
	assert_int_equal(stack.hash, STACK);
	assert_int_equal(stack.bias, BIAS);
	return &trace;
}

const char *lock_stacks_name(struct lock_stacks *stacks, const struct frames *frames,
			     struct lock_fields *fields, struct lock_stack stack, bool in_sync)
{
	static char text[32];

	(void)stacks;
	(void)frames;
	(void)fields;
	asked++;
	if (stack.hash < OF_CODE || (stack.hash >= IN_SYNC && !in_sync))
		return NULL;
	snprintf(text, sizeof(text), "by code %d", (int)stack.hash);
	return text;
}

/* --- of waits/ and frames/frame_args.c --- */

struct lock_fields *lock_fields_new(const struct program *prog)
{
	assert_ptr_equal(prog, &app);
	return NULL;
}

void lock_fields_free(struct lock_fields *fields)
{
	(void)fields;
}

char *lock_fields_variable(struct lock_fields *fields, uint64_t addr)
{
	(void)fields;
	if (addr == GLOBAL)
		return strdup("main.mu");
	return addr == GLOBAL + 0x18 ? strdup("main.cache+0x18") : NULL;
}

static const struct gotype store;

const struct gotype *lock_fields_param(struct lock_fields *fields, uint64_t at, uint32_t off)
{
	(void)fields;
	assert_int_equal(off, 0);
	return at >= CALLEE_AT ? &store : NULL;
}

bool frame_args_first(const struct frames *frames, uint64_t addr)
{
	(void)frames;
	return addr != OLD_AT;
}

char *lock_path(const struct gotype *type, uint64_t off, enum wait_kind kind, bool points)
{
	char text[64];

	assert_ptr_equal(type, &store);
	if (off != 0x18 && off != 8)
		return NULL;
	snprintf(text, sizeof(text), "main.(*Store).%s%s+%d", kind == WAIT_RWMUTEX ? "rw" : "mu",
		 points ? " pointer" : "", (int)off);
	return strdup(text);
}

/* --- of files/process.c: the memory is a file --- */

static char process[8];
static void *const token = process;

struct process *process_open(pid_t pid, struct errmsg *err)
{
	(void)err;
	assert_int_equal(pid, 12);
	opened++;
	return token;
}

int process_memory(const struct process *proc, struct errmsg *err)
{
	(void)proc;
	(void)err;
	return open(memory, O_RDONLY);
}

void process_close(struct process *proc)
{
	(void)proc;
}

/* --- a lock --- */

static struct lock_waiter waiters[12];
static struct lock lock;
static struct lock_event event;

static int begin(void **state)
{
	(void)state;
	names = lock_names_new(&app, NULL);
	memset(waiters, 0, sizeof(waiters));
	lock = (struct lock){.process = {.start_ns = 5, .tgid = 12},
			     .addr = LOCK,
			     .pid = 12,
			     .waiters = waiters};
	event = (struct lock_event){.stack = STACK, .probe = BIAS, .words = {1, 0x9000, 3}};
	for (size_t i = 0; i < 3; i++)
		called[i] = (struct frame){.number = i, .at = i + 1};
	trace = (struct lock_trace){.frames = called, .count = 3};
	opened = asked = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	lock_names_free(names);
	return 0;
}

static void note(void)
{
	lock_names_note(names, &lock, &event);
}

static void expect_name(const char *want)
{
	const char *name = lock_names_find(names, &lock);

	if (want)
		assert_string_equal(name, want);
	else
		assert_null(name);
}

static void test_unknown(void **state)
{
	(void)state;
	expect_name(NULL);
	note();
	expect_name(NULL);
	lock.addr++; /* another one */
	expect_name(NULL);
}

static void test_variable(void **state)
{
	(void)state;
	lock.addr = GLOBAL + BIAS;
	note();
	expect_name("main.mu");
	lock.process.exec++; /* another process of the same ID */
	expect_name(NULL);
}

/* The field's name says more than a place in a variable; that by code of package sync does, too. */
static void test_place_in_variable(void **state)
{
	(void)state;
	lock.addr = GLOBAL + BIAS + 0x18;
	note();
	expect_name("main.cache+0x18");
	lock.process.exec++;
	lock.waiter_count = 1;
	waiters[0].stack.hash = OF_CODE;
	note();
	expect_name("by code 40");
	lock.process.exec++;
	waiters[0].stack.hash = IN_SYNC;
	note();
	expect_name("main.cache+0x18");
}

static void test_code(void **state)
{
	struct lock_wait waiting = {.stack = {.hash = OF_CODE + 5}};

	(void)state;
	lock.waiter_count = 8;
	waiters[3].stack.hash = OF_CODE + 3;
	waiters[4].stack.hash = OF_CODE + 4;
	note();
	expect_name("by code 43");
	assert_int_equal(asked, 4);
	expect_name("by code 43"); /* once found it is kept */
	assert_int_equal(asked, 4);
	lock.addr++;
	lock.waiter_count = 12;
	memset(waiters, 0, sizeof(waiters));
	waiters[8].stack.hash = OF_CODE; /* not as many are looked at */
	note();
	expect_name(NULL);
	lock.addr++;
	lock.waiter_count = 0;
	lock.waiting = &waiting;
	note();
	expect_name("by code 45");
	lock.addr++;
	waiting.stack.hash = IN_SYNC + 1;
	note();
	expect_name("by code 61");
}

/* What is not found is sought again when another has waited, not before. */
static void test_sought_again(void **state)
{
	(void)state;
	lock.waiter_count = 1;
	note();
	expect_name(NULL);
	waiters[0].stack.hash = OF_CODE;
	expect_name(NULL);
	note();
	expect_name("by code 40");
}

/* The first argument of a function points to the struct that has the lock. */
static void test_argument(void **state)
{
	(void)state;
	called[1].at = CALLEE_AT;
	note();
	expect_name("main.(*Store).mu+24");
	lock.is_rw = true;
	lock.process.exec++;
	note();
	expect_name("main.(*Store).rw+24");
	lock.process.exec++;
	called[1].inlined = true; /* it has none of its own */
	note();
	expect_name(NULL);
	called[1].inlined = false;
	lock.process.exec++;
	called[1].at = OLD_AT;
	note();
	expect_name(NULL);
	lock.process.exec++;
	called[1].at = CALLEE_AT;
	event.words[1] = 0; /* nil */
	note();
	expect_name(NULL);
	lock.process.exec++;
	event.words[1] = 0x9000;
	called[1].number = LOCK_WORDS; /* what such a frame had is not told */
	note();
	expect_name(NULL);
}

/* It points to a struct that has a pointer to the lock. */
static void test_pointer(void **state)
{
	const uint64_t words[2] = {1, LOCK};
	int fd = open(memory, O_WRONLY);

	(void)state;
	assert_int_equal(pwrite(fd, words, sizeof(words), OBJECT), sizeof(words));
	close(fd);
	called[1].at = CALLEE_AT;
	event.words[1] = OBJECT;
	lock.addr = LOCK + LOCK_FIELDS_STRUCT_MAX; /* far away, and not what it points to */
	note();
	expect_name(NULL);
	lock.addr = LOCK;
	event.words[1] = OBJECT + 1; /* no pointer to a struct */
	note();
	event.words[1] = OBJECT;
	note();
	expect_name("main.(*Store).mu pointer+8");
	assert_int_equal(opened, 1);
	lock.process.exec++;
	note();
	expect_name("main.(*Store).mu pointer+8");
	assert_int_equal(opened, 2);
}

static int make_memory(void **state)
{
	int fd = mkstemp(memory);

	(void)state;
	if (fd < 0 || ftruncate(fd, 0x2000))
		return -1;
	return close(fd);
}

static int remove_memory(void **state)
{
	(void)state;
	return unlink(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unknown, begin, end),
		cmocka_unit_test_setup_teardown(test_variable, begin, end),
		cmocka_unit_test_setup_teardown(test_place_in_variable, begin, end),
		cmocka_unit_test_setup_teardown(test_code, begin, end),
		cmocka_unit_test_setup_teardown(test_sought_again, begin, end),
		cmocka_unit_test_setup_teardown(test_argument, begin, end),
		cmocka_unit_test_setup_teardown(test_pointer, begin, end),
	};

	return cmocka_run_group_tests(tests, make_memory, remove_memory);
}
