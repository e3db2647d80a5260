// SPDX-License-Identifier: Apache-2.0
/* Is the traced process to have its probes for itself? */
#include "tracer_parts.h"

#include "attach_trial.h"
#include "command.h"
#include "execwatch.h"
#include "pclntab.h"
#include "process.h"
#include "program.h"

/* Programs of gccgo may take it from a library. */
static bool has_exec(const struct program *prog)
{
	struct pclntab_func fn;

	return pclntab_is_gccgo(prog->tab) || pclntab_named(prog->tab, "syscall.Exec", &fn);
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

void tracer_decide_alone(struct tracer *tracer)
{
	struct attach_trial *trial = tracer->trial;

	tracer->trial = NULL;
	if (trial && attach_trial_end(trial) && !may_execute(tracer))
		tracer->execs = execwatch_new(tracer->pid);
}
