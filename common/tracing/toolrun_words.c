// SPDX-License-Identifier: Apache-2.0
#include "tracing/toolrun_words_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "files/process.h"
#include "kernel/bpfmap.h"
#include "kernel/execwatch.h"
#include "program/program.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "tracing/filewatch_internal.h"
#include "tracing/idlefiles_internal.h"
#include "tracing/session.h"
#include "tracing/tracer_state_internal.h"

/* If writes to files are noticed only with a delay. */
static void say_lack(const struct tracer *tracer, const char *tool)
{
	const char *lack = filewatch_lack(tracer->watch);

	if (lack)
		fprintf(stderr,
			"%s: %s: the tool may notice only after a second that a traced file is "
			"written to\n",
			tool, lack);
}

/* a file that the process does not run: deleted and built anew, perhaps */
static void say_not_mapped(const struct tracer *tracer, const char *tool)
{
	for (size_t i = 0; tracer->process && i < tracer->program_count; i++) {
		if (process_maps(tracer->process, tracer->programs[i]->file))
			continue;
		fprintf(stderr, "%s: process %d does not run \"", tool, tracer->pid);
		escape_print(stderr, tracer->programs[i]->path);
		fputs("\": to trace what it runs, leave BINARY out\n", stderr);
	}
}

/* Before tracing, if descendants cannot be followed: COMMAND itself may not be what runs the
 * program. */
static void say_alone(const struct tracer *tracer, const char *tool)
{
	const struct errmsg *why = &tracer->alone_why;

	if (why->text[0])
		fprintf(stderr, "%s: processes that COMMAND starts are not traced: %s\n", tool,
			why->text);
}

void toolrun_say_newly_replaced(const struct tracer *tracer, const char *tool)
{
	const char *path;

	while ((path = filewatch_newly_replaced(tracer->watch))) {
		fprintf(stderr, "%s: \"", tool);
		escape_print(stderr, path);
		fputs("\" was replaced on disk: only processes of the old file are seen\n", stderr);
	}
}

void toolrun_say_replaced(const struct tracer *tracer, const char *tool)
{
	const char *path;

	for (unsigned n = 0; (path = filewatch_replaced(tracer->watch, n)); n++) {
		fprintf(stderr, "%s: \"", tool);
		escape_print(stderr, path);
		fputs("\" was replaced while it was traced: only processes of the old file were "
		      "seen\n",
		      stderr);
	}
}

/* After an execve by a thread other than the first, the new program runs a short time without
 * probes. */
static void say_executed(const struct tracer *tracer, const char *tool)
{
	struct execwatch_report report = {0};

	if (tracer->execs)
		execwatch_read(tracer->execs, &report);
	if (report.times)
		fprintf(stderr,
			"%s: process %d executed another program: calls in the first %.1f ms of it "
			"were not seen\n",
			tool, tracer->pid, report.blind_ns / 1e6);
	if (report.failure.text[0])
		fprintf(stderr, "%s: cannot attach again after an execve: %s\n", tool,
			report.failure.text);
}

static void say_descendants(const struct tracer *tracer, const char *tool, size_t running)
{
	const struct descendants *desc = tracer->descendants;
	unsigned long long lost = desc ? descendants_lost(desc) : 0;

	if (lost)
		fprintf(stderr,
			"%s: %llu process%s that COMMAND started %s not followed: too many\n", tool,
			lost, lost == 1 ? "" : "es", lost == 1 ? "was" : "were");
	if (running)
		fprintf(stderr,
			"%s: %zu process%s that COMMAND started: traced up to COMMAND's end only\n",
			tool, running, running == 1 ? " still runs" : "es still run");
}

/* Probes are hit by all processes of a file, whatever PID namespace they are in. */
static void say_outside(const struct tracer *tracer, const char *tool)
{
	int fd = tracer->pid ? -1 : bpfprog_map(tracer->bpf, "outside");
	uint64_t hits = 0;

	if (fd < 0 || bpfmap_sum_percpu(fd, 1, 1, &hits) || !hits)
		return;
	fprintf(stderr,
		"%s: %" PRIu64 " hit%s of processes outside this PID namespace %s left out\n"
		"hint: to trace them, run the tool in the machine's (docker run --pid=host)\n",
		tool, hits, hits == 1 ? "" : "s", hits == 1 ? "was" : "were");
}

void toolrun_say_before(const struct tracer *tracer, const char *tool)
{
	if (tracer->process)
		session_say_stopped(tool, tracer->process);
	say_not_mapped(tracer, tool);
	idlefiles_say(tracer, stderr, tool);
	say_lack(tracer, tool);
	say_alone(tracer, tool);
}

void toolrun_say_details(const struct tracer *tracer, const char *tool)
{
	size_t left = tracer->rets_left;

	if (left)
		fprintf(stderr,
			"%s: %zu return instruction%s single-stepped by the kernel, as another "
			"tracer probes %s\n",
			tool, left, left == 1 ? " is" : "s are", left == 1 ? "it" : "them");
}

static void say_exit(const struct command_end *end)
{
	const char *name = sigabbrev_np(end->signal);

	if (!end->signal)
		fprintf(stderr, "exited with status %d\n", end->status);
	else if (name)
		fprintf(stderr, "was ended by SIG%s%s\n", name, end->dumped ? ", core dumped" : "");
	else
		fprintf(stderr, "was ended by signal %d%s\n", end->signal,
			end->dumped ? ", core dumped" : "");
}

int toolrun_say_ended(const struct tracer *tracer, const char *tool)
{
	struct command_end end = {0};

	if (!tracer->command) {
		session_say_ended(tool, tracer->pid);
		return 0;
	}
	if (!command_ended(tracer->command, &end) || !end.status)
		return 0;
	fprintf(stderr, "%s: \"", tool);
	escape_print(stderr, tracer->config->command[0]);
	fputs("\" ", stderr);
	say_exit(&end);
	return end.status;
}

void toolrun_say_after(const struct tracer *tracer, const char *tool, size_t running)
{
	say_executed(tracer, tool);
	say_outside(tracer, tool);
	say_descendants(tracer, tool, running);
	if (tracer->stuck)
		fprintf(stderr,
			"%s: a traced call waits for memory that does not come: the probes stay "
			"until the call continues or its process ends\n",
			tool);
}
