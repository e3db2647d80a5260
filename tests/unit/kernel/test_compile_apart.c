// SPDX-License-Identifier: Apache-2.0
/* What is said of a compiler that fails, in a process of its own; the compiler is this test's. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "kernel/bpfprog.h"
#include "kernel/bytecode_internal.h"
#include "kernel/compile_internal.h"
#include "unit.h"

static const char *prints, *fails; /* NULL: it does not fail, but leaves nothing */
static int ends_by;                /* signal; 0: it ends as it should */

int compile_here(const struct compiling *what, struct compiled *compiled, struct errmsg *err)
{
	(void)compiled;
	fprintf(what->passes == COMPILE_ONCE ? stderr : stdout, "%s", prints);
	fflush(NULL);
	prctl(PR_SET_DUMPABLE, 0);
	if (ends_by == SIGABRT) /* others are blocked */
		abort();
	if (ends_by)
		kill(getpid(), ends_by);
	return errmsg_set(err, "%s", fails);
}

static void expect(const char *chatter, const char *error, int signal, const char *said)
{
	struct compiled compiled;
	struct errmsg err = {0};
	char text[sizeof(err.text) + sizeof(err.hint) + 4];

	prints = chatter;
	fails = error;
	ends_by = signal;
	assert_int_equal(compile_text("a.bpf.c", "", NULL, 0, &compiled, &err), -1);
	snprintf(text, sizeof(text), "%s / %s", err.text, err.hint);
	assert_string_equal(text, said);
}

static void test_errors(void **state)
{
	static const char first[] = "a.bpf.c:1: warning: odd\na.bpf.c:2:7: error: bad\n"
				    "a.bpf.c:3: error: worse\n";

	(void)state;
	expect("", "no headers", 0, "no headers / ");
	expect(first, "x", 0,
	       "a.bpf.c does not compile: a.bpf.c:2:7: error: bad / -v shows the "
	       "program");
	expect("nothing with that word\nat all\n", "x", 0,
	       "a.bpf.c does not compile: nothing with that word / -v shows the "
	       "program");
	expect("odd\ncould not open bpf map: rooms, error: Operation not permitted\nerror: x\n",
	       "x", 0,
	       "cannot create BPF maps: could not open bpf map: rooms, error: "
	       "Operation not permitted / run as root, or with CAP_BPF and CAP_PERFMON");
	expect("", "", 0, "a.bpf.c does not compile: the compiler was ended / ");
	expect("", "", SIGKILL,
	       "a.bpf.c does not compile: the compiler was ended: Killed / it takes "
	       "some 100 MB of memory");
	expect("", "", SIGABRT, "a.bpf.c does not compile: the compiler was ended: Aborted / ");
	expect("cut of", "", SIGKILL, "a.bpf.c does not compile: cut of / -v shows the program");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
