// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "kernel/kallsyms_internal.h"
#include "unit.h"

static struct kallsyms *open_text(const char *text, struct errmsg *err)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);
	struct kallsyms *syms;
	char path[64];

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	syms = kallsyms_open_file(path, err);
	close(fd);
	return syms;
}

static void expect_found(const struct kallsyms *syms, uint64_t addr, const char *name, uint64_t off,
			 const char *module)
{
	const char *found_module = NULL;
	uint64_t found_off = 0;
	const char *found = kallsyms_find(syms, addr, &found_off, &found_module);

	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(found_off, off);
	assert_string_equal(found_module, module);
}

static void expect_none(const struct kallsyms *syms, uint64_t addr)
{
	const char *module;
	uint64_t off;

	assert_null(kallsyms_find(syms, addr, &off, &module));
}

static void test_find(void **state)
{
	struct errmsg err = {0};
	struct kallsyms *syms = open_text("ffffffff81000100 t do_one\n"
					  "ffffffff81000200 T do_two\n"
					  "ffffffff81000180 W weak_one\n"
					  "nonsense\n"
					  "\n"
					  "ffffffff81000210 \n"
					  "ffffffff81000220 t \n"
					  "ffffffff81000300 T _etext\n"
					  "ffffffff81000400 D some_data\n"
					  "ffffffffc0000000 t far_one\t[xfs]\n"
					  "ffffffffc0000010 t last_one\t[bpf",
					  &err);

	(void)state;
	assert_non_null(syms);
	expect_none(syms, 0);
	expect_none(syms, 0xffffffff810000ff);
	expect_found(syms, 0xffffffff81000100, "do_one", 0, "");
	expect_found(syms, 0xffffffff8100017f, "do_one", 0x7f, "");
	expect_found(syms, 0xffffffff81000181, "weak_one", 1, "");
	expect_found(syms, 0xffffffff810002ff, "do_two", 0xff, "");
	expect_none(syms, 0xffffffff81000301);
	expect_none(syms, 0xffffffff81000401);
	expect_found(syms, 0xffffffffc0000004, "far_one", 4, "xfs");
	expect_found(syms, 0xffffffffffffffff, "last_one", 0x3fffffef, "bpf");
	kallsyms_close(syms);
}

static void test_hidden(void **state)
{
	struct errmsg err = {0};

	(void)state;
	assert_null(open_text("0000000000000000 T _stext\n0000000000000000 t do_one\n", &err));
	assert_non_null(strstr(err.text, "hides"));
	assert_non_null(strstr(err.hint, "kptr_restrict"));
}

static void test_missing(void **state)
{
	struct errmsg err = {0};

	(void)state;
	assert_null(open_text("", &err));
	assert_non_null(strstr(err.text, "no symbols"));
	assert_null(kallsyms_open_file("/nonexistent/kallsyms", &err));
	assert_non_null(strstr(err.text, "No such file"));
	kallsyms_close(NULL);
}

/* the running kernel's own, where they may be seen */
static void test_running(void **state)
{
	struct kallsyms *syms = kallsyms_open(NULL);
	const char *module;
	uint64_t off;

	(void)state;
	if (!syms)
		skip();
	assert_null(kallsyms_find(syms, 0x401000, &off, &module));
	kallsyms_close(syms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
