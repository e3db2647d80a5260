// SPDX-License-Identifier: Apache-2.0
#include "leakrun.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "blocked/births.h"
#include "faketool.h"
#include "files/process.h"
#include "frames/frames.h"
#include "gostacks/goprocess.h"
#include "gostacks/goroutines_pick.h"
#include "gostacks/goroutines_print.h"
#include "profile/pprof.h"
#include "profile/profile.h"
#include "unit.h"

#define SECOND_NS UINT64_C(1000000000)

struct leakrun leakrun;

uint64_t clock_ns(void)
{
	return leakrun.now_ns;
}

/* --- in place of the process and who leakrun.looks at it --- */

int process_fd(const struct process *proc)
{
	assert_ptr_equal(proc, FAKETOOL_SOME(process));
	return LEAKRUN_PROCESS_FD;
}

bool process_runs(const struct process *proc)
{
	assert_ptr_equal(proc, FAKETOOL_SOME(process));
	return leakrun.runs;
}

const struct frames *goprocess_frames(const struct goprocess *gp)
{
	assert_ptr_equal(gp, FAKETOOL_SOME(goprocess));
	return FAKETOOL_SOME(frames);
}

int goprocess_release(const struct goprocess *gp)
{
	assert_ptr_equal(gp, FAKETOOL_SOME(goprocess));
	return 27;
}

int goprocess_snapshot(struct goprocess *gp, const struct goprocess_wanted *wanted,
		       struct snapshot *out, struct errmsg *err)
{
	assert_ptr_equal(gp, FAKETOOL_SOME(goprocess));
	assert_false(wanted->args || wanted->waits || wanted->labels || wanted->stop);
	*out = (struct snapshot){.when_ns = leakrun.now_ns += SECOND_NS};
	return faketool.failing && !strcmp(faketool.failing, "snapshot")
		       ? errmsg_set(err, "snapshot fails")
		       : 0;
}

void snapshot_free(struct snapshot *snap)
{
	assert_non_null(snap);
}

void goroutines_print_title(FILE *out, const struct goroutines_view *view)
{
	assert_false(view->several || view->has_labels || view->shows_labels || view->waits);
	fprintf(out, "%d %s (go1.%d)\n", view->pid, view->name, view->release);
}

void goroutines_print_left_out(const struct snapshot *snap, size_t more, const char *tool)
{
	assert_non_null(snap);
	if (more)
		fprintf(stderr, "%s: %zu left out\n", tool, more);
}

unsigned char *goroutines_pick(const struct goroutines_pick *pick, const struct snapshot *snap,
			       const struct frames *frames, size_t *count)
{
	assert_ptr_equal(frames, FAKETOOL_SOME(frames));
	assert_false(pick->goid || pick->system || pick->state);
	*count = snap->count;
	return calloc(1, 1);
}

/* --- in place of frames --- */

bool frames_go_statement(const struct frames *frames, uint64_t addr, struct frame *out)
{
	assert_ptr_equal(frames, FAKETOOL_SOME(frames));
	*out = (struct frame){.func = "main.run\x1b", .file = "/src/main.go", .line = addr & 0xff};
	return addr >= LEAKRUN_GO_STATEMENT;
}

void frames_each(const struct frames *frames, const uint64_t *addrs, size_t count,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	(void)frames;
	(void)addrs;
	(void)count;
	(void)fn;
	(void)ctx;
	fail_msg("no stack is shown");
}

/* --- in place of leaks --- */

struct leaks *leaks_new(void)
{
	return FAKETOOL_SOME(leaks);
}

void leaks_free(struct leaks *leaks)
{
	assert_true(!leaks || leaks == FAKETOOL_SOME(leaks));
}

size_t leaks_look(struct leaks *leaks, const struct snapshot *snap, const struct frames *frames,
		  const struct leak_births *births, size_t count)
{
	assert_ptr_equal(leaks, FAKETOOL_SOME(leaks));
	assert_ptr_equal(frames, FAKETOOL_SOME(frames));
	assert_int_equal(snap->when_ns, leakrun.now_ns);
	if (births)
		faketool_note("%zu births of %d\n", count, count ? (int)births[0].born : 0);
	return leakrun.left_out;
}

struct leak *leaks_all(const struct leaks *leaks, size_t *count)
{
	struct leak *copy = malloc(sizeof(leakrun.all));

	assert_ptr_equal(leaks, FAKETOOL_SOME(leaks));
	memcpy(copy, leakrun.all, sizeof(leakrun.all));
	for (*count = 0; *count < LEAKRUN_LEAKS && leakrun.all[*count].looks; (*count)++)
		;
	return copy;
}

bool leak_only_grows(const struct leak *leak)
{
	return leak->grown == 3;
}

int64_t leak_a_minute(int64_t count, uint64_t ns)
{
	return count * 60 / (int64_t)(ns / SECOND_NS);
}

/* --- in place of a profile that is passed on --- */

struct profile *profile_new(const struct profile_spec *spec)
{
	assert_int_equal(spec->type_count, 3);
	return FAKETOOL_SOME(profile);
}

void profile_free(struct profile *profile)
{
	assert_true(!profile || profile == FAKETOOL_SOME(profile));
}

void profile_end(struct profile *profile)
{
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	faketool_note("ends\n");
}

void profile_frame(void *ctx, const struct frame *frame)
{
	const struct profile_at *at = ctx;

	assert_ptr_equal(at->profile, FAKETOOL_SOME(profile));
	assert_ptr_equal(at->frames, FAKETOOL_SOME(frames));
	faketool_note("line %d ", frame->line);
}

void profile_word(struct profile *profile, const char *word)
{
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	faketool_note("%s ", word);
}

void profile_label(struct profile *profile, const char *key, const char *text)
{
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	faketool_note("%s=%s ", key, text);
}

void profile_number(struct profile *profile, const char *key, uint64_t number)
{
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	faketool_note("%s=%d ", key, (int)number);
}

void profile_add(struct profile *profile, const uint64_t *values)
{
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	faketool_note("live %d born %d ended %d\n", (int)values[0], (int)values[1], (int)values[2]);
}

int profile_channel(const char *path, int *fd, struct errmsg *err)
{
	*fd = 0;
	return path ? faketool_answer(path, err) : 0;
}

int profile_pass(const struct profile *profile, int fd, struct errmsg *err)
{
	assert_int_equal(fd, 0);
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	return faketool_answer("pass", err);
}

int profile_take(struct profile *profile, int fd, struct errmsg *err)
{
	assert_int_equal(fd, 0);
	assert_ptr_equal(profile, FAKETOOL_SOME(profile));
	return faketool_answer("take", err);
}

int pprof_open(struct pprof *pprof, const char *path, const struct profile_spec *spec,
	       struct errmsg *err)
{
	assert_string_equal(spec->tool, "goleaks");
	*pprof = (struct pprof){.profile = path ? FAKETOOL_SOME(profile) : NULL};
	return path ? faketool_answer("open pprof", err) : 0;
}

int pprof_write(const struct pprof *pprof, struct errmsg *err)
{
	return pprof->profile ? faketool_answer("write", err) : 0;
}

void pprof_close(struct pprof *pprof)
{
	assert_non_null(pprof);
}

/* --- in place of the session --- */

struct session *session_new(struct errmsg *err)
{
	return faketool_answer("session", err) ? NULL : FAKETOOL_SOME(session);
}

int session_run(struct session *ses, const struct session_spec *spec, enum session_end *end,
		struct errmsg *err)
{
	assert_ptr_equal(ses, FAKETOOL_SOME(session));
	assert_int_equal(spec->process_fd, LEAKRUN_PROCESS_FD);
	assert_int_equal(spec->event_fd, -1);
	assert_int_equal(spec->stream_fd, -1);
	faketool_note("every %d s for %d s\n", (int)(spec->stream_ns / SECOND_NS),
		      (int)(spec->duration_ns / SECOND_NS));
	*end = leakrun.session_ends;
	for (unsigned i = 0; i < leakrun.looks; i++)
		if (!spec->stream(spec->ctx))
			*end = SESSION_ENOUGH;
	leakrun.now_ns += leakrun.passes_ns;
	if (leakrun.passes_ns && faketool.failing && !strcmp(faketool.failing, "gone"))
		faketool.failing = "read";
	return faketool_answer("run", err);
}

void session_free(struct session *ses)
{
	assert_true(!ses || ses == FAKETOOL_SOME(session));
}

int session_flush(struct errmsg *err)
{
	return faketool_answer("flush", err);
}

void session_say_ended(const char *name, pid_t pid)
{
	assert_string_equal(name, "goleaks");
	faketool_note("%d has ended\n", pid);
}

/* --- in place of births --- */

struct births *births_new(struct toolrun *run)
{
	run->config.bpf_file = "goleaks.bpf.c";
	return FAKETOOL_SOME(births);
}

void births_free(struct births *births)
{
	assert_true(!births || births == FAKETOOL_SOME(births));
}

void births_begin(struct births *births, const struct tracer *tracer)
{
	assert_ptr_equal(births, FAKETOOL_SOME(births));
	assert_null(tracer);
	faketool_note("births begin\n");
}

int births_read(struct births *births, struct leak_births **out, size_t *count, struct errmsg *err)
{
	assert_ptr_equal(births, FAKETOOL_SOME(births));
	*out = calloc(2, sizeof(**out));
	(*out)[0].born = 8;
	*count = 2;
	if (!faketool_answer("births", err))
		return 0;
	free(*out);
	*out = NULL;
	return -1;
}

void births_say_lost(const struct births *births, const char *tool)
{
	assert_ptr_equal(births, FAKETOOL_SOME(births));
	fprintf(stderr, "%s: births lost\n", tool);
}
