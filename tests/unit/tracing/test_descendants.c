// SPDX-License-Identifier: Apache-2.0
/* Are a command's descendants to be followed, can they be, and how many are there: with files, a
 * kernel and maps of this test's own. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "elf/dynlink.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/btf.h"
#include "kernel/kernelfeature.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "unit.h"

enum { RUNNING = 3, UNFOLLOWED };

static int own_file, traced_file, own_image; /* their addresses stand for them */

static struct world {
	const char *path; /* of what is traced */
	bool no_command, is_own, no_image;
	const char *needed; /* the only library of the command's program */
	unsigned files, images;
	bool exec_watch, types, ids;
	const char *refused; /* the tracepoint that is */
	int links[2];        /* exit, fork; -1: not made */
	size_t running;
	bool lookup_fails;
} world;

/* --- of other modules --- */

struct heldfile *command_open(struct command *cmd, struct errmsg *err)
{
	(void)cmd;
	assert_null(err);
	world.files += !world.no_command;
	return world.no_command ? NULL : (struct heldfile *)&own_file;
}

void heldfile_close(struct heldfile *file)
{
	world.files -= file != NULL;
}

const struct stat *heldfile_then(const struct heldfile *file)
{
	assert_ptr_equal(file, &own_file);
	return (const struct stat *)&own_file;
}

bool heldfile_is(const struct heldfile *file, const struct stat *st)
{
	assert_ptr_equal(file, &traced_file);
	assert_ptr_equal(st, &own_file);
	return world.is_own;
}

const char *heldfile_path(const struct heldfile *file)
{
	assert_ptr_equal(file, &traced_file);
	return world.path;
}

struct image *image_open(struct heldfile *file, struct errmsg *err)
{
	assert_ptr_equal(file, &own_file);
	assert_null(err);
	world.images += !world.no_image;
	return world.no_image ? NULL : (struct image *)&own_image;
}

void image_close(struct image *img)
{
	world.images -= img != NULL;
}

const char *dynlink_needs(const struct image *img, const char *prefix)
{
	assert_ptr_equal(img, &own_image);
	return !strcmp(world.needed, prefix) ? world.needed : NULL;
}

bool kernelfeature_exec_watch(void)
{
	return world.exec_watch;
}

int btf_process(struct btf_process *out, struct errmsg *err)
{
	*out = (struct btf_process){1, 2, 3, 4, 5, 6};
	return world.types ? 0 : errmsg_set(err, "no types");
}

int btf_task_ids(struct btf_ids *out, struct errmsg *err)
{
	*out = (struct btf_ids){7, 8};
	return world.ids ? 0 : errmsg_set(err, "no IDs");
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	assert_ptr_equal(prog, &own_file);
	if (!strcmp(name, "descendants"))
		return RUNNING;
	assert_string_equal(name, "unfollowed");
	return UNFOLLOWED;
}

int bpfprog_at_tracepoint(struct bpfprog *prog, const char *name, const char *tracepoint,
			  struct errmsg *err)
{
	bool is_fork = !strcmp(name, "on_fork");

	assert_ptr_equal(prog, &own_file);
	if (is_fork)
		assert_true(world.links[0] >= 0); /* nothing is missed that was seen to begin */
	assert_string_equal(name, is_fork ? "on_fork" : "on_descendant_exit");
	assert_string_equal(tracepoint, is_fork ? "sched_process_fork" : "sched_process_exit");
	if (world.refused && !strcmp(tracepoint, world.refused))
		return errmsg_set(err, "refused: %s", tracepoint);
	return world.links[is_fork] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int bpfmap_each(int fd, size_t key_size, size_t value_size,
		int (*fn)(const void *key, const void *value, void *arg), void *arg)
{
	assert_true(fd == RUNNING && key_size == 4 && value_size == 4);
	for (size_t i = 0; i < world.running; i++)
		assert_int_equal(fn(&i, &i, arg), 0);
	return 0;
}

int bpfmap_lookup(int fd, const void *key, void *value)
{
	const uint64_t lost = UINT64_C(1) << 32 | 9;

	assert_int_equal(fd, UNFOLLOWED);
	assert_int_equal(*(const uint32_t *)key, 0);
	if (world.lookup_fails)
		return -1;
	memcpy(value, &lost, sizeof(lost));
	return 0;
}

/* --- */

static int setup(void **state)
{
	*state = NULL;
	unsetenv("GOTOOLS_DESCENDANTS");
	world = (struct world){.path = "/usr/bin/other",
			       .needed = "",
			       .exec_watch = true,
			       .types = true,
			       .ids = true,
			       .links = {-1, -1}};
	return 0;
}

static bool wanted(void)
{
	bool is = descendants_wanted(NULL, (struct heldfile *)&traced_file);

	assert_int_equal(world.files, 0);
	assert_int_equal(world.images, 0);
	return is;
}

static void test_wanted(void **state)
{
	(void)state;
	assert_true(wanted());
	world.is_own = true;
	assert_false(wanted());
	world.is_own = false;
	world.no_command = true;
	assert_false(wanted());
}

/* What the command's own program loads is traced in the command itself. */
static void test_libraries(void **state)
{
	static const struct {
		const char *path, *needed;
		bool wanted;
	} cases[] = {
		{"/lib/libgo.so.21.0.0", "libgo.so", false},
		{"libgo.so", "libgo.so", false},
		{"/lib.so/libgo.so.21", "libgo.so", false},
		{"/lib/libgo.so.21", "libc.so", true},
		{"/lib.so/program", "", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		world.path = cases[i].path;
		world.needed = cases[i].needed;
		if (wanted() != cases[i].wanted)
			fail_msg("%s, where \"%s\" is needed", cases[i].path, cases[i].needed);
	}
	world.path = "/lib/libgo.so";
	world.needed = "libgo.so";
	world.no_image = true;
	assert_true(wanted());
}

static void expect_no_layout(const char *why)
{
	struct descendants_layout layout;
	struct errmsg err = {0};

	assert_int_equal(descendants_layout(&layout, &err), -1);
	assert_string_equal(err.text, why);
}

static void test_layout(void **state)
{
	struct descendants_layout layout = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(descendants_layout(&layout, NULL), 0);
		assert_true(layout.tgid == 8 && layout.signal == 4 && layout.live == 5);
		setenv("GOTOOLS_DESCENDANTS", "yes", 1);
	}
	setenv("GOTOOLS_DESCENDANTS", "no", 1);
	expect_no_layout("this kernel does not report each fork");
	unsetenv("GOTOOLS_DESCENDANTS");
	world.exec_watch = false;
	expect_no_layout("this kernel does not report each fork");
	world.exec_watch = true;
	world.ids = false;
	expect_no_layout("no IDs");
	world.ids = true;
	world.types = false;
	expect_no_layout("no types");
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_counts(void **state)
{
	struct descendants *desc = descendants_begin((struct bpfprog *)&own_file, NULL);

	(void)state;
	assert_non_null(desc);
	assert_int_equal(descendants_running(desc), 0);
	world.running = 3;
	assert_int_equal(descendants_running(desc), 3);
	assert_int_equal(descendants_lost(desc), UINT64_C(1) << 32 | 9);
	world.lookup_fails = true;
	assert_int_equal(descendants_lost(desc), 0);
	assert_true(is_open(world.links[0]) && is_open(world.links[1]));
	descendants_free(desc);
	assert_false(is_open(world.links[0]) || is_open(world.links[1]));
	descendants_free(NULL);
}

static void test_refused(void **state)
{
	struct errmsg err = {0};

	(void)state;
	world.refused = "sched_process_exit";
	assert_null(descendants_begin((struct bpfprog *)&own_file, &err));
	assert_string_equal(err.text, "refused: sched_process_exit");
	assert_int_equal(world.links[1], -1);
	world.refused = "sched_process_fork";
	assert_null(descendants_begin((struct bpfprog *)&own_file, &err));
	assert_string_equal(err.text, "refused: sched_process_fork");
	assert_false(is_open(world.links[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_wanted, setup),
		cmocka_unit_test_setup(test_libraries, setup),
		cmocka_unit_test_setup(test_layout, setup),
		cmocka_unit_test_setup(test_counts, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
