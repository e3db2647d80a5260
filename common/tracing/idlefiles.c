// SPDX-License-Identifier: Apache-2.0
#include "tracing/idlefiles_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "program/program.h"
#include "selection/target.h"
#include "tracing/filewatch_internal.h"
#include "tracing/session_internal.h"
#include "tracing/textcost_internal.h"
#include "tracing/tracer_state_internal.h"

/* Probes are hit by processes of other PID namespaces and of other users, too: who does not see
 * them all does not know that there are none. */
static bool sees_all(void)
{
	unsigned long dev, ino;

	return session_sees_all() && !target_pid_namespace(&dev, &ino);
}

/* Who runs it opens it first. */
static bool is_idle(const struct tracer *tracer, const struct heldfile *file)
{
	return !textcost_is_mapped(tracer->cost, file) &&
	       filewatch_is_unopened(tracer->watch, file);
}

static bool may_wait(const struct tracer *tracer)
{
	return !tracer->pid && !tracer->command && sees_all();
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Does the process run another file of that name? Its path, malloc'd; NULL: no. */
static char *namesake(pid_t pid, const char *name)
{
	struct process *proc = process_hold(pid, NULL);
	char *path = proc ? process_exe_path(proc) : NULL;

	process_close(proc);
	if (path && !strcmp(name_of(path), name))
		return path;
	free(path);
	return NULL;
}

/* Who runs a file of that name, best one that stood at the same place; its path, malloc'd, or NULL.
 */
static char *find_namesake(const char *place, pid_t *pid)
{
	char *found = NULL;
	size_t count;
	pid_t *pids = process_list(&count);

	for (size_t i = 0; i < count && (!found || strcmp(found, place) != 0); i++) {
		char *path = namesake(pids[i], name_of(place));

		if (path && (!found || !strcmp(path, place))) {
			free(found);
			found = path;
			*pid = pids[i];
		} else {
			free(path);
		}
	}
	free(pids);
	return found;
}

static void hint_namesake(const struct heldfile *file, FILE *out)
{
	pid_t pid = 0;
	char *place = heldfile_place(file), *path = place ? find_namesake(place, &pid) : NULL;

	if (path && !strcmp(path, place)) {
		fprintf(out, "hint: process %d runs what was at this path before: -p %d\n", pid,
			pid);
	} else if (path) {
		fprintf(out, "hint: process %d runs another file of this name, \"", pid);
		escape_print(out, path);
		fprintf(out, "\": -p %d\n", pid);
	}
	free(path);
	free(place);
}

void idlefiles_say(const struct tracer *tracer, FILE *out, const char *tool)
{
	if (!may_wait(tracer))
		return;
	for (size_t i = 0; i < tracer->program_count; i++) {
		const struct program *prog = tracer->programs[i];

		if (!is_idle(tracer, prog->file))
			continue;
		fprintf(out, "%s: no process runs \"", tool);
		escape_print(out, prog->path);
		fputs("\" now: waiting for one to start\n", out);
		hint_namesake(prog->file, out);
	}
}

int idlefiles_check(const struct tracer *tracer, struct errmsg *err)
{
	if (!may_wait(tracer))
		return 0;
	for (size_t i = 0; i < tracer->program_count; i++)
		if (!is_idle(tracer, tracer->programs[i]->file))
			return 0;
	return errmsg_set(err, "no process ran \"%s\"%s while it was traced",
			  tracer->programs[0]->path,
			  tracer->program_count > 1 ? ", or another of the files," : "");
}
