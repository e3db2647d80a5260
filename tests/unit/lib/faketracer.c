// SPDX-License-Identifier: Apache-2.0
#include "faketracer.h"

#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/progress.h"
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
#include "steps.h"
#include "tracing/command_internal.h"
#include "tracing/descendants_internal.h"
#include "tracing/filewatch_internal.h"
#include "tracing/spending_internal.h"
#include "tracing/textcost_internal.h"
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"
#include "unit.h"

enum { FILES = 6 };

static sem_t compiled;

struct heldfile {
	const char *path;
};

static int anything; /* its address stands for what only others look into */
#define SOME ((void *)&anything)

static struct heldfile files[FILES];
static size_t file_count;
static struct program programs[FILES];
static size_t program_count;

struct world world;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define STEP(name, ...)                                                                            \
	void name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		steps_are(#name);                                                                  \
	}
#define RESULT(name, ...)                                                                          \
	int name(__VA_ARGS__)                                                                      \
	{                                                                                          \
		return steps_answer(err, #name);                                                   \
	}
#define HANDLE(type, name, ...)                                                                    \
	type name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		steps_are(#name);                                                                  \
		return SOME;                                                                       \
	}

/* --- files and programs --- */

struct heldfile *world_file(const char *path)
{
	files[file_count] = (struct heldfile){path};
	return &files[file_count++];
}

struct program *program_open(struct heldfile *file, struct errmsg *err)
{
	struct program *prog = &programs[program_count];

	if (!file || steps_answer(err, "program_open %s", file->path))
		return NULL;
	*prog = (struct program){.path = file->path, .file = file, .toolchain = world.toolchain};
	program_count++;
	return prog;
}

void program_close(struct program *prog)
{
	if (prog)
		steps_are("program_close %s", prog->path);
}

enum arch image_arch(const struct image *img)
{
	return world.arch;
}

const struct stat *heldfile_then(const struct heldfile *file)
{
	return (const void *)file;
}

bool heldfile_is(const struct heldfile *file, const struct stat *st)
{
	return strcmp(file->path, ((const struct heldfile *)(const void *)st)->path) == 0;
}

int heldfile_check(const struct heldfile *file, struct errmsg *err)
{
	return steps_answer(err, "heldfile_check %s", file->path);
}

void heldfile_close(struct heldfile *file)
{
	steps_are("heldfile_close %s", file->path);
}

void filewatch_add(struct filewatch *watch, struct heldfile *file)
{
	steps_are("filewatch_add %s", file->path);
}

const char *filewatch_written(struct filewatch *watch)
{
	return world.written;
}

HANDLE(struct filewatch *, filewatch_new, void)
STEP(filewatch_free, struct filewatch *watch)

/* --- the process and the command --- */

struct command *command_new(char *const argv[], struct errmsg *err)
{
	return steps_answer(err, "command_new %s", argv[0]) ? NULL : SOME;
}

struct heldfile *command_open(struct command *cmd, struct errmsg *err)
{
	return steps_answer(err, "command_open") ? NULL : world_file("/command");
}

pid_t command_pid(const struct command *cmd)
{
	return 77;
}

void command_free(struct command *cmd, bool kill_it)
{
	if (cmd)
		steps_are("command_free %d", kill_it);
}

struct process *process_open(pid_t pid, struct errmsg *err)
{
	return steps_answer(err, "process_open %d", pid) ? NULL : SOME;
}

void process_close(struct process *proc)
{
	if (proc)
		steps_are("process_close");
}

bool process_executes(const struct process *proc, const struct heldfile *file)
{
	steps_are("process_executes %s", file->path);
	return !world.moved;
}

/* --- patterns --- */

int target_spec_parse(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err)
{
	const char *colon = strchr(arg, ':');

	*out = (struct target_spec){0};
	if (steps_answer(err, "target_spec_parse %s %d", arg, has_process))
		return -1;
	if (!colon && !has_process)
		return errmsg_set(err, "\"%s\" has no BINARY", arg);
	out->binary = colon ? mem_printf("%.*s", (int)(colon - arg), arg) : NULL;
	out->pattern = mem_strdup(colon ? colon + 1 : arg);
	return 0;
}

void target_spec_free(struct target_spec *spec)
{
	steps_are("target_spec_free");
	free(spec->binary);
	free(spec->pattern);
}

void target_hint_words(char *const args[2], struct errmsg *err)
{
	errmsg_hint(err, "%s and %s", args[0], args[1]);
}

struct heldfile *target_resolve(const char *binary, const struct process *proc, struct errmsg *err)
{
	if (steps_answer(err, "target_resolve %s%s", binary ? binary : "-", proc ? " of -p" : ""))
		return NULL;
	return world_file(!binary ? "/process" : !strcmp(binary, "b") ? "/b" : "/a");
}

static struct selection_item items[8];

struct selection *selection_new(const struct selection_want *want)
{
	struct selection *sel = mem_zalloc(1, sizeof(*sel));

	sel->items = items;
	return sel;
}

void selection_free(struct selection *sel)
{
	free(sel);
}

int selection_add(struct selection *sel, const struct program *prog, const char *pattern,
		  struct errmsg *err)
{
	if (steps_answer(err, "selection_add %s %s", prog->path, pattern))
		return -1;
	if (!strcmp(pattern, "nothing") || (world.empty && !strcmp(prog->path, world.empty))) {
		errmsg_set(err, "nothing in %s", prog->path);
		errmsg_hint(err, "look for %s", pattern);
		return SELECTION_NONE;
	}
	sel->item_count++;
	return 0;
}

void selection_group(struct selection *sel, uint32_t group, bool returns)
{
	steps_are("selection_group %u %d", group, returns);
}

void selection_note(struct selection *sel, char *text)
{
	steps_are("selection_note %s", text);
	free(text);
}

/* It is compiled meanwhile, in another thread: first, for the steps to have one order. */
int selection_find_sites(struct selection *sel, struct errmsg *err)
{
	sem_wait(&compiled);
	return steps_answer(err, "selection_find_sites");
}

/* --- the room's own --- */

bool tracer_is_for_running(const struct tracer *tracer)
{
	return tracer->config->all;
}

int tracer_find_running(struct tracer *tracer, struct errmsg *err)
{
	static const char *const names[] = {"/one", "/two"};

	for (unsigned i = 0; i < world.running; i++)
		if (!tracer_open(tracer, world_file(names[i]), err))
			return -1;
	tracer->running = world.running;
	return steps_answer(err, "tracer_find_running");
}

void tracer_decide_alone(struct tracer *tracer)
{
	steps_are("tracer_decide_alone");
	if (world.watched)
		tracer->execs = SOME;
}

void tracer_decide_descendants(struct tracer *tracer)
{
	steps_are("tracer_decide_descendants");
	tracer->follows = world.follows;
}

int tracer_attach_all(struct tracer *tracer, const int *prog_fds, struct errmsg *err)
{
	if (steps_answer(err, "tracer_attach_all %d", prog_fds[0]))
		return -1;
	tracer->attached = mem_zalloc(tracer->program_count * tracer->part_count, sizeof(void *));
	return 0;
}

int tracer_fill_places(const struct tracer *tracer, size_t first, struct errmsg *err)
{
	return steps_answer(err, "tracer_fill_places %zu", first);
}

RESULT(tracer_add_binaries, struct tracer *tracer, struct errmsg *err)
RESULT(tracer_read_runtimes, struct tracer *tracer, struct errmsg *err)
RESULT(tracer_define_all, struct tracer *tracer, struct errmsg *err)
RESULT(tracer_check_memory, struct tracer *tracer, struct errmsg *err)
STEP(tracer_try_emulation, struct tracer *tracer)
STEP(tracer_free_emulators, struct tracer *tracer)
STEP(tracer_free_tls, struct tracer *tracer)
STEP(textcost_free, struct textcost *cost)

struct spending *spending_new(const struct tracer *tracer, unsigned percent)
{
	steps_are("spending_new %u", percent);
	return SOME;
}

int spending_prepare(struct spending *spending, int prog_fd, struct errmsg *err)
{
	return steps_answer(err, "spending_prepare %d", prog_fd);
}

void spending_free(struct spending *spending)
{
	if (spending)
		steps_are("spending_free");
}

struct descendants *descendants_begin(struct bpfprog *bpf, struct errmsg *err)
{
	return steps_answer(err, "descendants_begin") ? NULL : SOME;
}

void descendants_free(struct descendants *desc)
{
	if (desc)
		steps_are("descendants_free");
}

/* --- the kernel --- */

struct bpfprog *bpfprog_compile(const char *file, const struct bpfprog_define *defs, size_t ndefs,
				const struct bpfprog_insert *inserts, size_t ninserts,
				struct errmsg *err)
{
	int ret = steps_answer(err, "bpfprog_compile %s", file);

	sem_post(&compiled);
	return ret ? NULL : SOME;
}

void bpfprog_free(struct bpfprog *prog)
{
	if (prog)
		steps_are("bpfprog_free");
}

int bpfprog_load(struct bpfprog *prog, const char *name, int type, struct errmsg *err)
{
	return steps_answer(err, "bpfprog_load %s %d", name, type) ? -1 : 40;
}

int bpfprog_load_sleepable(struct bpfprog *prog, const char *name, int type, struct errmsg *err)
{
	return steps_answer(err, "bpfprog_load_sleepable %s %d", name, type) ? -1 : 50;
}

enum attach_how attach_how(void)
{
	return world.how;
}

int attach_prog_type(enum attach_how how)
{
	return 100 + (int)how;
}

void attach_free(struct attach *at)
{
	steps_are("attach_free");
}

struct gate *gate_new(int type)
{
	return steps_are("gate_new %d", type) ? NULL : SOME;
}

int gate_prog(const struct gate *gate)
{
	return 60;
}

int gate_open(struct gate *gate, int prog_fd)
{
	if (!steps_are("gate_open %d", prog_fd))
		return 0;
	errno = EPERM;
	return -1;
}

void gate_free(struct gate *gate)
{
	if (gate)
		steps_are("gate_free");
}

STEP(gate_shut, struct gate *gate)

int execwatch_begin(struct execwatch *watch, struct bpfprog *bpf, struct attach *const *attached,
		    size_t count, struct errmsg *err)
{
	return steps_answer(err, "execwatch_begin %zu", count);
}

STEP(execwatch_end, struct execwatch *watch)

void execwatch_free(struct execwatch *watch)
{
	if (watch)
		steps_are("execwatch_free");
}

HANDLE(struct attach_trial *, attach_trial_start, void)

bool attach_trial_end(struct attach_trial *trial)
{
	return steps_are("attach_trial_end");
}

void emulation_trial_end(struct emulation_trial *trial)
{
}

struct keeper keeper_start(void)
{
	steps_are("keeper_start");
	return (struct keeper){1, 2};
}

bool keeper_end(struct keeper *keeper, int ms)
{
	return !steps_are("keeper_end %d %d", keeper->pid, ms);
}

/* --- of room base --- */

void progress_stage(enum progress_stage stage)
{
	steps_are("progress_stage %d", stage);
}

void progress_functions(size_t count)
{
	steps_are("progress_functions %zu", count);
}

/* NOLINTEND(misc-unused-parameters) */

void world_begin(const char *fails)
{
	world = (struct world){.toolchain = &toolchain_gc, .how = ATTACH_MULTI, .arch = ARCH_AMD64};
#ifdef __aarch64__
	world.arch = ARCH_ARM64;
#endif
	memset(&steps, 0, sizeof(steps));
	steps.fails = fails;
	file_count = program_count = 0;
	sem_init(&compiled, 0, 0);
}
