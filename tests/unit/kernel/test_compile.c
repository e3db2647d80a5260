// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "kernel/bpfprog.h"
#include "kernel/bytecode_internal.h"
#include "kernel/compile_internal.h"
#include "quiet.h"
#include "unit.h"

#define HELPERS "#include <uapi/linux/ptrace.h>\n"

static bool is_ended;              /* each child, as the kernel does for want of memory */
static unsigned children, give_up; /* so many at first end as where LLVM gives up */

pid_t fork(void)
{
	pid_t pid = _Fork();

	if (!pid && children < give_up)
		_exit(1);
	children += pid > 0;
	if (pid > 0 && is_ended)
		kill(pid, SIGKILL);
	return pid;
}

static const char *release = "6.18.1";

int uname(struct utsname *__name)
{
	*__name = (struct utsname){.sysname = "Linux"};
	strcpy(__name->release, release);
	return 0;
}

static const struct bpfprog_define defs[] = {{"ROOM", 5}, {"VALUE", 7}};

/* what is printed meanwhile: nothing */
static int compile(const char *text, struct compiled *compiled, struct errmsg *err)
{
	struct quiet *quiet = quiet_begin();
	int ret = compile_text("app.bpf.c", text, defs, 2, compiled, err);
	char *said = quiet_end(quiet);

	assert_string_equal(said, "");
	free(said);
	return ret;
}

static void free_compiled(struct compiled *compiled)
{
	bytecode_free(compiled->code);
	free(compiled->chatter);
	free(compiled->libraries);
}

static void test_code(void **state)
{
	static const char text[] = HELPERS "BPF_ARRAY(rooms, u64, ROOM);\n"
					   "int on_probe(void *ctx)\n"
					   "{\n\tint zero = 0;\n"
					   "\tu64 *room = rooms.lookup(&zero);\n"
					   "\tif (room)\n\t\t*room += VALUE;\n\treturn 0;\n}\n";
	struct compiled got;
	struct errmsg err = {.text = ""};
	char *before = getcwd(NULL, 0);

	(void)state;
	setenv("BCC_KERNEL_SOURCE", "/the/user's/own", 1);
	assert_int_equal(compile(text, &got, &err), 0);
	assert_string_equal(getenv("BCC_KERNEL_SOURCE"), "/the/user's/own");
	unsetenv("BCC_KERNEL_SOURCE");
	char *after = getcwd(NULL, 0);

	assert_string_equal(before, after);
	assert_string_equal(got.chatter, "");
	assert_int_equal(got.code->nmaps, 1);
	assert_string_equal(got.code->maps[0].name, "rooms");
	assert_int_equal(got.code->maps[0].entries, 5);
	assert_int_equal(got.code->nfuncs, 1);
	assert_string_equal(got.code->funcs[0].name, "on_probe");
	assert_non_null(strstr(got.libraries, "/libbcc."));
	assert_non_null(strstr(got.libraries, "/libLLVM"));
	free_compiled(&got);
	free(before);
	free(after);
}

/* What the compiler warns of comes with the program. */
static void test_warning(void **state)
{
	struct compiled got;
	struct errmsg err = {.text = ""};

	(void)state;
	assert_int_equal(compile(HELPERS
				 "#warning take care\nint on_probe(void *ctx)\n{\n\treturn 0;\n}\n",
				 &got, &err),
			 0);
	assert_non_null(strstr(got.chatter, "take care"));
	free_compiled(&got);
}

/* More stack than BPF has: LLVM ends the process, which is not the tool's. */
static void test_ended(void **state)
{
	static const char text[] = HELPERS "int on_probe(void *ctx)\n{\n\tchar all[600];\n"
					   "\tbpf_probe_read(all, sizeof(all), ctx);\n"
					   "\treturn all[bpf_get_prandom_u32() % 600];\n}\n";
	struct compiled got;
	struct errmsg err = {.text = ""};

	(void)state;
	assert_int_equal(compile(text, &got, &err), -1);
	assert_non_null(strstr(err.text, "app.bpf.c does not compile: "));
	assert_non_null(strstr(err.text, "stack"));
	assert_string_equal(err.hint, "-v shows the program");
}

static void test_killed(void **state)
{
	struct compiled got;
	struct errmsg err = {.text = ""};

	(void)state;
	is_ended = true;
	children = 0;
	assert_int_equal(
		compile(HELPERS "int on_probe(void *ctx)\n{\n\treturn 0;\n}\n", &got, &err), -1);
	is_ended = false;
	assert_string_equal(err.text, "app.bpf.c does not compile: the compiler was ended: Killed");
	assert_string_equal(err.hint, "it takes some 100 MB of memory");
	assert_int_equal(children, 1);
}

/* What LLVM gives up on at first is compiled another way, once. */
static void test_given_up(void **state)
{
	static const char text[] = HELPERS "int on_probe(void *ctx)\n{\n\treturn 0;\n}\n";
	static const char *const older[] = {"5.10.0-32-cloud-amd64", "6.17.9", "unknown"};
	struct compiled got;
	struct errmsg err = {.text = ""};

	(void)state;
	children = 0;
	give_up = 1;
	assert_int_equal(compile(text, &got, &err), 0);
	assert_int_equal(children, 2);
	assert_string_equal(got.code->funcs[0].name, "on_probe");
	free_compiled(&got);
	children = 0;
	give_up = 9;
	assert_int_equal(compile(text, &got, &err), -1);
	assert_int_equal(children, 2);
	assert_string_equal(err.text, "app.bpf.c does not compile: the compiler was ended");
	give_up = 1; /* older kernels: the other way at once */
	for (size_t i = 0; i < sizeof(older) / sizeof(*older); i++) {
		release = older[i];
		children = 0;
		assert_int_equal(compile(text, &got, &err), -1);
		assert_int_equal(children, 1);
	}
	release = "7.0";
	children = 0;
	assert_int_equal(compile(text, &got, &err), 0);
	assert_int_equal(children, 2);
	free_compiled(&got);
	give_up = 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code),     cmocka_unit_test(test_warning),
		cmocka_unit_test(test_ended),    cmocka_unit_test(test_killed),
		cmocka_unit_test(test_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
