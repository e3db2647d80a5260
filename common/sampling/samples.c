// SPDX-License-Identifier: Apache-2.0
#include "sampling/samples_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "blocked/losses.h"
#include "bpf-src/shared/profile.h"
#include "files/cgroup.h"
#include "files/heldfile.h"
#include "frames/frames.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/btf.h"
#include "kernel/events.h"
#include "kernel/kallsyms.h"
#include "kernel/kernelfeature.h"
#include "kernel/sampler.h"
#include "profile/profile.h"
#include "sampling/labels_internal.h"
#include "sampling/vdso_internal.h"
#include "selection/target.h"
#include "tracing/options.h"
#include "tracing/pidspace.h"

enum { TARGETS = 1 << 15, RING_PAGES = 1024, DEFINES = 8 + PIDSPACE_DEFINES };

/* --- a sample --- */

struct placing {
	struct sampled *sampled;
	const struct sampled_process *process;
};

static const char *place(void *ctx, uint64_t addr, uint64_t *from)
{
	const struct placing *placing = ctx;

	return sampled_place(placing->sampled, placing->process, addr, from);
}

static void add_frame(void *ctx, const struct frame *frame)
{
	if (strcmp(frame->func, "runtime.goexit") != 0)
		profile_frame(ctx, frame);
}

static void add_stack(const struct joined *joined, const struct sampled_process *process,
		      struct profile *profile)
{
	struct profile_at at = {profile, &process->frames};
	uint64_t addrs[JOINED_FRAMES];
	size_t i = 0, n;

	while (i < joined->count) {
		for (n = 0; i < joined->count && !joined->all[i].mark; i++)
			addrs[n++] = joined->all[i].addr;
		frames_all(&process->frames, addrs, n, add_frame, &at);
		for (; i < joined->count && joined->all[i].mark; i++)
			profile_word(profile, joined->all[i].mark);
	}
}

/* Of callers, what stands before the return address is meant. */
static void add_kernel(const struct samples *samples, const uint64_t *words, uint32_t count,
		       struct profile *profile)
{
	const char *name, *module;
	uint64_t off;

	for (uint32_t i = 0; i < count; i++) {
		name = kallsyms_find(samples->kernel, words[i] - (i > 0), &off, &module);
		profile_kernel(profile, name ? name : "[unknown]",
			       name && *module ? module : "kernel");
	}
	if (count == PROFILE_KERNEL)
		profile_word(profile, "[more]");
}

static void add_sample(const struct samples *samples, const struct sampled_process *process,
		       const struct profile_sample *sample, struct profile *profile)
{
	/* where they have a state, ns alone count */
	const uint64_t values[] = {1, UINT64_C(1000000000) / samples->sampling->hz};

	if (samples->joined.count) /* else nothing in it is sound */
		add_kernel(samples, (const uint64_t *)(sample + 1), sample->kernel, profile);
	add_stack(&samples->joined, process, profile);
	profile_number(profile, "pid", (uint64_t)process->pid);
	profile_label(profile, "comm", process->comm);
	if (samples->state)
		profile_label(profile, "state", samples->state);
	if (samples->sampling->labels)
		labels_add(sample, (const uint64_t *)(sample + 1), samples->label, profile);
	profile_add(profile, values + (samples->state != NULL));
}

static bool on_sample(const void *data, size_t len, void *ctx)
{
	struct samples *samples = ctx;
	const struct profile_sample *sample = data;

	if (len < sizeof(*sample) || (len - sizeof(*sample)) / 8 < sample->count)
		return true;
	const struct sampled_process *process = sampled_find(samples->sampled, sample);

	if (!process)
		return true;
	struct placing placing = {samples->sampled, process};
	const struct joined_program program = {.frames = &process->frames,
					       .unwinder = process->unwinder,
					       .vdso = samples->vdso,
					       .place = place,
					       .ctx = &placing};

	joined_read(&program, sample, (const uint64_t *)(sample + 1), &samples->joined);
	add_sample(samples, process, sample, samples->shown);
	if (samples->written)
		add_sample(samples, process, sample, samples->written);
	return true;
}

/* --- from the beginning to the end --- */

static int check_kernel(struct errmsg *err)
{
	if (!kernelfeature_task_registers()) {
		errmsg_set(err, "this kernel does not tell BPF programs the registers of a thread "
				"that it works for");
		errmsg_hint(err, "Linux 5.15 or later does, if it has BTF (CONFIG_DEBUG_INFO_BTF)");
		return -1;
	}
	return events_check(err);
}

int samples_open(struct samples *samples, const char *binary, struct errmsg *err)
{
	if (check_kernel(err))
		return -1;
	if (binary) {
		samples->file = target_resolve(binary, NULL, err);
		if (!samples->file)
			return -1;
	}
	samples->wanted.file = samples->file;
	if (samples->sampling->cgroup) {
		samples->cgroup = cgroup_open(samples->sampling->cgroup, err);
		if (samples->cgroup < 0)
			return -1;
	}
	if (samples->sampling->kernel) {
		samples->kernel = kallsyms_open(err);
		if (!samples->kernel)
			return -1;
	}
	return 0;
}

static int define(const struct samples *samples, struct bpfprog_define *defs, size_t *count,
		  struct errmsg *err)
{
	size_t n = *count;
	uint32_t fsbase;
	struct btf_process proc;

	defs[n++] = (struct bpfprog_define){"RING_PAGES", bpfmap_room(RING_PAGES)};
	defs[n++] = (struct bpfprog_define){"TARGETS", bpfmap_room(TARGETS)};
	if (samples->cgroup >= 0)
		defs[n++] = (struct bpfprog_define){"CGROUP", 1};
	if (samples->sampling->labels)
		defs[n++] = (struct bpfprog_define){"LABELS", 1};
	if (samples->sampling->kernel)
		defs[n++] = (struct bpfprog_define){"KERNEL_STACK", 1};
	if (!btf_thread_fsbase(&fsbase, err))
		defs[n++] = (struct bpfprog_define){"FSBASE_OFF", fsbase};
	if (!btf_process(&proc, err)) {
		defs[n++] = (struct bpfprog_define){"TASK_LEADER", proc.leader};
		defs[n++] = (struct bpfprog_define){"TASK_START", proc.start_ns};
		defs[n++] = (struct bpfprog_define){"TASK_EXEC", proc.exec};
	}
	*count = n;
	return pidspace_define(samples->wanted.pid, defs, count, err);
}

static void print_program(const struct samples *samples, const struct bpfprog_define *defs,
			  size_t count)
{
	FILE *out = samples->sampling->opts->json || samples->sampling->folded ? stderr : stdout;
	char *text = bpfprog_text("goprofile.bpf.c", NULL, 0);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "#define %s %lld\n", defs[i].name, (long long)defs[i].value);
	fputs(text, out);
	free(text);
	fputs(bpfprog_chatter(samples->bpf), stderr);
}

int samples_load(struct samples *samples, int *prog, struct errmsg *err)
{
	struct bpfprog_define defs[DEFINES];
	size_t count = 0;

	if (define(samples, defs, &count, err))
		return -1;
	samples->bpf = bpfprog_compile("goprofile.bpf.c", defs, count, NULL, 0, err);
	if (!samples->bpf)
		return -1;
	if (samples->sampling->opts->verbose)
		print_program(samples, defs, count);
	*prog = bpfprog_load_sampled(samples->bpf, "on_sample", err);
	return *prog < 0 ? -1 : 0;
}

int samples_begin(struct samples *samples, int prog, struct errmsg *err)
{
	samples->sampled = sampled_new(bpfprog_map(samples->bpf, "targets"), &samples->wanted, err);
	if (!samples->sampled)
		return -1;
	samples->events = events_new(bpfprog_map(samples->bpf, "events"), on_sample, samples, err);
	if (!samples->events)
		return -1;
	if (samples->cgroup >= 0 &&
	    bpfmap_set(bpfprog_map(samples->bpf, "cgroups"), (uint32_t)samples->cgroup))
		return errmsg_set(err, "cannot sample cgroup \"%s\": %s", samples->sampling->cgroup,
				  strerror(errno));
	samples->vdso = vdso_new();
	samples->sampler = sampler_new(prog, samples->sampling->hz, err);
	return samples->sampler ? 0 : -1;
}

void samples_end(struct samples *samples)
{
	sampler_free(samples->sampler);
	samples->sampler = NULL;
}

/* The map is there if the tool is in a PID namespace of its own and samples more than one process.
 */
static void say_outside(const struct samples *samples)
{
	int fd = bpfprog_map(samples->bpf, "outside");
	uint64_t count = 0;

	if (fd < 0 || bpfmap_sum_percpu(fd, 1, 1, &count) || !count)
		return;
	fprintf(stderr,
		"%s: %llu samples of processes outside this PID namespace were left out\n"
		"hint: for all of the machine, run the tool in its namespace (docker run "
		"--pid=host)\n",
		samples->sampling->tool->name, (unsigned long long)count);
}

void samples_say_lost(const struct samples *samples)
{
	static const char *const said[PROFILE_LOSSES] = {
		[PROFILE_LOSS_RING] = "samples were lost: they came faster than they were read",
	};
	const char *tool = samples->sampling->tool->name;
	uint64_t lost[PROFILE_LOSSES], missed = sampled_missed(samples->sampled);

	losses_say(bpfprog_map(samples->bpf, "losses"), tool, said, lost, PROFILE_LOSSES);
	if (missed)
		fprintf(stderr,
			"%s: %llu samples are of processes that ended before it was known what "
			"they run\n",
			tool, (unsigned long long)missed);
	say_outside(samples);
}

void samples_close(struct samples *samples)
{
	samples_end(samples);
	events_free(samples->events);
	sampled_free(samples->sampled);
	vdso_free(samples->vdso);
	kallsyms_close(samples->kernel);
	if (samples->cgroup >= 0)
		close(samples->cgroup);
	bpfprog_free(samples->bpf);
	heldfile_close(samples->file);
}
