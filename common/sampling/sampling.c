// SPDX-License-Identifier: Apache-2.0
#include "sampling/sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/progress.h"
#include "blocked/losses.h"
#include "bpf-src/shared/profile.h"
#include "files/cgroup.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "frames/frames.h"
#include "kernel/bpfmap.h"
#include "kernel/bpfprog.h"
#include "kernel/btf.h"
#include "kernel/events.h"
#include "kernel/kallsyms.h"
#include "kernel/kernelfeature.h"
#include "kernel/sampler.h"
#include "profile/pprof.h"
#include "profile/profile.h"
#include "profile/profile_show.h"
#include "program/program.h"
#include "sampling/joined_internal.h"
#include "sampling/labels_internal.h"
#include "sampling/sampled_internal.h"
#include "sampling/vdso_internal.h"
#include "selection/target.h"
#include "tracing/options.h"
#include "tracing/pidspace.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

enum { TARGETS = 1 << 15, RING_PAGES = 1024, DEFINES = 8 + PIDSPACE_DEFINES };
enum { STREAM_NS = 100 * 1000 * 1000 };

static const struct profile_type shown_types[] = {{"samples", "count"}};
/* as Go's own CPU profiles have them */
static const struct profile_type written_types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

struct run {
	const struct sampling *sampling;
	struct profile_spec shown_spec, written_spec;
	struct sampled_wanted wanted;
	const char *label; /* the key of what is shown alone; NULL: all are */
	struct heldfile *file;
	struct bpfprog *bpf;
	struct sampler *sampler;
	int cgroup; /* -1: all are wanted */
	struct sampled *sampled;
	struct kallsyms *kernel; /* NULL: its frames are not shown */
	struct vdso *vdso;
	struct events *events;
	struct profile *shown; /* since the last interval */
	struct pprof written;
	struct joined joined; /* of the sample that is looked at */
	struct errmsg err;    /* of a callback of the session */
	bool failed, lasted;
};

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
static void add_kernel(const struct run *run, const uint64_t *words, uint32_t count,
		       struct profile *profile)
{
	const char *name, *module;
	uint64_t off;

	for (uint32_t i = 0; i < count; i++) {
		name = kallsyms_find(run->kernel, words[i] - (i > 0), &off, &module);
		profile_kernel(profile, name ? name : "[unknown]",
			       name && *module ? module : "kernel");
	}
	if (count == PROFILE_KERNEL)
		profile_word(profile, "[more]");
}

static void add_sample(const struct run *run, const struct sampled_process *process,
		       const struct profile_sample *sample, struct profile *profile)
{
	const uint64_t values[] = {1, UINT64_C(1000000000) / run->sampling->hz};

	if (run->joined.count) /* else nothing in it is sound */
		add_kernel(run, (const uint64_t *)(sample + 1), sample->kernel, profile);
	add_stack(&run->joined, process, profile);
	profile_number(profile, "pid", (uint64_t)process->pid);
	profile_label(profile, "comm", process->comm);
	if (run->sampling->labels)
		labels_add(sample, (const uint64_t *)(sample + 1), run->label, profile);
	profile_add(profile, values);
}

static bool on_sample(const void *data, size_t len, void *ctx)
{
	struct run *run = ctx;
	const struct profile_sample *sample = data;

	if (len < sizeof(*sample) || (len - sizeof(*sample)) / 8 < sample->count)
		return true;
	const struct sampled_process *process = sampled_find(run->sampled, sample);

	if (!process)
		return true;
	struct placing placing = {run->sampled, process};
	const struct joined_program program = {.frames = &process->frames,
					       .unwinder = process->unwinder,
					       .vdso = run->vdso,
					       .place = place,
					       .ctx = &placing};

	joined_read(&program, sample, (const uint64_t *)(sample + 1), &run->joined);
	add_sample(run, process, sample, run->shown);
	if (run->written.profile)
		add_sample(run, process, sample, run->written.profile);
	return true;
}

/* --- what is shown --- */

static void show(struct run *run)
{
	const struct options *opts = run->sampling->opts;
	const struct profile_style style = {.type = "profile",
					    .json = opts->json,
					    .folded = run->sampling->folded,
					    .labels = run->sampling->labels,
					    .begin = opts->timestamp ? toolrun_json_time : NULL};

	if (!opts->json && !run->sampling->folded)
		toolrun_print_time(opts);
	profile_show(stdout, run->shown, &style);
	profile_free(run->shown);
	run->shown = profile_new(&run->shown_spec);
	if (!run->failed && session_flush(&run->err))
		run->failed = true;
}

static void tick(void *ctx)
{
	struct run *run = ctx;

	events_read(run->events, true);
	show(run);
}

static bool stream(void *ctx)
{
	struct run *run = ctx;

	events_read(run->events, false);
	return !run->failed;
}

/* The map is there if the tool is in a PID namespace of its own and samples more than one process.
 */
static void say_outside(const struct run *run)
{
	int fd = bpfprog_map(run->bpf, "outside");
	uint64_t samples = 0;

	if (fd < 0 || bpfmap_sum_percpu(fd, 1, 1, &samples) || !samples)
		return;
	fprintf(stderr,
		"%s: %llu samples of processes outside this PID namespace were left out\n"
		"hint: for all of the machine, run the tool in its namespace (docker run "
		"--pid=host)\n",
		run->sampling->tool->name, (unsigned long long)samples);
}

static void say_lost(const struct run *run)
{
	static const char *const said[PROFILE_LOSSES] = {
		[PROFILE_LOSS_RING] = "samples were lost: they came faster than they were read",
	};
	const char *tool = run->sampling->tool->name;
	uint64_t lost[PROFILE_LOSSES], missed = sampled_missed(run->sampled);

	losses_say(bpfprog_map(run->bpf, "losses"), tool, said, lost, PROFILE_LOSSES);
	if (missed)
		fprintf(stderr,
			"%s: %llu samples are of processes that ended before it was known what "
			"they run\n",
			tool, (unsigned long long)missed);
	say_outside(run);
}

static void say_started(const struct run *run)
{
	const struct sampling *sampling = run->sampling;
	const struct options *opts = sampling->opts;
	FILE *out = opts->json || sampling->folded ? stderr : stdout;

	fprintf(out, "Sampling at %u Hertz ", sampling->hz);
	if (run->wanted.pid) {
		fprintf(out, "process %d (", run->wanted.pid);
		escape_print(out, sampled_first(run->sampled)->comm);
		fputc(')', out);
	} else if (run->file) {
		fputs("what runs \"", out);
		escape_print(out, heldfile_path(run->file));
		fputc('"', out);
	} else {
		fputs("all Go programs", out);
	}
	if (sampling->cgroup) {
		fputs(" in cgroup \"", out);
		escape_print(out, sampling->cgroup);
		fputc('"', out);
	}
	if (opts->duration_ns)
		fprintf(out, " for %g s.\n", (double)opts->duration_ns / 1e9);
	else
		fputs("... Hit Ctrl-C to end.\n", out);
	fflush(out);
}

/* --- the run --- */

static int define(const struct run *run, struct bpfprog_define *defs, size_t *count,
		  struct errmsg *err)
{
	size_t n = *count;
	uint32_t fsbase;
	struct btf_process proc;

	defs[n++] = (struct bpfprog_define){"RING_PAGES", bpfmap_room(RING_PAGES)};
	defs[n++] = (struct bpfprog_define){"TARGETS", bpfmap_room(TARGETS)};
	if (run->cgroup >= 0)
		defs[n++] = (struct bpfprog_define){"CGROUP", 1};
	if (run->sampling->labels)
		defs[n++] = (struct bpfprog_define){"LABELS", 1};
	if (run->sampling->kernel)
		defs[n++] = (struct bpfprog_define){"KERNEL_STACK", 1};
	if (!btf_thread_fsbase(&fsbase, err))
		defs[n++] = (struct bpfprog_define){"FSBASE_OFF", fsbase};
	if (!btf_process(&proc, err)) {
		defs[n++] = (struct bpfprog_define){"TASK_LEADER", proc.leader};
		defs[n++] = (struct bpfprog_define){"TASK_START", proc.start_ns};
		defs[n++] = (struct bpfprog_define){"TASK_EXEC", proc.exec};
	}
	*count = n;
	return pidspace_define(run->wanted.pid, defs, count, err);
}

static void print_program(const struct run *run, const struct bpfprog_define *defs, size_t count)
{
	FILE *out = run->sampling->opts->json || run->sampling->folded ? stderr : stdout;
	char *text = bpfprog_text("goprofile.bpf.c", NULL, 0);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "#define %s %lld\n", defs[i].name, (long long)defs[i].value);
	fputs(text, out);
	free(text);
	fputs(bpfprog_chatter(run->bpf), stderr);
}

static int load(struct run *run, int *prog, struct errmsg *err)
{
	struct bpfprog_define defs[DEFINES];
	size_t count = 0;

	if (define(run, defs, &count, err))
		return -1;
	run->bpf = bpfprog_compile("goprofile.bpf.c", defs, count, NULL, 0, err);
	if (!run->bpf)
		return -1;
	if (run->sampling->opts->verbose)
		print_program(run, defs, count);
	*prog = bpfprog_load_sampled(run->bpf, "on_sample", err);
	return *prog < 0 ? -1 : 0;
}

static int begin(struct run *run, struct errmsg *err)
{
	int prog;

	if (load(run, &prog, err))
		return -1;
	run->sampled = sampled_new(bpfprog_map(run->bpf, "targets"), &run->wanted, err);
	if (!run->sampled)
		return -1;
	run->events = events_new(bpfprog_map(run->bpf, "events"), on_sample, run, err);
	if (!run->events)
		return -1;
	if (run->cgroup >= 0 && bpfmap_set(bpfprog_map(run->bpf, "cgroups"), (uint32_t)run->cgroup))
		return errmsg_set(err, "cannot sample cgroup \"%s\": %s", run->sampling->cgroup,
				  strerror(errno));
	run->vdso = vdso_new();
	run->shown = profile_new(&run->shown_spec);
	run->sampler = sampler_new(prog, run->sampling->hz, err);
	return run->sampler ? 0 : -1;
}

static int finish(struct run *run, struct errmsg *err)
{
	sampler_free(run->sampler);
	run->sampler = NULL;
	if (run->written.profile)
		profile_end(run->written.profile);
	events_read(run->events, true);
	show(run);
	say_lost(run);
	if (run->failed) {
		*err = run->err;
		return -1;
	}
	return pprof_write(&run->written, err);
}

static int sample(struct run *run, struct errmsg *err)
{
	const struct options *opts = run->sampling->opts;
	struct session *ses = session_new(err);
	enum session_end end;

	if (!ses || begin(run, err)) {
		session_free(ses);
		return -1;
	}
	struct session_spec spec = {.interval_ns = opts->interval_ns,
				    .duration_ns = opts->duration_ns,
				    .process_fd = -1,
				    .event_fd = -1,
				    .tick = tick,
				    .stream_ns = STREAM_NS,
				    .stream_fd = events_fd(run->events),
				    .stream = stream,
				    .ctx = run};

	if (run->wanted.pid)
		spec.process_fd = process_fd(sampled_first(run->sampled)->proc);
	progress_end();
	say_started(run);
	if (run->written.profile)
		profile_begin(run->written.profile);
	int ret = session_run(ses, &spec, &end, err);

	if (!ret)
		ret = finish(run, err);
	session_free(ses);
	return ret;
}

/* [DURATION] by itself, as bcc's profile takes it, looks like a BINARY. */
static void take_duration(struct options *opts)
{
	if (opts->pattern_count != 1 || opts->duration_ns || !target_is_number(opts->patterns[0]) ||
	    !number_parse_duration(opts->patterns[0], &opts->duration_ns))
		return;
	opts->pattern_count = 0;
}

/* "--labels KEY" beside -p, where there can be no BINARY. */
static void take_key(struct run *run)
{
	struct options *opts = run->sampling->opts;

	run->label = run->sampling->label;
	if (!run->sampling->labels || run->label || !opts->pid || opts->pattern_count != 1)
		return;
	run->label = opts->patterns[0];
	opts->pattern_count = 0;
}

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

static int check(struct run *run, struct errmsg *err)
{
	struct options *opts = run->sampling->opts;

	take_duration(opts);
	take_key(run);
	if (opts->command)
		return errmsg_set(err, "%s starts no COMMAND", run->sampling->tool->name);
	if (opts->pattern_count > 1 || (opts->pid && opts->pattern_count))
		return errmsg_set(err, "one BINARY, or -p PID, or neither");
	if (run->label && strlen(run->label) > PROFILE_LABEL_TEXT)
		return errmsg_set(err, "--labels: of a key, %d bytes are read at most",
				  PROFILE_LABEL_TEXT);
	if (session_check_privileges(err) || check_kernel(err))
		return -1;
	run->wanted.pid = opts->pid;
	if (opts->pattern_count)
		run->file = target_resolve(opts->patterns[0], NULL, err);
	run->wanted.file = run->file;
	if (run->sampling->cgroup) {
		run->cgroup = cgroup_open(run->sampling->cgroup, err);
		if (run->cgroup < 0)
			return -1;
	}
	if (run->sampling->kernel) {
		run->kernel = kallsyms_open(err);
		if (!run->kernel)
			return -1;
	}
	return opts->pattern_count && !run->file ? -1 : 0;
}

static void close_run(struct run *run)
{
	sampler_free(run->sampler);
	events_free(run->events);
	profile_free(run->shown);
	sampled_free(run->sampled);
	vdso_free(run->vdso);
	kallsyms_close(run->kernel);
	if (run->cgroup >= 0)
		close(run->cgroup);
	pprof_close(&run->written);
	bpfprog_free(run->bpf);
	heldfile_close(run->file);
}

int sampling_run(const struct sampling *sampling)
{
	const char *name = sampling->tool->name;
	struct run run = {
		.sampling = sampling,
		.cgroup = -1,
		.shown_spec = {.tool = name, .types = shown_types, .type_count = 1},
		.written_spec = {
			.tool = name, .types = written_types, .type_count = 2, .shown = 1}};
	struct errmsg err = {0};

	progress_begin(name);
	int ret = check(&run, &err);

	if (!ret)
		ret = pprof_open(&run.written, sampling->opts->pprof, &run.written_spec, &err);
	if (!ret)
		ret = sample(&run, &err);
	progress_end();
	close_run(&run);
	return ret ? options_fail(sampling->tool, &err) : 0;
}
