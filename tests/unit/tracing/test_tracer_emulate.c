// SPDX-License-Identifier: Apache-2.0
/* Which RETs a program carries out: with probes, a kernel, and processes' memory of this test's
 * own. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "elf/gnuproperty.h"
#include "files/codemaps.h"
#include "files/heldfile.h"
#include "kernel/attach.h"
#include "kernel/btf.h"
#include "kernel/emulation.h"
#include "kernel/emulator.h"
#include "program/program.h"
#include "selection/runtime_func.h"
#include "tracing/probes_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

enum { PARTS = 2, MAPS = 6, BYTES = 4, INO = 10, RET = 0xc3, BREAKPOINT = 0xcc };

static int trial; /* its address stands for one */
static struct world {
	bool answer, shadow_stack, too_many;
	struct codemap maps[MAPS];
	struct {
		uint64_t addr;
		unsigned char byte;
	} memory[BYTES]; /* of each process */
	int fd;          /* of the last one that was opened */
	unsigned held, opened;
	pid_t asked; /* whose mappings */
} world;

static FILE *notes; /* what was called */
static struct program program = {.path = "a"};

/* --- of other modules --- */

struct emulation_trial *emulation_trial_start(void)
{
	return (struct emulation_trial *)&trial;
}

bool emulation_trial_answer(struct emulation_trial *asked)
{
	assert_ptr_equal(asked, &trial);
	return world.answer;
}

enum attach_how attach_how(void)
{
	return ATTACH_PERF_COOKIE;
}

int attach_prog_type(enum attach_how how)
{
	return 30 + (int)how;
}

uint32_t btf_thread_features(void)
{
	return 12;
}

int emulator_load(int attach_type, uint32_t thread_features)
{
	assert_true(attach_type == 31 && thread_features == 12);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void tracer_define(struct tracer *tracer, const char *name, uint64_t value)
{
	(void)tracer;
	fprintf(notes, "%s=%d", name, (int)value);
}

bool gnuproperty_shadow_stack(const struct image *img)
{
	(void)img;
	return world.shadow_stack;
}

const struct stat *heldfile_then(const struct heldfile *file)
{
	static const struct stat st = {.st_ino = INO};

	(void)file;
	return &st;
}

int codemaps_each(pid_t pid, void (*each)(void *ctx, const struct codemap *map), void *ctx)
{
	world.asked = pid;
	for (size_t i = 0; i < MAPS; i++)
		if (world.maps[i].pid)
			each(ctx, &world.maps[i]);
	return world.too_many ? -1 : 0;
}

int codemaps_memory(const struct codemap *map)
{
	assert_true(world.opened == 0 || fcntl(world.fd, F_GETFD) < 0); /* one at a time */
	world.opened++;
	world.fd = memfd_create("memory", MFD_CLOEXEC);
	for (size_t i = 0; i < BYTES; i++)
		if (world.memory[i].addr / 0x10000 == (uint64_t)map->pid)
			assert_int_equal(pwrite(world.fd, &world.memory[i].byte, 1,
						(off_t)world.memory[i].addr),
					 1);
	return world.fd;
}

static uint64_t ret_cookie(enum cookie_kind kind, unsigned copy, uint64_t addr)
{
	return cookie_of_ret(cookie_make(5, kind, 16, copy), addr);
}

/* In no order; what is not a RET of a call's end is among them. */
struct probes *tracer_probes(const struct tracer *tracer, size_t n, uint32_t part)
{
	const struct attach_probe all[PARTS][5] = {
		{{.off = 0x300, .cookie = ret_cookie(COOKIE_RETURN, 0, 0x40300)},
		 {.off = 0x200, .cookie = ret_cookie(COOKIE_RETURN, 1, 0x40200)},
		 {.off = 0x250, .cookie = ret_cookie(COOKIE_JUMP, 0, 0x40250)},
		 {.off = 0x180, .cookie = cookie_make(5, COOKIE_RETURN, 16, 0)},
		 {.off = 0x100, .cookie = ret_cookie(COOKIE_RETURN, 0, 0x40100)}},
		{{.off = 0x100, .cookie = ret_cookie(COOKIE_RETURN, 0, 0x40100)},
		 {.off = 0x401, .cookie = ret_cookie(COOKIE_RETURN, COOKIE_TAIL, 0x40401)}}};
	struct probes *probes = mem_zalloc(1, sizeof(*probes));

	(void)tracer;
	assert_int_equal(n, 0);
	probes->items = mem_zalloc(5, sizeof(*probes->items));
	memcpy(probes->items, all[part], sizeof(all[part]));
	probes->count = part ? 2 : 5;
	world.held++;
	return probes;
}

void probes_free(struct probes *probes)
{
	world.held--;
	free(probes->items);
	free(probes);
}

struct attach *attach_new(const struct attach_way *way, struct heldfile *file,
			  struct attach_probe *probes, size_t count, struct errmsg *err)
{
	(void)file;
	assert_null(err);
	assert_true(way->how == ATTACH_PERF_COOKIE && way->cookies_fd == -1 && way->prog_fd >= 0);
	fprintf(notes, "pid %d:", way->pid);
	for (size_t i = 0; i < count; i++)
		fprintf(notes, " %x=%x", (unsigned)probes[i].off, (unsigned)probes[i].cookie);
	fputc('\n', notes);
	world.held++;
	return mem_zalloc(1, 1);
}

void attach_free(struct attach *at)
{
	world.held -= at != NULL;
	free(at);
}

/* --- */

struct subject {
	struct tracer_config config;
	struct program *programs[1];
	struct tracer tracer;
	char *text;
	size_t len;
};

/* One that has an emulator */
static void begin(struct subject *s)
{
	world = (struct world){.answer = true};
	*s = (struct subject){.config.want.returns = true, .programs = {&program}};
	s->tracer = (struct tracer){.config = &s->config,
				    .programs = s->programs,
				    .program_count = 1,
				    .part_count = PARTS,
				    .pid = 7};
	tracer_try_emulation(&s->tracer);
	notes = fopen("/dev/null", "w");
	tracer_define_emulation(&s->tracer);
	fclose(notes);
	assert_true(s->tracer.emulator >= 0);
}

/* What is carried out, and how many are left to the kernel */
static void expect(struct subject *s, const char *want, size_t left)
{
	int emulator = s->tracer.emulator;

	notes = open_memstream(&s->text, &s->len);
	tracer_find_taken_rets(&s->tracer);
	for (uint32_t part = 0; part < PARTS; part++) {
		struct probes *probes = tracer_probes(&s->tracer, 0, part);

		tracer_attach_emulator(&s->tracer, 0, part, probes);
		probes_free(probes);
	}
	fclose(notes);
	assert_string_equal(s->text, want);
	assert_int_equal(s->tracer.rets_left, left);
	free(s->text);
	tracer_free_emulators(&s->tracer);
	assert_true(emulator < 0 || fcntl(emulator, F_GETFD) < 0);
	assert_int_equal(s->tracer.emulator, -1);
	assert_null(s->tracer.rets);
	assert_int_equal(world.held, 0);
	assert_true(world.opened == 0 || fcntl(world.fd, F_GETFD) < 0);
}

static void test_nobody_else(void **state)
{
	struct subject s;

	(void)state;
	begin(&s);
	expect(&s, "pid 0: 300=300 100=100\npid 0: 100=100 401=401\n", 0);
	assert_int_equal(world.asked, 0);
	begin(&s);
	s.tracer.execs = (struct execwatch *)&trial;
	expect(&s, "pid 7: 300=300 100=100\npid 7: 100=100 401=401\n", 0);
	assert_int_equal(world.asked, 7);
	begin(&s);
	world.too_many = true; /* to be looked at */
	expect(&s, "", 3);
}

/* Two processes have the file mapped, in pieces; other files are not looked at. */
static void test_taken(void **state)
{
	struct subject s;

	(void)state;
	begin(&s);
	world.maps[0] = (struct codemap){1, 1, INO, 0x17000, 0x200, 0x100};
	world.maps[1] = (struct codemap){1, 1, INO + 1, 0x18000, 0x1000, 0};
	world.maps[2] = (struct codemap){1, 1, INO, 0x19000, 0x101, 0x300};
	world.maps[3] = (struct codemap){2, 2, INO, 0x27000, 0x102, 0x300};
	world.memory[0].addr = 0x17000;
	world.memory[1].addr = 0x19000;
	world.memory[2].addr = 0x27000;
	world.memory[3].addr = 0x27101;
	for (int i = 0; i < BYTES; i++)
		world.memory[i].byte = RET;
	struct world all_rets = world;

	expect(&s, "pid 0: 300=300 100=100\npid 0: 100=100 401=401\n", 0);
	assert_int_equal(world.opened, 2);
	static const char *const without[BYTES] = {
		"pid 0: 300=300\npid 0: 401=401\n",
		"pid 0: 100=100\npid 0: 100=100 401=401\n",
		"pid 0: 100=100\npid 0: 100=100 401=401\n",
		"pid 0: 300=300 100=100\npid 0: 100=100\n",
	};

	for (int i = 0; i < BYTES; i++) {
		begin(&s);
		world = all_rets;
		world.memory[i].byte = i % 2 ? BREAKPOINT : 0x90;
		expect(&s, without[i], 1);
	}
	/* once all are taken, nobody else is looked at */
	begin(&s);
	world = all_rets;
	world.maps[4] = (struct codemap){3, 3, INO, 0x37000, 0x1000, 0};
	for (int i = 0; i < BYTES; i++)
		world.memory[i].byte = BREAKPOINT;
	expect(&s, "", 3);
	assert_int_equal(world.opened, 2);
}

/* Attached anew, it takes the place of what was there before. */
static void test_again(void **state)
{
	struct subject s;

	(void)state;
	begin(&s);
	notes = open_memstream(&s.text, &s.len);
	tracer_find_taken_rets(&s.tracer);
	struct probes *probes = tracer_probes(&s.tracer, 0, 1);

	for (int i = 0; i < 2; i++)
		tracer_attach_emulator(&s.tracer, 0, 1, probes);
	assert_int_equal(world.held, 2);
	probes->count = 0;
	tracer_attach_emulator(&s.tracer, 0, 1, probes);
	assert_int_equal(world.held, 1);
	probes->items->off = 0x101; /* one that nobody has looked for */
	probes->count = 1;
	tracer_attach_emulator(&s.tracer, 0, 1, probes);
	probes->items->off = 0x500;
	tracer_attach_emulator(&s.tracer, 0, 1, probes);
	probes_free(probes);
	tracer_free_emulators(&s.tracer);
	fclose(notes);
	assert_string_equal(s.text, "pid 0: 100=100 401=401\npid 0: 100=100 401=401\n");
	free(s.text);
	assert_int_equal(world.held, 0);
}

/* Before anything was tried there is nothing to close. */
static void test_untried(void **state)
{
	struct tracer tracer = {0};
	int flags = fcntl(0, F_GETFD);

	(void)state;
	tracer_free_emulators(&tracer);
	assert_int_equal(fcntl(0, F_GETFD), flags);
}

static bool is_tried(const struct tracer_config *config)
{
	struct tracer tracer = {.config = config};

	tracer_try_emulation(&tracer);
	assert_int_equal(tracer.emulator, -1);
	return tracer.emulation != NULL;
}

static void test_tried(void **state)
{
	static const struct runtime_func funcs[] = {{.returns = true}, {.returns = false}};
	const bool returns[] = {false, true, false};
	struct tracer_config config = {.pattern_returns = returns,
				       .pattern_count = 1,
				       .runtime_funcs = &funcs[1],
				       .runtime_func_count = 1};

	(void)state;
	assert_false(is_tried(&config));
	config.pattern_count = 3;
	assert_true(is_tried(&config));
	config.pattern_returns = NULL;
	assert_false(is_tried(&config));
	config.runtime_funcs = funcs;
	config.runtime_func_count = 2;
	assert_true(is_tried(&config));
	config.runtime_func_count = 0;
	assert_false(is_tried(&config));
	config.want.returns = true;
	assert_true(is_tried(&config));
}

static void expect_defined(bool answer, bool tries, bool no_emulate, const char *want)
{
	struct subject s = {.config = {.no_emulate = no_emulate, .want.returns = tries}};

	world = (struct world){.answer = answer};
	s.tracer.config = &s.config;
	tracer_try_emulation(&s.tracer);
	notes = open_memstream(&s.text, &s.len);
	tracer_define_emulation(&s.tracer);
	fclose(notes);
	assert_string_equal(s.text, want);
	assert_int_equal(s.tracer.emulated, *want != '\0');
	assert_int_equal(s.tracer.emulator >= 0, *want && !no_emulate);
	free(s.text);
	tracer_free_emulators(&s.tracer);
}

/* Another tool's emulator counts, too. */
static void test_defined(void **state)
{
	struct subject s;

	(void)state;
	expect_defined(true, true, false, "EMULATED_RETS=1");
	expect_defined(true, true, true, "EMULATED_RETS=1");
	expect_defined(false, true, false, "");
	expect_defined(true, false, false, "");
	begin(&s);
	close(s.tracer.emulator);
	s.tracer.emulator = -1;
	expect(&s, "", 0);
}

static void test_emulates(void **state)
{
	struct goruntime rt = {0};
	struct tracer tracer = {.emulated = true};

	(void)state;
	world = (struct world){0};
	assert_true(tracer_emulates(&tracer, &program, &rt));
	assert_false(tracer_emulates(&tracer, &program, NULL));
	rt.split_stack = true;
	assert_false(tracer_emulates(&tracer, &program, &rt));
	rt = (struct goruntime){.tls_word = 1};
	assert_false(tracer_emulates(&tracer, &program, &rt));
	rt.tls_word = 0;
	world.shadow_stack = true;
	assert_false(tracer_emulates(&tracer, &program, &rt));
	world.shadow_stack = false;
	tracer.emulated = false;
	assert_false(tracer_emulates(&tracer, &program, &rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_else), cmocka_unit_test(test_taken),
		cmocka_unit_test(test_again),       cmocka_unit_test(test_tried),
		cmocka_unit_test(test_defined),     cmocka_unit_test(test_emulates),
		cmocka_unit_test(test_untried),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
