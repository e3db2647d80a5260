// SPDX-License-Identifier: Apache-2.0
/* goheap: where the memory of a running Go program is, by its own profile of allocations; or of one
 * that has left a core file. */
#include "base/errmsg.h"
#include "frames/frames.h"
#include "heap/heap_look.h"
#include "readers/readertool.h"
#include "tracing/toolrun.h"

struct goheap {
	struct readertool rt;
	struct heap_look look;
};

static int look_at(void *ctx, const struct goprocesses_one *one, bool first,
		   struct profile *profile, uint64_t *count, struct errmsg *err)
{
	struct goheap *goheap = ctx;
	const struct heap_subject of = {.mem = goprocess_memory(one->gp),
					.prog = goprocess_program(one->gp),
					.frames = goprocess_frames(one->gp),
					.pid = one->pid,
					.name = one->name,
					.ended = !one->proc};

	goheap->look.has_printed = !first;
	goheap->look.profile = profile;
	goheap->look.patterns = goheap->rt.patterns;
	goheap->look.pattern_count = goheap->rt.pattern_count;
	return heap_look(&goheap->look, &of, count, err);
}

static void end_looking(void *ctx)
{
	struct goheap *goheap = ctx;

	heap_look_end(&goheap->look);
}

/* --- options --- */

enum { LETTER_ALLOC = 256 };

static const struct options_def own_defs[] = {
	READERTOOL_DEFS,
	{LETTER_ALLOC, "alloc", NULL, "what was allocated since the program started"},
	{'r', "regexp", NULL, "use regular expressions. Default is \"*\" wildcards only."},
	{'f', "folded", NULL, "print folded stacks, one line a stack, for flame graphs"},
	READERTOOL_CORE_DEF,
	{0},
};

static int take_option(void *ctx, int letter, const char *value, struct errmsg *err)
{
	struct goheap *goheap = ctx;

	switch (letter) {
	case LETTER_ALLOC:
		goheap->look.alloc = true;
		goheap->rt.profile_spec = &heap_alloc_profile_spec;
		return 0;
	case 'r':
		goheap->rt.opts.regexp = true;
		return 0;
	case 'f':
		goheap->look.folded = true;
		return 0;
	default:
		return readertool_take(&goheap->rt, letter, value, err);
	}
}

static const char examples[] =
	"    goheap 181                 # what the memory of process 181 is used for\n"
	"    goheap --alloc 181         # and what was allocated since it started\n"
	"    goheap 181 'main.(*Store).*'  # by stacks with a method of main.Store\n"
	"    goheap -i 60 181           # and every minute, what has grown\n"
	"    goheap -n etcd             # of the programs whose name contains etcd\n"
	"    goheap -f 181 > stacks     # for a flame graph\n"
	"    goheap --pprof heap.pb.gz 181  # for go tool pprof\n"
	"    goheap -j 181              # one JSON object a stack\n"
	"    goheap --core core ./app   # of a program that has crashed\n";

static int ready(void *ctx, struct errmsg *err)
{
	struct goheap *goheap = ctx;
	const struct options *opts = &goheap->rt.opts;

	if (goheap->look.folded && opts->json)
		return errmsg_set(err, "-f and -j exclude each other");
	if (goheap->look.folded && opts->interval_ns)
		return errmsg_set(err, "-i shows what has changed: not with -f");
	goheap->look.json = opts->json;
	goheap->look.again = opts->interval_ns;
	goheap->look.json_time = opts->timestamp ? toolrun_json_time : NULL;
	return 0;
}

static struct goheap goheap;

static const struct options_tool tool = {.name = "goheap",
					 .about = "Show what the memory of running Go programs is "
						  "used for",
					 .args = "[PID... | BINARY] [PATTERN...]",
					 .process = true,
					 .shared = "idTj",
					 .pprof = true,
					 .own = own_defs,
					 .take = take_option,
					 .ctx = &goheap,
					 .examples = examples};

int main(int argc, char **argv)
{
	goheap.rt = (struct readertool){.tool = &tool,
					.profile_spec = &heap_profile_spec,
					.look = look_at,
					.end = end_looking,
					.ready = ready,
					.ctx = &goheap};
	return readertool_main(&goheap.rt, argc, argv);
}
