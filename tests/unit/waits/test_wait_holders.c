// SPDX-License-Identifier: Apache-2.0
/* Who may release a lock: whose stack has a pointer to it in use, by the program's stack maps. */
#include "fakemem.h"
#include "gofile_open.h"
#include "base/mem.h"
#include "frames/frames.h"
#include "frames/unwinder.h"
#include "files/process_stop.h"
#include "goroutines/snapshot.h"
#include "goroutines/snapshot_stacks_internal.h"
#include "steps.h"
#include "waits/release_code_internal.h"
#include "waits/wait_holders_internal.h"
#include "waits/wait_targets_internal.h"

enum {
	RECORD = 4 + 9 * 4, /* of main.b: where its tables are, as in test_frame_args.c */
	MAP_TABLE = 18,
	FRAME = 16, /* bytes up to the return address */
	ARGS = 3,   /* words */
	GOROUTINES = 8,
	G = FAKEMEM_BASE,
	STACK = FAKEMEM_BASE + 0x4000,
	STACK_LEN = FRAME + 8 + 8 * ARGS,
	LOCK = FAKEMEM_BASE + 0x8000,
	OTHER = FAKEMEM_BASE + 0x9000,
};

/* Goroutine 0 waits for LOCK, 1 stands in main.b. */
struct program {
	struct opened o;
	struct frames frames;
	struct snapshot snap;
	uint32_t of[GOROUTINES];
	struct wait_target target;
	struct wait_targets targets;
};

/* --- in place of release_code: what all code does --- */

static unsigned does;
static uint64_t does_at;  /* there alone; 0: everywhere */
static uint64_t variable; /* that it unlocks; 0: none */

struct release_code *release_code_new(const struct frames *frames)
{
	(void)frames;
	return NULL;
}

void release_code_free(struct release_code *code)
{
	(void)code;
}

unsigned release_code_from(struct release_code *code, uint64_t at, bool whole)
{
	(void)code;
	assert_false(whole);
	return !does_at || at == does_at ? does : 0;
}

size_t release_code_variables(struct release_code *code, uint64_t at, const uint64_t **addrs)
{
	(void)code;
	(void)at;
	*addrs = &variable;
	return variable ? 1 : 0;
}

/* --- the program --- */

static struct frame_rule rule(void *ctx, uint64_t pc)
{
	(void)ctx;
	return (struct frame_rule){
		.sp_delta = FRAME, .args = 8 * ARGS, .kind = pc == 1 ? FRAME_FIRST : FRAME_PLAIN};
}

static void add_goroutine(struct program *p, size_t i, uint64_t sp, uint64_t hi)
{
	uint64_t addr = G + i * 0x200;

	p->snap.all[i] = (struct goroutine){.goid = i + 1,
					    .addr = addr,
					    .status = GOROUTINE_WAITING,
					    .sp = sp,
					    .stack_hi = hi,
					    .stack_state = i ? STACK_READ : STACK_UNKNOWN};
	fakemem_put(addr + 8, hi);
	fakemem_put(addr + 56, sp);
	fakemem_put(addr + 144, GOROUTINE_WAITING);
	fakemem_put(addr + 152, i + 1);
}

/* The n-th of main.b's maps (of arguments) counts where it stands, as in test_frame_args.c: the
 * first word is in use, or the second and the third. */
static void begin(struct program *p, unsigned n)
{
	static const struct {
		int32_t count, bits;
		uint8_t bytes[2];
	} map = {2, ARGS, {0x01, 0x06}};

	*p = (struct program){.snap = {.count = 2}};
	gofile_make(&p->o.g, 20, EM_X86_64);
	uint64_t tables = gofile_record(&p->o.g, 1) + RECORD + 4;
	uint64_t pc = p->o.g.starts[1] + (n ? 24 : 4) + 1;

	elffile_u32(p->o.g.f, tables + 1 * 4, MAP_TABLE);
	elffile_u32(p->o.g.f, tables + 3 * 4, GOFILE_TREE - GOFILE_GOFUNC);
	elffile_bytes(p->o.g.f, GOFILE_TREE, &map, sizeof(map));
	open_it(&p->o);
	p->frames = (struct frames){.tab = p->o.tab, .img = p->o.img, .release = 20};

	fakemem_begin(0x10000);
	p->snap.all = mem_zalloc(GOROUTINES, sizeof(*p->snap.all));
	p->snap.stacks = snapshot_stacks_new();
	add_goroutine(p, 0, 0, 0);
	add_goroutine(p, 1, STACK, STACK + STACK_LEN);
	assert_true(snapshot_stacks_add(p->snap.stacks, &pc, 1, &p->snap.all[1].stack));
	fakemem_put(STACK + FRAME, 1);
	p->target =
		(struct wait_target){.addr = LOCK, .needs = RELEASE_UNLOCKS, .kind = WAIT_MUTEX};
	p->of[1] = WAIT_NO_TARGET;
	p->targets = (struct wait_targets){.all = &p->target, .count = 1, .of = p->of};
}

static void end(struct program *p)
{
	snapshot_free(&p->snap);
	close_it(&p->o);
}

static void put_arg(unsigned word, uint64_t value)
{
	fakemem_put(STACK + FRAME + 8 + 8 * word, value);
}

static bool no_registers(const void *ctx, pid_t tid, struct process_registers *out)
{
	(void)ctx;
	(void)tid;
	*out = (struct process_registers){0};
	return false;
}

static bool is_stopped; /* the process: then stacks are read together, and once */

static void find_all(struct program *p, struct wait_candidates *found)
{
	struct snapshot_source from = {.mem = &fakemem_memory,
				       .rt = &fakemem_layout,
				       .rule = rule,
				       .registers = is_stopped ? no_registers : NULL};
	struct wait_holders_source source = {
		.from = &from, .snap = &p->snap, .frames = &p->frames, .targets = &p->targets};

	wait_holders_find(&source, found);
}

/* How many may release the lock: only goroutine 1 can. */
static size_t find(struct program *p)
{
	struct wait_candidates found;

	find_all(p, &found);
	size_t count = found.count;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found.all[i].goroutine, 1);
		assert_int_equal(found.all[i].how, variable || does & RELEASE_UNLOCKS
							   ? CANDIDATE_RELEASES
							   : CANDIDATE_POINTS);
	}
	assert_int_equal(found.first[1], count);
	wait_candidates_free(&found);
	return count;
}

/* A pointer counts where the map says so, and it is the lock's. */
static void test_in_use(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 2; n++)
		for (unsigned word = 0; word < ARGS; word++) {
			struct program p;

			begin(&p, n);
			put_arg(word, LOCK);
			assert_int_equal(find(&p), n ? word > 0 : word == 0);
			put_arg(word, OTHER);
			assert_int_equal(find(&p), 0);
			end(&p);
		}
}

/* It is found once, though it has two pointers; not at all if it waits for the lock itself. */
static void test_once(void **state)
{
	struct program p;

	(void)state;
	begin(&p, 1);
	put_arg(1, LOCK);
	put_arg(2, LOCK);
	assert_int_equal(find(&p), 1);
	p.of[1] = 0;
	assert_int_equal(find(&p), 0);
	end(&p);
}

/* What it does from there on is what the wait is for, or something else. */
static void test_does(void **state)
{
	struct program p;

	(void)state;
	begin(&p, 0);
	put_arg(0, LOCK);
	does = RELEASE_UNLOCKS;
	assert_int_equal(find(&p), 1);
	does = RELEASE_SENDS;
	assert_int_equal(find(&p), 1);
	does = 0;
	end(&p);
}

/* A variable has no pointer to it on the stack: the code alone tells. */
static void test_variable(void **state)
{
	struct program p;

	(void)state;
	begin(&p, 0);
	p.target.addr = variable = ELFFILE_DATA + 0x100;
	assert_int_equal(find(&p), 1);
	/* so it is where another target, which is no variable, comes behind it */
	struct wait_target two[] = {p.target, p.target};

	two[1].addr = OTHER;
	p.targets.all = two;
	p.targets.count = 2;
	assert_int_equal(find(&p), 1);
	p.targets.all = &p.target;
	p.targets.count = 1;
	p.target.needs = RELEASE_SENDS;
	assert_int_equal(find(&p), 0);
	p.target.needs = RELEASE_UNLOCKS;
	p.of[1] = 0; /* it waits for it itself */
	assert_int_equal(find(&p), 0);
	p.of[1] = WAIT_NO_TARGET;
	variable = OTHER;
	assert_int_equal(find(&p), 0);
	variable = 0;
	end(&p);
}

/* Its caller is another than in the snapshot: it has gone on. Or its stack is none that could be
 * read. */
static void test_other_stack(void **state)
{
	struct program p;

	(void)state;
	begin(&p, 0);
	uint64_t pcs[] = {p.o.g.starts[1] + 5, p.o.g.starts[2] + 8};

	assert_true(snapshot_stacks_add(p.snap.stacks, pcs, 2, &p.snap.all[1].stack));
	p.snap.all[1].stack_hi = STACK + STACK_LEN + FRAME + 8;
	fakemem_put(G + 0x200 + 8, p.snap.all[1].stack_hi);
	put_arg(0, LOCK);
	fakemem_put(STACK + 2 * FRAME + 8, 1);
	fakemem_put(STACK + FRAME, pcs[1]);
	assert_int_equal(find(&p), 1);
	fakemem_put(STACK + FRAME, pcs[1] + 1);
	assert_int_equal(find(&p), 0);
	fakemem_put(STACK + FRAME, pcs[1]);
	p.snap.all[1].stack_state = STACK_UNKNOWN;
	assert_int_equal(find(&p), 0);
	end(&p);
}

static bool was_read;

static void move_when_read(void)
{
	if (was_read)
		fakemem_put(G + 0x200 + 56, STACK + 8);
	was_read |= fakemem.addr == STACK;
}

/* It goes on when its stack has been read: what it had then, it may have no more. */
static void test_moved(void **state)
{
	struct program p;

	(void)state;
	begin(&p, 0);
	put_arg(0, LOCK);
	assert_int_equal(find(&p), 1);
	was_read = false;
	fakemem.before_read = move_when_read;
	assert_int_equal(find(&p), 0);
	assert_true(was_read);
	end(&p);
}

/* In a process that is stopped nothing moves. */
static void test_stopped(void **state)
{
	struct program p;

	(void)state;
	begin(&p, 0);
	put_arg(0, LOCK);
	is_stopped = true;
	assert_int_equal(find(&p), 1);
	was_read = false;
	fakemem.before_read = move_when_read;
	assert_int_equal(find(&p), 1);
	is_stopped = false;
	end(&p);
}

/* Goroutine `i` stands in main.b at `pc`, and has a pointer to `target`. */
static void add_holder(struct program *p, size_t i, uint64_t pc, uint64_t target)
{
	uint64_t sp = STACK + 0x100 * i;

	add_goroutine(p, i, sp, sp + STACK_LEN);
	assert_true(snapshot_stacks_add(p->snap.stacks, &pc, 1, &p->snap.all[i].stack));
	fakemem_put(sp + FRAME, 1);
	fakemem_put(sp + FRAME + 8, target);
	p->of[i] = WAIT_NO_TARGET;
	p->snap.count = i + 1;
}

/* By target; then who releases it, who waits for something else, who runs on, and who sleeps. */
static void test_order(void **state)
{
	struct program p;
	struct wait_target two[2];
	struct wait_candidates found;

	(void)state;
	begin(&p, 0);
	uint64_t pc = p.o.g.starts[1] + 5;

	for (size_t i = 1; i < GOROUTINES; i++)
		add_holder(&p, i, i == 6 ? pc + 4 : pc, i == 1 ? OTHER : LOCK);
	p.of[0] = p.of[3] = 1;
	p.of[5] = 0; /* waits for it itself */
	two[0] = two[1] = p.target;
	two[1].addr = OTHER;
	p.targets = (struct wait_targets){.all = two, .count = 2, .of = p.of};
	p.snap.waits.all = mem_zalloc(1, sizeof(*p.snap.waits.all));
	p.snap.waits.all[0].kind = WAIT_TIMER;
	p.snap.waits.count = 1;
	p.snap.all[2].wait_count = 1;
	does = RELEASE_UNLOCKS;
	does_at = pc + 4 - 1;
	find_all(&p, &found);
	does = 0;
	does_at = 0;
	for (size_t i = 0; i < found.count; i++)
		steps_are("%u: %u%s", found.all[i].target, found.all[i].goroutine,
			  found.all[i].how == CANDIDATE_RELEASES ? " releases" : "");
	for (size_t i = 0; i <= 2; i++)
		steps_are("%zu", found.first[i]);
	steps_expect("0: 6 releases; 0: 3; 0: 4; 0: 7; 0: 2; 1: 1; 0; 5; 6; ");
	wait_candidates_free(&found);
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_use),      cmocka_unit_test(test_once),
		cmocka_unit_test(test_does),        cmocka_unit_test(test_variable),
		cmocka_unit_test(test_other_stack), cmocka_unit_test(test_moved),
		cmocka_unit_test(test_stopped),     cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
