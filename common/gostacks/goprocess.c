// SPDX-License-Identifier: Apache-2.0
#include "gostacks/goprocess_internal.h"
#include "gostacks/godebug_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "elf/corefile.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_stop.h"
#include "golang/release.h"
#include "goroutines/gocore.h"
#include "waits/lock_fields.h"
#include "goroutines/memory.h"
#include "frames/unwinder.h"
#include "waits/wait_objects.h"
#include "waits/wait_semaphores.h"
#include "program/gostack_symbols.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "rtti/rtti.h"

/* What cannot be read in this time is left out: a process is not to be stopped for longer. */
#define STOPPED_MAX_NS 2000000000ull

/* What a look may take is in proportion to what there is to look at: ten times and more of what
 * honest programs need, on a slow machine. */
enum {
	GOROUTINE_NS = 100 * 1000,
	GOROUTINE_BYTES = 1 << 10,
	FRAME_NS = 10 * 1000,     /* of each goroutine, to be printed */
	STACKS_BYTES = 512 << 20, /* for what snapshots keep of stacks and arguments, at most */
	LOOKUPS = 1 << 22,
	GOROUTINE_LOOKUPS = 16,
};

struct goprocess {
	const struct process *proc; /* NULL: it has ended, and left a core file */
	struct corefile *file;
	struct gocore *core;
	int mem_fd;
	struct memory mem;
	struct program *prog;
	struct goruntime rt;
	uint32_t tracking_seq; /* of struct g; 0: not known */
	struct frames frames;
	struct unwinder *unwinder;
	uint64_t allgs; /* with the load bias */
	struct wait_layout layout;
	struct snapshot_source from;
	uint64_t tables[SEMTABLES_MAX]; /* where runtime.semtable may be */
	size_t table_count;
	char *reasons[WAIT_REASONS];
	bool has_tables, has_reasons;
	struct gotypes *types; /* once one is asked for */
	struct rtti *rtti;
	struct lock_fields *fields; /* once locks are to be named */
};

static int check_program(const struct program *prog, struct errmsg *err)
{
	if (prog->toolchain->libgo)
		return errmsg_set(err,
				  "%s: built by gccgo, whose runtime keeps goroutines otherwise",
				  prog->path);
	return 0;
}

static int find_runtime(struct goprocess *gp, struct errmsg *err)
{
	const struct program *prog = gp->prog;
	uint64_t bias;

	if (gp->core)
		bias = gocore_bias(gp->core);
	else if (!program_bias(prog, gp->proc, &bias))
		return errmsg_set(err, "%s: where the process has loaded it is not known",
				  prog->path);
	if (!runtime_vars_allgs(prog, &gp->allgs))
		return errmsg_set(err,
				  "%s: the list of goroutines was not found in the code of "
				  "runtime.allgadd",
				  prog->path);
	gp->allgs += bias;
	goruntime_read_fields(prog, &gp->rt);
	gp->frames = (struct frames){.syms = gostack_symbols_new(prog->img, prog->tab),
				     .tab = prog->tab,
				     .bias = bias,
				     .img = prog->img,
				     .release = prog->release};
	gp->tracking_seq = runtime_vars_tracking_seq(prog, &gp->rt);
	gp->unwinder = unwinder_new(&gp->frames);
	gp->layout = wait_layout(image_arch(prog->img), &gp->rt, prog->release, prog->release_told);
	if (gp->core)
		gocore_find_threads(gp->core, &gp->rt);
	return heldfile_check(prog->file, err);
}

struct goprocess *goprocess_open(const struct process *proc, struct program *prog,
				 struct errmsg *err)
{
	struct goprocess *gp = mem_zalloc(1, sizeof(*gp));

	gp->proc = proc;
	gp->prog = prog;
	gp->mem_fd = -1;
	if (check_program(gp->prog, err))
		goto fail;
	gp->mem_fd = process_memory(proc, err);
	if (gp->mem_fd < 0)
		goto fail;
	gp->mem = (struct memory){memory_read_fd, &gp->mem_fd};
	if (find_runtime(gp, err) == 0)
		return gp;
fail:
	goprocess_close(gp);
	return NULL;
}

struct goprocess *goprocess_open_core(struct corefile *file, struct program *prog,
				      struct errmsg *err)
{
	struct goprocess *gp = mem_zalloc(1, sizeof(*gp));

	gp->file = file;
	gp->prog = prog;
	gp->mem_fd = -1;
	if (check_program(prog, err) == 0)
		gp->core = gocore_new(file, prog->img, err);
	gp->mem = (struct memory){gocore_read, gp->core};
	if (gp->core && find_runtime(gp, err) == 0)
		return gp;
	goprocess_close(gp);
	return NULL;
}

bool goprocess_core_is_told(const struct goprocess *gp)
{
	return gocore_is_told(gp->core);
}

int goprocess_core_call(void *ctx, pid_t tid)
{
	const struct goprocess *gp = ctx;

	return gocore_call(gp->core, tid);
}

void goprocess_close(struct goprocess *gp)
{
	if (!gp)
		return;
	for (size_t i = 0; i < WAIT_REASONS; i++)
		free(gp->reasons[i]);
	lock_fields_free(gp->fields);
	rtti_close(gp->rtti);
	gotypes_free(gp->types);
	unwinder_free(gp->unwinder);
	gostack_symbols_free(gp->frames.syms);
	gocore_free(gp->core);
	corefile_close(gp->file);
	program_close(gp->prog);
	if (gp->mem_fd >= 0)
		close(gp->mem_fd);
	free(gp);
}

const struct frames *goprocess_frames(const struct goprocess *gp)
{
	return &gp->frames;
}

const struct program *goprocess_program(const struct goprocess *gp)
{
	return gp->prog;
}

enum arch goprocess_arch(const struct goprocess *gp)
{
	return image_arch(gp->prog->img);
}

const struct memory *goprocess_memory(const struct goprocess *gp)
{
	return &gp->mem;
}

int goprocess_release(const struct goprocess *gp)
{
	return gp->prog->release_told ? gp->prog->release : -1;
}

struct wait_objects *goprocess_waits(struct goprocess *gp, struct snapshot *snap)
{
	if (!gp->from.waits)
		return NULL;
	if (!gp->layout.semaphores && !gp->has_tables) {
		gp->table_count = runtime_vars_semtables(gp->prog, gp->tables);
		gp->has_tables = true;
		for (size_t i = 0; i < gp->table_count; i++)
			gp->tables[i] += gp->frames.bias;
	}
	wait_semaphores(&gp->from, gp->tables, gp->table_count, snap);
	if (!gp->fields)
		gp->fields = lock_fields_new(gp->prog);
	return wait_objects_new(&gp->from, snap, &gp->frames, gp->fields);
}

const char *goprocess_type(void *ctx, uint64_t addr)
{
	struct goprocess *gp = ctx;

	if (!gp->types) {
		gp->types = gotypes_new();
		gp->rtti =
			rtti_open(gp->prog->img, gp->prog->tab, gp->prog->release, gp->types, NULL);
	}
	const struct gotype *type = gp->rtti ? rtti_type(gp->rtti, addr - gp->frames.bias) : NULL;

	return type ? type->name : NULL;
}

/* They are looked for once: not while the process is stopped, then. */
static void copy_reasons(struct goprocess *gp, struct snapshot *out)
{
	if (!gp->has_reasons)
		gp->has_reasons =
			runtime_vars_wait_reasons(gp->prog, &gp->mem, gp->frames.bias, gp->reasons);
	for (size_t i = 0; i < WAIT_REASONS; i++)
		out->reasons[i] = gp->reasons[i] ? mem_strdup(gp->reasons[i]) : NULL;
}

static bool stopped_registers(const void *ctx, pid_t tid, struct process_registers *out)
{
	return process_stop_registers(ctx, tid, out);
}

/* Is what was read that of the program that it was opened for? */
static int check_process(const struct goprocess *gp, struct errmsg *err)
{
	if (!process_runs(gp->proc))
		return errmsg_set(err, "the process has ended meanwhile");
	if (!process_executes(gp->proc, gp->prog->file))
		return errmsg_set(err, "the process executes another program by now");
	return 0;
}

int goprocess_check(const struct goprocess *gp, struct errmsg *err)
{
	if (gp->proc && check_process(gp, err))
		return -1;
	return heldfile_check(gp->prog->file, err);
}

/* How much of a core file is missing is the reason of whatever else is. */
static int refuse_core(const struct goprocess *gp, struct errmsg *err)
{
	uint64_t whole, missing = corefile_missing(gp->file, &whole);

	if (missing)
		return errmsg_set(err,
				  "\"%s\": the list of goroutines is not in it: it was cut off, "
				  "%llu of %llu bytes are missing",
				  corefile_path(gp->file), (unsigned long long)missing,
				  (unsigned long long)whole);
	return errmsg_set(err, "\"%s\": the list of goroutines is not in it",
			  corefile_path(gp->file));
}

static void allow_goroutines(void *ctx, size_t count)
{
	struct goprocess *gp = ctx;

	budget_watch_allow(count * GOROUTINE_NS, count * GOROUTINE_BYTES);
	unwinder_allow(gp->unwinder, count * GOROUTINE_LOOKUPS);
}

static void allow_frames(const struct snapshot *snap)
{
	uint64_t frames = 0;
	size_t count;

	for (size_t i = 0; i < snap->count; i++) {
		snapshot_stack(snap, snap->all[i].stack, &count);
		frames += count;
	}
	budget_watch_allow(frames * FRAME_NS, 0);
}

static void begin_look(struct goprocess *gp)
{
	char whose[64];

	if (gp->proc)
		snprintf(whose, sizeof(whose), "process %d", process_id(gp->proc));
	else
		snprintf(whose, sizeof(whose), "the core file");
	budget_watch_task(whose, "a snapshot of its goroutines");
	budget_watch_allow(0, STACKS_BYTES);
	unwinder_begin(gp->unwinder, LOOKUPS);
}

/* gopc, ancestors, startpc, racectx, waiting, cgoCtxt, labels, timer, sleepWhen, selectDone,
 * goroutineProfiled, coroarg, bubble */
static uint32_t bubble_field(const struct goprocess *gp)
{
	bool has = gp->prog->release_told && gp->prog->release >= RELEASE_BUBBLES;

	return has && gp->rt.g_gopc ? gp->rt.g_gopc + 104 : 0;
}

bool goprocess_has_labels(const struct goprocess *gp)
{
	return gp->prog->release_told && gp->prog->release >= RELEASE_LABEL_SETS && gp->rt.g_gopc;
}

bool goprocess_shows_labels(const struct goprocess *gp)
{
	bool has = goprocess_has_labels(gp) && gp->prog->release >= RELEASE_TRACEBACK_LABELS;

	return has && godebug_number(gp->prog, gp->proc, "tracebacklabels", 1) == 1;
}

int goprocess_snapshot(struct goprocess *gp, const struct goprocess_wanted *wanted,
		       struct snapshot *out, struct errmsg *err)
{
	gp->from = (struct snapshot_source){
		.mem = &gp->mem,
		.rt = &gp->rt,
		.allgs = gp->allgs,
		.rule = unwinder_rule,
		.rule_ctx = gp->unwinder,
		.listed = allow_goroutines,
		.listed_ctx = gp,
		.g_tracking_seq = gp->tracking_seq,
		.g_bubble = bubble_field(gp),
		.g_labels = wanted->labels && goprocess_has_labels(gp)
				    ? goruntime_labels(gp->prog, &gp->rt)
				    : 0,
		.with_args = wanted->args,
		.registers = gp->core       ? gocore_registers
			     : wanted->stop ? stopped_registers
					    : NULL,
		.registers_ctx = gp->core ? (const void *)gp->core : wanted->stop,
		.timeless = gp->core,
		.until_ns = wanted->stop ? clock_ns() + STOPPED_MAX_NS : 0,
		.waits = wanted->waits && gp->layout.known ? &gp->layout : NULL};
	*out = (struct snapshot){0};
	begin_look(gp);
	copy_reasons(gp, out);
	int ret = snapshot_take(&gp->from, out, err);

	allow_frames(out);
	out->gave_up = unwinder_gave_up(gp->unwinder);
	if (ret && gp->core)
		refuse_core(gp, err);
	if (gp->proc && check_process(gp, err))
		ret = -1;
	else if (!ret)
		ret = heldfile_check(gp->prog->file, err);
	if (ret)
		snapshot_free(out);
	return ret;
}

bool goprocess_is_still(const struct goprocess *gp, const struct goroutine *g)
{
	return snapshot_is_still(&gp->from, &gp->mem, g);
}
