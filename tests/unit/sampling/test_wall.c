// SPDX-License-Identifier: Apache-2.0
/* goprofile --off-cpu: what runs and what does not, in one profile. Samples, waits and their stacks
 * are the test's, and write down what they are asked. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/json.h"
#include "blocked/blocked.h"
#include "blocked/stacks.h"
#include "faketool.h"
#include "frames/frames.h"
#include "kernel/events.h"
#include "printed.h"
#include "profile/profile.h"
#include "profile/profile_show.h"
#include "sampling/labels_internal.h"
#include "sampling/samples_internal.h"
#include "sampling/wall_internal.h"
#include "steps.h"
#include "tracing/options.h"
#include "tracing/session.h"
#include "tracing/toolrun.h"

enum { PID = 181, PROG = 12, BIAS = 0x5000, MS = 1000000 };
enum { UNKNOWN, WORKER, SYSTEM }; /* stacks */

static const struct sampled_process process = {.pid = PID, .comm = "app\x1b"};
static struct samples *taken; /* of the run */
static const struct blocked_beside *added;
static bool with_profile;

/* most do not look at what they are given: NOLINTBEGIN(misc-unused-parameters) */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* --- in place of samples --- */

int samples_open(struct samples *samples, const char *binary, struct errmsg *err)
{
	taken = samples;
	assert_null(binary);
	assert_true(samples->cgroup == -1 && !strcmp(samples->state, "running"));
	return steps_answer(err, "open %d %s", samples->wanted.pid,
			    samples->label ? samples->label : "-");
}

int samples_load(struct samples *samples, int *prog, struct errmsg *err)
{
	*prog = PROG;
	return steps_answer(err, "load");
}

int samples_begin(struct samples *samples, int prog, struct errmsg *err)
{
	assert_true(samples->shown && prog == PROG);
	return steps_answer(err, "begin%s", samples->written ? " for a file" : "");
}

void samples_end(struct samples *samples)
{
	steps_are("end");
}

void samples_say_lost(const struct samples *samples)
{
	assert_ptr_equal(samples, taken);
	steps_are("lost");
}

void samples_close(struct samples *samples)
{
	steps_are("close");
}

const struct sampled_process *sampled_first(const struct sampled *sampled)
{
	return &process;
}

bool events_read(struct events *events, bool all)
{
	steps_are(all ? "read all" : "read");
	return true;
}

void labels_add(const struct profile_sample *sample, const uint64_t *words, const char *key,
		struct profile *profile)
{
	assert_ptr_equal(words, sample + 1);
	profile_program_label(profile, key ? key : "all", "label");
}

/* --- in place of waits and their stacks --- */

const struct stacks *blocked_stacks(const struct blocked *blocked)
{
	return NULL;
}

uint64_t blocked_bias(const struct blocked *blocked, const struct wait_key *key)
{
	return BIAS;
}

bool blocked_labels(const struct blocked *blocked, const struct wait_key *key,
		    struct wait_labels *out)
{
	return key->labels;
}

struct frames stacks_frames(const struct stacks *stacks, uint64_t bias)
{
	assert_int_equal(bias, BIAS);
	return (struct frames){.bias = bias};
}

bool stacks_each(const struct stacks *stacks, uint64_t hash, uint64_t bias, bool all,
		 void (*fn)(void *ctx, const struct frame *frame), void *ctx)
{
	assert_true(all && bias == BIAS);
	if (hash == UNKNOWN)
		return false;
	fn(ctx, &(struct frame){.func = "gopark", .number = 1});
	fn(ctx,
	   &(struct frame){.func = hash == SYSTEM ? "runtime.bgsweep" : "main.f", .number = 2});
	fn(ctx, &(struct frame){.func = "runtime.goexit"});
	return true;
}

/* ... and of profile/profile_mapping.c */
uint64_t profile_mapping(struct profile *profile, const struct frames *frames, uint64_t addr)
{
	assert_int_equal(frames->bias, BIAS);
	return 0; /* JSON tells none */
}

static void add_rows(void)
{
	static const struct {
		struct wait_key key;
		const char *state;
		uint64_t ns;
	} rows[] = {
		{{.stack = UNKNOWN}, "select", 1 * MS},
		{{.stack = SYSTEM}, "GC sweep wait", 2 * MS},
		{{.stack = WORKER}, "chan receive", 3 * MS},
		{{.stack = WORKER, .labels = 5}, "chan receive", 4 * MS},
		{{.stack = WORKER}, "runnable", 5 * MS},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		added->row(added->ctx, NULL, &rows[i].key, rows[i].state, rows[i].ns);
}

int blocked_run_beside(const struct blocked_tool *tool, const struct blocked_beside *beside,
		       const struct options_tool *shown, const struct options *opts)
{
	static const struct profile_style style = {.type = "row", .json = true, .labels = true};
	struct profile *written = with_profile ? profile_new(tool->profile_spec) : NULL;
	struct errmsg err;

	added = beside;
	assert_ptr_equal(*beside->events, taken->events);
	steps_are("%s %s%s%s%s", tool->name, tool->bpf_file, tool->open_rows ? " open" : "",
		  beside->labels ? " labels" : "", beside->folded ? " folded" : "");
	assert_string_equal(shown->name, "goprofile");
	if (beside->begin(beside->ctx, written, &err))
		return options_fail(shown, &err);
	beside->started(beside->ctx);
	for (int i = 0; i < 2; i++) { /* the second time of nothing but one wait */
		if (!i)
			add_rows();
		else
			added->row(beside->ctx, NULL, &(struct wait_key){.stack = WORKER}, "sleep",
				   MS);
		beside->show(beside->ctx);
	}
	beside->stop(beside->ctx);
	beside->lost(beside->ctx);
	if (written)
		profile_show(stdout, written, &style);
	profile_free(written);
	return 5;
}

int session_check_privileges(struct errmsg *err)
{
	return steps_answer(err, "privileges");
}

/* NOLINTEND(misc-unused-parameters) */

/* --- runs --- */

static struct options opts;
static struct sampling sampling;

static int setup(void **state)
{
	static const struct options_tool tool = {.name = "goprofile"};

	(void)state;
	opts = (struct options){.pid = PID};
	sampling = (struct sampling){.tool = &tool, .opts = &opts, .hz = 99};
	with_profile = false;
	steps = (struct steps){0};
	return 0;
}

static void expect(int status, const char *printed, const char *said, const char *did)
{
	faketool_errors_begin();
	printed_begin();
	int got = wall_run(&sampling, sampling.label);

	char *text = printed_end();

	faketool_errors_expect(said);
	printed_is(text, printed);
	steps_expect(did);
	assert_int_equal(got, status);
}

static void test_text(void **state)
{
	(void)state;
	expect(5,
	       "Time (us) of the goroutines of process 181 (app\\x1b), running (sampled at 99 "
	       "Hertz) and not... Hit Ctrl-C to end.\n"
	       "\n"
	       "    [lost]\n"
	       "    -                app\\x1b (181): select\n"
	       "        1000\n"
	       "\n"
	       "    gopark\n"
	       "    main.f\n"
	       "    -                app\\x1b (181): runnable\n"
	       "        5000\n"
	       "\n"
	       "    gopark\n"
	       "    main.f\n"
	       "    -                app\\x1b (181): chan receive\n"
	       "        7000\n"
	       "\n"
	       "\n"
	       "    gopark\n"
	       "    main.f\n"
	       "    -                app\\x1b (181): sleep\n"
	       "        1000\n"
	       "\n",
	       "",
	       "privileges; open 181 -; load; goprofile gooffcputime.bpf.c open; "
	       "begin; read all; read all; end; lost; close; ");
	opts.duration_ns = 1500 * (uint64_t)MS;
	opts.timestamp = true;
	sampling.hz = 49;
	expect(5,
	       "Time (us) of the goroutines of process 181 (app\\x1b), running (sampled at 49 "
	       "Hertz) and not, for 1.5 s.\n"
	       "\n"
	       "12:00:00\n"
	       "    [lost]\n"
	       "    -                app\\x1b (181): select\n"
	       "        1000\n"
	       "\n"
	       "    gopark\n"
	       "    main.f\n"
	       "    -                app\\x1b (181): runnable\n"
	       "        5000\n"
	       "\n"
	       "    gopark\n"
	       "    main.f\n"
	       "    -                app\\x1b (181): chan receive\n"
	       "        7000\n"
	       "\n"
	       "\n"
	       "12:00:00\n"
	       "    gopark\n"
	       "    main.f\n"
	       "    -                app\\x1b (181): sleep\n"
	       "        1000\n"
	       "\n",
	       "",
	       "privileges; open 181 -; load; goprofile gooffcputime.bpf.c open; "
	       "begin; read all; read all; end; lost; close; ");
}

static void test_folded(void **state)
{
	(void)state;
	sampling.folded = true;
	expect(5,
	       "app\\x1b-181;[lost];[select] 1000\n"
	       "app\\x1b-181;main.f;gopark;[runnable] 5000\n"
	       "app\\x1b-181;main.f;gopark;[chan receive] 7000\n"
	       "app\\x1b-181;main.f;gopark;[sleep] 1000\n",
	       "Time (us) of the goroutines of process 181 (app\\x1b), running (sampled at 99 "
	       "Hertz) and not... Hit Ctrl-C to end.\n",
	       "privileges; open 181 -; load; goprofile gooffcputime.bpf.c open "
	       "folded; begin; read all; read all; end; lost; close; ");
}

static void test_json(void **state)
{
	(void)state;
	opts.json = opts.timestamp = true;
	sampling.labels = true;
	expect(5,
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"select\",\"total_ns\":1000000,\"labels\":{},\"stack\":[{\"func\":\"["
	       "lost]\",\"file\":null,\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"chan "
	       "receive\",\"total_ns\":3000000,\"labels\":{},\"stack\":[{\"func\":\"gopark\","
	       "\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"chan "
	       "receive\",\"total_ns\":4000000,\"labels\":{\"all\":\"label\"},\"stack\":[{\"func\":"
	       "\"gopark\",\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,"
	       "\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"runnable\",\"total_ns\":5000000,\"labels\":{},\"stack\":[{\"func\":"
	       "\"gopark\",\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,"
	       "\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"sleep\",\"total_ns\":1000000,\"labels\":{},\"stack\":[{\"func\":"
	       "\"gopark\",\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,"
	       "\"line\":null}]}\n",
	       "Time (us) of the goroutines of process 181 (app\\x1b), running (sampled at 99 "
	       "Hertz) and not... Hit Ctrl-C to end.\n",
	       "privileges; open 181 -; load; goprofile gooffcputime.bpf.c open "
	       "labels; begin; read all; read all; end; lost; close; ");
}

/* One label alone, and a file beside what is printed */
static void test_file(void **state)
{
	(void)state;
	opts.json = opts.timestamp = true;
	sampling.labels = true;
	sampling.label = "tenant";
	with_profile = true;
	expect(5,
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"select\",\"total_ns\":1000000,\"labels\":{},\"stack\":[{\"func\":\"["
	       "lost]\",\"file\":null,\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"chan "
	       "receive\",\"total_ns\":3000000,\"labels\":{},\"stack\":[{\"func\":\"gopark\","
	       "\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"chan "
	       "receive\",\"total_ns\":4000000,\"labels\":{\"tenant\":\"label\"},\"stack\":[{"
	       "\"func\":\"gopark\",\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":"
	       "null,\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"runnable\",\"total_ns\":5000000,\"labels\":{},\"stack\":[{\"func\":"
	       "\"gopark\",\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,"
	       "\"line\":null}]}\n"
	       "{\"type\":\"wall\",\"time\":\"12:00:00\",\"pid\":181,\"comm\":\"app\\u001b\","
	       "\"state\":\"sleep\",\"total_ns\":1000000,\"labels\":{},\"stack\":[{\"func\":"
	       "\"gopark\",\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,"
	       "\"line\":null}]}\n"
	       "{\"type\":\"row\",\"pid\":181,\"comm\":\"app\\u001b\",\"state\":\"select\","
	       "\"time\":1000000,\"labels\":{},\"stack\":[{\"func\":\"[lost]\",\"file\":null,"
	       "\"line\":null}]}\n"
	       "{\"type\":\"row\",\"pid\":181,\"comm\":\"app\\u001b\",\"state\":\"sleep\",\"time\":"
	       "1000000,\"labels\":{},\"stack\":[{\"func\":\"gopark\",\"file\":null,\"line\":null},"
	       "{\"func\":\"main.f\",\"file\":null,\"line\":null}]}\n"
	       "{\"type\":\"row\",\"pid\":181,\"comm\":\"app\\u001b\",\"state\":\"chan "
	       "receive\",\"time\":3000000,\"labels\":{},\"stack\":[{\"func\":\"gopark\",\"file\":"
	       "null,\"line\":null},{\"func\":\"main.f\",\"file\":null,\"line\":null}]}\n"
	       "{\"type\":\"row\",\"pid\":181,\"comm\":\"app\\u001b\",\"state\":\"chan "
	       "receive\",\"time\":4000000,\"labels\":{\"tenant\":\"label\"},\"stack\":[{\"func\":"
	       "\"gopark\",\"file\":null,\"line\":null},{\"func\":\"main.f\",\"file\":null,"
	       "\"line\":null}]}\n"
	       "{\"type\":\"row\",\"pid\":181,\"comm\":\"app\\u001b\",\"state\":\"runnable\","
	       "\"time\":5000000,\"labels\":{},\"stack\":[{\"func\":\"gopark\",\"file\":null,"
	       "\"line\":null},{\"func\":\"main.f\",\"file\":null,\"line\":null}]}\n",
	       "Time (us) of the goroutines of process 181 (app\\x1b), running (sampled at 99 "
	       "Hertz) and not... Hit Ctrl-C to end.\n",
	       "privileges; open 181 tenant; load; goprofile gooffcputime.bpf.c open "
	       "labels; begin for a file; read all; read all; end; lost; close; ");
}

static void test_failures(void **state)
{
	static const char *const steps_of[][2] = {
		{"privileges", "privileges; close; "},
		{"open", "privileges; open 181 -; close; "},
		{"load", "privileges; open 181 -; load; close; "}};
	char want[64];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		steps.fails = steps_of[i][0];
		snprintf(want, sizeof(want), "goprofile: no %s\n", steps_of[i][0]);
		expect(1, "", want, steps_of[i][1]);
	}
	steps.fails = "begin";
	expect(1, "", "goprofile: no begin\n",
	       "privileges; open 181 -; load; goprofile gooffcputime.bpf.c open; "
	       "begin; close; ");
}

static void refused(const char *why)
{
	expect(1, "", why, "close; ");
	setup(NULL);
}

static void test_refused(void **state)
{
	static char *patterns[] = {"app"};
	static const char one[] = "goprofile: --off-cpu: of one process\nhint: name it: -p PID\n";

	(void)state;
	opts.pid = 0;
	refused(one);
	opts.patterns = patterns;
	opts.pattern_count = 1;
	refused(one);
	opts.named = "app";
	refused(one);
	opts.all = true;
	refused(one);
	sampling.cgroup = "a";
	refused("goprofile: --off-cpu: not with --cgroup: the process of -p is in one\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_text, setup),
		cmocka_unit_test_setup(test_folded, setup),
		cmocka_unit_test_setup(test_json, setup),
		cmocka_unit_test_setup(test_file, setup),
		cmocka_unit_test_setup(test_failures, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
