// SPDX-License-Identifier: Apache-2.0
/* Memory that breakpoints take, of processes and cgroups that are made up. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "files/codemaps.h"
#include "files/heldfile.h"
#include "files/memcgroup.h"
#include "printed.h"
#include "tracing/textcost_internal.h"

enum { FIRST = 11, SECOND = 12, OTHER = 13, MIB = 1 << 20 };

static struct stat stats[2] = {{.st_ino = FIRST}, {.st_ino = SECOND}};
static const struct codemap *maps;
static size_t map_count;
static int maps_result;
static struct memcgroup_room room;
static bool is_limited;
static struct {
	pid_t pid;
	uint64_t bytes;
} charged[8];
static size_t charges;
static uint64_t page;

/* --- in place of files/ --- */

const struct stat *heldfile_then(const struct heldfile *file)
{
	return (const struct stat *)file;
}

int codemaps_each(pid_t pid, void (*each)(void *ctx, const struct codemap *map), void *ctx)
{
	assert_int_equal(pid, 0);
	for (size_t i = 0; i < map_count; i++)
		each(ctx, &maps[i]);
	return maps_result;
}

struct memcgroups *memcgroup_new(const char *proc)
{
	assert_string_equal(proc, "/proc");
	return NULL;
}

void memcgroup_free(struct memcgroups *groups)
{
	assert_null(groups);
}

void memcgroup_charge(struct memcgroups *groups, pid_t pid, uint64_t bytes)
{
	(void)groups;
	charged[charges].pid = pid;
	charged[charges++].bytes = bytes;
}

bool memcgroup_tightest(const struct memcgroups *groups, struct memcgroup_room *out)
{
	(void)groups;
	*out = room;
	return is_limited;
}

/* --- */

static const struct heldfile *file(size_t n)
{
	return (const struct heldfile *)&stats[n];
}

static struct textcost *cost;

/* Three pages of the first file, one of the second */
static int begin(void **state)
{
	uint64_t offs[] = {0, 0, 0, 0, 1}, other[] = {7};

	(void)state;
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	offs[0] = 5 * page + 1;
	offs[1] = page;
	offs[2] = 2 * page - 1;
	offs[3] = 5 * page + 3;
	charges = map_count = 0;
	maps_result = 0;
	is_limited = true;
	room = (struct memcgroup_room){.path = "/sys/a\x1b", .wanted = 100, .room = 1000};
	cost = textcost_new();
	textcost_file(cost, file(0), offs, 5);
	textcost_file(cost, file(1), other, 1);
	textcost_file(cost, file(1), NULL, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	textcost_free(cost);
	return 0;
}

static void test_one_process(void **state)
{
	(void)state;
	textcost_processes(cost, 7);
	assert_int_equal(charges, 1);
	assert_int_equal(charged[0].pid, 7);
	assert_int_equal(charged[0].bytes, 4 * page);
	assert_true(textcost_is_mapped(cost, file(1))); /* nobody has looked */
}

/* Each pays for the files that it has mapped, however often. */
static void test_all_processes(void **state)
{
	static const struct codemap all[] = {
		{.pid = 1, .ino = FIRST}, {.pid = 1, .ino = FIRST},  {.pid = 2, .ino = OTHER},
		{.pid = 3, .ino = FIRST}, {.pid = 3, .ino = SECOND},
	};

	(void)state;
	maps = all;
	map_count = 3;
	textcost_processes(cost, 0);
	assert_int_equal(charges, 1);
	assert_int_equal(charged[0].pid, 1);
	assert_int_equal(charged[0].bytes, 3 * page);
	assert_true(textcost_is_mapped(cost, file(0)));
	assert_false(textcost_is_mapped(cost, file(1)));
	map_count = 5;
	charges = 0;
	textcost_processes(cost, 0);
	assert_int_equal(charges, 2);
	assert_int_equal(charged[1].pid, 3);
	assert_int_equal(charged[1].bytes, 4 * page);
	assert_true(textcost_is_mapped(cost, file(1)));
	maps_result = -1; /* there were more: nothing is known then */
	map_count = 0;
	textcost_processes(cost, 0);
	assert_true(textcost_is_mapped(cost, file(1)));
}

static void expect_refusal(const char *want)
{
	struct errmsg err = {0};

	assert_int_equal(textcost_check(cost, &err), want ? -1 : 0);
	assert_string_equal(err.text, want ? want : "");
}

static void expect_warning(const char *want)
{
	printed_begin();
	textcost_warn(cost, stdout, "tool");
	printed_expect(want);
}

/* A quarter more than is needed has to be there; more than a tenth is worth a word. */
static void test_limits(void **state)
{
	(void)state;
	room.wanted = MIB;
	room.room = 0;
	expect_refusal(NULL); /* nobody pays */
	expect_warning("");
	textcost_processes(cost, 7);
	room.wanted = 800;
	room.room = 1000;
	expect_refusal(NULL);
	room.wanted = 801;
	expect_refusal(
		"breakpoints take 16 KiB of memory (4 pages of code) in process 7, and memory "
		"cgroup /sys/a\x1b has room for 1 KiB: too little to be safe");
	expect_warning("tool: breakpoints take 16 KiB of memory (4 pages of code) in process 7, "
		       "and memory cgroup /sys/a\\x1b has room for 1 KiB\n");
	room.wanted = 100;
	expect_warning("");
	room.wanted = 101;
	room.room = 1009;
	room.path = NULL;
	expect_warning("tool: breakpoints take 16 KiB of memory (4 pages of code) in process 7, "
		       "and the machine has room for 1 KiB\n");
	room.wanted = 20 * MIB;
	room.room = 10239 * 1024;
	expect_warning("tool: breakpoints take 16 KiB of memory (4 pages of code) in process 7, "
		       "and the machine has room for 10239 KiB\n");
	room.room = 10 * MIB;
	expect_warning("tool: breakpoints take 16 KiB of memory (4 pages of code) in process 7, "
		       "and the machine has room for 10.0 MiB\n");
	is_limited = false;
	expect_warning("");
	expect_refusal(NULL);
}

static void test_many_processes(void **state)
{
	(void)state;
	textcost_processes(cost, 7);
	textcost_processes(cost, 8);
	room.wanted = 900;
	expect_warning("tool: breakpoints take 16 KiB of memory (4 pages of code) in each of 2 "
		       "processes, and memory cgroup /sys/a\\x1b has room for 1 KiB\n");
	printed_begin();
	textcost_print(cost, stdout);
	printed_expect("Breakpoints take 16 KiB of memory (4 pages of code) in each process.\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_process, begin, end),
		cmocka_unit_test_setup_teardown(test_all_processes, begin, end),
		cmocka_unit_test_setup_teardown(test_limits, begin, end),
		cmocka_unit_test_setup_teardown(test_many_processes, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
