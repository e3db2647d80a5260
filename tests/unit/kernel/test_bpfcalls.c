// SPDX-License-Identifier: Apache-2.0
/* What the kernel is asked for: features that are tried, programs that are made instruction by
 * instruction, probes, samples. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "fakebpf.h"
#include "files/heldfile.h"
#include "kernel/attach_internal.h"
#include "kernel/attach_trial.h"
#include "kernel/bpfmap.h"
#include "kernel/emulation.h"
#include "kernel/emulator.h"
#include "kernel/gate.h"
#include "kernel/hitcost.h"
#include "kernel/kernelfeature_internal.h"
#include "kernel/sampler.h"
#include "unit.h"

static void say_error(const struct errmsg *err)
{
	steps_are("error: %s%s%s", err->text, *err->hint ? "; " : "", err->hint);
}

/* --- features --- */

static const struct {
	const char *name, *part; /* what it takes, of which it may fail */
	bool (*has)(void);
} features[] = {
	{"multi", "prog", kernelfeature_uprobe_multi},
	{"exec", "tracepoint", kernelfeature_exec_watch},
	{"cookies", "prog", kernelfeature_cookies},
	{"user", "prog", kernelfeature_probe_read_user},
	{"kernel", "prog", kernelfeature_probe_read_kernel},
	{"exchange", "prog", kernelfeature_cmpxchg},
	{"registers", "prog", kernelfeature_task_registers},
	{"ring", "map", kernelfeature_ringbuf},
	{"sleepable", "map", kernelfeature_sleepable},
	{"sleepable", "prog", kernelfeature_sleepable},
};

static void test_features(void **state)
{
	(void)state;
	fakebpf_begin(NULL, 0);
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		steps_are("%s: %d", features[i].name, features[i].has());
	steps_expect(
		"prog of 2 for 48, flags 0, GPL b7:0,0 95:0,0; link of 1000 to / 0/0, flags 0 0, "
		"all; multi: 0; prog of 17 for 0, flags 0, GPL b7:0,0 95:0,0; tracepoint "
		"sched_process_exec of 1002; exec: 1; prog of 2 for 0, flags 0, GPL 85:0,0=174 "
		"b7:0,0 95:0,0; cookies: 1; prog of 2 for 0, flags 0, GPL bf:1,10 7:1,0=-8 "
		"b7:2,0=8 b7:3,0 85:0,0=112 b7:0,0 95:0,0; user: 1; prog of 2 for 0, flags 0, GPL "
		"bf:1,10 7:1,0=-8 b7:2,0=8 b7:3,0 85:0,0=113 b7:0,0 95:0,0; kernel: 1; prog of 2 "
		"for 0, flags 0, GPL 7a:10,0-8 b7:0,0 b7:1,0 db:10,1-8=241 b7:0,0 95:0,0; "
		"exchange: 1; prog of 2 for 0, flags 0, GPL 85:0,0=158 bf:1,0 85:0,0=175 b7:0,0 "
		"95:0,0; registers: 1; map of 27: 0 0 4096, flags 0; ring: 1; map of 1: 8 8 1, "
		"flags 1; prog of 2 for 0, flags 16, GPL 7a:10,0-8 18:1,1=1010 0:0,0 bf:2,10 "
		"7:2,0=-8 85:0,0=3 bf:1,10 7:1,0=-8 b7:2,0=8 b7:3,0 85:0,0=148 b7:0,0 95:0,0; "
		"sleepable: 1; map of 1: 8 8 1, flags 1; prog of 2 for 0, flags 16, GPL 7a:10,0-8 "
		"18:1,1=1012 0:0,0 bf:2,10 7:2,0=-8 85:0,0=3 bf:1,10 7:1,0=-8 b7:2,0=8 b7:3,0 "
		"85:0,0=148 b7:0,0 95:0,0; sleepable: 1; ");
}

static void test_features_missing(void **state)
{
	static const int errors[] = {EPERM, EINVAL, EBADF};
	char all[2048];
	size_t len = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		for (size_t k = 0; k < sizeof(errors) / sizeof(*errors); k++) {
			fakebpf_begin(features[i].part, errors[k]);
			len += snprintf(all + len, sizeof(all) - len, "%s%s without %s by %d: %d",
					len ? ", " : "", features[i].name, features[i].part,
					errors[k], features[i].has());
		}
	for (size_t k = 0; k < sizeof(errors) / sizeof(*errors); k++) {
		fakebpf_begin("link", errors[k]);
		len += snprintf(all + len, sizeof(all) - len, ", link by %d: %d", errors[k],
				kernelfeature_uprobe_multi());
	}
	setenv("GOTOOLS_REGISTERS", "no", 1);
	assert_false(kernelfeature_task_registers());
	setenv("GOTOOLS_REGISTERS", "yes", 1);
	assert_true(kernelfeature_task_registers());
	unsetenv("GOTOOLS_REGISTERS");
	fakebpf_begin(NULL, 0);
	steps_are("%s", all);
	steps_expect(
		"multi without prog by 1: 1, multi without prog by 22: 0, multi without prog by 9: "
		"0, exec without tracepoint by 1: 0, exec without tracepoint by 22: 0, exec "
		"without tracepoint by 9: 0, cookies without prog by 1: 1, cookies without prog by "
		"22: 0, cookies without prog by 9: 0, user without prog by 1: 1, user without prog "
		"by 22: 0, user without prog by 9: 0, kernel without prog by 1: 1, kernel without "
		"prog by 22: 0, kernel without prog by 9: 0, exchange without prog by 1: 1, "
		"exchange without prog by 22: 0, exchange without prog by 9: 0, registers without "
		"prog by 1: 1, registers without prog by 22: 0, registers without prog by 9: 0, "
		"ring without map by 1: 1, ring without map by 22: 0, ring without map by 9: 0, "
		"sleepable without map by 1: 0, sleepable without map by 22: 0, sleepable without "
		"map by 9: 0, sleepable without prog by 1: 0, sleepable without prog by 22: 0, "
		"sleepable without prog by 9: 0, link by 1: 0, link by 22: 0, link by 9: 1; ");
}

static enum attach_how how_without(const char *fails, int error)
{
	fakebpf_begin(fails, error);
	steps.always = true;
	return attach_how();
}

static void test_how(void **state)
{
	static const char *const wishes[] = {NULL, "multi", "perf", "stub", "other"};

	(void)state;
	for (size_t i = 0; i < sizeof(wishes) / sizeof(*wishes); i++) {
		if (wishes[i])
			setenv("GOTOOLS_ATTACH", wishes[i], 1);
		enum attach_how can = how_without("link", EBADF);
		enum attach_how lacks = how_without("link", EINVAL);
		enum attach_how nothing = how_without("prog", EINVAL);

		fakebpf_begin("link", EBADF);
		bool sleeps = attach_sleepable();

		fakebpf_begin("map", EINVAL);
		bool lacks_map = attach_sleepable();

		fakebpf_begin(NULL, 0);
		steps_are("%d %d %d, %d %d, type %d", can, lacks, nothing, sleeps, lacks_map,
			  attach_prog_type(can));
		steps_expect((const char *[]){"0 1 2, 1 0, type 48; ", "0 1 2, 1 0, type 48; ",
					      "1 1 2, 1 0, type 0; ", "2 2 2, 0 0, type 0; ",
					      "2 2 2, 0 0, type 0; "}[i]);
	}
	unsetenv("GOTOOLS_ATTACH");
	setenv("GOTOOLS_SLEEPABLE", "no", 1);
	fakebpf_begin("link", EBADF);
	assert_false(attach_sleepable());
	unsetenv("GOTOOLS_SLEEPABLE");
	fakebpf_begin(NULL, 0);
}

/* --- what is tried on the tool itself --- */

static void run_trial(uint64_t counted, const char *fails, const char *how)
{
	setenv("GOTOOLS_ATTACH", how, 1);
	fakebpf_begin(fails, fails && !strcmp(fails, "link") ? EBADF : EINVAL);
	fakebpf.value = counted;

	bool passed = attach_trial_end(attach_trial_start());

	steps_are("passed: %d", passed);
}

static void test_trial(void **state)
{
	(void)state;
	run_trial(1, "tracepoint", "perf");
	steps_expect(
		"map of 2: 4 8 1, flags 0; prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; "
		"prog of 2 for 0, flags 0, GPL 62:10,0-4 18:1,1=1000 0:0,0 bf:2,10 7:2,0=-4 "
		"85:0,0=1 15:0,0+2 b7:1,0=1 db:0,1 b7:0,0 95:0,0; prog of 17 for 0, flags 0, GPL "
		"b7:0,0 95:0,0; tracepoint sched_process_exec of 1003; passed: 0; ");
	run_trial(1, NULL, "perf");
	steps_expect("map of 2: 4 8 1, flags 0; prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 "
		     "95:0,0; prog of 2 for 0, flags 0, GPL 62:10,0-4 18:1,1=1000 0:0,0 bf:2,10 "
		     "7:2,0=-4 85:0,0=1 15:0,0+2 b7:1,0=1 db:0,1 b7:0,0 95:0,0; prog of 17 for 0, "
		     "flags 0, GPL b7:0,0 95:0,0; tracepoint sched_process_exec of 1003; prog of 2 "
		     "for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; event at fd+0, a process on "
		     "-1; link of 1002 to 1006 as 41, cookie 0; lookup 1000 key 0; passed: 1; ");
	run_trial(2, NULL, "stub");
	steps_expect("map of 2: 4 8 1, flags 0; prog of 2 for 0, flags 0, GPL 62:10,0-4 "
		     "18:1,1=1000 0:0,0 bf:2,10 7:2,0=-4 85:0,0=1 15:0,0+2 b7:1,0=1 db:0,1 b7:0,0 "
		     "95:0,0; prog of 17 for 0, flags 0, GPL b7:0,0 95:0,0; tracepoint "
		     "sched_process_exec of 1002; event at fd+0, a process on -1; bind 1004 1001; "
		     "enable 1004 0; lookup 1000 key 0; passed: 0; ");
	run_trial(1, "map", "perf");
	steps_expect("map of 2: 4 8 1, flags 0; passed: 0; ");
	run_trial(1, "event", "perf");
	steps_expect(
		"map of 2: 4 8 1, flags 0; prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; "
		"prog of 2 for 0, flags 0, GPL 62:10,0-4 18:1,1=1000 0:0,0 bf:2,10 7:2,0=-4 "
		"85:0,0=1 15:0,0+2 b7:1,0=1 db:0,1 b7:0,0 95:0,0; prog of 17 for 0, flags 0, GPL "
		"b7:0,0 95:0,0; tracepoint sched_process_exec of 1003; prog of 2 for 0, flags 0, "
		"GPL 85:0,0=174 b7:0,0 95:0,0; event at fd+0, a process on -1; passed: 0; ");
	setenv("GOTOOLS_ALONE", "no", 1);
	run_trial(1, NULL, "perf");
	steps_expect("passed: 0; ");
	unsetenv("GOTOOLS_ALONE");
}

static void run_emulation(const char *how, const char *wish)
{
	setenv("GOTOOLS_ATTACH", how, 1);
	setenv("GOTOOLS_EMULATE", wish, 1);
	fakebpf_begin(NULL, 0);

	struct emulation_trial *trial = emulation_trial_start();
	bool answer = emulation_trial_answer(trial);

	emulation_trial_end(trial);
	steps_are("answer: %d", answer);
	unsetenv("GOTOOLS_EMULATE");
}

static void test_emulation(void **state)
{
	(void)state;
#ifdef __x86_64__
	run_emulation("perf", "yes");
	steps_expect("prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; prog of 2 for 0, "
		     "flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; prog of 2 for 0, flags 0, GPL "
		     "79:2,1+128 7:2,0=2 7b:1,2+128 79:2,1+152 7:2,0=-8 7b:1,2+152 b7:0,0 95:0,0; "
		     "prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; event at fd+0, a "
		     "process on -1; link of 1002 to 1004 as 41, cookie 0; answer: 0; ");
#endif
	run_emulation("stub", "yes");
	steps_expect("answer: 0; ");
	run_emulation("perf", "no");
	steps_expect("answer: 0; ");
#ifdef __x86_64__
	fakebpf_begin(NULL, 0);
	emulator_load(48, 0);
	steps_expect("prog of 2 for 48, flags 0, GPL bf:6,1 85:0,0=174 bf:7,0 79:1,6+128 bf:1,1 "
		     "af:1,7 57:1,0=4095 55:1,0+18 79:8,6+152 bf:3,8 bf:1,10 7:1,0=-8 b7:2,0=8 "
		     "85:0,0=112 55:0,0+11 79:2,10-8 bf:1,2 af:1,7 57:1,0=4095 15:1,0+6 bf:1,2 "
		     "77:1,0=47 55:1,0+3 7:8,0=8 7b:6,8+152 7b:6,2+128 b7:0,0 95:0,0; ");
	fakebpf_begin(NULL, 0);
	emulator_load(0, 0x98);
	steps_expect(
		"prog of 2 for 0, flags 0, GPL bf:6,1 85:0,0=174 bf:7,0 79:1,6+128 bf:1,1 af:1,7 "
		"57:1,0=4095 55:1,0+28 85:0,0=35 bf:3,0 7:3,0=152 bf:1,10 7:1,0=-8 b7:2,0=8 "
		"85:0,0=113 55:0,0+20 79:2,10-8 45:2,0+18=1 79:8,6+152 bf:3,8 bf:1,10 7:1,0=-8 "
		"b7:2,0=8 85:0,0=112 55:0,0+11 79:2,10-8 bf:1,2 af:1,7 57:1,0=4095 15:1,0+6 bf:1,2 "
		"77:1,0=47 55:1,0+3 7:8,0=8 7b:6,8+152 7b:6,2+128 b7:0,0 95:0,0; ");
#endif
}

/* The number of calls is the machine's. */
static void test_hit_cost(void **state)
{
	uint64_t runs = 0, ns = 0;
	struct hitcost cost;

	(void)state;
	setenv("GOTOOLS_ATTACH", "perf", 1);
	fakebpf_begin("prog", EPERM);
	steps.always = true;
	cost = hitcost_end(hitcost_start());
	steps_are("%u %u", cost.emulated, cost.stepped);
	steps_expect("prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; prog of 2 for 0, "
		     "flags 0, GPL b7:0,0 95:0,0; 1500 4000; ");
	fakebpf_begin("event", EPERM);
	steps.always = true;
	cost = hitcost_end(hitcost_start());
	steps_are("%u %u", cost.emulated, cost.stepped);
	steps_expect("prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; prog of 2 for 0, "
		     "flags 0, GPL b7:0,0 95:0,0; prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 "
		     "95:0,0; event at fd+0, a process on -1; prog of 2 for 0, flags 0, GPL "
		     "85:0,0=174 b7:0,0 95:0,0; event at fd+0, a process on -1; 1500 4000; ");
	fakebpf_begin(NULL, 0);
	cost = hitcost_end(hitcost_start());
	steps_are("%d %d", cost.emulated < 1000, cost.stepped < 1000);
	steps_are("%d", hitcost_watch_programs());
	assert_int_equal(hitcost_program(77, &runs, &ns), 0);
	steps_are("%lu runs, %lu ns", runs, ns);
	steps_expect(
		"prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; prog of 2 for 0, flags 0, "
		"GPL b7:0,0 95:0,0; prog of 2 for 0, flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; event "
		"at fd+0, a process on -1; link of 1001 to 1003 as 41, cookie 0; prog of 2 for 0, "
		"flags 0, GPL 85:0,0=174 b7:0,0 95:0,0; event at fd+0, a process on -1; link of "
		"1001 to 1006 as 41, cookie 0; 1 1; stats 0; 1008; info of 77; 3 runs, 500 ns; ");
	fakebpf_begin("info", EPERM);
	assert_int_equal(hitcost_program(77, &runs, &ns), -1);
	fakebpf_begin(NULL, 0);
}

/* --- the gate, samples --- */

static void test_gate(void **state)
{
	struct gate *gate;

	(void)state;
	fakebpf_begin(NULL, 0);
	gate = gate_new(48);
	steps_are("gate %d, opened: %d", gate_prog(gate), gate_open(gate, 77));
	gate_shut(gate);
	gate_free(gate);
	gate_free(NULL);
	steps_expect("map of 3: 4 4 1, flags 0; prog of 2 for 48, flags 0, GPL 18:2,1=1000 0:0,0 "
		     "b7:3,0 85:0,0=12 b7:0,0 95:0,0; update 1000 key 0 value 77; gate 1001, "
		     "opened: 0; delete 1000 key 0; ");
	fakebpf_begin("map", EPERM);
	assert_null(gate_new(0));
	fakebpf_begin("prog", EPERM);
	assert_null(gate_new(0));
	fakebpf_begin(NULL, 0);
}

static void run_sampler(const char *fails, int error, unsigned times)
{
	struct errmsg err = {0};

	fakebpf_begin(fails, error);
	steps.times = times;

	struct sampler *sampler = sampler_new(77, 99, &err);

	if (!sampler)
		say_error(&err);
	sampler_free(sampler);
	/* a machine has as many processors as it has */
	char *second = strstr(steps.said, "clock 0 1 at 99, -1 on 1;");

	if (second && sampler)
		*second = '\0';
}

static void test_sampler(void **state)
{
	(void)state;
	run_sampler(NULL, 0, 0);
	steps_expect("clock 0 1 at 99, -1 on 0; bind 1000 77; enable 1000 0; ");
	run_sampler("clock", EINVAL, 0);
	steps_expect("clock 0 1 at 99, -1 on 0; error: the kernel refuses 99 samples a second: "
		     "kernel.perf_event_max_sample_rate is the most; ");
	run_sampler("clock", EACCES, 0);
	steps_expect("clock 0 1 at 99, -1 on 0; error: cannot sample what runs: Permission denied; "
		     "run as root, or with CAP_PERFMON and CAP_BPF; ");
	run_sampler("bind", EPERM, 0);
	steps_expect("clock 0 1 at 99, -1 on 0; bind 1000 77; error: cannot sample what runs: "
		     "Operation not permitted; run as root, or with CAP_PERFMON and CAP_BPF; ");
	run_sampler("enable", EIO, 0);
	steps_expect("clock 0 1 at 99, -1 on 0; bind 1000 77; enable 1000 0; error: cannot sample "
		     "what runs: Input/output error; ");
}

/* --- probes --- */

static struct attach_probe probes[] = {{.off = 0x10, .cookie = 0xa},
				       {.off = 0x20, .cookie = 0xb00000001},
				       {.off = 0x30, .cookie = 0xc}};
enum { PROBES = 3 };

static void run_attach(enum attach_how how, int cookies, pid_t pid, const char *fails, int error,
		       unsigned times)
{
	const struct attach_way way = {how, 71, cookies, pid};
	struct heldfile *file = heldfile_open(NULL, "/proc/self/exe", NULL);
	struct errmsg err = {0};

	fakebpf_begin(fails, error);
	steps.times = times;

	struct attach *at = attach_new(&way, file, probes, PROBES, &err);

	heldfile_close(file);
	for (int i = 0; at && i < PROBES; i++)
		if (probes[i].refused)
			steps_are("%d: %s", i, probes[i].refused);
	if (at && pid) {
		steps_are("again");
		steps_are("%d", attach_again(at, &err));
	}
	if (*err.text) {
		/* this program has a path of its own */
		char *path = strchr(err.text, '/'), *end = path ? strchr(path, '"') : NULL;

		steps_are("error: %.*s%s%s%s", path ? (int)(path - err.text) : 400, err.text,
			  end ? end : "", *err.hint ? "; " : "", err.hint);
	}
	attach_free(at);
}

static void test_multi(void **state)
{
	(void)state;
	run_attach(ATTACH_MULTI, -1, 0, NULL, 0, 0);
	steps_expect("link of 71 to fd 10/a 20/b00000001 30/c, flags 0 0, all; ");
	run_attach(ATTACH_MULTI, -1, 0, "link", EINVAL, 0);
	steps_expect("link of 71 to fd 10/a 20/b00000001 30/c, flags 0 0, all; link of 71 to fd "
		     "10/a, flags 0 0, all; link of 71 to fd 20/b00000001 30/c, flags 0 0, all; ");
	run_attach(ATTACH_MULTI, -1, 7, "link", EPERM, 0);
	steps_expect("link of 71 to fd 10/a 20/b00000001 30/c, flags 0 0, a process; error: cannot "
		     "attach to \"\": Operation not permitted; run as root, or with CAP_BPF and "
		     "CAP_PERFMON; ");
	run_attach(ATTACH_MULTI, -1, 7, "link", EEXIST, 1);
	steps_expect(
		"link of 71 to fd 10/a 20/b00000001 30/c, flags 0 0, a process; again; link of 71 "
		"to fd 10/a 20/b00000001 30/c, flags 0 0, a process; link of 71 to fd 10/a, flags "
		"0 0, a process; link of 71 to fd 20/b00000001 30/c, flags 0 0, a process; 0; ");
}

static void test_perf(void **state)
{
	(void)state;
	run_attach(ATTACH_PERF_COOKIE, -1, 0, NULL, 0, 0);
	steps_expect("event at fd+10, all on 0; link of 71 to 1000 as 41, cookie a; event at "
		     "fd+20, all on 0; link of 71 to 1002 as 41, cookie b00000001; event at fd+30, "
		     "all on 0; link of 71 to 1004 as 41, cookie c; ");
	run_attach(ATTACH_PERF_COOKIE, -1, 7, "event", EIO, 1);
	steps_expect("event at fd+10, a process on -1; link of 71 to 1000 as 41, cookie a; event "
		     "at fd+20, a process on -1; event at fd+30, a process on -1; link of 71 to "
		     "1002 as 41, cookie c; 1: the kernel cannot read the file there; again; event "
		     "at fd+10, a process on -1; link of 71 to 1004 as 41, cookie a; event at "
		     "fd+30, a process on -1; link of 71 to 1006 as 41, cookie c; 0; ");
	run_attach(ATTACH_PERF_COOKIE, -1, 0, "link", EACCES, 1);
	steps_expect(
		"event at fd+10, all on 0; link of 71 to 1000 as 41, cookie a; event at fd+20, all "
		"on 0; link of 71 to 1002 as 41, cookie b00000001; error: cannot attach to \"\": "
		"Permission denied; run as root, or with CAP_BPF and CAP_PERFMON; ");
	run_attach(ATTACH_PERF_COOKIE, -1, 7, "link", EOPNOTSUPP, 3);
	steps_expect("event at fd+10, a process on -1; link of 71 to 1000 as 41, cookie a; event "
		     "at fd+20, a process on -1; link of 71 to 1002 as 41, cookie b00000001; event "
		     "at fd+30, a process on -1; link of 71 to 1004 as 41, cookie c; again; event "
		     "at fd+10, a process on -1; link of 71 to 1006 as 41, cookie a; event at "
		     "fd+20, a process on -1; link of 71 to 1007 as 41, cookie b00000001; event at "
		     "fd+30, a process on -1; link of 71 to 1009 as 41, cookie c; -1; error: the "
		     "kernel cannot probe this instruction; ");
}

static void test_stubs(void **state)
{
	(void)state;
	run_attach(ATTACH_PERF_STUB, -1, 0, NULL, 0, 0);
	steps_expect("event at fd+10, all on 0; bind 1000 71; enable 1000 0; event at fd+20, all "
		     "on 0; bind 1001 71; enable 1001 0; event at fd+30, all on 0; bind 1002 71; "
		     "enable 1002 0; ");
	run_attach(ATTACH_PERF_STUB, 72, 0, "bind", 524, 1);
	steps_expect(
		"map of 3: 4 4 1, flags 0; update 1000 key 0 value 71; event at fd+10, all on 0; "
		"prog of 2 for 0, flags 0, GPL bf:6,1 85:0,0=14 7b:10,0-8 18:1,0=10 0:0,0 "
		"7b:10,1-16 18:1,1=72 0:0,0 bf:2,10 7:2,0=-8 bf:3,10 7:3,0=-16 b7:4,0 85:0,0=2 "
		"55:0,0+5 bf:1,6 18:2,1=1000 0:0,0 b7:3,0 85:0,0=12 b7:0,0 95:0,0; bind 1001 1002; "
		"enable 1001 0; event at fd+20, all on 0; prog of 2 for 0, flags 0, GPL bf:6,1 "
		"85:0,0=14 7b:10,0-8 18:1,0=1 0:0,0=11 7b:10,1-16 18:1,1=72 0:0,0 bf:2,10 7:2,0=-8 "
		"bf:3,10 7:3,0=-16 b7:4,0 85:0,0=2 55:0,0+5 bf:1,6 18:2,1=1000 0:0,0 b7:3,0 "
		"85:0,0=12 b7:0,0 95:0,0; bind 1003 1004; event at fd+30, all on 0; prog of 2 for "
		"0, flags 0, GPL bf:6,1 85:0,0=14 7b:10,0-8 18:1,0=12 0:0,0 7b:10,1-16 18:1,1=72 "
		"0:0,0 bf:2,10 7:2,0=-8 bf:3,10 7:3,0=-16 b7:4,0 85:0,0=2 55:0,0+5 bf:1,6 "
		"18:2,1=1000 0:0,0 b7:3,0 85:0,0=12 b7:0,0 95:0,0; bind 1005 1006; enable 1005 0; "
		"1: the kernel cannot probe this instruction; ");
	run_attach(ATTACH_PERF_STUB, 72, 0, "map", EPERM, 0);
	steps_expect("map of 3: 4 4 1, flags 0; error: cannot attach to \"\": Operation not "
		     "permitted; run as root, or with CAP_BPF and CAP_PERFMON; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_features),  cmocka_unit_test(test_features_missing),
		cmocka_unit_test(test_how),       cmocka_unit_test(test_trial),
		cmocka_unit_test(test_emulation), cmocka_unit_test(test_hit_cost),
		cmocka_unit_test(test_gate),      cmocka_unit_test(test_sampler),
		cmocka_unit_test(test_multi),     cmocka_unit_test(test_perf),
		cmocka_unit_test(test_stubs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
