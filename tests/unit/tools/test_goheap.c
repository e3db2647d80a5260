// SPDX-License-Identifier: Apache-2.0
/* goheap from its command line to what it asks of those who read heaps. */
#include "faketool.h"
#include "printed.h"
#include "readerrun.h"

#define main tool_main
#include "tools/goheap.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

#include "unit.h"

enum { PID = READERRUN_PID };

static struct errmsg failure;

/* --- in place of those who read --- */

const struct profile_spec heap_profile_spec = {.tool = "in use"};
const struct profile_spec heap_alloc_profile_spec = {.tool = "allocated"};

static void note_flag(bool is, const char *name)
{
	faketool_note("%s", is ? name : "");
}

int heap_look(struct heap_look *look, const struct heap_subject *of, uint64_t *count,
	      struct errmsg *err)
{
	assert_ptr_equal(of->mem, FAKETOOL_SOME(memory));
	assert_ptr_equal(of->prog, &faketool.program);
	assert_ptr_equal(of->frames, FAKETOOL_SOME(frames));
	faketool_note("profile of %d %s", of->pid, of->name);
	note_flag(of->ended, " ended");
	note_flag(look->json, " json");
	note_flag(look->folded, " folded");
	note_flag(look->alloc, " alloc");
	note_flag(look->again, " again");
	note_flag(look->has_printed, " printed");
	note_flag(look->json_time == toolrun_json_time, " time");
	note_flag(look->profile, " profile");
	faketool_note(" %zu patterns\n", look->pattern_count);
	assert_ptr_equal(look->patterns, readerrun.rt->patterns);
	*count = 3;
	return faketool_answer("look", err);
}

void heap_look_end(struct heap_look *look)
{
	assert_ptr_equal(look, &goheap.look);
	faketool_result("end");
}

int objects_look(const struct objects_look *look, const struct goprocesses_one *one,
		 uint64_t *count, struct errmsg *err)
{
	assert_ptr_equal(one, &readerrun.one);
	faketool_note("objects");
	note_flag(look->json, " json");
	note_flag(look->has_printed, " printed");
	note_flag(look->retained, " of a type");
	note_flag(look->retained && pattern_match(look->retained, "main.Tx"), " as it is");
	if (look->retained_addr)
		faketool_note(" at 0x%llx", (unsigned long long)look->retained_addr);
	faketool_note(" %zu patterns\n", look->pattern_count);
	assert_ptr_equal(look->patterns, readerrun.rt->patterns);
	*count = 4;
	return faketool_answer("look", err);
}

/* --- in place of who watches --- */

char *process_name(const struct process *proc)
{
	assert_ptr_equal(proc, FAKETOOL_SOME(process));
	return strdup("jobs");
}

struct oomwatch *oomwatch_new(const char *proc, pid_t pid, const char *name)
{
	faketool_note("watch %s %d %s\n", proc, pid, name);
	return FAKETOOL_SOME(oomwatch);
}

void oomwatch_free(struct oomwatch *watch)
{
	assert_ptr_equal(watch, FAKETOOL_SOME(oomwatch));
	faketool_result("free");
}

static void note_watch(const char *what, const struct oomwatch_options *opts, FILE *out)
{
	assert_ptr_equal(out, stdout);
	faketool_note("%s%s%s%s\n", what, opts->json ? " json" : "",
		      opts->json_time == toolrun_json_time ? " time" : "",
		      opts->text_time == print_clock ? " clock" : "");
}

bool oomwatch_due(struct oomwatch *watch, uint64_t ns, const struct oomwatch_options *opts,
		  FILE *out)
{
	assert_ptr_equal(watch, FAKETOOL_SOME(oomwatch));
	assert_true(ns && ns <= clock_ns());
	note_watch("due?", opts, out);
	return !faketool.failing;
}

void oomwatch_ended(struct oomwatch *watch, uint64_t ns, const struct oomwatch_options *opts,
		    FILE *out)
{
	assert_ptr_equal(watch, FAKETOOL_SOME(oomwatch));
	assert_true(ns && ns <= clock_ns());
	note_watch("ended", opts, out);
}

/* --- runs --- */

static int setup(void **state)
{
	(void)state;
	faketool_begin();
	readerrun_begin();
	goheap = (struct goheap){0};
	return 0;
}

static uint64_t look_once(struct readertool *rt, bool first)
{
	uint64_t count = 0;

	assert_int_equal(rt->look(rt->ctx, &readerrun.one, first, NULL, &count, &failure), 0);
	return count;
}

static void of_profile(struct readertool *rt)
{
	uint64_t count;

	readerrun_expect("goheap: look end ready profile\n");
	assert_ptr_equal(rt->profile_spec, &heap_profile_spec);
	assert_int_equal(look_once(rt, true), 3);
	rt->pattern_count = 2;
	assert_int_equal(look_once(rt, false), 3);
	rt->pattern_count = 0;
	rt->end(rt->ctx);
	faketool_noted("profile of 181 app 0 patterns\nlook\n"
		       "profile of 181 app printed 2 patterns\nlook\nend\n");
	faketool.failing = "look";
	readerrun.one.proc = NULL;
	assert_int_equal(
		rt->look(rt->ctx, &readerrun.one, true, FAKETOOL_SOME(profile), &count, &failure),
		-1);
	faketool_noted("profile of 181 app ended profile 0 patterns\nlook\n");
}

static void of_changes(struct readertool *rt)
{
	readerrun_expect("takes p\ngoheap: look end ready profile regexp every 1000 ms\n");
	assert_ptr_equal(rt->profile_spec, &heap_alloc_profile_spec);
	look_once(rt, true);
	faketool_noted("profile of 181 app json alloc again time 0 patterns\nlook\n");
}

static void as_folded(struct readertool *rt)
{
	look_once(rt, true);
	faketool_noted("profile of 181 app folded 0 patterns\nlook\n");
}

static void test_profile(void **state)
{
	assert_int_equal(readerrun_main(tool_main, "181", of_profile), FAKETOOL_STATUS);
	setup(state);
	readerrun_main(tool_main, "--alloc -r -i 1 -jTp 181", of_changes);
	setup(state);
	readerrun_main(tool_main, "-f 181", as_folded);
}

/* --- objects --- */

static void of_objects(struct readertool *rt)
{
	assert_int_equal(look_once(rt, true), 4);
	rt->pattern_count = 2;
	rt->opts.json = true;
	look_once(rt, false);
	rt->pattern_count = 0;
	faketool_noted("objects 0 patterns\nlook\nobjects json printed 2 patterns\nlook\n");
}

static void of_core(struct readertool *rt)
{
	readerrun_expect("goheap: look end ready profile of core\n");
	look_once(rt, true);
	faketool_noted("objects at 0xc0001234ab 0 patterns\nlook\n");
}

static void of_type(struct readertool *rt)
{
	look_once(rt, true);
	faketool_noted("objects of a type as it is 0 patterns\nlook\n");
}

static void of_address(struct readertool *rt)
{
	look_once(rt, true);
	faketool_noted("objects at 0xffffffffffffffff 0 patterns\nlook\n");
}

static void test_objects(void **state)
{
	readerrun_main(tool_main, "--objects --stop 181", of_objects);
	setup(state);
	readerrun_main(tool_main, "--retained 0xC0001234ab --core core app", of_core);
	setup(state);
	readerrun_main(tool_main, "--retained main.T* --stop 181", of_type);
	setup(state);
	readerrun_main(tool_main, "-r --retained main.T. --stop 181", of_type);
	setup(state);
	readerrun_main(tool_main, "--retained 0xffffffffffffffff --stop 181", of_address);
}

/* --- until it is killed --- */

static void watched(struct readertool *rt)
{
	struct goprocesses_one other = {.pid = PID + 1, .proc = FAKETOOL_SOME(process)};

	readerrun_expect("goheap: look end begin due ready profile by --watch-oom every 100 ms\n");
	printed_begin();
	rt->begin(rt->ctx, false);
	assert_true(rt->due(rt->ctx, &readerrun.one, true));
	assert_true(rt->due(rt->ctx, &other, true));
	faketool.failing = "due";
	assert_false(rt->due(rt->ctx, &readerrun.one, true));
	assert_false(rt->due(rt->ctx, &readerrun.one, false));
	faketool.failing = NULL;
	printed_expect("");
	faketool_noted("watch /proc 181 jobs\ndue? clock\nwatch /proc 182 jobs\ndue? clock\n"
		       "due? clock\nended clock\n");
	look_once(rt, false);
	faketool_noted("profile of 181 app 0 patterns\nlook\n");
}

static void watched_as_json(struct readertool *rt)
{
	readerrun_expect("goheap: look end begin due ready profile by --watch-oom every 1000 ms\n");
	assert_true(rt->due(rt->ctx, &readerrun.one, true));
	faketool_noted("watch /proc 181 jobs\ndue? json time clock\n");
}

static void test_watch(void **state)
{
	readerrun_main(tool_main, "--watch-oom 181", watched);
	faketool_noted("free\nfree\n");
	setup(state);
	readerrun_main(tool_main, "-i 1 --watch-oom -jT 181", watched_as_json);
}

static void test_clock(void **state)
{
	(void)state;
	printed_begin();
	print_clock(stdout);
	char *text = printed_end();

	assert_int_equal(strlen(text), CLOCK_TEXT);
	assert_int_equal(text[CLOCK_TEXT - 1], ' ');
	free(text);
}

/* --- what is refused --- */

static void test_refused(void **state)
{
	static const char *const refused[][2] = {
		{"--core c --stop a", "--stop is for programs that run: not with --core"},
		{"--stop 1", "--stop is for --objects and --retained: the profile is read of a "
			     "process that runs"},
		{"--objects 1", "--objects needs a process that stands still\nhint: --stop stops "
				"it to copy its heap; or read a core file: gcore(1), --core"},
		{"--retained T 1", "--retained needs a process that stands still\nhint: --stop "
				   "stops it to copy its heap; or read a core file: gcore(1), "
				   "--core"},
		{"--objects --stop --alloc 1", "--alloc shows the profile: not with --objects"},
		{"--objects --stop -f 1", "-f shows the profile: not with --objects"},
		{"--objects --stop --pprof x 1", "--pprof shows the profile: not with --objects"},
		{"--objects --stop --watch-oom 1",
		 "--watch-oom shows the profile: not with --objects"},
		{"--retained T --stop -i 1 1", "-i shows the profile: not with --retained"},
		{"--objects --retained T --stop 1", "--objects and --retained exclude each other"},
		{"--retained 0x --stop 1", "--retained 0x: not an address"},
		{"--retained 0x0 --stop 1", "--retained 0x0: not an address"},
		{"--retained 0x1g --stop 1", "--retained 0x1g: not an address"},
		{"--retained 0x1000000000000000f --stop 1",
		 "--retained 0x1000000000000000f: not an address"},
		{"-f -j 1", "-f and -j exclude each other"},
		{"-f --watch-oom 1", "-f and --watch-oom exclude each other"},
		{"-f -i 1 1", "-i shows what has changed: not with -f"},
		{"-p bad", "bad value"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		char want[256];

		setup(state);
		snprintf(want, sizeof(want), "goheap: %s\nusage: goheap ...", refused[i][1]);
		readerrun_refused(tool_main, refused[i][0], want);
	}
	setup(state);
	goheap.rt.pattern_count = 1;
	goheap.retained = "main.T";
	assert_int_equal(take_retained(&goheap, &failure), -1);
	assert_string_equal(failure.text, "--retained names the type: no PATTERN stands with it");
	setup(state);
	readerrun_refused(tool_main, "-r --retained ( --stop 1", "goheap: ...");
}

static void test_help(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "-h",
		"usage: goheap [-h] [-i INTERVAL] [-d DURATION] [-T] [-j] [-p PID] [-n NAME]\n"
		"              [--all] [--alloc] [--watch-oom] [--objects] [--retained TYPE]\n"
		"              [--stop] [-r] [-f] [--core FILE] [--pprof FILE] [--version]\n"
		"              [PID... | BINARY] [PATTERN...]\n"
		"\n"
		"Show what the memory of running Go programs is used for\n"
		"\n"
		"examples:\n"
		"    goheap 181                 # what the memory of process 181 is used for\n"
		"    goheap --alloc 181         # and what was allocated since it started\n"
		"    goheap 181 'main.(*Store).*'  # by stacks with a method of main.Store\n"
		"    goheap -i 60 181           # and every minute, what has grown\n"
		"    goheap --watch-oom 181     # until the kernel kills it for want of memory\n"
		"\n"
		"all options: goheap --help all\n");
}

static void test_help_all(void **state)
{
	(void)state;
	faketool_help(
		tool_main, "--help all",
		"usage: goheap [-h] [-i INTERVAL] [-d DURATION] [-T] [-j] [-p PID] [-n NAME]\n"
		"              [--all] [--alloc] [--watch-oom] [--objects] [--retained TYPE]\n"
		"              [--stop] [-r] [-f] [--core FILE] [--pprof FILE] [--version]\n"
		"              [PID... | BINARY] [PATTERN...]\n"
		"\n"
		"Show what the memory of running Go programs is used for\n"
		"\n"
		"options:\n"
		"  -h, --help            show usage and examples; --help all: these options, too\n"
		"  -i INTERVAL, --interval INTERVAL\n"
		"                        summary interval, in seconds, or as 500ms\n"
		"  -d DURATION, --duration DURATION\n"
		"                        total duration of trace, in seconds, or as 1m30s\n"
		"  -T, --timestamp       include timestamp on output\n"
		"  -j, --json            print JSON, one object a line\n"
		"  -p PID, --pid PID     the process to read; it is not stopped\n"
		"  -n NAME, --name NAME  the Go programs that run and whose name contains NAME\n"
		"  --all                 all Go programs that run\n"
		"  --alloc               what was allocated since the program started\n"
		"  --watch-oom           stay, and read it as its memory cgroup comes near its\n"
		"                        limit, before the kernel kills it\n"
		"  --objects             all objects in the heap by their types; a process needs\n"
		"                        --stop, too\n"
		"  --retained TYPE       what keeps objects of this type alive, or the object at\n"
		"                        0xADDRESS; needs --stop, too\n"
		"  --stop                stop the process for a moment (ptrace), to copy its\n"
		"                        heap for --objects and --retained\n"
		"  -r, --regexp          use regular expressions. Default is \"*\" wildcards "
		"only.\n"
		"  -f, --folded          print folded stacks, one line a stack, for flame graphs\n"
		"  --core FILE           read this core file, which the program BINARY has left\n"
		"  --pprof FILE          write what is counted to FILE as well, for go tool\n"
		"                        pprof\n"
		"  --version             show the version and exit\n"
		"\n"
		"examples:\n"
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
		"    goheap --core core ./app   # of a program that has crashed\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_help_all),
		cmocka_unit_test_setup(test_profile, setup),
		cmocka_unit_test_setup(test_objects, setup),
		cmocka_unit_test_setup(test_watch, setup),
		cmocka_unit_test_setup(test_clock, setup),
		cmocka_unit_test_setup(test_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
