// SPDX-License-Identifier: Apache-2.0
#include "tracer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "attach.h"
#include "btf.h"
#include "command.h"
#include "errmsg.h"
#include "filewatch.h"
#include "gate.h"
#include "image.h"
#include "mem.h"
#include "pclntab.h"
#include "probes.h"
#include "program.h"
#include "target.h"

static void define(struct tracer *tracer, const char *name, uint64_t value)
{
	tracer->defs =
		mem_grow(tracer->defs, tracer->def_count, &tracer->def_cap, sizeof(*tracer->defs));
	tracer->defs[tracer->def_count++] = (struct bpfprog_define){name, value};
}

static enum image_arch host_arch(void)
{
#ifdef __aarch64__
	return IMAGE_ARM64;
#else
	return IMAGE_AMD64;
#endif
}

static struct program *open_traceable(const char *path, struct errmsg *err)
{
	struct program *prog = program_open(path, err);

	if (!prog || image_arch(prog->img) == host_arch())
		return prog;
	errmsg_set(err, "\"%s\" is for another machine: it cannot be traced on this one", path);
	program_close(prog);
	return NULL;
}

static struct program *open_program(struct tracer *tracer, const char *path, struct errmsg *err)
{
	for (size_t i = 0; i < tracer->program_count; i++)
		if (!strcmp(tracer->programs[i]->path, path))
			return tracer->programs[i];
	if (filewatch_add(tracer->watch, path, err))
		return NULL;
	struct program *prog = open_traceable(path, err);

	if (!prog)
		return NULL;
	tracer->programs = mem_grow(tracer->programs, tracer->program_count, &tracer->program_cap,
				    sizeof(struct program *));
	tracer->programs[tracer->program_count++] = prog;
	return prog;
}

/* malloc'd path of the file that a pattern is about */
static char *spec_path(const struct tracer *tracer, const struct target_spec *spec,
		       struct errmsg *err)
{
	if (!spec->binary && tracer->command)
		return mem_strdup(command_path(tracer->command));
	return target_resolve(spec->binary, tracer->config->pid, err);
}

static int add_pattern(struct tracer *tracer, size_t n, struct errmsg *err)
{
	struct target_spec spec;
	struct program *prog = NULL;

	if (target_spec_parse(tracer->config->patterns[n], tracer->pid != 0, &spec, err))
		return -1;
	tracer->patterns[n] = mem_strdup(spec.pattern);
	char *path = spec_path(tracer, &spec, err);

	if (path)
		prog = open_program(tracer, path, err);
	int ret = prog ? selection_add(tracer->sel, prog, spec.pattern, err) : -1;

	free(path);
	target_spec_free(&spec);
	return ret;
}

/* One kernel program serves all files, so their runtimes must be laid out alike. */
static int read_runtime(struct tracer *tracer, struct errmsg *err)
{
	tracer->runtimes = mem_zalloc(tracer->program_count, sizeof(*tracer->runtimes));
	for (size_t i = 0; i < tracer->program_count; i++) {
		const struct program *prog = tracer->programs[i];
		struct goruntime *rt = &tracer->runtimes[i];

		if (goruntime_read(prog->img, prog->tab, prog->finder, rt, err))
			return -1;
		if (!goruntime_same_layout(rt, &tracer->runtimes[0])) {
			errmsg_set(err, "\"%s\" and \"%s\" are built by Go versions too different",
				   tracer->programs[0]->path, prog->path);
			errmsg_hint(err, "trace them in two commands");
			return -1;
		}
	}
	return 0;
}

/* Kernels without BTF still serve programs with g in a register, but for calls of assembly and for
 * telling a process's calls before and after an execve apart. */
static int define_task(struct tracer *tracer, struct errmsg *err)
{
	const struct goruntime *rt = &tracer->runtimes[0];
	uint32_t fsbase, task_mm, start_code;
	bool known =
		!btf_thread_fsbase(&fsbase, err) && !btf_mm_start_code(&task_mm, &start_code, err);

	if (!known && !rt->g_in_register)
		return -1;
	define(tracer, "TLS_G", known ? (uint64_t)(int64_t)rt->tls_g : 0);
	define(tracer, "FSBASE_OFF", known ? fsbase : 0);
	if (known)
		define(tracer, "TASK_MM", task_mm);
	return 0;
}

static int define_runtime(struct tracer *tracer, struct errmsg *err)
{
	const struct goruntime *rt = &tracer->runtimes[0];

	if (rt->g_in_register)
		define(tracer, "G_REGISTER", 1);
	define(tracer, "GOID_OFF", rt->g_goid);
	define(tracer, "G_M", rt->g_m);
	define(tracer, "G_SCHED_SP", rt->g_sched_sp);
	define(tracer, "M_CURG", rt->m_curg);
	return define_task(tracer, err);
}

static int define_address(struct tracer *tracer, struct errmsg *err)
{
	uint32_t task_mm, start_code;

	if (attach_how() != ATTACH_PERF_ADDRESS)
		return 0;
	if (btf_mm_start_code(&task_mm, &start_code, err))
		return -1;
	define(tracer, "BY_ADDRESS", 1);
	if (!tracer->config->goroutines)
		define(tracer, "TASK_MM", task_mm);
	define(tracer, "MM_START_CODE", start_code);
	return 0;
}

static int define_all(struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;
	unsigned long dev, ino;

	define(tracer, "ROWS", tracer->sel->row_count);
	if (tracer->pid)
		define(tracer, "TGID", tracer->pid);
	if (tracer->pid && target_pid_namespace(&dev, &ino)) {
		define(tracer, "PIDNS_DEV", dev);
		define(tracer, "PIDNS_INO", ino);
	}
	if (config->cpu >= 0)
		define(tracer, "CPU", config->cpu);
	for (size_t i = 0; i < config->def_count; i++)
		define(tracer, config->defs[i].name, config->defs[i].value);
	if (config->goroutines && define_runtime(tracer, err))
		return -1;
	return define_address(tracer, err);
}

/* lowest executable address, as the kernel's ELF loader notes it */
static uint64_t start_code(const struct program *prog)
{
	size_t count;
	const struct image_segment *segs = image_segments(prog->img, &count);
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (segs[i].exec && segs[i].addr < lowest)
			lowest = segs[i].addr;
	return lowest;
}

static int attach_program(struct tracer *tracer, size_t n, int prog_fd, struct errmsg *err)
{
	const struct program *prog = tracer->programs[n];
	/* the hooks stand at other addresses in each file */
	const struct goruntime *rt = tracer->runtimes ? &tracer->runtimes[n] : NULL;
	struct probes *probes = probes_new(tracer->sel, prog, rt);
	int ret = 0;

	if (attach_how() == ATTACH_PERF_ADDRESS)
		ret = attach_fill_sites(bpfprog_map(tracer->bpf, "sites"), start_code(prog),
					probes->items, probes->count, err);
	if (!ret) {
		tracer->attached[n] = attach_new(attach_how(), prog_fd, prog->path, probes->items,
						 probes->count, err);
		ret = tracer->attached[n] ? 0 : -1;
	}
	/* a call whose end cannot be seen must not be seen to begin */
	if (!ret && probes_note_refused(probes, tracer->sel)) {
		attach_free(tracer->attached[n]);
		tracer->attached[n] = NULL;
		ret = 1;
	}
	if (probes->refusal)
		tracer->refusal = probes->refusal;
	probes_free(probes);
	return ret;
}

static int attach_all(struct tracer *tracer, int prog_fd, struct errmsg *err)
{
	const char *written = filewatch_written(tracer->watch);

	if (written)
		return errmsg_set(err, "\"%s\" was written to while it was read", written);
	tracer->attached = mem_zalloc(tracer->program_count, sizeof(struct attach *));
	for (size_t i = 0; i < tracer->program_count; i++) {
		int ret;

		do
			ret = attach_program(tracer, i, prog_fd, err);
		while (ret > 0);
		if (ret)
			return -1;
	}
	return 0;
}

/* Many probes take the kernel as long as a small compilation: with a gate they are attached while
 * the compiler runs. One link for all of them is made the same way whatever program it runs; perf
 * events wait for the program and its maps. */
static int attach_to_gate(struct tracer *tracer, struct errmsg *err)
{
	if (attach_how() != ATTACH_MULTI)
		return 0;
	tracer->gate = gate_new(attach_prog_type(ATTACH_MULTI));
	return tracer->gate ? attach_all(tracer, gate_prog(tracer->gate), err) : 0;
}

struct compile_job {
	struct tracer *tracer;
	struct errmsg err;
};

static void *compile(void *ctx)
{
	struct compile_job *job = ctx;
	struct tracer *tracer = job->tracer;

	tracer->bpf = bpfprog_compile(tracer->config->bpf_file, tracer->defs, tracer->def_count,
				      &job->err);
	return NULL;
}

/* The compiler takes a core for some tenths of a second; disassembly and kernel take the other. */
static int compile_and_find_sites(struct tracer *tracer, struct errmsg *err)
{
	struct compile_job job = {.tracer = tracer};
	pthread_t thread;

	if (pthread_create(&thread, NULL, compile, &job))
		return errmsg_set(err, "cannot start a thread");
	int ret = selection_find_sites(tracer->sel, err);

	if (!ret)
		ret = attach_to_gate(tracer, err);
	pthread_join(thread, NULL);
	if (!ret && !tracer->bpf) {
		*err = job.err;
		return -1;
	}
	return ret;
}

static int prepare(struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;

	if (config->command) {
		tracer->command = command_new(config->command, err);
		if (!tracer->command)
			return -1;
		tracer->pid = command_pid(tracer->command);
	}
	if (config->pid && target_check_pid(config->pid, err))
		return -1;
	for (size_t i = 0; i < config->pattern_count; i++)
		if (add_pattern(tracer, i, err))
			return -1;
	if (config->goroutines && read_runtime(tracer, err))
		return -1;
	if (define_all(tracer, err))
		return -1;
	return compile_and_find_sites(tracer, err);
}

struct tracer *tracer_new(const struct tracer_config *config, struct errmsg *err)
{
	struct tracer *tracer = mem_zalloc(1, sizeof(*tracer));

	tracer->config = config;
	tracer->pid = config->pid;
	tracer->patterns = mem_zalloc(config->pattern_count, sizeof(char *));
	tracer->watch = filewatch_new();
	tracer->sel = selection_new(&config->want);
	if (!prepare(tracer, err))
		return tracer;
	tracer_free(tracer);
	return NULL;
}

int tracer_attach(struct tracer *tracer, struct errmsg *err)
{
	int type = attach_prog_type(attach_how());
	int fd = bpfprog_load(tracer->bpf, "on_probe", type, err);

	if (fd < 0)
		return -1;
	if (!tracer->gate)
		return attach_all(tracer, fd, err);
	if (gate_open(tracer->gate, fd))
		return errmsg_set(err, "cannot start tracing: %s", strerror(errno));
	return 0;
}

void tracer_stop(struct tracer *tracer)
{
	if (tracer->gate)
		gate_shut(tracer->gate);
}

void tracer_detach(struct tracer *tracer)
{
	for (size_t i = 0; tracer->attached && i < tracer->program_count; i++) {
		attach_free(tracer->attached[i]);
		tracer->attached[i] = NULL;
	}
}

void tracer_free(struct tracer *tracer)
{
	if (!tracer)
		return;
	tracer_detach(tracer);
	free(tracer->attached);
	free(tracer->runtimes);
	gate_free(tracer->gate);
	bpfprog_free(tracer->bpf);
	free(tracer->defs);
	command_free(tracer->command, false);
	selection_free(tracer->sel);
	for (size_t i = 0; i < tracer->program_count; i++)
		program_close(tracer->programs[i]);
	free(tracer->programs);
	for (size_t i = 0; i < tracer->config->pattern_count; i++)
		free(tracer->patterns[i]);
	free(tracer->patterns);
	filewatch_free(tracer->watch);
	free(tracer);
}
