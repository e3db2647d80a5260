// SPDX-License-Identifier: Apache-2.0
/* What hits cost, as the kernel side is told: with prices and sites that are this test's. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/latency.h"
#include "kernel/bpfmap.h"
#include "kernel/hitcost.h"
#include "latency/net.h"
#include "selection/selection.h"
#include "tracing/tracer.h"

enum { MAP = 7, ROWS = 4 };

/* each is the middle one of what is measured */
enum { EMULATED = 600, STEPPED = 9000 };

static struct selection sel;
static struct net_price told[ROWS];
static unsigned measured;
static bool carries_out, no_map;

struct hitcost_trial *hitcost_start(void)
{
	return mem_zalloc(1, 1);
}

struct hitcost hitcost_end(struct hitcost_trial *trial)
{
	static const int noise[] = {3, -100, 0, 5000, -1, 2, -2};
	int off = noise[measured++ % 7];

	free(trial);
	return (struct hitcost){EMULATED + off, STEPPED + off};
}

struct selection *tracer_selection(const struct tracer *tracer)
{
	(void)tracer;
	return &sel;
}

bool tracer_carries_out_returns(const struct tracer *tracer)
{
	(void)tracer;
	return carries_out;
}

int tracer_map(const struct tracer *tracer, const char *name)
{
	(void)tracer;
	assert_string_equal(name, "net_prices");
	return MAP;
}

int bpfmap_update(int fd, const void *key, const void *value)
{
	uint32_t row = *(const uint32_t *)key;

	assert_int_equal(fd, MAP);
	assert_true(row < ROWS);
	memcpy(&told[row], value, sizeof(told[row]));
	errno = ENOMEM;
	return no_map ? -1 : 0;
}

/* row 0: an emulated entry and a return; 1: a single-stepped one, with a return and a jump, which
 * is emulated; 2: two copies, one of each kind, which end at a NOP or not; 3: nothing is traced */
static int begin(struct errmsg *err)
{
	struct site exits[] = {{.kind = SITE_RET},
			       {.kind = SITE_RET},
			       {.kind = SITE_TAIL_JUMP, .emulated = true},
			       {.kind = SITE_INLINED_EXIT, .emulated = true},
			       {.kind = SITE_INLINED_EXIT},
			       {.kind = SITE_RET}};
	struct selection_item items[] = {
		{.row = 0, .sites = {.entry.emulated = true, .first_exit = 0, .exits = 1}},
		{.row = 1, .sites = {.first_exit = 1, .exits = 2}},
		{.row = 2, .sites = {.entry.emulated = true, .first_exit = 3, .exits = 1}},
		{.row = 2, .sites = {.first_exit = 4, .exits = 1}},
		{.row = 3, .skipped = "no", .sites = {.first_exit = 5, .exits = 1}},
	};

	sel = (struct selection){.items = items,
				 .item_count = 5,
				 .row_count = ROWS,
				 .exits = {.items = exits, .count = 6}};
	return net_begin(NULL, err);
}

static void expect_told(uint32_t row, uint32_t entry_ns, uint32_t end_ns)
{
	assert_int_equal(told[row].entry_ns, entry_ns);
	assert_int_equal(told[row].end_ns, end_ns);
}

static void test_prices(void **state)
{
	struct errmsg err = {0};

	(void)state;
	carries_out = false;
	assert_int_equal(begin(&err), 0);
	expect_told(0, EMULATED, STEPPED);
	expect_told(1, STEPPED, (EMULATED + STEPPED) / 2);
	expect_told(2, (EMULATED + STEPPED) / 2, (EMULATED + STEPPED) / 2);
	expect_told(3, 0, 0);
	assert_int_equal(measured % 7, 0);
}

/* Returns that a program carries out cost what the kernel's emulation does. */
static void test_returns_carried_out(void **state)
{
	struct errmsg err = {0};

	(void)state;
	carries_out = true;
	assert_int_equal(begin(&err), 0);
	expect_told(0, EMULATED, EMULATED);
	expect_told(1, STEPPED, EMULATED);
	expect_told(2, (EMULATED + STEPPED) / 2, (EMULATED + STEPPED) / 2);
}

static void test_no_map(void **state)
{
	struct errmsg err = {0};

	(void)state;
	no_map = true;
	assert_int_equal(begin(&err), -1);
	assert_string_equal(err.text,
			    "cannot tell the BPF program what hits cost: Cannot allocate memory");
	no_map = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prices),
		cmocka_unit_test(test_returns_carried_out),
		cmocka_unit_test(test_no_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
