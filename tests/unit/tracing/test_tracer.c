// SPDX-License-Identifier: Apache-2.0
/* From a tool's wishes to probes that are attached: what is asked of all other modules, and in
 * which order. */
#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "faketracer.h"
#include "program/toolchain.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

static void otherwise(void *ctx, struct tracer *tracer, const struct errmsg *why)
{
	(void)ctx;
	steps_are("otherwise: %s", why->text);
	tracer->part_count = 1;
}

static int plan(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	(void)ctx;
	tracer->sleepable = world.sleepable;
	if (world.parts)
		tracer->part_count = world.parts;
	if (world.other_side)
		tracer->otherwise = otherwise;
	return steps_answer(err, "plan");
}

static int loaded(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	(void)ctx;
	(void)tracer;
	return steps_answer(err, "loaded");
}

static void say_error(const struct errmsg *err)
{
	steps_are("error: %s%s%s", err->text, *err->hint ? "; " : "", err->hint);
}

/* A whole run */
static void run(const struct tracer_config *config)
{
	struct errmsg err = {0};
	struct tracer *tracer;

	tracer = tracer_new(config, &err);
	if (!tracer) {
		say_error(&err);
		return;
	}
	steps_are("made: %s, %zu programs, pid %d", tracer->patterns ? tracer->patterns[0] : "-",
		  tracer->program_count, tracer->pid);
	if (tracer_attach(tracer, &err) == 0)
		steps_are("attached: %d", tracer->hit_prog);
	else
		say_error(&err);
	tracer_stop(tracer);
	tracer_detach(tracer);
	steps_are(tracer->stuck ? "stuck" : "detached");
	tracer_detach(tracer);
	tracer_free(tracer);
}

static char *one[] = {"a:f"}, *two[] = {"a:f", "b:nothing"}, *bare[] = {"f", "b:g"},
	    *same[] = {"a:f", "c:g"};
static char *command[] = {"cmd", NULL};
static const bool returns[] = {true, false};

static const struct tracer_config plain = {
	.patterns = one, .pattern_count = 1, .bpf_file = "x.bpf.c", .plan = plan};

static void test_gate(void **state)
{
	struct tracer_config config = plain;

	(void)state;
	world_begin(NULL);
	run(&config);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		"progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; gate_new 100; "
		"tracer_attach_all 60; heldfile_check /a; made: f, 1 programs, pid 0; "
		"progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places 0; gate_open 40; "
		"heldfile_check /a; attached: 60; gate_shut; attach_free; tracer_free_emulators; "
		"keeper_end 0 3000; detached; tracer_free_emulators; textcost_free; gate_free; "
		"bpfprog_free; tracer_free_tls; program_close /a; filewatch_free; ");
	world_begin(NULL);
	config.loaded = loaded;
	config.costs = true;
	config.max_cost = 5;
	config.goroutines = true;
	config.pid = 7;
	world.watched = true;
	run(&config);
	steps_expect(
		"filewatch_new; process_open 7; attach_trial_start; spending_new 5; "
		"tracer_try_emulation; target_spec_parse a:f 1; target_resolve a of -p; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; tracer_read_runtimes; "
		"progress_stage 1; plan; progress_stage 2; tracer_define_all; bpfprog_compile "
		"x.bpf.c; selection_find_sites; tracer_decide_alone; tracer_check_memory; gate_new "
		"100; tracer_attach_all 60; heldfile_check /a; made: f, 1 programs, pid 7; "
		"progress_stage 3; bpfprog_load on_probe 100; loaded; spending_prepare 60; "
		"tracer_fill_places 0; gate_open 40; execwatch_begin 1; heldfile_check /a; "
		"attached: 60; gate_shut; execwatch_end; attach_free; tracer_free_emulators; "
		"keeper_end 0 3000; detached; attach_trial_end; tracer_free_emulators; "
		"execwatch_free; textcost_free; spending_free; gate_free; bpfprog_free; "
		"tracer_free_tls; program_close /a; filewatch_free; process_close; ");
}

/* Without a gate: probes of several parts, or that sleep, or by perf events */
static void test_parts(void **state)
{
	(void)state;
	world_begin(NULL);
	world.parts = 3;
	run(&plain);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		"progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; heldfile_check "
		"/a; made: f, 1 programs, pid 0; progress_stage 3; bpfprog_load on_probe 100; "
		"bpfprog_load on_probe_1 100; bpfprog_load on_probe_2 100; tracer_attach_all 40; "
		"heldfile_check /a; attached: 40; attach_free; attach_free; attach_free; "
		"tracer_free_emulators; keeper_end 0 3000; detached; tracer_free_emulators; "
		"textcost_free; bpfprog_free; tracer_free_tls; program_close /a; filewatch_free; ");
	world_begin("keeper_end");
	world.sleepable = true;
	run(&plain);
	steps_expect("filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve "
		     "a; filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		     "progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		     "progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		     "selection_find_sites; tracer_decide_alone; tracer_check_memory; "
		     "heldfile_check /a; made: f, 1 programs, pid 0; progress_stage 3; "
		     "bpfprog_load_sleepable on_probe 100; tracer_attach_all 50; heldfile_check "
		     "/a; attached: 50; keeper_start; attach_free; tracer_free_emulators; "
		     "keeper_end 1 3000; stuck; tracer_free_emulators; textcost_free; "
		     "bpfprog_free; tracer_free_tls; program_close /a; filewatch_free; ");
	world_begin(NULL);
	world.how = ATTACH_PERF_STUB;
	world.sleepable = true;
	run(&plain);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		"progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; heldfile_check "
		"/a; made: f, 1 programs, pid 0; progress_stage 3; bpfprog_load_sleepable on_probe "
		"102; tracer_attach_all 50; heldfile_check /a; attached: -1; attach_free; "
		"tracer_free_emulators; keeper_end 0 3000; detached; tracer_free_emulators; "
		"textcost_free; bpfprog_free; tracer_free_tls; program_close /a; filewatch_free; ");
	world_begin("gate_new");
	run(&plain);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		"progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; gate_new 100; "
		"heldfile_check /a; made: f, 1 programs, pid 0; progress_stage 3; bpfprog_load "
		"on_probe 100; tracer_attach_all 40; heldfile_check /a; attached: 40; attach_free; "
		"tracer_free_emulators; keeper_end 0 3000; detached; tracer_free_emulators; "
		"textcost_free; bpfprog_free; tracer_free_tls; program_close /a; filewatch_free; ");
}

static void test_command(void **state)
{
	struct tracer_config config = plain;

	(void)state;
	world_begin(NULL);
	world.follows = true;
	config.command = command;
	config.patterns = bare;
	config.pattern_count = 2;
	config.pattern_returns = returns;
	run(&config);
	steps_expect(
		"filewatch_new; command_new cmd; attach_trial_start; tracer_try_emulation; "
		"target_spec_parse f 1; selection_group 0 1; command_open; filewatch_add /command; "
		"program_open /command; selection_add /command f; target_spec_free; "
		"target_spec_parse b:g 1; selection_group 1 0; target_resolve b; filewatch_add /b; "
		"program_open /b; selection_add /b g; target_spec_free; progress_functions 2; "
		"tracer_decide_descendants; progress_stage 1; plan; progress_stage 2; "
		"tracer_define_all; bpfprog_compile x.bpf.c; selection_find_sites; "
		"tracer_decide_alone; tracer_check_memory; gate_new 100; tracer_attach_all 60; "
		"heldfile_check /command; heldfile_check /b; made: f, 2 programs, pid 77; "
		"progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places 0; gate_open 40; "
		"descendants_begin; heldfile_check /command; heldfile_check /b; attached: 60; "
		"gate_shut; attach_free; attach_free; tracer_free_emulators; keeper_end 0 3000; "
		"detached; attach_trial_end; tracer_free_emulators; descendants_free; "
		"textcost_free; gate_free; bpfprog_free; tracer_free_tls; command_free 0; "
		"program_close /command; program_close /b; filewatch_free; ");
	world_begin("program_open");
	run(&config);
	steps_expect("filewatch_new; command_new cmd; attach_trial_start; tracer_try_emulation; "
		     "target_spec_parse f 1; selection_group 0 1; command_open; filewatch_add "
		     "/command; program_open /command; target_spec_free; progress_stage 2; "
		     "attach_trial_end; tracer_free_emulators; textcost_free; tracer_free_tls; "
		     "command_free 0; filewatch_free; error: no program_open; a program that "
		     "COMMAND starts is traced by its name, as in BINARY:PATTERN; ");
	world_begin("command_new");
	run(&config);
	steps_expect("filewatch_new; command_new cmd; tracer_free_emulators; textcost_free; "
		     "tracer_free_tls; filewatch_free; error: no command_new; ");
	world_begin("descendants_begin");
	world.follows = true;
	run(&config);
	steps_expect(
		"filewatch_new; command_new cmd; attach_trial_start; tracer_try_emulation; "
		"target_spec_parse f 1; selection_group 0 1; command_open; filewatch_add /command; "
		"program_open /command; selection_add /command f; target_spec_free; "
		"target_spec_parse b:g 1; selection_group 1 0; target_resolve b; filewatch_add /b; "
		"program_open /b; selection_add /b g; target_spec_free; progress_functions 2; "
		"tracer_decide_descendants; progress_stage 1; plan; progress_stage 2; "
		"tracer_define_all; bpfprog_compile x.bpf.c; selection_find_sites; "
		"tracer_decide_alone; tracer_check_memory; gate_new 100; tracer_attach_all 60; "
		"heldfile_check /command; heldfile_check /b; made: f, 2 programs, pid 77; "
		"progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places 0; gate_open 40; "
		"descendants_begin; error: no descendants_begin; gate_shut; attach_free; "
		"attach_free; tracer_free_emulators; keeper_end 0 3000; detached; "
		"attach_trial_end; tracer_free_emulators; textcost_free; gate_free; bpfprog_free; "
		"tracer_free_tls; command_free 0; program_close /command; program_close /b; "
		"filewatch_free; ");
}

static void test_patterns(void **state)
{
	static char *nowhere[] = {"a:nothing", "b:nothing"};
	struct tracer_config config = plain;

	(void)state;
	config.patterns = two;
	config.pattern_count = 2;
	world_begin(NULL);
	run(&config);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"target_spec_parse b:nothing 0; target_resolve b; filewatch_add /b; program_open "
		"/b; selection_add /b nothing; target_spec_free; selection_note warning: nothing "
		"in /b; look for nothing; progress_functions 1; tracer_decide_descendants; "
		"progress_stage 1; plan; progress_stage 2; tracer_define_all; bpfprog_compile "
		"x.bpf.c; selection_find_sites; tracer_decide_alone; tracer_check_memory; gate_new "
		"100; tracer_attach_all 60; heldfile_check /a; heldfile_check /b; made: f, 2 "
		"programs, pid 0; progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places "
		"0; gate_open 40; heldfile_check /a; heldfile_check /b; attached: 60; gate_shut; "
		"attach_free; attach_free; tracer_free_emulators; keeper_end 0 3000; detached; "
		"tracer_free_emulators; textcost_free; gate_free; bpfprog_free; tracer_free_tls; "
		"program_close /a; program_close /b; filewatch_free; ");
	config.patterns = nowhere;
	world_begin(NULL);
	run(&config);
	steps_expect("filewatch_new; tracer_try_emulation; target_spec_parse a:nothing 0; "
		     "target_resolve a; filewatch_add /a; program_open /a; selection_add /a "
		     "nothing; target_spec_free; selection_note warning: nothing in /a; look for "
		     "nothing; target_spec_parse b:nothing 0; target_resolve b; filewatch_add /b; "
		     "program_open /b; selection_add /b nothing; target_spec_free; selection_note "
		     "warning: nothing in /b; look for nothing; progress_stage 2; "
		     "tracer_free_emulators; textcost_free; tracer_free_tls; program_close /a; "
		     "program_close /b; filewatch_free; error: nothing in /a; look for nothing; ");
	config.patterns = same;
	world_begin(NULL);
	run(&config);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"target_spec_parse c:g 0; target_resolve c; heldfile_close /a; selection_add /a g; "
		"target_spec_free; progress_functions 2; tracer_decide_descendants; progress_stage "
		"1; plan; progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; gate_new 100; "
		"tracer_attach_all 60; heldfile_check /a; made: f, 1 programs, pid 0; "
		"progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places 0; gate_open 40; "
		"heldfile_check /a; attached: 60; gate_shut; attach_free; tracer_free_emulators; "
		"keeper_end 0 3000; detached; tracer_free_emulators; textcost_free; gate_free; "
		"bpfprog_free; tracer_free_tls; program_close /a; filewatch_free; ");
}

static void test_patterns_refused(void **state)
{
	struct tracer_config config = plain;

	(void)state;
	config.patterns = same;
	config.pattern_count = 2;
	world_begin("target_spec_parse");
	run(&config);
	steps_expect("filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; progress_stage "
		     "2; tracer_free_emulators; textcost_free; tracer_free_tls; filewatch_free; "
		     "error: no target_spec_parse; a:f and c:g; ");
	world_begin("selection_add /a g");
	run(&config);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"target_spec_parse c:g 0; target_resolve c; heldfile_close /a; selection_add /a g; "
		"target_spec_free; progress_stage 2; tracer_free_emulators; textcost_free; "
		"tracer_free_tls; program_close /a; filewatch_free; error: no selection_add; ");
}

static void test_running(void **state)
{
	struct tracer_config config = plain;

	(void)state;
	config.all = true;
	config.patterns = bare;
	config.pattern_count = 2;
	world_begin(NULL);
	world.running = 2;
	world.empty = "/one";
	run(&config);
	steps_expect(
		"filewatch_new; tracer_try_emulation; filewatch_add /one; program_open /one; "
		"filewatch_add /two; program_open /two; tracer_find_running; target_spec_parse f "
		"1; selection_add /one f; selection_add /two f; target_spec_free; "
		"target_spec_parse b:g 1; target_resolve b; filewatch_add /b; program_open /b; "
		"selection_add /b g; target_spec_free; progress_functions 2; "
		"tracer_decide_descendants; progress_stage 1; plan; progress_stage 2; "
		"tracer_define_all; bpfprog_compile x.bpf.c; selection_find_sites; "
		"tracer_decide_alone; tracer_check_memory; gate_new 100; tracer_attach_all 60; "
		"heldfile_check /one; heldfile_check /two; heldfile_check /b; made: f, 3 programs, "
		"pid 0; progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places 0; "
		"gate_open 40; heldfile_check /one; heldfile_check /two; heldfile_check /b; "
		"attached: 60; gate_shut; attach_free; attach_free; attach_free; "
		"tracer_free_emulators; keeper_end 0 3000; detached; tracer_free_emulators; "
		"textcost_free; gate_free; bpfprog_free; tracer_free_tls; program_close /one; "
		"program_close /two; program_close /b; filewatch_free; ");
	world_begin("selection_add /two f");
	world.running = 2;
	run(&config);
	steps_expect(
		"filewatch_new; tracer_try_emulation; filewatch_add /one; program_open /one; "
		"filewatch_add /two; program_open /two; tracer_find_running; target_spec_parse f "
		"1; selection_add /one f; selection_add /two f; target_spec_free; progress_stage "
		"2; tracer_free_emulators; textcost_free; tracer_free_tls; program_close /one; "
		"program_close /two; filewatch_free; error: no selection_add; ");
}

static void test_running_by_command(void **state)
{
	struct tracer_config config = plain;

	(void)state;
	config.all = true;
	config.patterns = bare;
	config.pattern_count = 2;
	config.named_by_command = true;
	world_begin(NULL);
	world.running = 1;
	world.empty = "/one";
	run(&config);
	steps_expect(
		"filewatch_new; tracer_try_emulation; filewatch_add /one; program_open /one; "
		"tracer_find_running; target_spec_parse f 0; target_spec_parse f 1; selection_add "
		"/one f; target_spec_free; selection_note warning: nothing in /one; look for f; "
		"target_spec_parse b:g 0; target_resolve b; filewatch_add /b; program_open /b; "
		"selection_add /b g; target_spec_free; progress_functions 1; "
		"tracer_decide_descendants; progress_stage 1; plan; progress_stage 2; "
		"tracer_define_all; bpfprog_compile x.bpf.c; selection_find_sites; "
		"tracer_decide_alone; tracer_check_memory; gate_new 100; tracer_attach_all 60; "
		"heldfile_check /one; heldfile_check /b; made: f, 2 programs, pid 0; "
		"progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places 0; gate_open 40; "
		"heldfile_check /one; heldfile_check /b; attached: 60; gate_shut; attach_free; "
		"attach_free; tracer_free_emulators; keeper_end 0 3000; detached; "
		"tracer_free_emulators; textcost_free; gate_free; bpfprog_free; tracer_free_tls; "
		"program_close /one; program_close /b; filewatch_free; ");
	config.runtime_funcs = (void *)one;
	world_begin(NULL);
	run(&config);
	steps_expect("filewatch_new; tracer_try_emulation; tracer_find_running; "
		     "tracer_add_binaries; progress_functions 0; tracer_decide_descendants; "
		     "progress_stage 1; plan; progress_stage 2; tracer_define_all; bpfprog_compile "
		     "x.bpf.c; selection_find_sites; tracer_decide_alone; tracer_check_memory; "
		     "gate_new 100; tracer_attach_all 60; made: (null), 0 programs, pid 0; "
		     "progress_stage 3; bpfprog_load on_probe 100; tracer_fill_places 0; gate_open "
		     "40; attached: 60; gate_shut; tracer_free_emulators; keeper_end 0 3000; "
		     "detached; tracer_free_emulators; textcost_free; gate_free; bpfprog_free; "
		     "tracer_free_tls; filewatch_free; ");
}

/* What may go wrong before anything is attached, and then */
static void test_failures(void **state)
{
	static const char *const fails[] = {"process_open",
					    "target_resolve",
					    "tracer_read_runtimes",
					    "plan",
					    "tracer_define_all",
					    "selection_find_sites",
					    "tracer_check_memory",
					    "tracer_attach_all",
					    "bpfprog_compile",
					    "heldfile_check",
					    "bpfprog_load",
					    "loaded",
					    "spending_prepare",
					    "tracer_fill_places",
					    "gate_open",
					    "execwatch_begin"};
	struct tracer_config config = plain;
	char all[2048];
	size_t len = 0;

	(void)state;
	config.loaded = loaded;
	config.costs = true;
	config.goroutines = true;
	config.pid = 7;
	config.patterns = bare;
	config.pattern_count = 2;
	for (size_t i = 0; i < sizeof(fails) / sizeof(*fails); i++) {
		char *error;

		world_begin(fails[i]);
		world.watched = true;
		run(&config);
		error = strstr(steps.said, "error: ");
		if (!error)
			fail_msg("%s does not fail", fails[i]);
		len += snprintf(all + len, sizeof(all) - len, "%.*s\n", (int)strcspn(error, ";"),
				error);
	}
	world_begin(NULL);
	steps_are("%s", all);
	steps_expect("error: no process_open\n"
		     "error: no target_resolve\n"
		     "error: no tracer_read_runtimes\n"
		     "error: no plan\n"
		     "error: no tracer_define_all\n"
		     "error: no selection_find_sites\n"
		     "error: no tracer_check_memory\n"
		     "error: no tracer_attach_all\n"
		     "error: no bpfprog_compile\n"
		     "error: no heldfile_check\n"
		     "error: no bpfprog_load\n"
		     "error: no loaded\n"
		     "error: no spending_prepare\n"
		     "error: no tracer_fill_places\n"
		     "error: cannot start tracing: Operation not permitted\n"
		     "error: no execwatch_begin\n"
		     "; ");
}

static void test_changed(void **state)
{
	struct tracer_config config = plain;

	(void)state;
	world_begin(NULL);
	world.written = "/b";
	run(&config);
	steps_expect("filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve "
		     "a; filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		     "progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		     "progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		     "selection_find_sites; tracer_decide_alone; tracer_check_memory; gate_new "
		     "100; tracer_attach_all 60; attach_free; tracer_free_emulators; keeper_end 0 "
		     "3000; tracer_free_emulators; textcost_free; gate_free; bpfprog_free; "
		     "tracer_free_tls; program_close /a; filewatch_free; error: \"/b\" was written "
		     "to while it was read; ");
	config.pid = 7;
	config.patterns = bare;
	world_begin(NULL);
	world.moved = true;
	run(&config);
	steps_expect(
		"filewatch_new; process_open 7; attach_trial_start; tracer_try_emulation; "
		"target_spec_parse f 1; target_resolve - of -p; filewatch_add /process; "
		"program_open /process; selection_add /process f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		"progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; gate_new 100; "
		"tracer_attach_all 60; heldfile_check /process; process_executes /process; "
		"attach_free; tracer_free_emulators; keeper_end 0 3000; attach_trial_end; "
		"tracer_free_emulators; textcost_free; gate_free; bpfprog_free; tracer_free_tls; "
		"program_close /process; filewatch_free; process_close; error: process 7 has begun "
		"to execute another file while its own was read; trace it again; ");
}

static void test_other_side(void **state)
{
	(void)state;
	world_begin("bpfprog_compile");
	world.other_side = true;
	world.parts = 2;
	run(&plain);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		"progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; otherwise: no "
		"bpfprog_compile; bpfprog_compile x.bpf.c; heldfile_check /a; made: f, 1 programs, "
		"pid 0; progress_stage 3; bpfprog_load on_probe 100; tracer_attach_all 40; "
		"heldfile_check /a; attached: 40; attach_free; tracer_free_emulators; keeper_end 0 "
		"3000; detached; tracer_free_emulators; textcost_free; bpfprog_free; "
		"tracer_free_tls; program_close /a; filewatch_free; ");
	world_begin("bpfprog_load on_probe_1");
	world.other_side = true;
	world.parts = 2;
	run(&plain);
	steps_expect(
		"filewatch_new; tracer_try_emulation; target_spec_parse a:f 0; target_resolve a; "
		"filewatch_add /a; program_open /a; selection_add /a f; target_spec_free; "
		"progress_functions 1; tracer_decide_descendants; progress_stage 1; plan; "
		"progress_stage 2; tracer_define_all; bpfprog_compile x.bpf.c; "
		"selection_find_sites; tracer_decide_alone; tracer_check_memory; heldfile_check "
		"/a; made: f, 1 programs, pid 0; progress_stage 3; bpfprog_load on_probe 100; "
		"bpfprog_load on_probe_1 100; otherwise: no bpfprog_load; bpfprog_free; "
		"bpfprog_compile x.bpf.c; bpfprog_load on_probe 100; tracer_attach_all 40; "
		"heldfile_check /a; attached: 40; attach_free; tracer_free_emulators; keeper_end 0 "
		"3000; detached; tracer_free_emulators; textcost_free; bpfprog_free; "
		"tracer_free_tls; program_close /a; filewatch_free; ");
}

static void test_machines(void **state)
{
	struct errmsg err = {0};

	(void)state;
	world_begin(NULL);
	world.arch = world.arch == ARCH_AMD64 ? ARCH_ARM64 : ARCH_AMD64;
	assert_null(tracer_open_traceable(world_file("/far"), &err));
	say_error(&err);
	world_begin(NULL);
	world.toolchain = &toolchain_gccgo;
	if (world.arch == ARCH_AMD64)
		assert_non_null(tracer_open_traceable(world_file("/gccgo"), &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_patterns_refused),
		cmocka_unit_test(test_running_by_command),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_other_side),
		cmocka_unit_test(test_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
