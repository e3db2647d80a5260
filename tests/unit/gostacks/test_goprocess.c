// SPDX-License-Identifier: Apache-2.0
/* A program opened by its process or its core file, and its snapshots: what is asked of all others,
 * which are of this test's own. */
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/process.h"
#include "frames/unwinder.h"
#include "gostacks/godebug_internal.h"
#include "gostacks/goprocess_internal.h"
#include "goroutines/gocore.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "goroutines/memory.h"
#include "rtti/rtti.h"
#include "steps.h"
#include "unit.h"
#include "waits/wait_objects.h"

enum { BIAS = 0x10000, ALLGS = 0x5000, FD = 1234 };

static int anything;
#define SOME ((void *)&anything)

static struct program subject;
static struct world {
	bool ended, moved, knows_layout, has_semaphores, no_gopc;
	uint64_t missing;
	int shows_labels;
} world;
/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define STEP(name, ...)                                                                            \
	void name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		steps_are(#name);                                                                  \
	}

STEP(program_close, struct program *prog)
STEP(corefile_close, struct corefile *core)
STEP(snapshot_free, struct snapshot *snap)
STEP(gocore_find_threads, struct gocore *core, const struct goruntime *rt)

bool program_bias(const struct program *prog, const struct process *proc, uint64_t *bias)
{
	*bias = BIAS;
	return !steps_are("bias");
}

bool runtime_vars_allgs(const struct program *prog, uint64_t *addr)
{
	*addr = ALLGS;
	return !steps_are("allgs");
}

uint32_t runtime_vars_tracking_seq(const struct program *prog, const struct goruntime *rt)
{
	return 16;
}

size_t runtime_vars_semtables(const struct program *prog, uint64_t addrs[SEMTABLES_MAX])
{
	steps_are("semtables");
	addrs[0] = 0x100;
	addrs[1] = 0x200;
	return 2;
}

bool runtime_vars_wait_reasons(const struct program *prog, const struct memory *mem, uint64_t bias,
			       char *reasons[WAIT_REASONS])
{
	steps_are("reasons at %lx", bias);
	reasons[0] = mem_strdup("first");
	reasons[WAIT_REASONS - 1] = mem_strdup("last");
	return true;
}

void goruntime_read_fields(const struct program *prog, struct goruntime *out)
{
	*out = (struct goruntime){.g_gopc = world.no_gopc ? 0 : 0x120};
}

uint32_t goruntime_labels(const struct program *prog, const struct goruntime *rt)
{
	return 360;
}

struct gostack_symbols *gostack_symbols_new(const struct image *img, const struct functab *tab)
{
	return SOME;
}

void gostack_symbols_free(struct gostack_symbols *syms)
{
}

struct unwinder *unwinder_new(const struct frames *frames)
{
	steps_are("unwinder of 1.%d at %lx", frames->release, frames->bias);
	return SOME;
}

void unwinder_free(struct unwinder *uw)
{
}

struct frame_rule unwinder_rule(void *ctx, uint64_t pc)
{
	return (struct frame_rule){0};
}

void unwinder_begin(struct unwinder *uw, size_t lookups)
{
	steps_are("begin %zu", lookups);
}

void unwinder_allow(struct unwinder *uw, size_t lookups)
{
	steps_are("allow %zu lookups", lookups);
}

bool unwinder_gave_up(const struct unwinder *uw)
{
	return true;
}

struct wait_layout wait_layout(enum arch arch, const struct goruntime *rt, int release, bool told)
{
	steps_are("layout of 1.%d %d", release, told);
	return (struct wait_layout){.known = world.knows_layout,
				    .semaphores = world.has_semaphores};
}

enum arch image_arch(const struct image *img)
{
	return ARCH_ARM64;
}

struct gocore *gocore_new(const struct corefile *core, const struct image *img, struct errmsg *err)
{
	return steps_answer(err, "gocore_new") ? NULL : SOME;
}

void gocore_free(struct gocore *core)
{
	if (core)
		steps_are("gocore_free");
}

bool gocore_is_told(const struct gocore *core)
{
	return core == SOME;
}

uint64_t gocore_bias(const struct gocore *core)
{
	return 2 * BIAS;
}

bool gocore_read(void *ctx, uint64_t addr, void *out, size_t len)
{
	return false;
}

bool gocore_registers(const void *ctx, pid_t tid, struct process_registers *out)
{
	return false;
}

int gocore_call(const void *ctx, pid_t tid)
{
	return ctx == SOME ? tid + 1 : -1;
}

int heldfile_check(const struct heldfile *file, struct errmsg *err)
{
	return steps_answer(err, "check");
}

int process_memory(const struct process *proc, struct errmsg *err)
{
	return steps_answer(err, "memory") ? -1 : FD;
}

pid_t process_id(const struct process *proc)
{
	return 77;
}

bool process_runs(const struct process *proc)
{
	return !world.ended;
}

bool process_executes(const struct process *proc, const struct heldfile *file)
{
	return !world.moved;
}

uint64_t corefile_missing(const struct corefile *core, uint64_t *whole)
{
	*whole = 1000;
	return world.missing;
}

const char *corefile_path(const struct corefile *core)
{
	return "/core";
}

struct lock_fields *lock_fields_new(const struct program *prog)
{
	steps_are("lock_fields");
	return SOME;
}

void lock_fields_free(struct lock_fields *fields)
{
}

void wait_semaphores(const struct snapshot_source *from, const uint64_t *tables, size_t count,
		     struct snapshot *snap)
{
	steps_are("semaphores of %zu: %lx", count, count ? tables[count - 1] : 0);
}

struct wait_objects *wait_objects_new(const struct snapshot_source *from, struct snapshot *snap,
				      const struct frames *frames, struct lock_fields *fields)
{
	return fields ? SOME : NULL;
}

struct rtti *rtti_open(const struct image *img, const struct functab *tab, int release,
		       struct gotypes *types, struct errmsg *err)
{
	return steps_are("rtti") ? NULL : SOME;
}

const struct gotype *rtti_type(struct rtti *rtti, uint64_t addr)
{
	static const struct gotype type = {.name = "main.T"};

	steps_are("type at %lx", addr);
	return addr == 0x40 ? &type : NULL;
}

void rtti_close(struct rtti *rtti)
{
}

int snapshot_take(const struct snapshot_source *from, struct snapshot *out, struct errmsg *err)
{
	static struct goroutine all[2] = {{.stack = 0}, {.stack = 1}};

	steps_are("take from %lx, tracking %u, bubble %u, labels %u%s%s%s%s%s, until %lu, %s",
		  from->allgs, from->g_tracking_seq, from->g_bubble, from->g_labels,
		  from->with_args ? ", args" : "", from->timeless ? ", timeless" : "",
		  from->waits ? ", waits" : "", from->registers ? ", registers" : "",
		  from->registers == gocore_registers ? " of the core" : "", from->until_ns,
		  from->registers_ctx ? "ctx" : "no ctx");
	from->listed(from->listed_ctx, 3);
	out->all = all;
	out->count = 2;
	return steps_answer(err, "taken");
}

const uint64_t *snapshot_stack(const struct snapshot *snap, uint32_t stack, size_t *count)
{
	*count = stack + 4;
	return NULL;
}

bool snapshot_is_still(const struct snapshot_source *from, const struct memory *mem,
		       const struct goroutine *g)
{
	return g->goid == 5;
}

uint64_t clock_ns(void)
{
	return 1000;
}

void budget_watch_task(const char *whose, const char *task)
{
	steps_are("%s: %s", whose, task);
}

void budget_watch_allow(uint64_t ns, uint64_t bytes)
{
	steps_are("allow %lu ns, %lu bytes", ns, bytes);
}

int32_t godebug_number(const struct program *prog, const struct process *proc, const char *name,
		       int32_t before)
{
	steps_are("GODEBUG %s, else %d", name, before);
	return world.shows_labels;
}

bool process_stop_registers(const struct process_stop *stop, pid_t tid,
			    struct process_registers *out)
{
	return false;
}

bool memory_read_fd(void *ctx, uint64_t addr, void *out, size_t len)
{
	return *(int *)ctx == FD;
}

/* NOLINTEND(misc-unused-parameters) */

static void begin(int release, const char *fails)
{
	memset(&steps, 0, sizeof(steps));
	steps.fails = fails;
	world = (struct world){.knows_layout = true};
	subject = (struct program){.path = "/bin/prog",
				   .toolchain = &toolchain_gc,
				   .release = release,
				   .release_told = true};
}

static struct goprocess *open_it(bool is_core)
{
	struct errmsg err = {0};
	struct goprocess *gp = is_core ? goprocess_open_core(SOME, &subject, &err)
				       : goprocess_open(SOME, &subject, &err);

	if (!gp)
		steps_are("error: %s", err.text);
	return gp;
}

static void take(struct goprocess *gp, const struct goprocess_wanted *wanted)
{
	struct snapshot snap;
	struct errmsg err = {0};

	if (goprocess_snapshot(gp, wanted, &snap, &err))
		steps_are("error: %s", err.text);
	else
		steps_are("gave up %d, %s %s", snap.gave_up,
			  snap.reasons[0] ? snap.reasons[0] : "-",
			  snap.reasons[WAIT_REASONS - 1] ? snap.reasons[WAIT_REASONS - 1] : "-");
	for (size_t i = 0; i < WAIT_REASONS; i++)
		free(snap.reasons[i]);
}

static void test_process(void **state)
{
	const struct goprocess_wanted all = {true, true, true, SOME}, none = {0};
	struct goprocess *gp;
	struct errmsg err = {0};
	uint8_t byte;

	(void)state;
	begin(27, NULL);
	gp = open_it(false);
	take(gp, &all);
	take(gp, &none);
	assert_int_equal(goprocess_release(gp), 27);
	assert_int_equal(goprocess_arch(gp), ARCH_ARM64);
	assert_ptr_equal(goprocess_program(gp), &subject);
	assert_int_equal(goprocess_frames(gp)->bias, BIAS);
	assert_true(goprocess_memory(gp)->read(goprocess_memory(gp)->ctx, 0, &byte, 1));
	assert_true(goprocess_is_still(gp, &(struct goroutine){.goid = 5}));
	assert_int_equal(goprocess_check(gp, &err), 0);
	subject.release_told = false;
	assert_int_equal(goprocess_release(gp), -1);
	take(gp, &none);
	goprocess_close(gp);
	goprocess_close(NULL);
	steps_expect(
		"memory; bias; allgs; unwinder of 1.27 at 10000; layout of 1.27 1; check; process "
		"77: a snapshot of its goroutines; allow 0 ns, 536870912 bytes; begin 4194304; "
		"reasons at 10000; take from 15000, tracking 16, bubble 392, labels 360, args, "
		"waits, registers, until 2000001000, ctx; allow 300000 ns, 3072 bytes; allow 48 "
		"lookups; taken; allow 90000 ns, 0 bytes; check; gave up 1, first last; process "
		"77: a snapshot of its goroutines; allow 0 ns, 536870912 bytes; begin 4194304; "
		"take from 15000, tracking 16, bubble 392, labels 0, until 0, no ctx; allow 300000 "
		"ns, 3072 bytes; allow 48 lookups; taken; allow 90000 ns, 0 bytes; check; gave up "
		"1, first last; check; process 77: a snapshot of its goroutines; allow 0 ns, "
		"536870912 bytes; begin 4194304; take from 15000, tracking 16, bubble 0, labels 0, "
		"until 0, no ctx; allow 300000 ns, 3072 bytes; allow 48 lookups; taken; allow "
		"90000 ns, 0 bytes; check; gave up 1, first last; corefile_close; program_close; ");
}

static void test_core(void **state)
{
	const struct goprocess_wanted all = {true, true, true, NULL};
	struct goprocess *gp;

	(void)state;
	begin(24, NULL);
	gp = open_it(true);
	take(gp, &all);
	assert_true(goprocess_core_is_told(gp));
	assert_int_equal(goprocess_core_call(gp, 8), 9);
	goprocess_close(gp);
	steps_expect("gocore_new; allgs; unwinder of 1.24 at 20000; layout of 1.24 1; "
		     "gocore_find_threads; check; the core file: a snapshot of its goroutines; "
		     "allow 0 ns, 536870912 bytes; begin 4194304; reasons at 20000; take from "
		     "25000, tracking 16, bubble 0, labels 360, args, timeless, waits, registers "
		     "of the core, until 0, ctx; allow 300000 ns, 3072 bytes; allow 48 lookups; "
		     "taken; allow 90000 ns, 0 bytes; check; gave up 1, first last; gocore_free; "
		     "corefile_close; program_close; ");
	begin(24, "taken");
	gp = open_it(true);
	take(gp, &all);
	steps.fails = "taken";
	steps.times = 0;
	world.missing = 300;
	take(gp, &all);
	goprocess_close(gp);
	steps_expect(
		"gocore_new; allgs; unwinder of 1.24 at 20000; layout of 1.24 1; "
		"gocore_find_threads; check; the core file: a snapshot of its goroutines; allow 0 "
		"ns, 536870912 bytes; begin 4194304; reasons at 20000; take from 25000, tracking "
		"16, bubble 0, labels 360, args, timeless, waits, registers of the core, until 0, "
		"ctx; allow 300000 ns, 3072 bytes; allow 48 lookups; taken; allow 90000 ns, 0 "
		"bytes; snapshot_free; error: \"/core\": the list of goroutines is not in it; the "
		"core file: a snapshot of its goroutines; allow 0 ns, 536870912 bytes; begin "
		"4194304; take from 25000, tracking 16, bubble 0, labels 360, args, timeless, "
		"waits, registers of the core, until 0, ctx; allow 300000 ns, 3072 bytes; allow 48 "
		"lookups; taken; allow 90000 ns, 0 bytes; snapshot_free; error: \"/core\": the "
		"list of goroutines is not in it: it was cut off, 300 of 1000 bytes are missing; "
		"gocore_free; corefile_close; program_close; ");
}

static void test_refused(void **state)
{
	static const char *const fails[] = {"memory", "bias", "allgs", "check"};

	(void)state;
	begin(27, NULL);
	subject.toolchain = &toolchain_gccgo;
	assert_null(open_it(false));
	assert_null(open_it(true));
	steps_expect("corefile_close; program_close; error: /bin/prog: built by gccgo, whose "
		     "runtime keeps goroutines otherwise; corefile_close; program_close; error: "
		     "/bin/prog: built by gccgo, whose runtime keeps goroutines otherwise; ");
	for (size_t i = 0; i < sizeof(fails) / sizeof(*fails); i++) {
		begin(27, fails[i]);
		assert_null(open_it(false));
		char *error = strstr(steps.said, "error: ");

		assert_non_null(error);
		memmove(steps.said, error, strlen(error) + 1);
		steps_expect((const char *const[]){
			"error: no memory; ",
			"error: /bin/prog: where the process has loaded it is not known; ",
			"error: /bin/prog: the list of goroutines was not found in the code of "
			"runtime.allgadd; ",
			"error: no check; "}[i]);
	}
	begin(27, "gocore_new");
	assert_null(open_it(true));
	steps_expect("gocore_new; corefile_close; program_close; error: no gocore_new; ");
}

static void test_changes(void **state)
{
	const struct goprocess_wanted none = {0};
	struct errmsg err = {0};
	struct goprocess *gp;

	(void)state;
	begin(27, NULL);
	gp = open_it(false);
	world.ended = true;
	assert_int_equal(goprocess_check(gp, &err), -1);
	steps_are("%s", err.text);
	take(gp, &none);
	world.ended = false;
	world.moved = true;
	take(gp, &none);
	world.moved = false;
	steps.fails = "check";
	take(gp, &none);
	goprocess_close(gp);
	steps_expect(
		"memory; bias; allgs; unwinder of 1.27 at 10000; layout of 1.27 1; check; the "
		"process has ended meanwhile; process 77: a snapshot of its goroutines; allow 0 "
		"ns, 536870912 bytes; begin 4194304; reasons at 10000; take from 15000, tracking "
		"16, bubble 392, labels 0, until 0, no ctx; allow 300000 ns, 3072 bytes; allow 48 "
		"lookups; taken; allow 90000 ns, 0 bytes; snapshot_free; error: the process has "
		"ended meanwhile; process 77: a snapshot of its goroutines; allow 0 ns, 536870912 "
		"bytes; begin 4194304; take from 15000, tracking 16, bubble 392, labels 0, until "
		"0, no ctx; allow 300000 ns, 3072 bytes; allow 48 lookups; taken; allow 90000 ns, "
		"0 bytes; snapshot_free; error: the process executes another program by now; "
		"process 77: a snapshot of its goroutines; allow 0 ns, 536870912 bytes; begin "
		"4194304; take from 15000, tracking 16, bubble 392, labels 0, until 0, no ctx; "
		"allow 300000 ns, 3072 bytes; allow 48 lookups; taken; allow 90000 ns, 0 bytes; "
		"check; snapshot_free; error: no check; corefile_close; program_close; ");
}

static void test_waits(void **state)
{
	const struct goprocess_wanted waits = {.waits = true}, none = {0};
	struct goprocess *gp;
	struct snapshot snap = {0};

	(void)state;
	begin(23, NULL);
	gp = open_it(false);
	take(gp, &none);
	assert_null(goprocess_waits(gp, &snap));
	take(gp, &waits);
	memset(&steps, 0, sizeof(steps));
	assert_non_null(goprocess_waits(gp, &snap));
	assert_non_null(goprocess_waits(gp, &snap));
	goprocess_close(gp);
	steps_expect("semtables; semaphores of 2: 10200; lock_fields; semaphores of 2: 10200; "
		     "corefile_close; program_close; ");
	begin(27, NULL);
	world.has_semaphores = true;
	gp = open_it(false);
	take(gp, &waits);
	memset(&steps, 0, sizeof(steps));
	assert_non_null(goprocess_waits(gp, &snap));
	goprocess_close(gp);
	steps_expect("semaphores of 0: 0; lock_fields; corefile_close; program_close; ");
	begin(27, NULL);
	world.knows_layout = false;
	gp = open_it(false);
	take(gp, &waits);
	assert_null(goprocess_waits(gp, &snap));
	goprocess_close(gp);
}

static void test_labels(void **state)
{
	static const int releases[] = {21, 22, 23, 24, 25, 26, 27};
	char all[2048] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++)
		for (int shows = 0; shows <= 2; shows++) {
			struct goprocess *gp;

			begin(releases[i], NULL);
			world.shows_labels = shows;
			world.no_gopc = shows == 2;
			gp = open_it(false);
			memset(&steps, 0, sizeof(steps));
			bool has = goprocess_has_labels(gp), are = goprocess_shows_labels(gp);

			steps_are("1.%d %d: %d %d", releases[i], shows, has, are);
			strcat(all, steps.said);
			subject.release_told = false;
			assert_false(goprocess_has_labels(gp));
			goprocess_close(gp);
		}
	begin(27, NULL);
	steps_are("%s", all);
	steps_expect("1.21 0: 0 0; 1.21 1: 0 0; 1.21 2: 0 0; 1.22 0: 0 0; 1.22 1: 0 0; 1.22 2: 0 "
		     "0; 1.23 0: 0 0; 1.23 1: 0 0; 1.23 2: 0 0; 1.24 0: 1 0; 1.24 1: 1 0; 1.24 2: "
		     "0 0; 1.25 0: 1 0; 1.25 1: 1 0; 1.25 2: 0 0; 1.26 0: 1 0; 1.26 1: 1 0; 1.26 "
		     "2: 0 0; GODEBUG tracebacklabels, else 1; 1.27 0: 1 0; GODEBUG "
		     "tracebacklabels, else 1; 1.27 1: 1 1; 1.27 2: 0 0; ; ");
}

static void test_types(void **state)
{
	struct goprocess *gp;

	(void)state;
	begin(27, NULL);
	gp = open_it(false);
	memset(&steps, 0, sizeof(steps));
	assert_string_equal(goprocess_type(gp, BIAS + 0x40), "main.T");
	assert_null(goprocess_type(gp, BIAS + 0x41));
	goprocess_close(gp);
	steps_expect("rtti; type at 40; type at 41; corefile_close; program_close; ");
	begin(27, NULL);
	gp = open_it(false);
	memset(&steps, 0, sizeof(steps));
	steps.fails = "rtti";
	assert_null(goprocess_type(gp, BIAS + 0x40));
	goprocess_close(gp);
	steps_expect("rtti; corefile_close; program_close; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process), cmocka_unit_test(test_core),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_changes),
		cmocka_unit_test(test_waits),   cmocka_unit_test(test_labels),
		cmocka_unit_test(test_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
