// SPDX-License-Identifier: Apache-2.0
/* A run of goprofile from its options to its end: all else is of this test's own, and writes down
 * that it was called. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "base/progress.h"
#include "blocked/losses.h"
#include "files/cgroup.h"
#include "files/heldfile.h"
#include "files/process.h"
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
#include "sampling/joined_internal.h"
#include "sampling/labels_internal.h"
#include "sampling/sampled_internal.h"
#include "sampling/sampling.h"
#include "sampling/wall_internal.h"
#include "selection/target.h"
#include "tracing/options.h"
#include "tracing/pidspace.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"
#include "unit.h"

enum { TARGETS = 11, EVENTS, CGROUPS, OUTSIDE, LOST_MAP, PROG, PID = 7 };

static int anything; /* its address stands for what only others look into */
static FILE *notes;  /* what was called */

static struct world {
	const char *fails; /* what goes wrong */
	bool fsbase, types, pprof, not_wanted, deep;
	uint64_t outside, missed;
	int cgroup; /* its descriptor */
	events_fn *fn;
	void *ctx;
} world;

static struct sampled_process process = {.pid = PID, .comm = "ser\tver"};

static bool step(const char *name)
{
	fprintf(notes, "%s ", name);
	return world.fails && !strcmp(name, world.fails);
}

static int result(const char *name, struct errmsg *err)
{
	return step(name) ? errmsg_set(err, "no %s", name) : 0;
}

static void *made(const char *name, struct errmsg *err)
{
	return result(name, err) ? NULL : &anything;
}

static char which(const struct profile *profile)
{
	return profile == (struct profile *)&world ? 'w' : 's';
}

/* --- of other modules --- */

#define STEP(name, ...)                                                                            \
	void name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		step(#name);                                                                       \
	}
#define VALUE(type, name, value, ...)                                                              \
	type name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		return value;                                                                      \
	}
#define NOTE(name, format, value, ...)                                                             \
	void name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		fprintf(notes, format " ", which(profile), value);                                 \
	}
/* of what may not be there */
#define FREED(name, it, ...)                                                                       \
	void name(__VA_ARGS__)                                                                     \
	{                                                                                          \
		if (it)                                                                            \
			step(#name);                                                               \
	}

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

STEP(progress_begin, const char *tool)
STEP(progress_end, void)
STEP(pprof_close, struct pprof *pprof)
STEP(session_say_ended, const char *name, pid_t pid)
STEP(session_say_stopped, const char *name, const struct process *proc)
STEP(toolrun_json_time, struct json *json)
STEP(toolrun_print_time, const struct options *opts)
NOTE(profile_begin, "%c:%s", "begin", struct profile *profile)
NOTE(profile_end, "%c:%s", "end", struct profile *profile)
NOTE(profile_period, "%c:%d", (int)period, struct profile *profile, uint64_t period)
NOTE(profile_word, "%c:%s", word, struct profile *profile, const char *word)
NOTE(profile_label, "%c:comm=%s", text, struct profile *profile, const char *key, const char *text)
NOTE(profile_number, "%c:pid=%d", (int)number, struct profile *profile, const char *key,
     uint64_t number)
FREED(bpfprog_free, prog, struct bpfprog *prog)
FREED(events_free, events, struct events *events)
FREED(heldfile_close, file, struct heldfile *file)
FREED(kallsyms_close, syms, struct kallsyms *syms)
FREED(profile_free, profile, struct profile *profile)
FREED(sampled_free, sampled, struct sampled *sampled)
FREED(sampler_free, sampler, struct sampler *sampler)
FREED(session_free, ses, struct session *ses)
FREED(vdso_free, vdso, struct vdso *vdso)
VALUE(int, wall_run, (step("wall"), 7), const struct sampling *sampling, const char *label)
VALUE(bool, kernelfeature_task_registers, !step("registers"), void)
VALUE(int, session_check_privileges, result("privileges", err), struct errmsg *err)
VALUE(int, events_check, result("events_check", err), struct errmsg *err)
VALUE(bool, target_is_number, !name[strspn(name, "0123456789")], const char *name)
VALUE(struct heldfile *, target_resolve, made(binary, err), const char *binary,
      const struct process *proc, struct errmsg *err)
VALUE(int, bpfprog_load_sampled, result(name, err) ? -1 : PROG, struct bpfprog *prog,
      const char *name, struct errmsg *err)
VALUE(const struct sampled_process *, sampled_find, world.not_wanted ? NULL : &process,
      struct sampled *sampled, const struct profile_sample *sample)
VALUE(int, btf_thread_fsbase, (*off = 55, world.fsbase ? 0 : -1), uint32_t *off, struct errmsg *err)
VALUE(const char *, kallsyms_find, (*module = addr % 2 ? "ext4" : "", addr == 40 ? NULL : "k"),
      const struct kallsyms *syms, uint64_t addr, uint64_t *off, const char **module)
VALUE(struct sampler *, sampler_new,
      (fprintf(notes, "%d_%u ", prog_fd - PROG, hz), made("sampler", err)), int prog_fd,
      uint32_t hz, struct errmsg *err)
VALUE(struct sampled *, sampled_new,
      (fprintf(notes, "%d_%d_%d ", map - TARGETS, wanted->pid, wanted->file != NULL),
       made("sampled", err)),
      int map, const struct sampled_wanted *wanted, struct errmsg *err)
VALUE(bool, events_read, !step(all ? "read_all" : "read"), struct events *events, bool all)
VALUE(char *, bpfprog_text, mem_printf("text of %s\n", file), const char *file,
      const struct bpfprog_insert *inserts, size_t ninserts)
VALUE(const char *, sampled_place, (*from = addr - 1, proc == &process ? "[vdso]" : "?"),
      struct sampled *sampled, const struct sampled_process *proc, uint64_t addr, uint64_t *from)
VALUE(int, cgroup_open,
      result("cgroup", err) ? -1 : (world.cgroup = open("/dev/null", O_RDONLY | O_CLOEXEC)),
      const char *path, struct errmsg *err)
VALUE(int, bpfmap_set,
      (errno = EBADF, fd != CGROUPS || (int)value != world.cgroup || step("set_cgroup") ? -1 : 0),
      int fd, uint32_t value)
VALUE(int, events_fd, 71, const struct events *events)
VALUE(int, process_fd, 73, const struct process *proc)
VALUE(int, pprof_write, result("pprof_write", err), const struct pprof *pprof, struct errmsg *err)
VALUE(int, session_flush, result("flush", err), struct errmsg *err)
VALUE(struct session *, session_new, made("session", err), struct errmsg *err)
VALUE(struct kallsyms *, kallsyms_open, made("kallsyms", err), struct errmsg *err)
VALUE(struct profile *, profile_new, made(spec->type_count == 1 ? spec->types->name : "?", NULL),
      const struct profile_spec *spec)
VALUE(struct vdso *, vdso_new, made("vdso", NULL), void)
VALUE(const char *, bpfprog_chatter, "chatter\n", const struct bpfprog *prog)
VALUE(const char *, heldfile_path, "/bin/a\n", const struct heldfile *file)
VALUE(uint64_t, sampled_missed, world.missed, const struct sampled *sampled)
VALUE(const struct sampled_process *, sampled_first, &process, const struct sampled *sampled)
VALUE(uint32_t, bpfmap_room, room, uint32_t room)

int pprof_open(struct pprof *pprof, const char *path, const struct profile_spec *spec,
	       struct errmsg *err)
{
	for (size_t i = 0; i < spec->type_count; i++)
		fprintf(notes, "%s/%s%s ", spec->types[i].name, spec->types[i].unit,
			i == spec->shown ? "*" : "");
	pprof->profile = world.pprof ? (struct profile *)&world : NULL;
	return result("pprof_open", err);
}

int btf_process(struct btf_process *out, struct errmsg *err)
{
	*out = (struct btf_process){1, 2, 3, 4, 5, 6};
	return world.types ? 0 : -1;
}

int pidspace_define(pid_t pid, struct bpfprog_define *defs, size_t *count, struct errmsg *err)
{
	defs[(*count)++] = (struct bpfprog_define){"TGID", (uint64_t)pid - 8};
	return result("pidspace", err);
}

struct bpfprog *bpfprog_compile(const char *file, const struct bpfprog_define *defs, size_t ndefs,
				const struct bpfprog_insert *inserts, size_t ninserts,
				struct errmsg *err)
{
	fprintf(notes, "\n%s", file);
	for (size_t i = 0; i < ndefs; i++)
		fprintf(notes, " %s=%lld", defs[i].name, (long long)defs[i].value);
	fputc('\n', notes);
	return made("compile", err);
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	static const char *const names[] = {"targets", "events", "cgroups", "outside", "losses"};
	int i = 0;

	while (strcmp(names[i], name) != 0)
		i++;
	return TARGETS + i == OUTSIDE && !world.outside ? -1 : TARGETS + i;
}

int bpfmap_sum_percpu(int fd, size_t entries, size_t words, uint64_t *out)
{
	assert_true(fd == OUTSIDE && entries == 1 && words == 1);
	*out = world.outside - 1;
	return step("sum") ? -1 : 0;
}

void losses_say(int map, const char *tool, const char *const *said, uint64_t *counts, size_t kinds)
{
	assert_true(map == LOST_MAP && kinds == PROFILE_LOSSES);
	fprintf(notes, "losses: %s ", said[PROFILE_LOSS_RING]);
}

struct events *events_new(int ring_fd, events_fn *fn, void *ctx, struct errmsg *err)
{
	assert_int_equal(ring_fd, EVENTS);
	world.fn = fn;
	world.ctx = ctx;
	return made("events", err);
}

/* --- a sample --- */

/* The first word tells how many frames there are; the second and third are marks. */
void joined_read(const struct joined_program *program, const struct profile_sample *sample,
		 const uint64_t *words, struct joined *out)
{
	uint64_t from;

	assert_ptr_equal(program->frames, &process.frames);
	out->count = words[0];
	for (uint64_t i = 0; i < out->count; i++)
		out->all[i] = (struct joined_frame){.addr = 10 + i};
	for (uint64_t i = 1; i < 3 && i < out->count; i++)
		out->all[i].mark = i == 1 ? program->place(program->ctx, 100, &from) : "[more]";
}

/* 14 is where every goroutine begins. */
void frames_all(const struct frames *frames, const uint64_t *addrs, size_t count,
		void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	for (size_t i = 0; i < count; i++) {
		const struct frame frame = {.func = addrs[i] == 14 ? "runtime.goexit" : "main.f",
					    .at = addrs[i]};

		fn(ctx, &frame);
	}
}

void profile_frame(void *ctx, const struct frame *frame)
{
	const struct profile_at *at = ctx;

	assert_ptr_equal(at->frames, &process.frames);
	fprintf(notes, "%c:%d ", which(at->profile), (int)frame->at);
}

void profile_kernel(struct profile *profile, const char *func, const char *module)
{
	if (!world.deep)
		fprintf(notes, "%c:%s_%s ", which(profile), func, module);
}

void labels_add(const struct profile_sample *sample, const uint64_t *words, const char *key,
		struct profile *profile)
{
	fprintf(notes, "%c:label_%s ", which(profile), key ? key : "any");
}

void profile_add(struct profile *profile, const uint64_t *values)
{
	fprintf(notes, "%c:%d,%d\n", which(profile), (int)values[0], (int)values[1]);
}

/* --- what is shown --- */

void profile_show(FILE *out, const struct profile *profile, const struct profile_style *style)
{
	fprintf(notes, "show %s %d%d%d%d ", style->type, style->json, style->folded, style->labels,
		style->begin == toolrun_json_time);
	fputs("profile\n", out);
}

int options_fail(const struct options_tool *tool, const struct errmsg *err)
{
	fprintf(notes, "\n%s: %s%s%s\n", tool->name, err->text, *err->hint ? "; " : "", err->hint);
	return 1;
}

static void take_samples(void)
{
	struct {
		struct profile_sample sample;
		uint64_t words[2 + PROFILE_KERNEL];
	} s = {.sample = {.count = 1, .kernel = 0}, .words = {6}};

	world.fn(&s, sizeof(s.sample) - 1, world.ctx);
	world.fn(&s, sizeof(s.sample) + 7, world.ctx); /* its words are not all there */
	world.fn(&s, sizeof(s.sample) + 8, world.ctx);
	if (world.not_wanted)
		return;
	s.words[0] = 1;
	s.sample.kernel = 3;
	s.sample.count = 3;
	if (world.deep)
		s.sample.kernel = s.sample.count = PROFILE_KERNEL;
	s.words[1] = 41;
	s.words[2] = 42;
	world.fn(&s, sizeof(s), world.ctx);
	s.words[0] = 0; /* nothing in it is sound */
	world.fn(&s, sizeof(s), world.ctx);
}

int session_run(struct session *ses, const struct session_spec *spec, enum session_end *end,
		struct errmsg *err)
{
	fprintf(notes, "\nrun %d %d %d %d %d %d\n", (int)spec->interval_ns, (int)spec->duration_ns,
		spec->process_fd, spec->event_fd, (int)spec->stream_ns, spec->stream_fd);
	if (result("session_run", err))
		return -1;
	*end = spec->process_fd >= 0 ? SESSION_PROCESS : SESSION_DURATION;
	take_samples();
	fprintf(notes, "stream: %d ", spec->stream(spec->ctx));
	spec->tick(spec->ctx);
	fprintf(notes, "stream: %d\n", spec->stream(spec->ctx));
	return 0;
}

static const struct options_tool tool = {.name = "tool"};
static struct options opts;
static struct sampling sampling;

static int setup(void **state)
{
	*state = NULL;
	world = (struct world){.fsbase = true, .types = true, .cgroup = -1};
	opts = (struct options){0};
	sampling = (struct sampling){.tool = &tool, .opts = &opts, .hz = 99};
	return 0;
}

struct texts {
	char *notes, *out, *err;
};

static int run(struct texts *texts)
{
	FILE *before[] = {stdout, stderr};
	size_t len;

	notes = open_memstream(&texts->notes, &len);
	stdout = open_memstream(&texts->out, &len);
	stderr = open_memstream(&texts->err, &len);
	int status = sampling_run(&sampling);

	fclose(notes);
	fclose(stdout);
	fclose(stderr);
	stdout = before[0];
	stderr = before[1];
	return status;
}

static void expect(int status, const char *want_notes, const char *want_out, const char *want_err)
{
	struct texts got;
	int ended = run(&got);

	assert_string_equal(got.notes, want_notes);
	assert_string_equal(got.out, want_out);
	assert_string_equal(got.err, want_err);
	assert_int_equal(ended, status);
	assert_true(world.cgroup < 0 || fcntl(world.cgroup, F_GETFD) < 0);
	free(got.notes);
	free(got.out);
	free(got.err);
}

#define CHECKED "progress_begin privileges registers events_check "
#define OPENED "samples/count cpu/nanoseconds* pprof_open session pidspace \n"
#define PROGRAM "goprofile.bpf.c RING_PAGES=1024 TARGETS=32768"
#define OFFSETS " FSBASE_OFF=55 TASK_LEADER=1 TASK_START=2 TASK_EXEC=3"
#define PLAIN CHECKED OPENED PROGRAM OFFSETS " TGID=-8\ncompile on_sample 0_0_0 "
#define BEGUN "vdso 0_99 sampler samples progress_end "
#define WHO(profile) profile "pid=7 " profile "comm=ser\tver "
#define FIRST(who, profile)                                                                        \
	profile "10 " profile "[vdso] " profile "[more] " profile "13 " profile "15 " WHO(profile) \
		who profile "1,10101010\n"
#define SECOND(who, profile)                                                                       \
	profile "k_ext4 " profile "[unknown]_kernel " profile "k_ext4 " profile "10 " WHO(profile) \
		who profile "1,10101010\n"
#define THIRD(who, profile) WHO(profile) who profile "1,10101010\n"
#define SAMPLES FIRST("", "s:") SECOND("", "s:") THIRD("", "s:")
#define SHOW(style) "read_all " style " profile_free samples flush "
#define STREAMED(style) "read stream: 1 " SHOW(style) "read stream: 1\n"
#define LOST_WORDS "losses: samples were lost: they came faster than they were read "
#define CLOSED "profile_free pprof_close events_free sampled_free vdso_free "

static void test_all(void **state)
{
	(void)state;
	sampling.label = "key"; /* without --labels it is none */
	expect(0,
	       PLAIN "sampled events " BEGUN "\nrun 0 0 -1 -1 100000000 71\nsession_run " SAMPLES
		       STREAMED("toolrun_print_time show profile 0000") "sampler_free " SHOW(
			       "toolrun_print_time show profile 0000") LOST_WORDS
	       "pprof_write session_free progress_end " CLOSED "bpfprog_free ",
	       "Sampling at 99 Hertz all Go programs... Hit Ctrl-C to end.\n"
	       "profile\nprofile\n",
	       "");
}

#define BOTH(which, who) which("s:label_" who " ", "s:") which("w:label_" who " ", "w:")

/* All that there is to ask for of one process */
static void test_process(void **state)
{
	char *args[] = {"user"};

	(void)state;
	opts = (struct options){.pid = PID,
				.patterns = args,
				.pattern_count = 1,
				.timestamp = true,
				.json = true,
				.verbose = true,
				.interval_ns = 3};
	sampling.labels = sampling.kernel = true;
	sampling.cgroup = "/sys\n";
	world.pprof = true;
	world.fsbase = world.types = false;
	world.missed = 2;
	world.outside = 1; /* none */
	expect(0,
	       CHECKED
	       "cgroup kallsyms " OPENED PROGRAM
	       " CGROUP=1 LABELS=1 KERNEL_STACK=1 TGID=-1\ncompile on_sample 0_7_0 sampled events "
	       "set_cgroup " BEGUN
	       "session_say_stopped w:begin w:10101010 \nrun 3 0 73 -1 100000000 "
	       "71\nsession_run " BOTH(FIRST, "user") BOTH(SECOND, "user") BOTH(THIRD, "user")
		       STREAMED("show profile 1011") "sampler_free w:end " SHOW("show profile 1011")
			       LOST_WORDS "sum pprof_write session_say_ended session_free "
					  "progress_end " CLOSED "kallsyms_close bpfprog_free ",
	       "profile\nprofile\n",
	       "#define RING_PAGES 1024\n#define TARGETS 32768\n#define CGROUP 1\n"
	       "#define LABELS 1\n#define KERNEL_STACK 1\n#define TGID -1\n"
	       "text of goprofile.bpf.c\nchatter\n"
	       "Sampling at 99 Hertz process 7 (ser\\tver) in cgroup \"/sys\\n\"... Hit Ctrl-C to "
	       "end.\n"
	       "tool: 2 samples are of processes that ended before it was known what they run\n");
}

static void test_file(void **state)
{
	char *args[] = {"a"};

	(void)state;
	opts.patterns = args;
	opts.pattern_count = 1;
	opts.duration_ns = 1500000000;
	opts.timestamp = true;
	sampling.folded = true;
	world.outside = 4;
	world.not_wanted = true;
	expect(0,
	       CHECKED
	       "a " OPENED PROGRAM OFFSETS " TGID=-8\ncompile on_sample 0_0_1 sampled events " BEGUN
	       "\nrun 0 1500000000 -1 -1 100000000 71\nsession_run " STREAMED(
		       "show profile 0101") "sampler_free " SHOW("show profile 0101") LOST_WORDS
	       "sum pprof_write session_free progress_end " CLOSED "bpfprog_free heldfile_close ",
	       "profile\nprofile\n",
	       "Sampling at 99 Hertz what runs \"/bin/a\\n\" for 1.5 s.\n"
	       "tool: 3 samples of processes outside this PID namespace were left out\n"
	       "hint: for all of the machine, run the tool in its namespace (docker run "
	       "--pid=host)\n");
}

/* A kernel's stack that may go on; "DURATION" alone; and what cannot be counted is not said */
static void test_rest(void **state)
{
	char *args[] = {"2"};
	struct texts got;

	(void)state;
	opts.patterns = args;
	opts.pattern_count = 1;
	opts.verbose = true;
	world.deep = true;
	world.outside = 4;
	world.fails = "sum";
	assert_int_equal(run(&got), 0);
	assert_non_null(strstr(got.notes, "ver s:1,10101010\ns:[more] s:10 s:pid=7 "));
	assert_non_null(strstr(got.notes, "\nrun 0 2000000000 -1 -1 100000000 71\n"));
	assert_non_null(strstr(got.out, "\n#define TGID -8\ntext of goprofile.bpf.c\n"
					"Sampling at 99 Hertz all Go programs for 2 s.\n"));
	assert_string_equal(got.err, "chatter\n");
	free(got.notes);
	free(got.out);
	free(got.err);
}

#define UNDONE "progress_end pprof_close "
#define UNTRACED UNDONE "kallsyms_close heldfile_close \ntool: no "
#define STOPPED "kallsyms_close bpfprog_free heldfile_close \ntool: "
#define ENDED "session_free progress_end "

static const struct failure {
	const char *fails, *then;
} failures[] = {
	{"privileges", UNDONE "\ntool: no privileges\n"},
	{"registers", UNDONE "\ntool: this kernel does not tell BPF programs the registers of a "
			     "thread that it works for; Linux 5.15 or later does, if it has BTF "
			     "(CONFIG_DEBUG_INFO_BTF)\n"},
	{"events_check", UNDONE "\ntool: no events_check\n"},
	{"a", UNDONE "\ntool: no a\n"},
	{"cgroup", UNDONE "heldfile_close \ntool: no cgroup\n"},
	{"kallsyms", UNDONE "heldfile_close \ntool: no kallsyms\n"},
	{"pprof_open", UNTRACED "pprof_open\n"},
	{"session", UNTRACED "session\n"},
	{"pidspace", "session_free " UNTRACED "pidspace\n"},
	{"compile", "session_free " UNTRACED "compile\n"},
	{"on_sample", ENDED "pprof_close " STOPPED "no on_sample\n"},
	{"sampled", ENDED "pprof_close " STOPPED "no sampled\n"},
	{"events", ENDED "pprof_close sampled_free " STOPPED "no events\n"},
	{"set_cgroup", ENDED "pprof_close events_free sampled_free " STOPPED
			     "cannot sample cgroup \"/c\": Bad file descriptor\n"},
	{"sampler", ENDED "pprof_close events_free sampled_free vdso_free " STOPPED "no sampler\n"},
	{"session_run", ENDED "profile_free pprof_close sampler_free events_free sampled_free "
			      "vdso_free " STOPPED "no session_run\n"},
	{"flush", "read stream: 0\nsampler_free read_all toolrun_print_time show profile 0000 "
		  "profile_free samples " LOST_WORDS ENDED CLOSED STOPPED "no flush\n"},
	{"pprof_write", ENDED CLOSED STOPPED "no pprof_write\n"},
};

static void test_failures(void **state)
{
	char *args[] = {"a"};

	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		struct texts got;

		setup(state);
		opts.patterns = args;
		opts.pattern_count = 1;
		sampling.kernel = true;
		sampling.cgroup = "/c";
		world.fails = failures[i].fails;
		assert_int_equal(run(&got), 1);
		char *word = mem_printf("%s ", world.fails);

		assert_string_equal(strstr(got.notes, word) + strlen(word), failures[i].then);
		free(word);
		free(got.notes);
		free(got.out);
		free(got.err);
	}
}

static void test_refused(void **state)
{
	char *args[] = {"a", "b", NULL};

	(void)state;
	opts = (struct options){.pid = PID, .patterns = args, .pattern_count = 1};
	expect(1, "progress_begin " UNDONE "\ntool: one BINARY, or -p PID, or neither\n", "", "");
	opts = (struct options){.patterns = args, .pattern_count = 2};
	expect(1, "progress_begin " UNDONE "\ntool: one BINARY, or -p PID, or neither\n", "", "");
	opts.command = args;
	expect(1, "progress_begin " UNDONE "\ntool: tool starts no COMMAND\n", "", "");
	sampling.off_cpu = true; /* a run of its own */
	expect(7, "wall ", "", "");
}

#define CASE(name) cmocka_unit_test_setup(name, setup)
int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_all),  CASE(test_process),  CASE(test_file),
		CASE(test_rest), CASE(test_failures), CASE(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
} /* NOLINTEND(misc-unused-parameters) */
