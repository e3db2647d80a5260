// SPDX-License-Identifier: Apache-2.0
/* goleaks: which go statements leave ever more goroutines behind, in a running Go program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/number.h"
#include "base/signals.h"
#include "files/process.h"
#include "frames/frame_print.h"
#include "frames/frames.h"
#include "gostacks/goprocesses.h"
#include "gostacks/goroutines_pick.h"
#include "gostacks/goroutines_print.h"
#include "gostacks/leaks.h"
#include "profile/pprof.h"
#include "profile/profile.h"
#include "blocked/births.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

#define SECOND_NS UINT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

enum { STATE_WIDTH = 18 };

struct goleaks {
	struct options opts;
	pid_t pid;
	struct goprocesses procs;              /* that one */
	struct leaks *leaks;                   /* in the process that looks, as are the snapshots */
	const struct goprocesses_one *process; /* likewise */
	bool exact;
	struct profile *profile;   /* of who looks, for --pprof; NULL: none is asked for */
	int profile_fd;            /* through which it comes to the tool; 0: none */
	const struct toolrun *run; /* NULL: nothing is probed */
	struct births *births;     /* NULL: they are not counted one by one */
	struct snapshot snap;      /* the last */
	bool has_snap;
	uint64_t looked_ns, passed_ns; /* when, and how long after the one before */
	bool has_looked;
	struct errmsg why; /* "" while all is well */
};

static const struct options_tool tool;

/* --- text --- */

/* "45s", "12m", "1h02", "3d04" */
static void print_age(uint64_t ns)
{
	uint64_t seconds = ns / SECOND_NS, minutes = seconds / 60, hours = minutes / 60;
	char text[32];

	if (!ns)
		snprintf(text, sizeof(text), "-");
	else if (!minutes)
		snprintf(text, sizeof(text), "%" PRIu64 "s", seconds);
	else if (!hours)
		snprintf(text, sizeof(text), "%" PRIu64 "m", minutes);
	else if (hours < 24)
		snprintf(text, sizeof(text), "%" PRIu64 "h%02" PRIu64, hours, minutes % 60);
	else
		snprintf(text, sizeof(text), "%" PRIu64 "d%02" PRIu64, hours / 24, hours % 24);
	printf(" %7s", text);
}

static void print_counts(const struct goleaks *goleaks, const struct leak *leak)
{
	int64_t more = (int64_t)leak->born - (int64_t)leak->ended;

	if (goleaks->passed_ns)
		printf("%6" PRId64 " %7" PRId64 " %7zu %+7" PRId64,
		       leak_a_minute((int64_t)leak->born, goleaks->passed_ns),
		       leak_a_minute((int64_t)leak->ended, goleaks->passed_ns), leak->live,
		       leak_a_minute(more, goleaks->passed_ns));
	else
		printf("%6s %7s %7zu %7s", "-", "-", leak->live, "-");
}

static bool find_creator(const struct goleaks *goleaks, const struct leak *leak, struct frame *out)
{
	const struct frames *frames = goprocess_frames(goleaks->process->gp);

	return leak->created_by && frames_go_statement(frames, leak->created_by, out);
}

static void print_creator(const struct goleaks *goleaks, const struct leak *leak)
{
	struct frame creator;

	if (find_creator(goleaks, leak, &creator))
		frame_print(stdout, &creator);
	else
		putchar('?');
}

static void print_verdict(const struct goleaks *goleaks, const struct leak *leak)
{
	if (!leak_only_grows(leak))
		return;
	printf("        only grows: from %zu to %zu in %" PRIu64 "s, and ", leak->first_live,
	       leak->live, (goleaks->snap.when_ns - leak->first_ns) / SECOND_NS);
	if (leak->all_ended)
		printf("%zu have ended\n", leak->all_ended);
	else
		puts("none has ended");
}

static void print_leak(const struct goleaks *goleaks, const struct leak *leak)
{
	print_counts(goleaks, leak);
	print_age(leak->oldest_ns);
	fputs("  ", stdout);
	const char *state = leak->live ? leak->state : "-";

	escape_print(stdout, state);
	printf("%*s ", (int)(strlen(state) < STATE_WIDTH ? STATE_WIDTH - strlen(state) : 0), "");
	print_creator(goleaks, leak);
	putchar('\n');
	print_verdict(goleaks, leak);
}

static void print_text(const struct goleaks *goleaks, const struct leak *all, size_t count)
{
	const struct goroutines_pick pick = {0};
	size_t picked_count;
	const struct frames *frames = goprocess_frames(goleaks->process->gp);
	unsigned char *picked = goroutines_pick(&pick, &goleaks->snap, frames, &picked_count);
	struct goroutines_view view = {.snap = &goleaks->snap,
				       .picked = picked,
				       .frames = frames,
				       .pid = goleaks->process->pid,
				       .release = goprocess_release(goleaks->process->gp),
				       .name = goleaks->process->name};

	goroutines_print_title(stdout, &view);
	if (count)
		puts("  BORN   ENDED    LIVE   +/min  OLDEST  STATE              CREATED BY");
	for (size_t i = 0; i < count; i++)
		print_leak(goleaks, &all[i]);
	free(picked);
}

/* --- JSON --- */

static void json_creator(struct json *json, const struct goleaks *goleaks, const struct leak *leak)
{
	struct frame creator;

	json_key(json, "created_by");
	if (!find_creator(goleaks, leak, &creator)) {
		json_null(json);
		return;
	}
	json_object(json);
	frame_json(json, &creator);
	json_object_end(json);
}

static void json_leak(const struct goleaks *goleaks, const struct leak *leak)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", "leak");
	if (goleaks->opts.timestamp)
		toolrun_json_time(&json);
	json_creator(&json, goleaks, leak);
	json_member_u64(&json, "live", leak->live);
	json_member_u64(&json, "born", leak->born);
	json_member_u64(&json, "ended", leak->ended);
	json_member_u64(&json, "interval_ns", goleaks->passed_ns);
	json_member_u64(&json, "first_live", leak->first_live);
	json_member_u64(&json, "watched_ns", goleaks->snap.when_ns - leak->first_ns);
	json_key(&json, "oldest_ns");
	if (leak->oldest_ns)
		json_u64(&json, leak->oldest_ns);
	else
		json_null(&json);
	json_member_string(&json, "state", leak->live ? leak->state : NULL);
	json_member_bool(&json, "only_grows", leak_only_grows(leak));
	json_object_end(&json);
}

/* --- profile --- */

static const struct profile_type profile_types[] = {
	{"live", "count"}, {"born", "count"}, {"ended", "count"}};
static const struct profile_spec profile_spec = {
	.tool = "goleaks", .types = profile_types, .type_count = 3};

static void profile_leak(const struct goleaks *goleaks, const struct leak *leak, uint64_t live,
			 uint64_t born, uint64_t ended)
{
	struct profile_at at = {goleaks->profile, goprocess_frames(goleaks->process->gp)};
	struct frame creator;

	if (!live && !born && !ended)
		return;
	if (find_creator(goleaks, leak, &creator))
		profile_frame(&at, &creator);
	else
		profile_word(goleaks->profile, "[unknown]");
	profile_number(goleaks->profile, "pid", goleaks->process->pid);
	profile_label(goleaks->profile, "comm", goleaks->process->name);
	profile_add(goleaks->profile, (uint64_t[]){live, born, ended});
}

/* Those that live, at the last look */
static void profile_live(const struct goleaks *goleaks)
{
	size_t count;
	struct leak *all = leaks_all(goleaks->leaks, &count);

	for (size_t i = 0; goleaks->profile && i < count; i++)
		profile_leak(goleaks, &all[i], all[i].live, 0, 0);
	free(all);
}

/* --- run --- */

static void show(struct goleaks *goleaks, const struct leak_births *births, size_t birth_count)
{
	size_t left_out = leaks_look(goleaks->leaks, &goleaks->snap,
				     goprocess_frames(goleaks->process->gp), births, birth_count);
	size_t count;
	struct leak *all = leaks_all(goleaks->leaks, &count);

	if (!goleaks->opts.json && (goleaks->passed_ns || goleaks->opts.timestamp))
		toolrun_print_time(&goleaks->opts);
	if (!goleaks->opts.json)
		print_text(goleaks, all, count);
	for (size_t i = 0; goleaks->opts.json && i < count; i++)
		json_leak(goleaks, &all[i]);
	for (size_t i = 0; goleaks->profile && i < count; i++)
		profile_leak(goleaks, &all[i], 0, all[i].born, all[i].ended);
	goroutines_print_left_out(&goleaks->snap, left_out, tool.name);
	free(all);
}

/* --- in a process of its own --- */

enum { LOOK_READ, LOOK_SHOW, LOOK_PROFILE };

static int take_snapshot(struct goleaks *goleaks, struct errmsg *err)
{
	static const struct goprocess_wanted wanted = {0};
	struct snapshot snap;

	if (goprocess_snapshot(goleaks->process->gp, &wanted, &snap, err))
		return -1;
	if (goleaks->has_snap) {
		goleaks->passed_ns = snap.when_ns - goleaks->looked_ns;
		snapshot_free(&goleaks->snap);
	}
	goleaks->looked_ns = snap.when_ns;
	goleaks->snap = snap;
	goleaks->has_snap = true;
	return 0;
}

static int look_at(void *ctx, const struct goprocesses_one *one, int what, const void *more,
		   size_t len, uint64_t *count, struct errmsg *err)
{
	struct goleaks *goleaks = ctx;

	*count = 0;
	goleaks->process = one;
	if (!goleaks->leaks)
		goleaks->leaks = leaks_new();
	if (!goleaks->profile && goleaks->opts.pprof)
		goleaks->profile = profile_new(&profile_spec);
	if (what == LOOK_READ)
		return take_snapshot(goleaks, err);
	if (what == LOOK_PROFILE) {
		profile_live(goleaks);
		return profile_pass(goleaks->profile, goleaks->profile_fd, err);
	}
	/* births may be none, and still counted */
	show(goleaks, goleaks->exact ? more : NULL, len / sizeof(struct leak_births));
	return 0;
}

static void end_looking(void *ctx)
{
	struct goleaks *goleaks = ctx;

	leaks_free(goleaks->leaks);
	profile_free(goleaks->profile);
	if (goleaks->has_snap)
		snapshot_free(&goleaks->snap);
}

/* --- in the tool --- */

/* Of all looks; `to` NULL: none is asked for. */
static int take_profile(struct goleaks *goleaks, struct profile *to, struct errmsg *err)
{
	uint64_t none;

	if (!to)
		return 0;
	if (goprocesses_look(&goleaks->procs, 0, LOOK_PROFILE, NULL, 0, &none, err))
		return -1;
	return profile_take(to, goleaks->profile_fd, err);
}

static bool look(void *ctx)
{
	struct goleaks *goleaks = ctx;
	struct leak_births *births = NULL;
	size_t count = 0;
	uint64_t none;

	goleaks->looked_ns = clock_ns();
	if (goprocesses_look(&goleaks->procs, 0, LOOK_READ, NULL, 0, &none, &goleaks->why) ||
	    (goleaks->births && births_read(goleaks->births, &births, &count, &goleaks->why)))
		return false;
	bool shown = !goprocesses_look(&goleaks->procs, 0, LOOK_SHOW, births,
				       count * sizeof(*births), &none, &goleaks->why);

	free(births);
	goleaks->has_looked |= shown;
	return shown;
}

/* The end may fall on an interval, which has been shown then. */
static void look_last(struct goleaks *goleaks, enum session_end end)
{
	bool just = clock_ns() - goleaks->looked_ns < goleaks->opts.interval_ns / 4;

	if (end == SESSION_SIGNAL || (end == SESSION_DURATION && !just))
		look(goleaks);
}

static int watch(struct goleaks *goleaks, struct errmsg *err)
{
	const struct process *proc = goleaks->procs.all->proc;
	struct session_spec spec = {.duration_ns = goleaks->opts.duration_ns,
				    .process_fd = process_fd(proc),
				    .event_fd = -1,
				    .stream_ns = goleaks->opts.interval_ns,
				    .stream_fd = -1,
				    .stream = look,
				    .ctx = goleaks};
	struct session *ses = session_new(err);
	enum session_end end = SESSION_PROCESS;
	int ret = ses ? 0 : -1;

	if (!ret && look(goleaks))
		ret = session_run(ses, &spec, &end, err);
	if (!ret)
		look_last(goleaks, end);
	/* that it has ended is no failure, once there was something to see */
	if (!ret && goleaks->why.text[0] && (process_runs(proc) || !goleaks->has_looked)) {
		*err = goleaks->why;
		ret = -1;
	}
	if (!ret && (end == SESSION_PROCESS || goleaks->why.text[0]) && !process_runs(proc))
		session_say_ended(tool.name, goleaks->procs.all->pid);
	session_free(ses);
	return ret;
}

static int watch_and_write(struct goleaks *goleaks, struct errmsg *err)
{
	struct pprof pprof;
	int ret = pprof_open(&pprof, goleaks->opts.pprof, &profile_spec, err);

	if (!ret)
		ret = watch(goleaks, err);
	if (pprof.profile)
		profile_end(pprof.profile);
	if (!ret)
		ret = take_profile(goleaks, pprof.profile, err);
	if (!ret)
		ret = pprof_write(&pprof, err);
	pprof_close(&pprof);
	return ret;
}

/* --- with each birth and end counted --- */

/* That the process has ended is no failure, once there was something to see. */
static int look_exactly(struct goleaks *goleaks, struct errmsg *err)
{
	if (look(goleaks) || (goleaks->has_looked && !process_runs(goleaks->procs.all->proc)))
		return 0;
	*err = goleaks->why;
	return -1;
}

static int begin_exactly(void *ctx, struct tracer *tracer, struct errmsg *err)
{
	struct goleaks *goleaks = ctx;

	births_begin(goleaks->births, tracer);
	return look_exactly(goleaks, err);
}

static void started(void *ctx)
{
	(void)ctx; /* the first look has been shown */
}

static int show_exactly(void *ctx, bool final, struct errmsg *err)
{
	struct goleaks *goleaks = ctx;
	int ret = process_runs(goleaks->procs.all->proc) ? look_exactly(goleaks, err) : 0;

	if (final && !ret)
		ret = take_profile(goleaks, goleaks->run->profile, err);
	return ret;
}

static void say_lost(void *ctx)
{
	const struct goleaks *goleaks = ctx;

	births_say_lost(goleaks->births, "goleaks");
}

/* Returns the exit status. */
static int watch_exactly(struct goleaks *goleaks)
{
	static char *none[] = {NULL};
	struct toolrun run = {.tool = &tool,
			      .opts = &goleaks->opts,
			      .config = {.patterns = none},
			      .begin = begin_exactly,
			      .started = started,
			      .show = show_exactly,
			      .lost = say_lost,
			      .profile_spec = &profile_spec,
			      .quiet_end = true,
			      .ctx = goleaks};

	goleaks->opts.pid = goleaks->pid;
	goleaks->run = &run;
	goleaks->births = births_new(&run);
	int status = toolrun(&run);

	births_free(goleaks->births);
	return status;
}

static void fail(void *ctx, const struct errmsg *err)
{
	*(struct errmsg *)ctx = *err;
}

/* Returns the exit status. */
static int run(struct goleaks *goleaks)
{
	const struct goprocesses_wanted wanted = {.pids = &goleaks->pid, .pid_count = 1};
	const struct goprocesses_work work = {.look = look_at, .end = end_looking, .ctx = goleaks};
	struct goprocesses *procs = &goleaks->procs;
	struct errmsg failure = {0}, *err = &failure;
	int ret = profile_channel(goleaks->opts.pprof, &goleaks->profile_fd, err), status = 0;

	if (!ret)
		ret = goprocesses_open(&wanted, &work, procs, fail, err, err);
	if (!ret && !procs->count)
		ret = -1; /* with the message that fail() has kept */
	if (!ret && goleaks->exact)
		status = watch_exactly(goleaks);
	else if (!ret)
		ret = watch_and_write(goleaks, err);
	if (!goprocesses_close(procs) && !ret)
		status = 1;
	if (goleaks->profile_fd > 0)
		close(goleaks->profile_fd);
	if (!ret && !status)
		ret = session_flush(err);
	return ret ? options_fail(&tool, err) : status;
}

/* --- options --- */

enum { LETTER_EXACT = 256 };

static const struct options_def own_defs[] = {
	{'p', "pid", "PID", "the process to read; it is not stopped"},
	{'i', "interval", "INTERVAL", "snapshot interval, in seconds, or as 10m (default 60)"},
	{'d', "duration", "DURATION", "end after so long, in seconds, or as 1h30m"},
	{LETTER_EXACT, "exact", NULL,
	 "count each birth and end by probes, also between two snapshots"},
	{0},
};

static int take_pid(struct goleaks *goleaks, const char *text, struct errmsg *err)
{
	uint64_t pid;

	if (!number_parse(text, INT32_MAX, &pid) || !pid)
		return errmsg_set(err, "\"%s\" is not a process ID", text);
	goleaks->pid = pid;
	return 0;
}

static int take_time(uint64_t *ns, const char *what, const char *text, struct errmsg *err)
{
	if (number_parse_duration(text, ns))
		return 0;
	return errmsg_set(err, "%s of \"%s\": not a positive number of seconds", what, text);
}

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct goleaks *goleaks = ctx;

	switch (letter) {
	case 'i':
		return take_time(&goleaks->opts.interval_ns, "interval", value, err);
	case 'd':
		return take_time(&goleaks->opts.duration_ns, "duration", value, err);
	case LETTER_EXACT:
		goleaks->exact = true;
		return 0;
	default:
		return take_pid(goleaks, value, err);
	}
}

static int check(struct goleaks *goleaks, struct errmsg *err)
{
	const struct options *opts = &goleaks->opts;

	if (opts->command)
		return errmsg_set(err, "goleaks starts no COMMAND");
	if (opts->pattern_count > (goleaks->pid ? 0 : 1))
		return errmsg_set(err, "one PID is all that goleaks takes");
	if (!opts->interval_ns)
		goleaks->opts.interval_ns = MINUTE_NS;
	/* what is shorter than an interval has a look at its start and one at its end */
	if (!goleaks->exact && opts->duration_ns && opts->duration_ns < opts->interval_ns)
		goleaks->opts.interval_ns = opts->duration_ns;
	if (goleaks->pid)
		return 0;
	if (!opts->pattern_count)
		return errmsg_set(err, "no PID given");
	return take_pid(goleaks, opts->patterns[0], err);
}

static const char examples[] = "    goleaks 181                # every minute, until Ctrl-C\n"
			       "    goleaks -i 10 -d 5m 181    # every 10 seconds, for 5 minutes\n"
			       "    goleaks -j -i 10m 181      # one JSON object a go statement\n"
			       "    goleaks -d 10m --pprof leaks.pb.gz 181  # for go tool "
			       "pprof\n"
			       "    goleaks --exact 181        # with those that live briefly\n";

static struct goleaks goleaks;

static const struct options_tool tool = {.name = "goleaks",
					 .about = "Show which go statements leave ever more "
						  "goroutines behind",
					 .args = "[PID]",
					 .process = true,
					 .shared = "Tj",
					 .pprof = true,
					 .own = own_defs,
					 .take = take_option,
					 .ctx = &goleaks,
					 .examples = examples};

int main(int argc, char **argv)
{
	struct errmsg err = {0};

	signals_default();
	enum options_result result = options_parse(&tool, argc, argv, &goleaks.opts, &err);

	if (result == OPTIONS_RUN && check(&goleaks, &err))
		result = OPTIONS_BAD;
	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	return run(&goleaks);
}
