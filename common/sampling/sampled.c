// SPDX-License-Identifier: Apache-2.0
#include "sampling/sampled_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/index.h"
#include "base/mem.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "frames/unwinder.h"
#include "golang/release.h"
#include "kernel/bpfmap.h"
#include "program/gostack_symbols.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "sites/goruntime.h"

enum { PLACES_MAX = 1 << 12 };

struct place { /* a part of a process's memory that is no Go code */
	const struct sampled_process *process;
	uint64_t from, to;
	char *name;
};

struct sampled {
	int map;
	const struct sampled_wanted *wanted;
	struct sampled_process **all; /* what was found stays: profiles have their programs */
	size_t count, cap;
	struct index index; /* by process_hash() */
	struct place *places;
	size_t place_count, place_cap;
	uint64_t missed;
};

static uint64_t process_hash(const struct process_key *key)
{
	return index_hash(index_hash(key->start_ns, key->exec), key->tgid);
}

/* --- what there is to know of one --- */

static void forget_program(struct sampled_process *process)
{
	if (!process->is_shared) {
		unwinder_free(process->unwinder);
		gostack_symbols_free(process->frames.syms);
		program_close(process->prog);
	}
	process->unwinder = NULL;
	process->frames.syms = NULL;
	process->prog = NULL;
	process->target.kind = PROFILE_OTHER;
}

static void free_process(struct sampled_process *process)
{
	forget_program(process);
	process_close(process->proc);
	free(process->comm);
	free(process);
}

/* Where a program learns when it is loaded how far g is from fs. */
static int64_t loaded_tls(const struct process *proc, uint64_t addr)
{
	struct errmsg err;
	int64_t off = 0;
	int fd = process_memory(proc, &err);

	if (fd < 0)
		return 0;
	if (pread(fd, &off, sizeof(off), (off_t)addr) != sizeof(off))
		off = 0;
	close(fd);
	return off;
}

static void read_layout(struct sampled_process *process)
{
	const struct program *prog = process->prog;
	struct profile_target *target = &process->target;
	bool is_short = prog->release >= RELEASE_SHORT_GOBUF;
	struct goruntime rt;

	goruntime_read_fields(prog, &rt);
	target->kind = PROFILE_GO;
	target->tls_g = rt.tls_g;
	if (rt.tls_word)
		target->tls_g = loaded_tls(process->proc, rt.tls_word + process->frames.bias);
	target->g_m = rt.g_m;
	target->g_sched_sp = rt.g_sched_sp;
	/* gobuf: sp, pc, g, ctxt, ret until it was dropped, lr, bp */
	target->g_sched_bp = rt.g_sched_sp + (is_short ? 40 : 48);
	target->m_curg = rt.m_curg;
	target->m_g0 = rt.m_g0;
	target->m_gsignal = rt.m_procid + 8;
	target->g_labels = goruntime_labels(prog, &rt);
	target->label_map = prog->release < RELEASE_LABEL_SETS;
}

static int check_program(const struct program *prog, struct errmsg *err)
{
	if (!prog->toolchain->libgo)
		return 0;
	errmsg_set(err, "\"%s\": what gccgo has compiled keeps no frame pointers", prog->path);
	errmsg_hint(err, "perf record --call-graph dwarf samples it");
	return -1;
}

static int read_program(struct sampled_process *process, struct heldfile *exe, struct errmsg *err)
{
	budget_watch_resume();
	process->prog = program_open(exe, err);
	budget_watch_pause();
	const struct program *prog = process->prog;
	uint64_t bias;

	if (!prog || check_program(prog, err))
		return -1;
	if (!program_bias(prog, process->proc, &bias))
		return errmsg_set(err, "%s: where the process has loaded it is not known",
				  prog->path);
	process->frames = (struct frames){.syms = gostack_symbols_new(prog->img, prog->tab),
					  .tab = prog->tab,
					  .bias = bias,
					  .img = prog->img,
					  .release = prog->release};
	process->unwinder = unwinder_new(&process->frames);
	read_layout(process);
	return heldfile_check(prog->file, err);
}

/* Many short processes may execute one file: it is read once. */
static bool share_program(const struct sampled *sampled, struct sampled_process *process,
			  const struct stat *exe)
{
	uint64_t bias;

	for (size_t i = 0; i < sampled->count; i++) {
		const struct sampled_process *known = sampled->all[i];

		if (!known->prog || known->is_shared || !heldfile_is(known->prog->file, exe) ||
		    !program_bias(known->prog, process->proc, &bias) || bias != known->frames.bias)
			continue;
		process->prog = known->prog;
		process->frames = known->frames;
		process->unwinder = known->unwinder;
		process->is_shared = true;
		read_layout(process);
		return true;
	}
	return false;
}

static int open_process(const struct sampled *sampled, struct sampled_process *process,
			struct errmsg *err)
{
	const struct heldfile *wanted = sampled->wanted->file;
	struct stat st;

	process->proc = process_open(process->pid, err);
	struct heldfile *exe = process->proc ? process_exe(process->proc, err) : NULL;

	if (!exe)
		return -1;
	if (fstat(heldfile_fd(exe), &st) || (wanted && !heldfile_is(wanted, &st))) {
		heldfile_close(exe);
		return errmsg_set(err, "it executes another file");
	}
	if (sampled->wanted->named &&
	    !process_is_called(process->proc, sampled->wanted->named, true)) {
		heldfile_close(exe);
		return errmsg_set(err, "it has another name");
	}
	process->comm = process_name(process->proc);
	if (!share_program(sampled, process, &st))
		return read_program(process, exe, err);
	heldfile_close(exe);
	return 0;
}

/* --- all of them --- */

static struct sampled_process *add(struct sampled *sampled, pid_t pid)
{
	struct sampled_process *process = mem_zalloc(1, sizeof(*process));

	sampled->all = mem_grow(sampled->all, sampled->count, &sampled->cap,
				sizeof(struct sampled_process *));
	sampled->all[sampled->count++] = process;
	process->pid = pid;
	process->target.kind = PROFILE_OTHER;
	return process;
}

/* Where there is no room any more, each sample of the process is one of an unknown one. */
static void tell_kernel(const struct sampled *sampled, const struct sampled_process *process)
{
	uint32_t pid = (uint32_t)process->pid;

	bpfmap_update(sampled->map, &pid, &process->target);
}

struct sampled *sampled_new(int map, const struct sampled_wanted *wanted, struct errmsg *err)
{
	struct sampled *sampled = mem_zalloc(1, sizeof(*sampled));

	sampled->map = map;
	sampled->wanted = wanted;
	if (!wanted->pid)
		return sampled;
	struct sampled_process *process = add(sampled, wanted->pid);

	if (open_process(sampled, process, err)) {
		sampled_free(sampled);
		return NULL;
	}
	tell_kernel(sampled, process);
	return sampled;
}

void sampled_free(struct sampled *sampled)
{
	if (!sampled)
		return;
	for (size_t i = 0; i < sampled->count; i++)
		free_process(sampled->all[i]);
	for (size_t i = 0; i < sampled->place_count; i++)
		free(sampled->places[i].name);
	free(sampled->places);
	index_free(&sampled->index);
	free(sampled->all);
	free(sampled);
}

const struct sampled_process *sampled_first(const struct sampled *sampled)
{
	return sampled->all[0];
}

uint64_t sampled_missed(const struct sampled *sampled)
{
	return sampled->missed;
}

/* The one that was opened before any sample of it came: is this one of the same? */
static struct sampled_process *adopt(struct sampled *sampled, const struct profile_sample *sample)
{
	struct sampled_process *first =
		sampled->count && !sampled->index.count ? sampled->all[0] : NULL;

	if (!first || (pid_t)sample->pid != first->pid || !process_runs(first->proc) ||
	    !process_executes(first->proc, first->prog->file))
		return NULL;
	return first;
}

/* Descriptors are few: what has ended, or is not wanted, is not held. That of -p tells its end. */
static void close_ended(struct sampled *sampled)
{
	for (size_t i = sampled->wanted->pid ? 1 : 0; i < sampled->count; i++) {
		struct sampled_process *process = sampled->all[i];

		if (!process->proc || process_runs(process->proc))
			continue;
		process_close(process->proc);
		process->proc = NULL;
	}
}

static void refuse(struct sampled_process *process)
{
	process->is_missed = !process->proc || !process_runs(process->proc);
	forget_program(process);
	process_close(process->proc);
	process->proc = NULL;
}

static struct sampled_process *meet(struct sampled *sampled, const struct profile_sample *sample)
{
	struct sampled_process *process = adopt(sampled, sample);
	struct errmsg err;

	if (!process) {
		/* the first entry has its place in the index, though nothing is looked for there */
		if (sampled->count > sampled->index.count)
			index_add(&sampled->index, 0);
		close_ended(sampled);
		process = add(sampled, (pid_t)sample->pid);
		if (open_process(sampled, process, &err))
			refuse(process);
	}
	process->target.key = sample->process;
	index_add(&sampled->index, process_hash(&sample->process));
	tell_kernel(sampled, process);
	return process;
}

static bool is_of(const struct sampled_process *process, const struct process_key *key)
{
	return process->target.key.tgid == key->tgid && process->target.key.exec == key->exec &&
	       process->target.key.start_ns == key->start_ns;
}

const struct sampled_process *sampled_find(struct sampled *sampled,
					   const struct profile_sample *sample)
{
	size_t n = index_first(&sampled->index, process_hash(&sample->process));

	while (n != INDEX_NONE && !is_of(sampled->all[n], &sample->process))
		n = index_next(&sampled->index, n);
	struct sampled_process *process = n == INDEX_NONE ? meet(sampled, sample) : sampled->all[n];

	if (process->prog)
		return process;
	sampled->missed += process->is_missed;
	return NULL;
}

const char *sampled_place(struct sampled *sampled, const struct sampled_process *process,
			  uint64_t addr, uint64_t *from)
{
	struct place place = {.process = process};

	for (size_t i = 0; i < sampled->place_count; i++) {
		const struct place *known = &sampled->places[i];

		if (known->process != process || addr < known->from || addr >= known->to)
			continue;
		*from = known->from;
		return known->name;
	}
	if (sampled->place_count == PLACES_MAX)
		return "?";
	char *name = NULL;

	if (process->proc)
		name = process_mapping_at(process->proc, addr, &place.from, &place.to);
	if (!name)
		return "?";
	place.name = name[0] == '[' ? mem_strdup(name) : mem_printf("[%s]", name);
	free(name);
	sampled->places = mem_grow(sampled->places, sampled->place_count, &sampled->place_cap,
				   sizeof(*sampled->places));
	sampled->places[sampled->place_count++] = place;
	*from = place.from;
	return place.name;
}
