// SPDX-License-Identifier: Apache-2.0
/* gocancels: whose doing a cancellation was, its lines, its JSON, and its counts. What stands in
 * stacks and the types' names are made up. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/tally.h"
#include "blocked/alloc_types.h"
#include "blocked/stacks.h"
#include "bpf-src/shared/cancels.h"
#include "cancels/cancellation_internal.h"
#include "cancels/cancels_print.h"
#include "printed.h"

#define BIAS UINT64_C(0x1000)
#define CANCEL UINT64_C(0x400)

/* Stack n is funcs[n], its innermost frame first. */
enum {
	FRAMES = 5,
	UNKNOWN = 0,
	CALLS,
	FIRES,
	PAST,
	WATCHES,
	BORN,
	STOPS,
	CREATES,
	WAITS,
	OWN,
	STACKS
};

static const char *const funcs[STACKS][FRAMES] = {
	[CALLS] = {"context.WithCancel.func1", "main.stop", "main.main"},
	[FIRES] = {"context.(*timerCtx).cancel", "context.WithDeadlineCause.func1"},
	[PAST] = {"context.(*timerCtx).cancel", "context.WithDeadline", "main.late"},
	[WATCHES] = {"context.(*cancelCtx).propagateCancel.func2"},
	[BORN] = {"context.propagateCancel", "context.WithCancel", "main.child"},
	[STOPS] = {"context.(*afterFuncCtx).cancel", "context.AfterFunc.func1", "main.stop"},
	[CREATES] = {"context.WithCancel", "main.create"},
	[WAITS] = {"contexts.Wait", "main.loop"},
	[OWN] = {"context.propagateCancel.func1"},
};

/* of blocked/stacks.c */
bool stacks_each(const struct stacks *stacks, uint64_t hash, uint64_t bias, bool all,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	(void)stacks;
	(void)all;
	assert_int_equal(bias, BIAS);
	for (unsigned i = 0; i < FRAMES && funcs[hash][i]; i++) {
		const struct frame frame = {
			.func = funcs[hash][i], .file = "/a.go", .line = 10 + (int)i};

		fn(ctx, &frame);
	}
	return hash;
}

const char *stacks_outermost(const struct stacks *stacks, uint64_t hash, uint64_t bias)
{
	const char *name = NULL;

	(void)stacks;
	assert_int_equal(bias, BIAS);
	for (unsigned i = 0; i < FRAMES && funcs[hash][i]; i++)
		name = funcs[hash][i];
	return name;
}

void stacks_json(const struct stacks *stacks, uint64_t hash, uint64_t bias, struct json *json)
{
	(void)stacks;
	assert_int_equal(bias, BIAS);
	json_u64(json, hash);
}

/* of blocked/alloc_types.c: by address in the file */
enum { CANCELED = 1, EXPIRED, WRAPPED, QUIT };

const char *alloc_types_name(struct alloc_types *types, uint64_t addr, bool many)
{
	static const char *const names[] = {
		[CANCELED] = "*errors.errorString",
		[EXPIRED] = "context.deadlineExceededError",
		[WRAPPED] = "*fmt.wrapError",
		[QUIT] = "*main.quit\033",
	};

	(void)types;
	assert_false(many);
	return names[addr];
}

static const struct cancels_view view = {0};

static struct cancel_error error_of(unsigned type, const char *text)
{
	struct cancel_error error = {.type = type + BIAS, .len = strlen(text)};

	memcpy(error.text, text, error.len < CANCEL_TEXT ? error.len : CANCEL_TEXT);
	return error;
}

static struct cancel_event event_of(uint64_t stack)
{
	return (struct cancel_event){.begin_ns = 2500000,
				     .who = {.id = 7},
				     .created_ns = 1000000,
				     .created_goid = 6,
				     .created_stack = CREATES,
				     .stack = stack,
				     .probe = CANCEL + BIAS,
				     .pid = 12,
				     .error = error_of(CANCELED, "context canceled")};
}

static struct cancellation read_event(const struct cancel_event *event)
{
	struct cancellation of;

	cancellation_read(event, CANCEL, NULL, NULL, &of);
	return of;
}

static void expect_lines(const struct cancel_event *event, const char *want)
{
	struct cancellation of = read_event(event);

	printed_begin();
	cancels_print(&view, &of);
	printed_expect(want);
}

static void test_head(void **state)
{
	const struct cancels_view timed = {.timestamp = true};

	(void)state;
	printed_begin();
	cancels_print_head(&view);
	cancels_print_head(&timed);
	printed_expect("PID     GOID       AGE WOKEN CANCELLED BY\n"
		       "TIME     PID     GOID       AGE WOKEN CANCELLED BY\n");
}

static void test_call(void **state)
{
	struct cancel_event event = event_of(CALLS);

	(void)state;
	event.cause = event.error;
	expect_lines(&event, "12      7        1.5ms     0 main.stop a.go:11\n"
			     "        created by main.create a.go:11\n");
	event.contested = 1;
	event.created_ns = 0;
	event.children = 1;
	expect_lines(&event, "12      7            -     0 main.stop a.go:11\n"
			     "        or by another goroutine at the same time\n"
			     "        and 1 child\n");
}

static void test_causes(void **state)
{
	struct cancel_event event = event_of(CALLS);
	char want[400];

	(void)state;
	event.created_ns = 0;
	event.cause = error_of(WRAPPED, "for a reason\033");
	expect_lines(&event, "12      7            -     0 main.stop a.go:11: for a reason\\x1b\n");
	event.cause = error_of(QUIT, "no text");
	expect_lines(&event, "12      7            -     0 main.stop a.go:11: *main.quit\\x1b\n");
	memset(event.cause.text, 'a', CANCEL_TEXT);
	event.cause.type = CANCELED + BIAS;
	event.cause.len = CANCEL_TEXT;
	snprintf(want, sizeof(want), "12      7            -     0 main.stop a.go:11: %.*s\n",
		 CANCEL_TEXT, event.cause.text);
	expect_lines(&event, want);
	event.cause.len = UINT64_MAX;
	snprintf(want, sizeof(want), "12      7            -     0 main.stop a.go:11: %.*s...\n",
		 CANCEL_TEXT, event.cause.text);
	expect_lines(&event, want);
	event.cause = (struct cancel_error){0};
	event.error = error_of(CANCELED, "mine");
	expect_lines(&event, "12      7            -     0 main.stop a.go:11: mine\n");
}

static void expect_how(uint64_t stack, unsigned type, enum cancellation_how how, const char *line)
{
	struct cancel_event event = event_of(stack);
	char want[200];

	event.error = error_of(type, type == EXPIRED ? "" : "context canceled");
	event.cause = event.error;
	struct cancellation of = read_event(&event);

	assert_int_equal(of.how, how);
	if (!line)
		return;
	snprintf(want, sizeof(want), "12      7        1.5ms     0 %s\n%s", line,
		 of.by.func ? "" : "        created by main.create a.go:11\n");
	expect_lines(&event, want);
}

static void test_hows(void **state)
{
	(void)state;
	expect_how(FIRES, EXPIRED, CANCELLATION_DEADLINE, "its deadline");
	expect_how(PAST, EXPIRED, CANCELLATION_DEADLINE,
		   "main.late a.go:12, whose deadline had passed");
	expect_how(WATCHES, CANCELED, CANCELLATION_PARENT, "its parent");
	expect_how(WATCHES, EXPIRED, CANCELLATION_PARENT, NULL);
	expect_how(BORN, CANCELED, CANCELLATION_PARENT,
		   "main.child a.go:12, as its parent was cancelled");
	expect_how(STOPS, CANCELED, CANCELLATION_STOP, NULL);
	expect_how(UNKNOWN, CANCELED, CANCELLATION_CALL, "[lost]");
}

static void test_woken(void **state)
{
	struct cancel_event event = event_of(CALLS);

	(void)state;
	event.created_ns = 0;
	assert_false(read_event(&event).waited);
	event.woken = 1;
	event.by[0] = (struct cancel_woken){9, OWN};
	assert_false(read_event(&event).waited);
	event.by[0].stack = UNKNOWN;
	assert_true(read_event(&event).waited);
	event.woken = 3;
	event.by[0].stack = OWN;
	event.by[1] = event.by[2] = (struct cancel_woken){8, WAITS};
	assert_true(read_event(&event).waited);
	expect_lines(&event, "12      7            -     3 main.stop a.go:11\n"
			     "        woke 1 in package context\n"
			     "        woke 2 in contexts.Wait a.go:10\n");
	for (int i = 0; i < CANCEL_WOKEN; i++)
		event.by[i] = (struct cancel_woken){9, OWN};
	event.woken = CANCEL_WOKEN;
	assert_false(read_event(&event).waited);
	event.woken = CANCEL_WOKEN + 2;
	event.children = 2;
	assert_true(read_event(&event).waited);
	expect_lines(&event, "12      7            -    10 main.stop a.go:11\n"
			     "        woke 8 in package context\n"
			     "        woke 2 more\n"
			     "        and 2 children\n");
}

static void test_json(void **state)
{
	struct cancel_event event = event_of(CALLS);
	struct cancellation of;

	(void)state;
	event.cause = error_of(QUIT, "");
	event.woken = 1;
	event.by[0] = (struct cancel_woken){9, WAITS};
	of = read_event(&event);
	printed_begin();
	cancels_json(&view, &of);
	event.created_ns = 0;
	event.woken = 0;
	event.contested = 1;
	event.stack = FIRES;
	event.error = error_of(EXPIRED, "");
	event.cause = error_of(CANCELED, "long");
	event.cause.len = CANCEL_TEXT + 1;
	memset(event.cause.text, 'x', CANCEL_TEXT);
	of = read_event(&event);
	cancels_json(&view, &of);
	char want[1200];

	snprintf(want, sizeof(want),
		 "{\"type\":\"cancel\",\"pid\":12,\"goid\":7,\"how\":\"call\",\"error\":{\"go_"
		 "type\":"
		 "\"*errors.errorString\",\"text\":\"context canceled\"},\"cause\":{\"go_type\":"
		 "\"*main.quit\\u001b\",\"text\":null},\"age_ns\":1500000,\"woken\":1,\"children\":"
		 "0,"
		 "\"contested\":false,\"stack\":1,\"created_by\":{\"goid\":6,\"stack\":7},"
		 "\"wakes\":["
		 "{\"goid\":9,\"stack\":8}]}\n"
		 "{\"type\":\"cancel\",\"pid\":12,\"goid\":7,\"how\":\"deadline\",\"error\":{"
		 "\"go_type\":\"context.deadlineExceededError\",\"text\":\"context deadline "
		 "exceeded\"},\"cause\":{\"go_type\":\"*errors.errorString\",\"text\":\"%.*s\","
		 "\"cut\":true},\"age_ns\":null,\"woken\":0,\"children\":0,\"contested\":true,"
		 "\"stack\":2,\"created_by\":null,\"wakes\":[]}\n",
		 CANCEL_TEXT, event.cause.text);
	printed_expect(want);
}

static void test_counts(void **state)
{
	struct tally *tally = tally_new();
	struct cancel_event event = event_of(CALLS), other = event_of(FIRES),
			    early = event_of(CALLS);

	(void)state;
	other.error = error_of(EXPIRED, "");
	other.created_stack = UNKNOWN;
	early.created_ns = 0;
	early.created_stack = UNKNOWN;
	enum { COUNT = 6 };
	const struct cancel_event all[COUNT] = {event, other, event, early, event, early};

	for (size_t i = 0; i < COUNT; i++) {
		struct cancellation of = read_event(&all[i]);

		cancels_count(&of, tally);
	}
	printed_begin();
	cancels_print_counts(tally);
	printed_expect("  COUNT CANCELLED BY\n"
		       "      1 its deadline\n        created by [lost]\n"
		       "      2 main.stop a.go:11\n        created by [before]\n"
		       "      3 main.stop a.go:11\n        created by main.create a.go:11\n");
	tally_free(tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head),   cmocka_unit_test(test_call),
		cmocka_unit_test(test_causes), cmocka_unit_test(test_hows),
		cmocka_unit_test(test_woken),  cmocka_unit_test(test_json),
		cmocka_unit_test(test_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
