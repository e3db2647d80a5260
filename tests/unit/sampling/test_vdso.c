// SPDX-License-Identifier: Apache-2.0
/* Where the kernel's code in a process returns to: at the first instruction of a function of this
 * process's own. */
#include <dlfcn.h>
#include <string.h>
#include <sys/auxv.h>

#include "sampling/vdso_internal.h"
#include "unit.h"

enum { WORDS = 8, STACK = 0x7000 };

static void test_return(void **state)
{
	uint64_t top[WORDS] = {0x123456, 0x1111, 0x2222}, addr = 1;
	struct vdso *vdso = vdso_new();
	void *own = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	void *function = own ? dlsym(own, "__vdso_clock_gettime") : NULL;
	struct vdso_at at = {
		.base = getauxval(AT_SYSINFO_EHDR), .sp = STACK, .top = top, .count = WORDS};

	(void)state;
	if (!vdso || !function)
		skip();
	memcpy(&at.pc, &function, sizeof(at.pc));
	assert_true(vdso_return(vdso, &at, &addr));
	assert_int_equal(addr, 0x123456);
	/* the same code elsewhere */
	at.pc += 0x1000000;
	at.base += 0x1000000;
	assert_true(vdso_return(vdso, &at, &addr));
	assert_int_equal(addr, 0x123456);
	/* nothing of the stack, or no code of it */
	at.count = 0;
	assert_false(vdso_return(vdso, &at, &addr));
	at.count = WORDS;
	at.pc = 0x500;
	assert_false(vdso_return(vdso, &at, &addr));
	vdso_free(vdso);
	vdso_free(NULL);
	dlclose(own);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_return),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
