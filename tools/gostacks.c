// SPDX-License-Identifier: Apache-2.0
/* gostacks: what every goroutine of a running Go program does now, without stopping it; or of one
 * that has left a core file. */
#include <inttypes.h>

#include "base/errmsg.h"
#include "base/number.h"
#include "gostacks/goroutines_look.h"
#include "gostacks/goroutines_print.h"
#include "readers/readertool.h"
#include "tracing/toolrun.h"

struct gostacks {
	struct readertool rt;
	struct goroutines_look look;
};

static int look_at(void *ctx, const struct goprocesses_one *one, bool first,
		   struct profile *profile, uint64_t *count, struct errmsg *err)
{
	struct gostacks *gostacks = ctx;

	gostacks->look.has_printed = !first;
	gostacks->look.profile = profile;
	gostacks->look.pick.patterns = gostacks->rt.patterns;
	gostacks->look.pick.pattern_count = gostacks->rt.pattern_count;
	return goroutines_look(&gostacks->look, one, count, err);
}

static void end_looking(void *ctx)
{
	struct gostacks *gostacks = ctx;

	goroutines_look_end(&gostacks->look);
}

/* That a process has no such goroutine is an answer, but for one that was asked for by number. */
static int nothing(void *ctx, struct errmsg *err)
{
	const struct gostacks *gostacks = ctx;
	uint64_t goid = gostacks->look.pick.goid;

	return goid ? errmsg_set(err, "no goroutine %" PRIu64, goid) : 0;
}

/* --- options --- */

enum { LETTER_SYSTEM = 256, LETTER_FULL, LETTER_STOP };

static const struct options_def own_defs[] = {
	READERTOOL_DEFS,
	{'r', "regexp", NULL, "use regular expressions. Default is \"*\" wildcards only."},
	{'a', "each", NULL, "print each goroutine with its whole stack, as Go's tracebacks do"},
	{LETTER_FULL, "full", NULL, "the same with the words that arguments are made of"},
	{'g', "goid", "GOID", "print this goroutine only, with its whole stack"},
	{'s', "state", "STATE", "only goroutines in this state, or waiting for this: \"select\""},
	{'f', "folded", NULL, "print folded stacks, one line a stack, for flame graphs"},
	{LETTER_SYSTEM, "system", NULL, "include goroutines of the runtime itself"},
	{LETTER_STOP, "stop", NULL,
	 "stop the process for a moment (ptrace): all at one instant, running ones too"},
	READERTOOL_CORE_DEF,
	{0},
};

static int take_goid(struct gostacks *gostacks, const char *text, struct errmsg *err)
{
	if (number_parse(text, INT64_MAX, &gostacks->look.pick.goid) && gostacks->look.pick.goid)
		return 0;
	return errmsg_set(err, "\"%s\" is not a goroutine's ID", text);
}

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct gostacks *gostacks = ctx;

	switch (letter) {
	case 'g':
		return take_goid(gostacks, value, err);
	case 'r':
		gostacks->rt.opts.regexp = true;
		return 0;
	case 'a':
		gostacks->look.each = true;
		return 0;
	case LETTER_STOP:
		gostacks->look.stop = true;
		return 0;
	case LETTER_FULL:
		gostacks->look.each = gostacks->look.full = true;
		return 0;
	case 'f':
		gostacks->look.folded = true;
		return 0;
	case 's':
		gostacks->look.pick.state = value;
		return 0;
	case LETTER_SYSTEM:
		gostacks->look.pick.system = true;
		return 0;
	default:
		return readertool_take(&gostacks->rt, letter, value, err);
	}
}

static const char examples[] =
	"    gostacks 181               # what the goroutines of process 181 do\n"
	"    gostacks -a 181            # each with its whole stack\n"
	"    gostacks --full 181        # and the words of arguments, in hexadecimal\n"
	"    gostacks -g 17 181         # goroutine 17 alone\n"
	"    gostacks -s 'chan send' 181\n"
	"    gostacks 181 'main.(*Store).*'  # those in a method of main.Store\n"
	"    gostacks -n etcd           # of the programs whose name contains etcd\n"
	"    gostacks --all             # of all Go programs\n"
	"    gostacks -i 10 181         # and every 10 seconds, what has changed\n"
	"    gostacks -f 181 > stacks   # for a flame graph\n"
	"    gostacks --pprof stacks.pb.gz 181  # for go tool pprof\n"
	"    gostacks -j 181            # one JSON object a goroutine\n"
	"    gostacks --core core ./app # of a program that has crashed\n";

static int ready(void *ctx, struct errmsg *err)
{
	struct gostacks *gostacks = ctx;
	const struct options *opts = &gostacks->rt.opts;
	struct goroutines_look *look = &gostacks->look;

	if (gostacks->rt.wanted.core && look->stop)
		return errmsg_set(err, "--stop is for programs that run: not with --core");
	if (look->folded + opts->json + look->each > 1)
		return errmsg_set(err, "-a or --full, -f and -j exclude each other");
	if (opts->interval_ns && (look->folded || look->each))
		return errmsg_set(err, "-i shows what has changed: not with -a, --full or -f");
	if (opts->interval_ns && look->stop)
		return errmsg_set(err, "--stop is for a single snapshot: not with -i");
	look->json = opts->json;
	look->again = opts->interval_ns;
	look->json_time = opts->timestamp ? toolrun_json_time : NULL;
	return 0;
}

static struct gostacks gostacks;

static const struct options_tool tool = {.name = "gostacks",
					 .about = "Show what the goroutines of running Go "
						  "programs do",
					 .args = "[PID... | BINARY] [PATTERN...]",
					 .process = true,
					 .shared = "idTj",
					 .pprof = true,
					 .own = own_defs,
					 .take = take_option,
					 .ctx = &gostacks,
					 .examples = examples};

int main(int argc, char **argv)
{
	gostacks.rt = (struct readertool){.tool = &tool,
					  .profile_spec = &goroutines_profile_spec,
					  .look = look_at,
					  .end = end_looking,
					  .ready = ready,
					  .nothing = nothing,
					  .ctx = &gostacks};
	return readertool_main(&gostacks.rt, argc, argv);
}
