// SPDX-License-Identifier: Apache-2.0
#include "readerrun.h"

#include <stdio.h>
#include <string.h>

#include "base/errmsg.h"
#include "faketool.h"
#include "frames/frames.h"
#include "gostacks/goprocess.h"
#include "profile/profile.h"
#include "unit.h"

struct readerrun readerrun;

void readerrun_begin(void)
{
	readerrun = (struct readerrun){.one = {.pid = READERRUN_PID,
					       .proc = FAKETOOL_SOME(process),
					       .gp = FAKETOOL_SOME(goprocess),
					       .name = (char *)"app"}};
}

/* --- in place of readers/readertool.h --- */

int readertool_take(struct readertool *rt, int letter, const char *value, struct errmsg *err)
{
	if (letter == READERTOOL_CORE)
		rt->wanted.core = value;
	else if (letter == 'i')
		rt->opts.interval_ns = 1000000000;
	else
		faketool_note("takes %c\n", letter == READERTOOL_ALL ? 'a' : letter);
	return value && !strcmp(value, "bad") ? errmsg_set(err, "bad value") : 0;
}

int readertool_main(struct readertool *rt, int argc, char **argv)
{
	struct errmsg err = {0};
	enum options_result result = options_parse(rt->tool, argc, argv, &rt->opts, &err);

	readerrun.rt = rt;
	if (result == OPTIONS_RUN && rt->ready && rt->ready(rt->ctx, &err))
		result = OPTIONS_BAD;
	if (result != OPTIONS_RUN)
		return options_answer(rt->tool, result, &err);
	readerrun.run(rt);
	return faketool.status;
}

/* --- in place of gostacks/goprocess.h --- */

const struct memory *goprocess_memory(const struct goprocess *gp)
{
	assert_ptr_equal(gp, FAKETOOL_SOME(goprocess));
	return FAKETOOL_SOME(memory);
}

const struct program *goprocess_program(const struct goprocess *gp)
{
	assert_ptr_equal(gp, FAKETOOL_SOME(goprocess));
	return &faketool.program;
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

/* --- runs --- */

static void never(struct readertool *rt)
{
	(void)rt;
	fail_msg("it runs");
}

int readerrun_main(int (*tool)(int argc, char **argv), const char *words,
		   void (*run)(struct readertool *rt))
{
	readerrun.run = run;
	int status = faketool_main(tool, words, faketool_never);

	if (run != never)
		assert_int_equal(status, faketool.status);
	return status;
}

void readerrun_refused(int (*tool)(int argc, char **argv), const char *words, const char *want)
{
	faketool_errors_begin();
	assert_int_equal(readerrun_main(tool, words, never), 2);
	faketool_errors_expect(want);
}

void readerrun_expect(const char *want)
{
	const struct readertool *rt = readerrun.rt;

	faketool_note(
		"%s:%s%s%s%s%s%s%s%s%s", rt->tool->name, rt->each_interval ? " each_interval" : "",
		rt->all_by_default ? " all_by_default" : "", rt->pids_only ? " pids_only" : "",
		rt->look ? " look" : "", rt->end ? " end" : "", rt->begin ? " begin" : "",
		rt->due ? " due" : "", rt->ready ? " ready" : "", rt->nothing ? " nothing" : "");
	faketool_note("%s%s", rt->profile_spec ? " profile" : "", rt->opts.regexp ? " regexp" : "");
	if (rt->stays_by)
		faketool_note(" by %s", rt->stays_by);
	if (rt->opts.interval_ns)
		faketool_note(" every %d ms", (int)(rt->opts.interval_ns / 1000000));
	if (rt->wanted.core)
		faketool_note(" of %s", rt->wanted.core);
	faketool_note("\n");
	faketool_noted(want);
}
