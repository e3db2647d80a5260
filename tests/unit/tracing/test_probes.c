// SPDX-License-Identifier: Apache-2.0
/* Which probes a selection needs in a program and a part, in their order, and their cookies. */
#include <stdio.h>
#include <stdlib.h>

#include "bpf-src/shared/cookie.h"
#include "elf/image.h"
#include "program/program.h"
#include "selection/selection.h"
#include "selection/tail.h"
#include "sites/goruntime.h"
#include "steps.h"
#include "tracing/probes_internal.h"
#include "tracing/tracer_config.h"
#include "unit.h"

enum { DATA = 0x9000, ITEMS = 3 }; /* what is from DATA on is not in the file */

bool image_addr_to_off(const struct image *img, uint64_t addr, uint64_t *off)
{
	(void)img;
	*off = addr + 0x10000;
	return addr < DATA;
}

void selection_skip(struct selection *sel, struct selection_item *item, const char *why)
{
	item->skipped = why;
	steps_are("skip %d: %s", (int)(item - sel->items), why);
}

const struct site *selection_exits(const struct selection *sel, const struct selection_item *item)
{
	return &sel->exits.items[item->sites.first_exit];
}

static const struct program app, lib;
static struct selection sel;
static struct selection_item items[ITEMS];
static struct site exits[2 * ITEMS];
static struct selection_tails tails;
static struct tracer_plan plans[ITEMS];
static struct goruntime rt;
static struct probes_want want;

/* Item i of three begins at 0x1000 * (i + 1), and ends at the two next places. */
static int setup(void **state)
{
	(void)state;
	steps = (struct steps){0};
	sel = (struct selection){.items = items, .item_count = ITEMS, .tails = &tails};
	sel.exits = (struct site_list){.items = exits, .count = 2 * ITEMS};
	tails = (struct selection_tails){0};
	rt = (struct goruntime){0};
	rt.recovered.addr = 0x8010;
	rt.goexit.addr = 0x8020;
	for (unsigned i = 0; i < ITEMS; i++) {
		uint64_t addr = 0x1000 * (i + 1);

		items[i] = (struct selection_item){
			.prog = &app, .row = i + 4, .returns = true, .copy.node = 20};
		items[i].sites = (struct selection_sites){
			.entry.addr = addr, .exits = 2, .first_exit = 2 * i};
		exits[2 * i] = (struct site){.addr = addr + 1, .kind = SITE_RET, .sp_adjust = 8};
		exits[2 * i + 1] = (struct site){.addr = addr + 2, .kind = SITE_TAIL_JUMP};
		plans[i] = (struct tracer_plan){0};
	}
	want = (struct probes_want){.sel = &sel, .prog = &app};
	return 0;
}

static void say(const struct attach_probe *probe, size_t owner)
{
	static const char *const kinds[] = {"call",      "if checked", "jump", "return",
					    "recovered", "goexit",     "fatal"};
	char copy[16] = "", adjust[32] = "";

	assert_int_equal(probe->off, probe->addr + 0x10000);
	if (cookie_copy(probe->cookie))
		snprintf(copy, sizeof(copy), " copy %u", cookie_copy(probe->cookie));
	if (cookie_is_ret(probe->cookie))
		snprintf(adjust, sizeof(adjust), " ret at %x", cookie_low(probe->cookie));
	else if (cookie_adjust(probe->cookie))
		snprintf(adjust, sizeof(adjust), "%+d", (int)cookie_adjust(probe->cookie));
	steps_are("%lx %s row %u%s%s of %d", probe->addr, kinds[cookie_kind(probe->cookie)],
		  cookie_row(probe->cookie), copy, adjust, (int)owner);
}

static struct probes *made(void)
{
	struct probes *probes = probes_new(&want);

	for (size_t i = 0; i < probes->count; i++)
		say(&probes->items[i], probes->owners[i]);
	return probes;
}

static void expect(const char *text)
{
	probes_free(made());
	steps_expect(text);
}

#define ALL_ENDS                                                                                   \
	"1001 return row 4+8 of 0; 1002 return row 4 of 0; 2001 return row 5+8 of 1; "             \
	"2002 return row 5 of 1; 3001 return row 6+8 of 2; 3002 return row 6 of 2; "
#define HOOKS "8010 recovered row 0 of -1; 8020 goexit row 0 of -1; "
#define ALL_ENTRIES "1000 call row 4 of 0; 2000 call row 5 of 1; 3000 call row 6 of 2; "

/* Ends come before entries; functions in their order, copies before them and in the other. */
static void test_order(void **state)
{
	(void)state;
	expect(ALL_ENDS ALL_ENTRIES);
	want.rt = &rt; /* fatal is not known */
	expect(ALL_ENDS HOOKS ALL_ENTRIES);
	items[0].is_copy = items[2].is_copy = true;
	want.rt = NULL;
	expect("1001 return row 4 copy 21+8 of 0; 1002 return row 4 copy 21 of 0; 2001 return row "
	       "5+8 of 1; 2002 return row 5 of 1; 3001 return row 6 copy 21+8 of 2; 3002 return "
	       "row 6 copy 21 of 2; 3000 call row 6 copy 21 of 2; 1000 call row 4 copy 21 of 0; "
	       "2000 call row 5 of 1; ");
}

/* The first group's are attached last. */
static void test_groups(void **state)
{
	(void)state;
	sel.group = 1;
	items[0].group = 1;
	items[2].group = 1;
	expect("1001 return row 4+8 of 0; 1002 return row 4 of 0; 3001 return row 6+8 of 2; 3002 "
	       "return row 6 of 2; 2001 return row 5+8 of 1; 2002 return row 5 of 1; 1000 call row "
	       "4 of 0; 3000 call row 6 of 2; 2000 call row 5 of 1; ");
	/* what the tool asks of the runtime carries its group, and no hook ends it */
	sel.want.runtime = true;
	items[1].runtime = 3;
	want.rt = &rt;
	expect("1001 return row 1+8 of 0; 1002 return row 1 of 0; 3001 return row 1+8 of 2; 3002 "
	       "return row 1 of 2; 2001 return row 0 copy 3+8 of 1; 2002 return row 0 copy 3 of 1; "
	       "1000 call row 1 of 0; 3000 call row 1 of 2; 2000 call row 0 copy 3 of 1; ");
}

static void test_places(void **state)
{
	(void)state;
	sel.want.places = true;
	want.first_place = 40;
	sel.items[1].sites.entry.addr = DATA; /* which is not in the file */
	sel.items[2].skipped = "why";
	expect("1001 return row 40+8 of 0; 1002 return row 41 of 0; 2001 return row 42+8 of 1; "
	       "2002 return row 43 of 1; 1000 call row 44 of 0; ");
	want.rt = &rt;
	rt.split_stack = true; /* of gccgo */
	expect("1001 return row 40+8 of 0; 1002 return row 41 of 0; 2001 return row 42+8 of 1; "
	       "2002 return row 43 of 1; 8010 recovered row 44 of -1; 8020 goexit row 45 of -1; "
	       "1000 call row 46 of 0; ");
}

static void test_kinds(void **state)
{
	(void)state;
	sel.item_count = 1;
	items[0].sites.entry.kind = SITE_CHECK_BRANCH;
	sel.want.tails = true;
	exits[1].sp_adjust = -16;
	exits[0].plain_ret = true;
	expect("1001 return row 4+8 of 0; 1002 jump row 4-16 of 0; 1000 if checked row 4 of 0; ");
	want.emulates = true;
	expect("1001 return row 4 ret at 1 of 0; 1002 jump row 4-16 of 0; 1000 if checked row 4 of "
	       "0; ");
	exits[0].addr = items[0].sites.entry.addr; /* it is the whole function */
	expect("1000 return row 4+8 of 0; 1002 jump row 4-16 of 0; 1000 if checked row 4 of 0; ");
	items[0].is_copy = true;
	expect("1000 return row 4 copy 21 ret at 0 of 0; 1002 jump row 4 copy 21-16 of 0; 1000 if "
	       "checked row 4 copy 21 of 0; ");
}

/* Hooks end calls that are timed: of the program, or, if they are a library's, of others. */
static void test_hooks(void **state)
{
	(void)state;
	sel.item_count = 1;
	items[0].sites.exits = 0;
	want.rt = &rt;
	rt.fatal.addr = 0x8030;
	expect("8010 recovered row 0 of -1; 8020 goexit row 0 of -1; 8030 fatal row 0 of -1; 1000 "
	       "call row 4 of 0; ");
	rt.fatal.addr = 0;
	items[0].returns = false;
	expect("1000 call row 4 of 0; ");
	items[0].returns = true;
	items[0].skipped = "why";
	expect("");
	rt.is_library = true;
	expect("");
	items[0].skipped = NULL;
	items[0].prog = &lib;
	expect("8010 recovered row 0 of -1; 8020 goexit row 0 of -1; ");
	rt.is_library = false;
	expect("");
}

/* Item 0 is of part 0, item 1 of part 1, and so it ends in part 0; item 2 is of part 2. */
static void make_parts(void)
{
	for (unsigned i = 0; i < ITEMS; i++)
		plans[i].part = i;
	plans[1].ends_apart = true;
	want.plans = plans;
	want.rt = &rt;
}

static void expect_part(uint32_t part, uint32_t leader, const char *text)
{
	want.part = part;
	want.leader = leader;
	expect(text);
}

static void test_parts(void **state)
{
	(void)state;
	make_parts();
	expect_part(0, 0,
		    "1001 return row 4+8 of 0; 1002 return row 4 of 0; 2001 return row 5+8 of 1; "
		    "2002 return row 5 of 1; 8010 recovered row 0 of -1; 8020 goexit row 0 of -1; "
		    "1000 call row 4 of 0; ");
	expect_part(1, 0, "2000 call row 5 of 1; ");
	expect_part(2, 0,
		    "3001 return row 6+8 of 2; 3002 return row 6 of 2; 3000 call row 6 of 2; ");
	expect_part(0, 2,
		    "1001 return row 4+8 of 0; 1002 return row 4 of 0; 2001 return row 5+8 of 1; "
		    "2002 return row 5 of 1; 8010 recovered row 0 of -1; 8020 goexit row 0 of -1; "
		    "1000 call row 4 of 0; ");
	expect_part(1, 2, "2000 call row 5 of 1; ");
	expect_part(2, 2,
		    "3001 return row 6+8 of 2; 3002 return row 6 of 2; 8010 recovered row 0 of -1; "
		    "8020 goexit row 0 of -1; 3000 call row 6 of 2; ");
	/* all that is timed is of the part that leads */
	items[0].returns = items[1].returns = false;
	expect_part(0, 2,
		    "1001 return row 4+8 of 0; 1002 return row 4 of 0; 2001 return row 5+8 of 1; "
		    "2002 return row 5 of 1; 1000 call row 4 of 0; ");
	items[1].returns = true;
	items[2].returns = false;
	expect_part(2, 2,
		    "3001 return row 6+8 of 2; 3002 return row 6 of 2; 3000 call row 6 of 2; ");
}

/* Calls that end in other functions: as many probes at a place as may end there at once. */
static void test_tails(void **state)
{
	static struct selection_tail all[] = {
		{.site = {.addr = 0x5000, .plain_ret = true, .sp_adjust = 16},
		 .item = 1,
		 .calls = 2},
		{.site = {.addr = 0x6000, .plain_ret = true, .kind = SITE_TAIL_JUMP},
		 .item = 1,
		 .calls = 1,
		 .is_entry = true},
		{.site = {.addr = 0x7000}, .item = 2, .calls = 1},
	};

	(void)state;
	tails = (struct selection_tails){.items = all, .count = 3};
	sel.item_count = 3;
	sel.want.tails = true;
	items[1].tails = true;
	items[2].prog = &lib;
	items[2].tails = true;
	expect("1001 return row 4+8 of 0; 1002 jump row 4 of 0; 5000 return row 5 copy 65535+16 of "
	       "1; 5000 return row 5 copy 65535+16 of 1; 6000 jump row 5 copy 65535 of 1; 1000 "
	       "call row 4 of 0; 2000 call row 5 copy 65535 of 1; ");
	want.emulates = true;
	expect("1001 return row 4+8 of 0; 1002 jump row 4 of 0; 5000 return row 5 copy 65535 ret "
	       "at 0 of 1; 5000 return row 5 copy 65535 ret at 0 of 1; 6000 jump row 5 copy 65535 "
	       "of 1; 1000 call row 4 of 0; 2000 call row 5 copy 65535 of 1; ");
	items[1].skipped = "why";
	expect("1001 return row 4+8 of 0; 1002 jump row 4 of 0; 1000 call row 4 of 0; ");
	items[1].skipped = NULL;
	want.plans = plans;
	plans[1].part = 1;
	expect("1001 return row 4+8 of 0; 1002 jump row 4 of 0; 1000 call row 4 of 0; ");
}

/* Of an item with a place that is refused none stays; if others of it are attached, all are anew.
 */
static void test_refused(void **state)
{
	static struct selection_tail tail = {.site.addr = 0x5000, .item = 1, .calls = 1};

	(void)state;
	want.rt = &rt;
	struct probes *probes = made();

	steps_expect(ALL_ENDS HOOKS ALL_ENTRIES);
	assert_false(probes_note_refused(probes, &sel));
	probes->items[6].refused = "a hook";
	assert_false(probes_note_refused(probes, &sel));
	assert_null(probes->refusal);
	assert_int_equal(steps.len, 0);
	probes->items[2].refused = "first";
	probes->items[9].refused = "second";
	assert_true(probes_note_refused(probes, &sel));
	assert_string_equal(probes->refusal, "first");
	steps_expect("skip 1: first; ");
	probes_free(probes);

	setup(NULL);
	for (unsigned i = 1; i < ITEMS; i++)
		items[i].sites.exits = 0;
	probes = made();
	steps_expect("1001 return row 4+8 of 0; 1002 return row 4 of 0; " ALL_ENTRIES);
	probes->items[0].refused = "end";
	probes->items[4].refused = "entry";
	assert_true(probes_note_refused(probes, &sel));
	steps_expect("skip 0: end; skip 2: entry; ");
	probes_free(probes);

	setup(NULL);
	for (unsigned i = 0; i < ITEMS; i++)
		items[i].sites.exits = 0;
	probes = made();
	steps_expect(ALL_ENTRIES);
	probes->items[1].refused = "entry";
	assert_false(probes_note_refused(probes, &sel));
	steps_expect("skip 1: entry; ");
	probes_free(probes);

	setup(NULL);
	tails = (struct selection_tails){.items = &tail, .count = 1};
	for (unsigned i = 0; i < ITEMS; i++)
		items[i].tails = i > 0;
	probes = made();
	steps_expect("1001 return row 4+8 of 0; 1002 return row 4 of 0; 5000 return row 5 copy "
		     "65535 of 1; 1000 call row 4 of 0; 2000 call row 5 copy 65535 of 1; 3000 call "
		     "row 6 copy 65535 of 2; ");
	probes->items[2].refused = "tail";
	assert_true(probes_note_refused(probes, &sel));
	steps_expect("skip 1: tail; skip 1: tail; skip 2: tail; ");
	probes_free(probes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, setup),
		cmocka_unit_test_setup(test_groups, setup),
		cmocka_unit_test_setup(test_places, setup),
		cmocka_unit_test_setup(test_kinds, setup),
		cmocka_unit_test_setup(test_hooks, setup),
		cmocka_unit_test_setup(test_parts, setup),
		cmocka_unit_test_setup(test_tails, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
