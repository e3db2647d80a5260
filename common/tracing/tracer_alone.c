// SPDX-License-Identifier: Apache-2.0
/* Is the traced process to have its probes for itself, or are its descendants to have them too? */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include "files/process.h"
#include "kernel/attach_trial.h"
#include "kernel/execwatch.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"

/* One that is linked with libgo may take it from there. */
static bool has_exec(const struct program *prog)
{
	struct functab_func fn;

	return prog->toolchain->libgo || functab_named(prog->tab, "syscall.Exec", &fn);
}

/* syscall.Exec executes a program on whatever thread it runs. The kernel knows a process by its
 * first thread, and the new program's first calls would be missed. Most Go programs do not have it;
 * in others than Go programs it is mostly the first thread that executes another. */
static bool may_execute(const struct tracer *tracer)
{
	if (tracer->executed)
		return has_exec(tracer->executed);

	struct heldfile *file = tracer->command ? command_open(tracer->command, NULL)
						: process_exe(tracer->process, NULL);
	struct program *prog = program_open(file, NULL);
	bool may = prog && has_exec(prog);

	program_close(prog);
	return may;
}

void tracer_decide_descendants(struct tracer *tracer)
{
	struct descendants_layout layout;
	bool wanted = false;

	for (size_t i = 0; tracer->command && i < tracer->program_count; i++)
		wanted |= descendants_wanted(tracer->command, tracer->programs[i]->file);
	if (!wanted || descendants_layout(&layout, &tracer->alone_why))
		return;
	tracer->follows = true;
	tracer_define(tracer, "CHILD_TGID", layout.tgid);
	if (tracer->config->goroutines)
		return; /* tracer_define_all() does the others */
	tracer_define(tracer, "TASK_SIGNAL", layout.signal);
	tracer_define(tracer, "SIGNAL_LIVE", layout.live);
}

void tracer_decide_alone(struct tracer *tracer)
{
	struct attach_trial *trial = tracer->trial;

	tracer->trial = NULL;
	if (trial && attach_trial_end(trial) && !tracer->follows &&
	    (!tracer->process || process_first_runs(tracer->process)) && !may_execute(tracer))
		tracer->execs = execwatch_new(tracer->pid);
}
