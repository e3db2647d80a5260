// SPDX-License-Identifier: Apache-2.0
/* Attaches to functions of this very program and calls them. Needs the privileges to trace. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "files/heldfile.h"
#include "kernel/attach_internal.h"
#include "kernel/attach_kernel_internal.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "unit.h"

#define SELF "/proc/self/exe"

/* `good` begins with an instruction that can be probed, `bad` with one that the kernel refuses.
 * `crowd` has a hundred of either sort, each of 8 bytes: every fifth is bad. */
void good(void);
void bad(void);
void other(void);
void crowd(void);
__asm__(".text\n"
	"good: nop\n\tret\n"
	"other: push %rbp\n\tpop %rbp\n\tret\n"
	"bad: lock incl -8(%rsp)\n\tret\n"
	".balign 8\n"
	"crowd:\n"
	".rept 20\n"
	"lock incl -8(%rsp)\n\tret\n\t.balign 8\n"
	".rept 4\n\tnop\n\tret\n\t.balign 8\n\t.endr\n"
	".endr\n");

enum { CROWD = 100 };
static volatile uint16_t semaphore = 1; /* in this file's data, for a foreign probe */

struct fixture {
	struct bpfprog *prog;
	int fd, counts;
	struct attach_way way;
	struct heldfile *self;
};

/* where in its file is what lies at this address of our memory? */
static uint64_t file_offset(const volatile void *p)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long lo, hi, off, addr = (uintptr_t)p;
	uint64_t found = 0;

	assert_non_null(f);
	while (!found && fscanf(f, "%lx-%lx %*s %lx%*[^\n]", &lo, &hi, &off) == 3)
		if (addr >= lo && addr < hi)
			found = addr - lo + off;
	fclose(f);
	assert_int_not_equal(found, 0);
	return found;
}

static int load(struct fixture *f, const char *how, bool sleepable)
{
	struct errmsg err = {0};

	setenv("GOTOOLS_ATTACH", how, 1);
	f->way.how = attach_how();
	struct bpfprog_define defs[] = {{"ROWS", 3}, {"TGID", getpid()}, {"BY_STUB", 1}};
	size_t ndefs = f->way.how == ATTACH_PERF_STUB ? 3 : 2;

	f->self = heldfile_open(NULL, SELF, &err);
	f->prog = bpfprog_compile("gofunccount.bpf.c", defs, ndefs, NULL, 0, &err);
	if (!f->prog)
		return -1;
	f->fd = (sleepable ? bpfprog_load_sleepable
			   : bpfprog_load)(f->prog, "on_probe", attach_prog_type(f->way.how), &err);
	f->counts = bpfprog_map(f->prog, "counts");
	f->way.prog_fd = f->fd;
	f->way.cookies_fd = bpfprog_map(f->prog, "cookies");
	return f->fd;
}

static struct fixture *fixture_of(void **state, const char *how)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));

	*state = f;
	if (geteuid() || load(f, how, false) < 0)
		skip();
	return f;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	bpfprog_free(f->prog);
	heldfile_close(f->self);
	free(f);
	return 0;
}

static struct attach_probe probe(void (*fn)(void), unsigned row)
{
	return (struct attach_probe){.off = file_offset(fn),
				     .addr = (uintptr_t)fn,
				     .cookie = cookie_make(row, COOKIE_CALL, 0, 0)};
}

static struct attach *attach(struct fixture *f, struct attach_probe *probes, size_t count)
{
	struct errmsg err = {0};

	struct attach *at = attach_new(&f->way, f->self, probes, count, &err);

	assert_string_equal(err.text, "");
	assert_non_null(at);
	return at;
}

static void expect_counts(struct fixture *f, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t sums[3];

	assert_int_equal(bpfmap_sum_percpu(f->counts, 3, 1, sums), 0);
	assert_int_equal(sums[0], a);
	assert_int_equal(sums[1], b);
	assert_int_equal(sums[2], c);
}

static void call_all(int times)
{
	for (int i = 0; i < times; i++) {
		good();
		bad();
		other();
	}
}

/* The rest is attached, one place twice, the culprit is named, and nothing is counted
 * once detached. */
static void check_refused(void **state, const char *name, enum attach_how how)
{
	struct fixture *f = fixture_of(state, name);
	struct attach_probe probes[] = {probe(good, 0), probe(bad, 1), probe(other, 2),
					probe(good, 1)};

	if (f->way.how != how)
		skip();
	struct attach *at = attach(f, probes, 4);

	assert_null(probes[0].refused);
	assert_string_equal(probes[1].refused, "the kernel cannot probe this instruction");
	assert_null(probes[2].refused);
	call_all(1000);
	attach_free(at);
	call_all(10);
	expect_counts(f, 1000, 1000, 1000);
}

static void test_multi(void **state)
{
	check_refused(state, "multi", ATTACH_MULTI);
}

static void test_perf(void **state)
{
	check_refused(state, "perf", ATTACH_PERF_COOKIE);
}

static void test_stub(void **state)
{
	check_refused(state, "stub", ATTACH_PERF_STUB);
}

/* a program that may sleep is attached as any other */
static void check_sleepable(void **state, const char *name)
{
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	struct attach_probe probes[] = {probe(good, 0), probe(other, 2)};

	*state = f;
	setenv("GOTOOLS_ATTACH", name, 1);
	if (geteuid() || !attach_sleepable())
		skip();
	assert_true(load(f, name, true) >= 0);
	struct attach *at = attach(f, probes, 2);

	call_all(1000);
	attach_free(at);
	expect_counts(f, 1000, 0, 1000);
}

static void test_sleepable_multi(void **state)
{
	check_sleepable(state, "multi");
}

static void test_sleepable_perf(void **state)
{
	check_sleepable(state, "perf");
}

static void test_many_refused(void **state)
{
	struct fixture *f = fixture_of(state, "multi");
	struct attach_probe probes[CROWD];
	size_t refused = 0;

	for (int i = 0; i < CROWD; i++)
		probes[i] = probe((void (*)(void))((char *)crowd + 8 * i), 0);
	struct attach *at = attach(f, probes, CROWD);

	for (int i = 0; i < CROWD; i++) {
		assert_int_equal(probes[i].refused != NULL, i % 5 == 0);
		refused += probes[i].refused != NULL;
		((void (*)(void))((char *)crowd + 8 * i))();
	}
	attach_free(at);
	expect_counts(f, CROWD - refused, 0, 0);
}

static void test_all_refused(void **state)
{
	struct fixture *f = fixture_of(state, "multi");
	struct attach_probe probes[] = {probe(bad, 0)};
	struct errmsg err = {0};

	assert_null(attach_new(&f->way, f->self, probes, 1, &err));
	assert_non_null(strstr(err.text, "cannot probe this instruction"));
}

/* What the kernel took once, and no more when it is attached again: said, and the rest counts on.
 */
static void check_refused_again(void **state, const char *how)
{
	struct fixture *f = fixture_of(state, how);
	struct attach_probe probes[] = {probe(good, 0), probe(other, 2)};
	struct errmsg err = {0};

	f->way.pid = getpid();
	struct attach *at = attach(f, probes, 2);

	assert_int_equal(at->taken_count, 2);
	assert_int_equal(attach_again(at, &err), 0);
	at->taken[1].off = file_offset(bad);
	assert_int_equal(attach_again(at, &err), -1);
	assert_non_null(strstr(err.text, "cannot probe this instruction"));
	attach_forget(at);
	call_all(10);
	attach_free(at);
	expect_counts(f, 10, 0, 0);
}

static void test_refused_again_multi(void **state)
{
	check_refused_again(state, "multi");
}

static void test_refused_again_perf(void **state)
{
	check_refused_again(state, "perf");
}

/* A uprobe with a reference counter, as other tracers make them: the kernel takes no second probe
 * there that has another one, or none. */
static int foreign_probe(uint64_t off, uint64_t counter_off)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &type), 1);
	fclose(f);
	struct perf_event_attr attr = {.type = type,
				       .size = sizeof(attr),
				       .config = counter_off << 32,
				       .uprobe_path = (uintptr_t)SELF,
				       .probe_offset = off};
	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
}

static void check_foreign(void **state, const char *how)
{
	struct fixture *f = fixture_of(state, how);
	struct attach_probe probes[] = {probe(good, 0), probe(other, 2)};
	int foreign = foreign_probe(probes[1].off, file_offset(&semaphore));

	assert_true(foreign >= 0);
	struct attach *at = attach(f, probes, 2);

	assert_null(probes[0].refused);
	assert_non_null(probes[1].refused);
	assert_non_null(strstr(probes[1].refused, "another tracer"));
	call_all(10);
	attach_free(at);
	close(foreign);
	expect_counts(f, 10, 0, 0);
}

static void test_foreign_multi(void **state)
{
	check_foreign(state, "multi");
}

static void test_foreign_perf(void **state)
{
	check_foreign(state, "perf");
}

static int load_as_nobody(void)
{
	struct bpfprog_define rows = {"ROWS", 1};
	struct errmsg err = {0};

	if (setresuid(65534, 65534, 65534))
		return 1;
	struct bpfprog *prog = bpfprog_compile("gofunccount.bpf.c", &rows, 1, NULL, 0, &err);

	if (prog && bpfprog_load(prog, "on_probe", attach_prog_type(ATTACH_MULTI), &err) >= 0)
		return 2;
	fprintf(stderr, "%s\nhint: %s\n", err.text, err.hint);
	return strstr(err.text, strerror(EPERM)) && strstr(err.hint, "root") ? 0 : 3;
}

static void test_no_privileges(void **state)
{
	int status = 0;

	(void)state;
	if (geteuid())
		skip();
	pid_t pid = fork();

	if (!pid)
		_exit(load_as_nobody());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

enum { MANY = 300, FEW_FDS = 128 };

/* 0: refused for want of descriptors, in words that say so; 77: the limit could be raised */
static int attach_beyond_limit(struct fixture *f)
{
	struct rlimit few = {FEW_FDS, FEW_FDS};
	static struct attach_probe probes[MANY];
	struct errmsg err = {0};

	if (setrlimit(RLIMIT_NOFILE, &few))
		return 1;
	if (!setrlimit(RLIMIT_NOFILE, &(struct rlimit){FEW_FDS + 1, FEW_FDS + 1}))
		return 77;
	if (attach_new(&f->way, f->self, probes, MANY, &err))
		return 2;
	return strstr(err.text, "300 probes need 364 file descriptors; the limit is 128") ? 0 : 3;
}

static void test_too_few_descriptors(void **state)
{
	struct fixture *f = fixture_of(state, "perf");
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(attach_beyond_limit(f));
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_multi, teardown),
		cmocka_unit_test_teardown(test_perf, teardown),
		cmocka_unit_test_teardown(test_stub, teardown),
		cmocka_unit_test_teardown(test_sleepable_multi, teardown),
		cmocka_unit_test_teardown(test_sleepable_perf, teardown),
		cmocka_unit_test_teardown(test_many_refused, teardown),
		cmocka_unit_test_teardown(test_all_refused, teardown),
		cmocka_unit_test_teardown(test_refused_again_multi, teardown),
		cmocka_unit_test_teardown(test_refused_again_perf, teardown),
		cmocka_unit_test_teardown(test_foreign_multi, teardown),
		cmocka_unit_test_teardown(test_foreign_perf, teardown),
		cmocka_unit_test_teardown(test_too_few_descriptors, teardown),
		cmocka_unit_test(test_no_privileges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
