// SPDX-License-Identifier: Apache-2.0
/* Rows of what is added up by stack: text, folded stacks, JSON, and what is in no sum. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/json.h"
#include "blocked/blocked_internal.h"
#include "printed.h"
#include "profile/profile.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

enum { NOBODY = 0x7fffffff }; /* no process has this number */

static void above(const struct blocked *blocked, const struct wait_key *key, bool folded)
{
	(void)blocked;
	printf(folded ? "stack%llu;" : "    stack%llu\n", key->stack);
}

static void below(const struct blocked *blocked, const struct wait_key *key, bool folded)
{
	(void)blocked;
	(void)key;
	fputs(folded ? ";under" : "    under\n", stdout);
}

static void add_members(const struct blocked *blocked, const struct wait_key *key,
			struct json *json)
{
	(void)blocked;
	json_member_u64(json, "stack", key->stack);
}

static struct blocked_tool tool = {.name = "test",
				   .type = "waited",
				   .wait = "wait",
				   .waits = "waits",
				   .above = above,
				   .json = add_members};
static struct options opts;
static const struct toolrun run;
static struct blocked blocked;

static int begin(void **state)
{
	(void)state;
	prctl(PR_SET_NAME, "me\x1b");
	opts = (struct options){0};
	tool.below = NULL;
	tool.open_rows = false;
	blocked = (struct blocked){.tool = &tool, .opts = &opts, .run = &run};
	blocked.reasons[3] = "chan\tsend (nil chan)";
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(blocked.comm);
	return 0;
}

static struct blocked_row row_of(uint32_t pid, uint32_t reason)
{
	return (struct blocked_row){
		.key = {.pid = pid, .reason = reason, .stack = 5},
		.sum = {.waits = 2, .total_ns = 7654321, .max_ns = 4321999},
		.open = {.waiting = 8, .process_ended = 9, .ns = 10},
	};
}

static void expect_row(const struct blocked_row *row, const char *want)
{
	printed_begin();
	blocked_put(&blocked, row);
	printed_expect(want);
}

static void test_text(void **state)
{
	struct blocked_row row = row_of(NOBODY, 3);

	(void)state;
	expect_row(&row, "    stack5\n"
			 "    -                - (2147483647): chan\\tsend (nil chan)\n"
			 "        7654 in 2 waits, at most 4321\n\n");
	row.sum.waits = 1;
	row.key.reason = WAIT_REASONS;
	tool.below = below;
	expect_row(&row, "    stack5\n"
			 "    -                - (2147483647): wait reason 64\n"
			 "    under\n"
			 "        7654 in 1 wait, at most 4321\n\n");
	row.key.reason = WAIT_RUNNABLE;
	tool.below = NULL;
	expect_row(&row, "    stack5\n"
			 "    -                - (2147483647): runnable\n"
			 "        7654 in 1 wait, at most 4321\n\n");
}

/* Each process by its own name, and whatever characters that has */
static void test_names(void **state)
{
	struct blocked_row mine = row_of((uint32_t)getpid(), 3), theirs = row_of(NOBODY, 3);
	char want[64];

	(void)state;
	snprintf(want, sizeof(want), " me\\x1b (%d): ", getpid());
	for (int i = 0; i < 2; i++) { /* the second time it is known already */
		printed_begin();
		blocked_put(&blocked, &mine);
		char *text = printed_end();

		assert_non_null(strstr(text, want));
		free(text);
	}
	printed_begin();
	blocked_put(&blocked, &theirs);
	char *text = printed_end();

	assert_non_null(strstr(text, " - (2147483647): "));
	free(text);
}

static void test_folded(void **state)
{
	const struct blocked_row row = row_of(NOBODY, 3);

	(void)state;
	blocked.folded = true;
	expect_row(&row, "stack5;[chan\\tsend (nil chan)] 7654\n");
	tool.below = below;
	expect_row(&row, "stack5;[chan\\tsend (nil chan)];under 7654\n");
}

static void test_json(void **state)
{
	struct blocked_row row = row_of(NOBODY, 4);

	(void)state;
	opts.json = true;
	expect_row(&row, "{\"type\":\"waited\",\"pid\":2147483647,\"comm\":\"-\","
			 "\"state\":\"wait reason 4\",\"waits\":2,\"total_ns\":7654321,"
			 "\"max_ns\":4321999,\"stack\":5}\n");
	tool.open_rows = true;
	row.sum.waits = 0;
	expect_row(&row, "{\"type\":\"waited\",\"pid\":2147483647,\"comm\":\"-\","
			 "\"state\":\"wait reason 4\",\"waits\":0,\"total_ns\":7654321,"
			 "\"max_ns\":4321999,\"waiting\":8,\"process_ended\":9,\"open_ns\":10,"
			 "\"stack\":5}\n");
	opts.json = false;
	expect_row(&row, ""); /* nothing has ended */
}

static void expect_rest(uint64_t waiting, uint64_t process_ended, const char *want, bool apart)
{
	FILE *theirs = stderr;
	char *said;
	size_t len;

	blocked.open = (struct blocked_open){.waiting = waiting, .process_ended = process_ended};
	stderr = open_memstream(&said, &len);
	printed_begin();
	blocked_put_rest(&blocked);
	fclose(stderr);
	stderr = theirs;
	printed_expect(apart ? "" : want);
	assert_string_equal(said, apart ? want : "");
	free(said);
}

static void test_rest(void **state)
{
	(void)state;
	expect_rest(0, 0, "", false);
	expect_rest(3, 0, "not in the sums: 3 still waiting\n\n", false);
	expect_rest(0, 4, "not in the sums: 4 in processes that ended\n\n", false);
	expect_rest(3, 4, "not in the sums: 4 in processes that ended, 3 still waiting\n\n", false);
	blocked.folded = true; /* what programs read has nothing between */
	expect_rest(3, 4, "not in the sums: 4 in processes that ended, 3 still waiting\n", true);
	blocked.folded = false;
	opts.json = true;
	expect_rest(3, 4, "not in the sums: 4 in processes that ended, 3 still waiting\n", true);
}

static void test_is_for(void **state)
{
	const struct wait_key key = {.reason = 3}, unknown = {.reason = 5};

	(void)state;
	assert_true(blocked_is_for(&blocked, &key, "chan\tsend (nil chan)"));
	assert_false(blocked_is_for(&blocked, &key, "chan"));
	assert_true(blocked_is_for(&blocked, &unknown, "wait reason 5"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, begin, end),
		cmocka_unit_test_setup_teardown(test_names, begin, end),
		cmocka_unit_test_setup_teardown(test_folded, begin, end),
		cmocka_unit_test_setup_teardown(test_json, begin, end),
		cmocka_unit_test_setup_teardown(test_rest, begin, end),
		cmocka_unit_test_setup_teardown(test_is_for, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
