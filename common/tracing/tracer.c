// SPDX-License-Identifier: Apache-2.0
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/progress.h"
#include "base/signals.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "kernel/attach.h"
#include "kernel/attach_trial.h"
#include "kernel/emulation.h"
#include "kernel/execwatch.h"
#include "kernel/gate.h"
#include "kernel/keeper.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "selection/target.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "tracing/filewatch_internal.h"
#include "tracing/spending_internal.h"
#include "tracing/textcost_internal.h"

enum { DETACH_MS = 3000 };

static enum arch host_arch(void)
{
#ifdef __aarch64__
	return ARCH_ARM64;
#else
	return ARCH_AMD64;
#endif
}

struct program *tracer_open_traceable(struct heldfile *file, struct errmsg *err)
{
	struct program *prog = program_open(file, err);
	bool is_own = prog && image_arch(prog->img) == host_arch();

	if (!prog || (is_own && (host_arch() == ARCH_AMD64 || !prog->toolchain->libgo)))
		return prog;
	errmsg_set(err,
		   is_own ? "\"%s\" was built by gccgo: such programs are traced on x86-64 only"
			  : "\"%s\" is for another machine: it cannot be traced on this one",
		   prog->path);
	program_close(prog);
	return NULL;
}

struct program *tracer_open(struct tracer *tracer, struct heldfile *file, struct errmsg *err)
{
	for (size_t i = 0; file && i < tracer->program_count; i++)
		if (heldfile_is(tracer->programs[i]->file, heldfile_then(file))) {
			heldfile_close(file);
			return tracer->programs[i];
		}
	if (file)
		filewatch_add(tracer->watch, file);
	struct program *prog = tracer_open_traceable(file, err);

	if (!prog)
		return NULL;
	tracer->programs = mem_grow(tracer->programs, tracer->program_count, &tracer->program_cap,
				    sizeof(struct program *));
	tracer->programs[tracer->program_count++] = prog;
	return prog;
}

/* the file that a pattern is about */
static struct heldfile *spec_file(const struct tracer *tracer, const struct target_spec *spec,
				  struct errmsg *err)
{
	if (!spec->binary && tracer->command)
		return command_open(tracer->command, err);
	return target_resolve(spec->binary, tracer->process, err);
}

/* In one file: BINARY, or what -p or COMMAND executes. */
static int add_in_file(struct tracer *tracer, const struct target_spec *spec, struct errmsg *err)
{
	struct program *prog = tracer_open(tracer, spec_file(tracer, spec, err), err);

	if (!spec->binary)
		tracer->executed = prog;
	if (!prog && !spec->binary && tracer->command)
		errmsg_hint(err, "a program that COMMAND starts is traced by its name, as in "
				 "BINARY:PATTERN");
	return prog ? selection_add(tracer->sel, prog, spec->pattern, err) : -1;
}

/* In each program that runs: some match nothing. */
static int add_in_running(struct tracer *tracer, const char *pattern, struct errmsg *err)
{
	int ret = SELECTION_NONE;
	struct errmsg why;

	for (size_t i = 0; i < tracer->running; i++) {
		why = (struct errmsg){0};
		int one = selection_add(tracer->sel, tracer->programs[i], pattern, &why);

		if (one == SELECTION_NONE) {
			if (!err->text[0])
				*err = why;
			continue;
		}
		ret = one;
		if (one < 0) {
			*err = why;
			return -1;
		}
	}
	return ret;
}

/* gotrace's -n is beside BINARY as well. */
static int parse_pattern(const struct tracer *tracer, const char *pattern, struct target_spec *spec,
			 struct errmsg *err)
{
	struct errmsg none = {0};

	if (!tracer->running)
		return target_spec_parse(pattern, tracer->pid != 0, spec, err);
	if (tracer->config->named_by_command && !target_spec_parse(pattern, false, spec, &none))
		return 0;
	return target_spec_parse(pattern, true, spec, err);
}

static int add_pattern(struct tracer *tracer, size_t n, struct errmsg *err)
{
	struct target_spec spec;

	if (parse_pattern(tracer, tracer->config->patterns[n], &spec, err)) {
		if (n == 0 && tracer->config->pattern_count > 1)
			target_hint_words(tracer->config->patterns, err);
		return -1;
	}
	tracer->patterns[n] = mem_strdup(spec.pattern);
	if (tracer->config->pattern_returns)
		selection_group(tracer->sel, n, tracer->config->pattern_returns[n]);
	int ret = spec.binary || !tracer->running ? add_in_file(tracer, &spec, err)
						  : add_in_running(tracer, spec.pattern, err);

	target_spec_free(&spec);
	return ret;
}

/* Many probes take the kernel as long as a small compilation: with a gate they are attached while
 * the compiler runs. One link for all of them is made the same way whatever program it runs; perf
 * events wait for the program and its maps. */
static int attach_to_gate(struct tracer *tracer, struct errmsg *err)
{
	/* a gate cannot lead to a program that may sleep: what runs before it holds RCU's lock,
	 * though some kernels do not refuse it; nor to several, which another kernel side may be */
	if (attach_how() != ATTACH_MULTI || tracer->sleepable || tracer->part_count > 1 ||
	    tracer->otherwise)
		return 0;
	tracer->gate = gate_new(attach_prog_type(ATTACH_MULTI));
	if (!tracer->gate)
		return 0;
	int fd = gate_prog(tracer->gate);

	return tracer_attach_all(tracer, &fd, err);
}

struct compile_job {
	struct tracer *tracer;
	struct errmsg err;
};

static void *compile_thread(void *ctx)
{
	struct compile_job *job = ctx;
	struct tracer *tracer = job->tracer;

	tracer->bpf = bpfprog_compile(tracer->config->bpf_file, tracer->defs, tracer->def_count,
				      tracer->inserts, tracer->insert_count, &job->err);
	return NULL;
}

/* Compiles another kernel side in the place of the one that was refused. */
static int compile_otherwise(struct tracer *tracer, struct errmsg *err)
{
	tracer->otherwise(tracer->otherwise_ctx, tracer, err);
	tracer->otherwise = NULL;
	*err = (struct errmsg){0};
	bpfprog_free(tracer->bpf);
	tracer->bpf = bpfprog_compile(tracer->config->bpf_file, tracer->defs, tracer->def_count,
				      tracer->inserts, tracer->insert_count, err);
	return tracer->bpf ? 0 : -1;
}

/* The compiler takes a core for some tenths of a second; disassembly and kernel take the other. */
static int compile_and_find_sites(struct tracer *tracer, struct errmsg *err)
{
	struct compile_job job = {.tracer = tracer};
	pthread_t thread;

	if (!signals_thread(&thread, compile_thread, &job))
		return errmsg_set(err, "cannot start a thread");
	budget_watch_resume();
	int ret = selection_find_sites(tracer->sel, err);

	budget_watch_pause();
	tracer_decide_alone(tracer);
	if (!ret)
		ret = tracer_check_memory(tracer, err);
	if (!ret)
		ret = attach_to_gate(tracer, err);
	pthread_join(thread, NULL);
	if (ret || tracer->bpf)
		return ret;
	*err = job.err;
	return tracer->otherwise ? compile_otherwise(tracer, err) : -1;
}

int tracer_check(struct tracer *tracer, struct errmsg *err)
{
	const char *written = filewatch_written(tracer->watch);

	if (written)
		return errmsg_set(err, "\"%s\" was written to while it was read", written);
	for (size_t i = 0; i < tracer->program_count; i++)
		if (heldfile_check(tracer->programs[i]->file, err))
			return -1;
	if (!tracer->process || !tracer->executed ||
	    process_executes(tracer->process, tracer->executed->file))
		return 0;
	errmsg_set(err, "process %d has begun to execute another file while its own was read",
		   tracer->pid);
	errmsg_hint(err, "trace it again");
	return -1;
}

static int find_process(struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;

	if (config->command) {
		tracer->command = command_new(config->command, err);
		if (!tracer->command)
			return -1;
		tracer->pid = command_pid(tracer->command);
	}
	if (config->pid)
		tracer->process = process_open(config->pid, err);
	return config->pid && !tracer->process ? -1 : 0;
}

/* One that matches nothing is named, and the others are traced. */
static int add_patterns(struct tracer *tracer, struct errmsg *err)
{
	struct errmsg first = {0}, why;
	size_t count = tracer->config->pattern_count, missed = 0;

	for (size_t i = 0; i < count; i++) {
		why = (struct errmsg){0};
		int ret = add_pattern(tracer, i, &why);

		if (!ret)
			continue;
		if (!missed++)
			first = why;
		if (ret != SELECTION_NONE) {
			*err = why;
			return -1;
		}
		selection_note(tracer->sel, mem_printf("warning: %s%s%s", why.text,
						       *why.hint ? "; " : "", why.hint));
	}
	if (missed < count)
		return 0;
	*err = first;
	return -1;
}

static int select_functions(struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;

	if (tracer_is_for_running(tracer) && tracer_find_running(tracer, err))
		return -1;
	if (config->runtime_funcs ? tracer_add_binaries(tracer, err) : add_patterns(tracer, err))
		return -1;
	progress_functions(tracer->sel->item_count);
	tracer_decide_descendants(tracer);
	if (config->goroutines && tracer_read_runtimes(tracer, err))
		return -1;
	progress_stage(PROGRESS_SIGNATURES);
	return config->plan ? config->plan(config->plan_ctx, tracer, err) : 0;
}

static int prepare(struct tracer *tracer, struct errmsg *err)
{
	if (find_process(tracer, err))
		return -1;
	if (tracer->pid)
		tracer->trial = attach_trial_start();
	if (tracer->config->costs)
		tracer->spending = spending_new(tracer, tracer->config->max_cost);
	tracer_try_emulation(tracer);
	int ret = select_functions(tracer, err);

	progress_stage(PROGRESS_COMPILING);
	/* the kernel may take its time for a program */
	budget_watch_pause();
	if (ret || tracer_define_all(tracer, err) || compile_and_find_sites(tracer, err))
		return -1;
	return tracer_check(tracer, err);
}

struct tracer *tracer_new(const struct tracer_config *config, struct errmsg *err)
{
	struct tracer *tracer = mem_zalloc(1, sizeof(*tracer));

	tracer->config = config;
	tracer->pid = config->pid;
	tracer->part_count = 1;
	tracer->patterns = mem_zalloc(config->pattern_count, sizeof(char *));
	tracer->watch = filewatch_new();
	tracer->sel = selection_new(&config->want);
	if (!prepare(tracer, err))
		return tracer;
	tracer_free(tracer);
	return NULL;
}

/* Loads each part of the kernel side; fds[part]. */
static int load_parts(struct tracer *tracer, int *fds, struct errmsg *err)
{
	int type = attach_prog_type(attach_how());
	char name[32] = "on_probe";

	for (uint32_t i = 0; i < tracer->part_count; i++) {
		if (i)
			snprintf(name, sizeof(name), "on_probe_%u", i);
		fds[i] = tracer->sleepable ? bpfprog_load_sleepable(tracer->bpf, name, type, err)
					   : bpfprog_load(tracer->bpf, name, type, err);
		if (fds[i] < 0)
			return -1;
	}
	return 0;
}

static int open_gate(struct tracer *tracer, int fd, struct errmsg *err)
{
	if (tracer_fill_places(tracer, 0, err))
		return -1;
	if (gate_open(tracer->gate, fd))
		return errmsg_set(err, "cannot start tracing: %s", strerror(errno));
	return 0;
}

/* The program whose runs are hits; -1: a stub, which is another one for each probe. */
static int hit_prog(const struct tracer *tracer, const int *fds)
{
	if (attach_how() == ATTACH_PERF_STUB)
		return -1;
	return tracer->gate ? gate_prog(tracer->gate) : fds[0];
}

static int attach_parts(struct tracer *tracer, const int *fds, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;

	if (config->loaded && config->loaded(config->plan_ctx, tracer, err))
		return -1;
	tracer->hit_prog = hit_prog(tracer, fds);
	/* before the first hit */
	if (tracer->spending && spending_prepare(tracer->spending, tracer->hit_prog, err))
		return -1;
	if (tracer->gate ? open_gate(tracer, fds[0], err) : tracer_attach_all(tracer, fds, err))
		return -1;
	if (tracer->follows) {
		tracer->descendants = descendants_begin(tracer->bpf, err);
		return tracer->descendants ? 0 : -1;
	}
	if (!tracer->execs)
		return 0;
	return execwatch_begin(tracer->execs, tracer->bpf, tracer->attached,
			       tracer->program_count * tracer->part_count, err);
}

/* Loads the kernel side. Its programs' descriptors, or NULL with *err; caller frees. */
static int *load(struct tracer *tracer, struct errmsg *err)
{
	int *fds = mem_zalloc(tracer->part_count, sizeof(*fds));
	int ret = load_parts(tracer, fds, err);

	if (ret && tracer->otherwise) {
		ret = compile_otherwise(tracer, err);
		free(fds);
		fds = mem_zalloc(tracer->part_count, sizeof(*fds));
		ret = ret ? ret : load_parts(tracer, fds, err);
	}
	if (!ret)
		return fds;
	free(fds);
	return NULL;
}

int tracer_attach(struct tracer *tracer, struct errmsg *err)
{
	progress_stage(PROGRESS_ATTACHING);
	int *fds = load(tracer, err);
	int ret = fds ? attach_parts(tracer, fds, err) : -1;

	free(fds);
	return ret ? ret : tracer_check(tracer, err);
}

void tracer_stop(struct tracer *tracer)
{
	if (tracer->gate)
		gate_shut(tracer->gate);
}

static void free_attached(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->program_count * tracer->part_count; i++)
		attach_free(tracer->attached[i]);
	free(tracer->attached);
	tracer->attached = NULL;
	tracer_free_emulators(tracer);
}

void tracer_detach(struct tracer *tracer)
{
	if (!tracer->attached)
		return;
	/* perf events take long to detach, however many do not wait */
	if (tracer->execs)
		execwatch_end(tracer->execs);
	bool may_wait = tracer->sleepable && attach_how() == ATTACH_MULTI;
	struct keeper keeper = may_wait ? keeper_start() : (struct keeper){0};

	free_attached(tracer);
	if (!keeper_end(&keeper, DETACH_MS))
		tracer->stuck = true;
}

void tracer_free(struct tracer *tracer)
{
	if (!tracer)
		return;
	tracer_detach(tracer);
	if (tracer->trial)
		attach_trial_end(tracer->trial);
	tracer_free_emulators(tracer);
	emulation_trial_end(tracer->emulation);
	execwatch_free(tracer->execs);
	descendants_free(tracer->descendants);
	textcost_free(tracer->cost);
	spending_free(tracer->spending);
	free(tracer->runtimes);
	gate_free(tracer->gate);
	bpfprog_free(tracer->bpf);
	free(tracer->defs);
	for (size_t i = 0; i < tracer->insert_count; i++)
		free((char *)tracer->inserts[i].text);
	free(tracer->inserts);
	free(tracer->places);
	tracer_free_tls(tracer);
	command_free(tracer->command, false);
	selection_free(tracer->sel);
	for (size_t i = 0; i < tracer->program_count; i++)
		program_close(tracer->programs[i]);
	free(tracer->programs);
	for (size_t i = 0; i < tracer->config->pattern_count; i++)
		free(tracer->patterns[i]);
	free(tracer->patterns);
	filewatch_free(tracer->watch);
	process_close(tracer->process);
	free(tracer);
}
