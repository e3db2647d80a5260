// SPDX-License-Identifier: Apache-2.0
/* Which file is attached to: the one that is held, whatever its path leads to by now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "bpf-src/shared/cookie.h"
#include "files/heldfile.h"
#include "kernel/attach.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "unit.h"

/* what is probed: at one offset in this file and in each copy of it */
void called(void);
__asm__(".text\n"
	"called: nop\n\tret\n");

enum { CALLS = 7 };

struct fixture {
	struct bpfprog *prog;
	int fd, counts;
	char folder[32], path[64], other[64];
};

static int setup(void **state)
{
	static const struct bpfprog_define defs[] = {{"ROWS", 1}};
	struct fixture *f = mem_zalloc(1, sizeof(*f));
	struct errmsg err = {0};

	*state = f;
	strcpy(f->folder, "/tmp/test-attach-XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/one", f->folder);
	snprintf(f->other, sizeof(f->other), "%s/two", f->folder);
	if (geteuid())
		return 0;
	f->prog = bpfprog_compile("gofunccount.bpf.c", defs, 1, NULL, 0, &err);
	if (!f->prog)
		return -1;
	f->fd = bpfprog_load(f->prog, "on_probe", attach_prog_type(attach_how()), &err);
	f->counts = bpfprog_map(f->prog, "counts");
	return f->fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	bpfprog_free(f->prog);
	remove(f->path);
	remove(f->other);
	remove(f->folder);
	free(f);
	return 0;
}

static void copy_of_this(const char *path)
{
	char *command = mem_printf("cp /proc/%d/exe %s", getpid(), path);

	assert_int_equal(system(command), 0);
	free(command);
}

static uint64_t offset_of_called(void)
{
	unsigned long long low, high, off = 0, addr = (uintptr_t)called;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &low, &high, &off) == 3 && addr >= low &&
		    addr < high)
			break;
	fclose(maps);
	return addr - low + off;
}

static void run_copy(const char *path)
{
	char *command = mem_printf("%s run", path);

	assert_int_equal(system(command), 0);
	free(command);
}

static void expect_count(const struct fixture *f, uint64_t expected)
{
	uint64_t sum;

	assert_int_equal(bpfmap_sum_percpu(f->counts, 1, 1, &sum), 0);
	assert_int_equal(sum, expected);
}

/* Somebody puts another file at the path between reading and attaching. */
static void test_replaced(void **state)
{
	struct fixture *f = *state;
	struct attach_probe probe = {.off = offset_of_called(),
				     .cookie = cookie_make(0, COOKIE_CALL, 0, 0)};
	const struct attach_way way = {attach_how(), f->fd, -1, 0};
	struct errmsg err = {0};

	if (geteuid() || attach_how() == ATTACH_PERF_STUB)
		skip();
	copy_of_this(f->path);
	struct heldfile *file = heldfile_open(NULL, f->path, &err);

	assert_non_null(file);
	assert_int_equal(rename(f->path, f->other), 0);
	copy_of_this(f->path);
	struct attach *at = attach_new(&way, file, &probe, 1, &err);

	assert_string_equal(err.text, "");
	assert_non_null(at);
	run_copy(f->path);
	expect_count(f, 0);
	run_copy(f->other);
	expect_count(f, CALLS);
	attach_free(at);
	heldfile_close(file);
}

static void test_unfit(void **state)
{
	struct attach_probe probe = {.off = 0};
	struct heldfile *file = heldfile_open(NULL, "/proc/version", NULL);
	struct fixture *f = *state;
	const struct attach_way way = {attach_how(), f->fd, -1, 0};
	struct errmsg err = {0};

	if (geteuid())
		skip();
	assert_non_null(file);
	assert_null(attach_new(&way, file, &probe, 1, &err));
	assert_string_equal(err.text, "cannot attach to \"/proc/version\": the kernel cannot read "
				      "the file there");
	heldfile_close(file);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unfit, setup, teardown),
	};

	(void)argv;
	for (int i = 0; argc > 1 && i < CALLS; i++)
		called();
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
