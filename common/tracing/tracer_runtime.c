// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/dynlink.h"
#include "files/process.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/target.h"
#include "sites/goruntime.h"
#include "tracing/command_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

/* the library that holds a gccgo program's runtime, as the program names it; NULL: none */
static const char *runtime_library(const struct program *prog)
{
	return prog->toolchain->libgo ? dynlink_needs(prog->img, prog->toolchain->libgo) : NULL;
}

/* Without its library a program is traced all the same: calls are told apart by their stacks, but
 * not who makes them. */
static void open_libraries(struct tracer *tracer)
{
	size_t count = tracer->program_count;

	for (size_t i = 0; i < count; i++) {
		const char *name = runtime_library(tracer->programs[i]);

		if (name)
			tracer_open(tracer, target_library(name, tracer->process), NULL);
	}
}

/* Of a library's functions a program may be known by the process alone: what its own types are,
 * and where its functions stand. */
static void open_executed(struct tracer *tracer)
{
	size_t count = tracer->program_count;
	struct heldfile *file;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any |= tracer->programs[i]->toolchain->libgo != NULL;
	if (!any || tracer->executed || (!tracer->command && !tracer->process))
		return;
	file = tracer->command ? command_open(tracer->command, NULL)
			       : process_exe(tracer->process, NULL);

	struct program *prog = tracer_open(tracer, file, NULL);

	if (prog && !prog->toolchain->libgo && tracer->program_count > count) {
		tracer->program_count--;
		program_close(prog);
	} else if (prog) {
		tracer->executed = prog;
	}
}

static void link_runtimes(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->program_count; i++)
		for (size_t j = 0;
		     runtime_library(tracer->programs[i]) && j < tracer->program_count; j++)
			if (tracer->runtimes[j].is_library)
				goruntime_link_gccgo(tracer->programs[i]->img,
						     tracer->programs[j]->img, &tracer->runtimes[j],
						     &tracer->runtimes[i]);
}

static int check_layouts(const struct tracer *tracer, struct errmsg *err)
{
	for (size_t i = 1; i < tracer->program_count; i++) {
		if (goruntime_same_layout(&tracer->runtimes[i], &tracer->runtimes[0]))
			continue;
		errmsg_set(err,
			   "\"%s\" and \"%s\" cannot be traced together: their Go versions differ "
			   "too much",
			   tracer->programs[0]->path, tracer->programs[i]->path);
		errmsg_hint(err, "%s",
			    tracer->running ? "trace one of them: with -p PID, or more of its name"
					    : "trace them in two commands");
		return -1;
	}
	return 0;
}

/* One kernel program serves all files, so their runtimes must be laid out alike. */
int tracer_read_runtimes(struct tracer *tracer, struct errmsg *err)
{
	open_executed(tracer);
	open_libraries(tracer);
	tracer->runtimes = mem_zalloc(tracer->program_count, sizeof(*tracer->runtimes));
	for (size_t i = 0; i < tracer->program_count; i++) {
		const struct program *prog = tracer->programs[i];

		if (goruntime_read(prog, selection_finder(tracer->sel, prog), &tracer->runtimes[i],
				   err))
			return -1;
	}
	link_runtimes(tracer);
	return check_layouts(tracer, err);
}
