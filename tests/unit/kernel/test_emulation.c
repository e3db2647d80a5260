// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "kernel/attach.h"
#include "kernel/btf.h"
#include "kernel/emulation.h"
#include "kernel/emulator.h"
#include "unit.h"

static bool trial(void)
{
	struct emulation_trial *trial = emulation_trial_start();
	bool passed = emulation_trial_answer(trial);

	assert_int_equal(emulation_trial_answer(trial), passed);
	emulation_trial_end(trial);
	return passed;
}

/* Debian's kernels, and this project's machines, have what their version says. */
static void test_by_trial(void **state)
{
	struct utsname kernel;
	int major = 0, minor = 0;

	(void)state;
	assert_int_equal(uname(&kernel), 0);
	assert_int_equal(sscanf(kernel.release, "%d.%d", &major, &minor), 2);
	bool can = major > 6 || (major == 6 && minor >= 19);

#ifndef __x86_64__
	can = false;
#endif
	/* twice: it leaves nothing behind */
	assert_int_equal(trial(), !geteuid() && can);
	assert_int_equal(trial(), !geteuid() && can);
}

/* The program that is to carry RETs out is taken where the trial's was. */
static void test_emulator(void **state)
{
	int type = attach_prog_type(attach_how()), plain = emulator_load(type, 0);
	int careful = emulator_load(type, btf_thread_features());
	bool passed = trial();

	(void)state;
	assert_int_equal(plain >= 0, passed);
	assert_int_equal(careful >= 0, passed);
	if (plain >= 0)
		close(plain);
	if (careful >= 0)
		close(careful);
}

static void test_unwanted(void **state)
{
	(void)state;
	setenv("GOTOOLS_EMULATE", "no", 1);
	assert_false(trial());
	unsetenv("GOTOOLS_EMULATE");
	emulation_trial_end(NULL);
}

int main(void)
{
	unsetenv("GOTOOLS_EMULATE");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_trial),
		cmocka_unit_test(test_emulator),
		cmocka_unit_test(test_unwanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
