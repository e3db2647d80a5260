// SPDX-License-Identifier: Apache-2.0
/* goheap: where the memory of a running Go program is, by its own profile of allocations, or by the
 * objects in its heap; or of one that has left a core file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "base/number.h"
#include "files/process.h"
#include "golang/pattern.h"
#include "frames/frames.h"
#include "heap/heap_look.h"
#include "objects/objects_look.h"
#include "readers/oomwatch.h"
#include "readers/readertool.h"
#include "tracing/toolrun.h"

struct goheap {
	struct readertool rt;
	struct heap_look look;
	bool objects, stop;
	const char *retained; /* a type or an address, with --retained */
	struct pattern *retained_types;
	uint64_t retained_addr;
	/* with --watch-oom, one of each process: */
	struct watched {
		pid_t pid;
		struct oomwatch *watch;
	} * watched;
	size_t watched_count, watched_cap;
};

static int look_at_objects(const struct goheap *goheap, const struct goprocesses_one *one,
			   bool first, uint64_t *count, struct errmsg *err)
{
	const struct objects_look look = {.json = goheap->rt.opts.json,
					  .has_printed = !first,
					  .patterns = goheap->rt.patterns,
					  .pattern_count = goheap->rt.pattern_count,
					  .retained = goheap->retained_types,
					  .retained_addr = goheap->retained_addr};

	return objects_look(&look, one, count, err);
}

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

	if (goheap->objects || goheap->retained)
		return look_at_objects(goheap, one, first, count, err);
	goheap->look.has_printed = !first && !goheap->rt.due;
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

/* --- until the kernel kills it --- */

static void print_clock(FILE *out)
{
	char clock[CLOCK_TEXT];

	clock_text(clock);
	fprintf(out, "%s ", clock);
}

static struct oomwatch *watch_of(struct goheap *goheap, const struct goprocesses_one *one)
{
	for (size_t i = 0; i < goheap->watched_count; i++)
		if (goheap->watched[i].pid == one->pid)
			return goheap->watched[i].watch;
	goheap->watched = mem_grow(goheap->watched, goheap->watched_count, &goheap->watched_cap,
				   sizeof(*goheap->watched));
	char *name = process_name(one->proc);
	struct oomwatch *watch = oomwatch_new("/proc", one->pid, name);

	goheap->watched[goheap->watched_count++] = (struct watched){one->pid, watch};
	free(name);
	return watch;
}

static bool is_due(void *ctx, const struct goprocesses_one *one, bool runs)
{
	struct goheap *goheap = ctx;
	const struct options *opts = &goheap->rt.opts;
	const struct oomwatch_options how = {opts->json, opts->timestamp ? toolrun_json_time : NULL,
					     print_clock};
	struct oomwatch *watch = watch_of(goheap, one);
	bool due = runs && oomwatch_due(watch, clock_ns(), &how, stdout);

	if (!runs)
		oomwatch_ended(watch, clock_ns(), &how, stdout);
	fflush(stdout); /* before the process that reads prints */
	return due;
}

/* No time is printed but before each profile. */
static void begin_round(void *ctx, bool first)
{
	(void)ctx;
	(void)first;
}

static void watch_oom(struct goheap *goheap)
{
	enum { EVERY_NS = 100000000 };

	goheap->rt.stays_by = "--watch-oom";
	goheap->rt.due = is_due;
	goheap->rt.begin = begin_round;
	if (!goheap->rt.opts.interval_ns)
		goheap->rt.opts.interval_ns = EVERY_NS;
}

static void end_watching(struct goheap *goheap)
{
	for (size_t i = 0; i < goheap->watched_count; i++)
		oomwatch_free(goheap->watched[i].watch);
	free(goheap->watched);
}

/* --- options --- */

enum { LETTER_ALLOC = 256, LETTER_WATCH_OOM, LETTER_OBJECTS, LETTER_RETAINED, LETTER_STOP };

static const struct options_def own_defs[] = {
	READERTOOL_DEFS,
	{LETTER_ALLOC, "alloc", NULL, "what was allocated since the program started"},
	{LETTER_WATCH_OOM, "watch-oom", NULL,
	 "stay, and read it as its memory cgroup comes near its limit, before the kernel kills it"},
	{LETTER_OBJECTS, "objects", NULL,
	 "all objects in the heap by their types; a process needs --stop, too"},
	{LETTER_RETAINED, "retained", "TYPE",
	 "what keeps objects of this type alive, or the object at 0xADDRESS; needs --stop, too"},
	{LETTER_STOP, "stop", NULL,
	 "stop the process for a moment (ptrace), to copy its heap for --objects and --retained"},
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
	case LETTER_WATCH_OOM:
		watch_oom(goheap);
		return 0;
	case LETTER_OBJECTS:
		goheap->objects = true;
		return 0;
	case LETTER_RETAINED:
		goheap->retained = value;
		return 0;
	case LETTER_STOP:
		goheap->stop = true;
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
	"    goheap --watch-oom 181     # until the kernel kills it for want of memory\n"
	"    goheap --objects --stop 181  # what types of objects are in its heap\n"
	"    goheap --retained main.Conn --stop 181  # what keeps these alive\n"
	"    goheap -n etcd             # of the programs whose name contains etcd\n"
	"    goheap -f 181 > stacks     # for a flame graph\n"
	"    goheap --pprof heap.pb.gz 181  # for go tool pprof\n"
	"    goheap -j 181              # one JSON object a stack\n"
	"    goheap --core core ./app   # of a program that has crashed\n";

static int check_objects(const struct goheap *goheap, struct errmsg *err)
{
	const struct options *opts = &goheap->rt.opts;
	const char *other = goheap->look.alloc    ? "--alloc"
			    : goheap->look.folded ? "-f"
			    : opts->pprof         ? "--pprof"
			    : goheap->rt.due      ? "--watch-oom"
			    : opts->interval_ns   ? "-i"
						  : NULL;
	const char *what = goheap->retained ? "--retained" : goheap->objects ? "--objects" : NULL;

	if (goheap->rt.wanted.core && goheap->stop)
		return errmsg_set(err, "--stop is for programs that run: not with --core");
	if (!what)
		return goheap->stop ? errmsg_set(err, "--stop is for --objects and --retained: the "
						      "profile is read of a process that runs")
				    : 0;
	if (other)
		return errmsg_set(err, "%s shows the profile: not with %s", other, what);
	if (goheap->rt.wanted.core || goheap->stop)
		return 0;
	errmsg_set(err, "%s needs a process that stands still", what);
	errmsg_hint(err, "--stop stops it to copy its heap; or read a core file: gcore(1), --core");
	return -1;
}

static bool parse_address(const char *digits, uint64_t *out)
{
	enum { DIGITS_MAX = 16 };
	size_t len = strlen(digits);

	*out = 0;
	for (; number_hex_digit(*digits) >= 0; digits++)
		*out = *out << 4 | (unsigned)number_hex_digit(*digits);
	return !*digits && len <= DIGITS_MAX && *out;
}

/* An address is a number as C has it: no type has such a name. */
static int take_retained(struct goheap *goheap, struct errmsg *err)
{
	const char *text = goheap->retained;

	if (!text)
		return 0;
	if (goheap->objects)
		return errmsg_set(err, "--objects and --retained exclude each other");
	if (goheap->rt.pattern_count)
		return errmsg_set(err, "--retained names the type: no PATTERN stands with it");
	if (strncmp(text, "0x", 2) != 0) {
		goheap->retained_types = pattern_new(text, goheap->rt.opts.regexp, err);
		return goheap->retained_types ? 0 : -1;
	}
	if (!parse_address(text + 2, &goheap->retained_addr))
		return errmsg_set(err, "--retained %s: not an address", text);
	return 0;
}

static int ready(void *ctx, struct errmsg *err)
{
	struct goheap *goheap = ctx;
	const struct options *opts = &goheap->rt.opts;

	goheap->rt.not_of_funcs = goheap->objects || goheap->retained;

	if (check_objects(goheap, err) || take_retained(goheap, err))
		return -1;
	if (goheap->look.folded && opts->json)
		return errmsg_set(err, "-f and -j exclude each other");
	if (goheap->look.folded && goheap->rt.due)
		return errmsg_set(err, "-f and --watch-oom exclude each other");
	if (goheap->look.folded && opts->interval_ns)
		return errmsg_set(err, "-i shows what has changed: not with -f");
	goheap->look.json = opts->json;
	goheap->look.again = opts->interval_ns && !goheap->rt.due;
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
	int status = readertool_main(&goheap.rt, argc, argv);

	end_watching(&goheap);
	pattern_free(goheap.retained_types);
	return status;
}
