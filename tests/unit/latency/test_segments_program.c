// SPDX-License-Identifier: Apache-2.0
/* gofunclatency's kernel side in gccgo's programs, run on this side: a goroutine's calls on several
 * segments of its stack, and how a hook ends those on the others. */
#include "fakegoroutine.h"
#include "steps.h"
#include "unit.h"

#define GOROUTINES 8
#define ROWS 3
#define UNIT 1
#define PER_ROW
#define PLACES 200
#define DEEP_CALLS 200
#define SPLIT_STACK
#define SPLIT_BACKOFF 64

#include "bpf-src/gofunclatency.bpf.c" /* NOLINT(bugprone-suspicious-include) */

enum { THREAD = FAKEGOROUTINE_FREE, SEGMENTS = THREAD + 0x1000, SIZE = 0x800, COUNT = 3 };

static u64 low(unsigned n)
{
	return SEGMENTS + 0x80 + n * 0x1000;
}

/* Segments 0, 1 and 2, each grown from the one before */
static int begin(void **state)
{
	u32 zero = 0;

	(void)state;
	steps.len = 0;
	fakegoroutine_begin(1);
	fake_task.fsbase = THREAD;
	control.lookup(&zero)->active = 1;
	for (unsigned n = 0; n < COUNT; n++) {
		u64 head = low(n) - SPLIT_HEADER;

		fakemem_put(head, n ? low(n - 1) - SPLIT_HEADER : 0);
		fakemem_put(head + 8, n + 1 < COUNT ? low(n + 1) - SPLIT_HEADER : 0);
		fakemem_put(head + 16, SIZE);
	}
	return 0;
}

static void hit(unsigned segment, unsigned above, u32 row, enum cookie_kind kind)
{
	fakemem_put(THREAD + 0x70, low(segment) + SPLIT_BACKOFF);
	regs.sp = low(segment) + above;
	fakekernel.cookie = cookie_make(row, kind, 0, 0);
	assert_int_equal(on_probe(&regs), 0);
}

static void expect(const char *want)
{
	for (u32 row = 0; row < ROWS; row++) {
		const struct call_sums *s = sums.lookup(&row);

		if (s->count || s->panicked || s->exited || s->switched || s->lost)
			steps_are("row %u: %llu, %llu ns, panicked %llu exited %llu switched %llu "
				  "lost %llu",
				  row, s->count, s->total_ns, s->panicked, s->exited, s->switched,
				  s->lost);
	}
	steps_are("%zu go on", goroutines_map.count);
	steps_expect(want);
}

/* One call on each segment */
static void call_each(void)
{
	for (u32 n = 0; n < COUNT; n++)
		hit(n, 0x400, n, COOKIE_CALL);
}

static void return_each(void)
{
	for (u32 n = COUNT; n; n--)
		hit(n - 1, 0x400, n - 1, COOKIE_RETURN);
}

static void test_calls(void **state)
{
	(void)state;
	call_each();
	hit(1, 0x300, 0, COOKIE_CALL);
	hit(1, 0x300, 0, COOKIE_RETURN);
	return_each();
	expect("row 0: 2, 110 ns, panicked 0 exited 0 switched 0 lost 0; row 1: 1, 70 "
	       "ns, panicked 0 exited 0 switched 0 lost 0; row 2: 1, 40 ns, panicked "
	       "0 exited 0 switched 0 lost 0; 0 go on; ");
	/* what is deeper on its segment is over */
	hit(1, 0x300, 0, COOKIE_CALL);
	hit(1, 0x400, 1, COOKIE_CALL);
	expect("row 0: 2, 110 ns, panicked 0 exited 0 switched 0 lost 1; row 1: 1, 70 "
	       "ns, panicked 0 exited 0 switched 0 lost 0; row 2: 1, 40 ns, panicked "
	       "0 exited 0 switched 0 lost 0; 1 go on; ");
}

/* A panic that is recovered on the middle segment ends what is deeper; an exit all. */
static void test_hooks(void **state)
{
	static const struct {
		enum cookie_kind kind;
		const char *then, *later;
	} rows[] = {{COOKIE_RECOVERED,
		     "row 2: 0, 0 ns, panicked 1 exited 0 switched 0 lost 0; 3 go on; ",
		     "row 1: 1, 10 ns, panicked 0 exited 0 switched 0 lost 0; row 2: 0, 0 "
		     "ns, panicked 2 exited 0 switched 0 lost 0; 2 go on; "},
		    {COOKIE_GOEXIT,
		     "row 1: 0, 0 ns, panicked 0 exited 1 switched 0 lost 0; row 2: 0, 0 "
		     "ns, panicked 0 exited 1 switched 0 lost 0; 2 go on; ",
		     "row 0: 0, 0 ns, panicked 0 exited 1 switched 0 lost 0; row 1: 1, 10 "
		     "ns, panicked 0 exited 1 switched 0 lost 0; row 2: 0, 0 ns, panicked 0 "
		     "exited 2 switched 0 lost 0; 0 go on; "},
		    {COOKIE_FATAL,
		     "row 1: 0, 0 ns, panicked 1 exited 0 switched 0 lost 0; row 2: 0, 0 "
		     "ns, panicked 1 exited 0 switched 0 lost 0; 2 go on; ",
		     "row 0: 0, 0 ns, panicked 1 exited 0 switched 0 lost 0; row 1: 1, 10 "
		     "ns, panicked 1 exited 0 switched 0 lost 0; row 2: 0, 0 ns, panicked 2 "
		     "exited 0 switched 0 lost 0; 0 go on; "}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(state);
		call_each();
		hit(1, 0x300, 2, COOKIE_CALL);
		hit(1, 0x380, 0, rows[i].kind);
		expect(rows[i].then);
		/* the others' calls are ended by the segment's next hit, whatever it is */
		hit(2, 0x500, 0, COOKIE_RETURN);
		hit(0, 0x300, 1, COOKIE_CALL);
		hit(0, 0x300, 1, COOKIE_RETURN);
		expect(rows[i].later);
	}
}

/* On a thread's own stack a hook knows no other segments. */
static void test_own_stack(void **state)
{
	(void)state;
	call_each();
	fakemem_put(THREAD + 0x70, low(1) + SPLIT_BACKOFF);
	regs.sp = THREAD + 0x800;
	fakekernel.cookie = cookie_make(0, COOKIE_CALL, 0, 0);
	on_probe(&regs);
	fakekernel.cookie = cookie_make(0, COOKIE_GOEXIT, 0, 0);
	on_probe(&regs);
	return_each();
	expect("row 0: 1, 100 ns, panicked 0 exited 0 switched 1 lost 0; row 1: 1, 70 "
	       "ns, panicked 0 exited 0 switched 0 lost 0; row 2: 1, 40 ns, panicked "
	       "0 exited 0 switched 0 lost 0; 0 go on; ");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_calls, begin),
		cmocka_unit_test(test_hooks),
		cmocka_unit_test_setup(test_own_stack, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
