// SPDX-License-Identifier: Apache-2.0
/* Waits that had begun before tracing did: which are put into the kernel side's maps, and what is
 * said of the others. The goroutines of the process are the test's. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "blocked/blocked_internal.h"
#include "bpf-src/shared/stack.h"
#include "faketool.h"
#include "frames/frames.h"
#include "gostacks/goprocesses.h"
#include "goroutines/goroutine_frames.h"
#include "goroutines/snapshot.h"
#include "kernel/bpfmap.h"
#include "steps.h"
#include "tracing/options.h"

enum { PID = 181, ENTRY = 0x1000, BIAS = 0x50000, SINCE = 777, PARKED = 90, LABEL_SETS = 91 };
enum { GOROUTINES = 9, MANY = 100, LONG = 200 };

static const struct goroutine all[GOROUTINES] = {
	{.addr = 1, .status = GOROUTINE_WAITING, .reason = 3, .stack = 2},
	{.addr = 2, .status = GOROUTINE_WAITING, .reason = 4, .stack = 2, .labels = 2},
	{.addr = 3, .status = GOROUTINE_RUNNING},
	{.addr = 4, .status = GOROUTINE_WAITING, .stack = MANY, .stack_state = STACK_CUT},
	{.addr = 5, .status = GOROUTINE_WAITING, .stack = 2, .stack_state = STACK_CHANGED},
	{.addr = 6, .status = GOROUTINE_WAITING, .stack = 1}, /* the runtime's */
	{.addr = 7, .status = GOROUTINE_WAITING, .stack = 2}, /* has gone on */
	{.addr = 8, .status = GOROUTINE_WAITING, .stack = 2, .labels = PROFILE_LABELS},
	{.addr = 9, .status = GOROUTINE_WAITING, .stack = 2, .labels = PROFILE_LABELS + 1},
};
static const struct frames frames = {.bias = BIAS};
static const struct selection_item item = {.sites.entry.addr = ENTRY};
static const char text[LONG] = "keyvalue";

static const struct goprocesses_work *looker;
static const char *full; /* the map without room */
static uint64_t last_stack;
static bool is_there; /* the process */

/* --- in place of processes and their goroutines --- */

int goprocesses_open(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		     struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		     void *ctx, struct errmsg *err)
{
	struct errmsg why;

	(void)err;
	assert_int_equal(wanted->pid_count, 1);
	assert_int_equal(wanted->pids[0], PID);
	looker = work;
	out->count = is_there;
	errmsg_set(&why, "it is\tgone");
	if (!is_there)
		failed(ctx, &why);
	return 0;
}

int goprocesses_look(struct goprocesses *procs, size_t i, int what, const void *more, size_t len,
		     uint64_t *count, struct errmsg *err)
{
	assert_true(procs->count == 1 && !i && len == sizeof(uint64_t));
	if (looker->look(looker->ctx, &(struct goprocesses_one){0}, what, more, len, count, err))
		return -1;
	assert_int_equal(*count, GOROUTINES);
	return 0;
}

bool goprocesses_close(struct goprocesses *procs)
{
	steps_are("closed %zu", procs->count);
	return true;
}

int goprocess_snapshot(struct goprocess *gp, const struct goprocess_wanted *wanted,
		       struct snapshot *out, struct errmsg *err)
{
	assert_null(gp);
	*out = (struct snapshot){
		.all = (struct goroutine *)all, .count = GOROUTINES, .unread = 2, .left_out = 3};
	return steps_answer(err, "snapshot%s", wanted->labels ? " labels" : "");
}

void snapshot_free(struct snapshot *snap)
{
	assert_ptr_equal(snap->all, all);
	steps_are("freed");
}

const struct frames *goprocess_frames(const struct goprocess *gp)
{
	assert_null(gp);
	return &frames;
}

bool goprocess_is_still(const struct goprocess *gp, const struct goroutine *g)
{
	assert_null(gp);
	return g->addr != 7;
}

/* As many frames as its number */
const uint64_t *snapshot_stack(const struct snapshot *snap, uint32_t stack, size_t *count)
{
	static uint64_t addrs[MANY];

	assert_ptr_equal(snap->all, all);
	for (size_t i = 0; i < MANY; i++)
		addrs[i] = 0x400 + i;
	*count = stack;
	return addrs;
}

bool goroutine_is_system(const struct goroutine *g, const struct frames *of, const uint64_t *addrs,
			 size_t count)
{
	assert_ptr_equal(of, &frames);
	assert_true(addrs[0] == 0x400 && count == g->stack);
	return count == 1;
}

/* As many as its number: "key" and a value that is longer by 16 each time */
bool snapshot_labels_next(const struct snapshot_labels *labels, uint64_t *at,
			  struct snapshot_label *out, bool *cut)
{
	(void)labels;
	(void)cut;
	*out = (struct snapshot_label){
		.key = text, .value = text + 3, .key_len = 3, .value_len = 5 + 16 * *at};
	return *at && (*at)--;
}

/* --- in place of maps --- */

static void note_stack(const struct stack *stack)
{
	steps_are("stack %llu %llx", stack->count, stack->frames[stack->count - 1]);
}

static void note_labels(const struct wait_labels *set)
{
	const struct profile_sample *of = &set->sample;
	char key[9] = "", value[9] = "";

	memcpy(key, &set->words[1], 8);
	memcpy(value, &set->words[2], 8);
	steps_are("labels %u%s of %u %u words, %llu of %llu bytes %s=%s", of->labels,
		  of->labels_cut ? " cut" : "", of->count, of->label_words,
		  set->words[0] & UINT32_MAX, set->words[0] >> 32, key, value);
}

static void note_wait(uint64_t g, const struct wait_begun *wait)
{
	assert_int_equal(wait->start_ns, SINCE);
	assert_int_equal(wait->probe, ENTRY + BIAS);
	assert_int_equal(wait->pid, PID);
	steps_are("g %d reason %u%s%s", (int)g, wait->reason,
		  !wait->stack                ? ""
		  : wait->stack == last_stack ? " stack"
					      : " other stack",
		  !wait->labels                      ? ""
		  : wait->labels == WAIT_LABELS_LOST ? " lost labels"
						     : " labels");
}

static int result_of(const char *map)
{
	return full && !strcmp(full, map) ? -1 : 0;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	uint64_t number;

	memcpy(&number, key, sizeof(number));
	assert_int_not_equal(number, 0);
	if (fd == PARKED) {
		note_wait(number, value);
		return result_of("parked");
	}
	if (fd == LABEL_SETS) {
		note_labels(value);
		return result_of("label_sets");
	}
	assert_string_equal(faketool_map(fd), "stacks");
	note_stack(value);
	last_stack = number;
	return result_of("stacks");
}

int bpfmap_delete(int fd, const void *key)
{
	assert_int_equal(fd, PARKED);
	steps_are("not g %d", (int)*(const uint64_t *)key);
	return 0;
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	steps = (struct steps){0};
	faketool_begin();
	faketool.selection.items = (struct selection_item *)&item;
	full = NULL;
	is_there = true;
	return 0;
}

static void expect(int release, int label_sets, const char *did, const char *said)
{
	static const struct blocked_tool tool = {.name = "tool"};
	const struct options opts = {.pid = PID};
	const struct blocked blocked = {
		.tool = &tool, .opts = &opts, .parked = PARKED, .label_sets = label_sets};

	faketool.program.release = release;
	struct blocked_before *before = blocked_before_new(&blocked);

	faketool_errors_begin();
	blocked_before_note(before, SINCE);
	faketool_errors_expect(said);
	blocked_before_free(before);
	steps_expect(did);
}

#define UNREAD "tool: 5 goroutines could not be read when it began\n"
#define STACK2 "stack 2 401; "

static void test_waits(void **state)
{
	(void)state;
	expect(24, -1,
	       "snapshot; " STACK2 "g 1 reason 3 stack; " STACK2 "g 2 reason 4 stack; stack 64 "
	       "43f; g 4 reason 0 stack; g 5 reason 0; " STACK2
	       "g 7 reason 0 stack; not g 7; " STACK2 "g 8 reason 0 stack; " STACK2
	       "g 9 reason 0 stack; freed; closed 1; ",
	       UNREAD);
}

static void test_labels(void **state)
{
	(void)state;
	expect(24, LABEL_SETS,
	       "snapshot labels; stack 2 401; g 1 reason 3 stack; stack 2 401; labels "
	       "2 of 12 12 words, 3 of 37 bytes key=value; g 2 reason 4 stack labels; "
	       "stack 64 43f; g 4 reason 0 stack; g 5 reason 0; stack 2 401; g 7 "
	       "reason 0 stack; not g 7; stack 2 401; labels 16 of 239 239 words, 3 "
	       "of 261 bytes key=value; g 8 reason 0 stack labels; stack 2 401; "
	       "labels 16 cut of 252 252 words, 3 of 277 bytes key=value; g 9 reason "
	       "0 stack labels; freed; closed 1; ",
	       UNREAD);
}

/* They are in maps, which are not read here. */
static void test_label_maps(void **state)
{
	(void)state;
	expect(23, LABEL_SETS,
	       "snapshot labels; stack 2 401; g 1 reason 3 stack lost labels; stack 2 "
	       "401; g 2 reason 4 stack lost labels; stack 64 43f; g 4 reason 0 stack "
	       "lost labels; g 5 reason 0 lost labels; stack 2 401; g 7 reason 0 "
	       "stack lost labels; not g 7; stack 2 401; g 8 reason 0 stack lost "
	       "labels; stack 2 401; g 9 reason 0 stack lost labels; freed; closed 1; ",
	       UNREAD);
}

static void test_no_room(void **state)
{
	(void)state;
	full = "parked";
	expect(24, -1,
	       "snapshot; stack 2 401; g 1 reason 3 stack; stack 2 401; g 2 reason 4 "
	       "stack; stack 64 43f; g 4 reason 0 stack; g 5 reason 0; stack 2 401; g "
	       "7 reason 0 stack; stack 2 401; g 8 reason 0 stack; stack 2 401; g 9 "
	       "reason 0 stack; freed; closed 1; ",
	       "tool: 7 goroutines that waited already are left out: more of them than there is "
	       "room for\n" UNREAD);
	full = "stacks";
	expect(24, -1,
	       "snapshot; stack 2 401; g 1 reason 3; stack 2 401; g 2 reason 4; stack "
	       "64 43f; g 4 reason 0; g 5 reason 0; stack 2 401; g 7 reason 0; not g "
	       "7; stack 2 401; g 8 reason 0; stack 2 401; g 9 reason 0; freed; "
	       "closed 1; ",
	       UNREAD);
	full = "label_sets";
	expect(24, LABEL_SETS,
	       "snapshot labels; stack 2 401; g 1 reason 3 stack; stack 2 401; labels "
	       "2 of 12 12 words, 3 of 37 bytes key=value; g 2 reason 4 stack lost "
	       "labels; stack 64 43f; g 4 reason 0 stack; g 5 reason 0; stack 2 401; "
	       "g 7 reason 0 stack; not g 7; stack 2 401; labels 16 of 239 239 words, "
	       "3 of 261 bytes key=value; g 8 reason 0 stack lost labels; stack 2 "
	       "401; labels 16 cut of 252 252 words, 3 of 277 bytes key=value; g 9 "
	       "reason 0 stack lost labels; freed; closed 1; ",
	       UNREAD);
}

static void test_failures(void **state)
{
	(void)state;
	steps.fails = "snapshot";
	expect(24, -1, "snapshot; closed 1; ",
	       "tool: goroutines that waited already are left out: no snapshot\n");
	is_there = false;
	expect(24, -1, "closed 0; ",
	       "tool: goroutines that waited already are left out: it is\\tgone\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_waits, setup),
		cmocka_unit_test_setup(test_labels, setup),
		cmocka_unit_test_setup(test_label_maps, setup),
		cmocka_unit_test_setup(test_no_room, setup),
		cmocka_unit_test_setup(test_failures, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
