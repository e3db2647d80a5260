// SPDX-License-Identifier: Apache-2.0
/* gotools: which tool answers which question; and what can be traced here, and why not. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/signals.h"
#include "dwarf/debuginfo.h"
#include "elf/image.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "golang/gotype.h"
#include "kernel/attach.h"
#include "kernel/attach_trial.h"
#include "kernel/events.h"
#include "program/functab.h"
#include "program/program.h"
#include "program/toolchain.h"
#include "rtti/rtti.h"
#include "selection/target.h"
#include "sites/goruntime.h"
#include "tracing/options.h"
#include "tracing/session.h"

struct answer {
	const char *question, *tool;
};

/* The README's tables, by question. */
static const struct answer answers[] = {
	{"Which functions are called, and how often?", "gofunccount"},
	{"Who calls a function, and how often?", "gostackcount"},
	{"Which values, how often? By expression", "goargdist"},
	{"How long do calls take?", "gofunclatency"},
	{"... one table over many functions", "gofunclatency --summary"},
	{"... and which of them return errors?", "gofunclatency --summary --errors"},
	{"... and what do they wait for?", "gofunclatency --states"},
	{"What does a slow call spend its time in?", "gotree"},
	{"With which arguments, results and errors?", "gotrace"},
	{"How long do goroutines wait for a processor?", "gorunqlat"},
	{"... and who has it meanwhile?", "gorunqlat --slower"},
	{"Where does the processor's time go?", "goprofile"},
	{"Where are goroutines blocked, and on what?", "gooffcputime"},
	{"Who wakes blocked goroutines?", "gowakeups"},
	{"Who cancels contexts that are waited for?", "gocancels"},
	{"Which locks are waited for, who held them?", "golocks"},
	{"What does every goroutine do now?", "gostacks"},
	{"Which go statements leak goroutines?", "goleaks"},
	{"Who creates goroutines?", "gocreators"},
	{"What is the memory used for?", "goheap"},
	{"What is allocated, and where?", "goallocs"},
	{"How are the Go programs here?", "gostat"},
	{"... on a live screen", "gotop"},
	{"How long are collections and their pauses?", "gogc"},
	{"Which HTTP requests are served?", "gohttpd"},
	{"Which HTTP requests are made?", "gohttpsnoop"},
	{"Which connections are dialled?", "godialsnoop"},
	{"What is sent and received by TLS?", "gotlssnoop"},
	{"Which gRPC calls are served and made?", "gogrpcsnoop"},
	{"Which names are looked up?", "godnssnoop"},
	{"Which SQL statements are executed?", "gosqlsnoop"},
	{"Which Redis commands are sent?", "goredissnoop"},
	{"What are the keys of TLS connections?", "gotlskeys"},
	{"Which files are opened?", "goopens"},
	{"Which errors are returned?", "goerrors"},
	{"Which calls are slow?", "gofuncslower"},
	{"Which panics are there, recovered or fatal?", "gopanics"},
	{"Which reads get less than they ask for?", "goshortreads"},
	{"Which functions are there to be traced?", "gofuncs"},
	{"What can be traced here, and why not?", "gotools doctor"},
};

struct doctor {
	struct options opts;
	bool failed; /* something that all tracing needs */
};

static int list(bool as_json)
{
	struct json json;

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		if (!as_json) {
			printf("%-46s %s\n", answers[i].question, answers[i].tool);
			continue;
		}
		json_init(&json, stdout);
		json_object(&json);
		json_member_string(&json, "type", "tool");
		json_member_string(&json, "question", answers[i].question);
		json_member_string(&json, "tool", answers[i].tool);
		json_object_end(&json);
	}
	return 0;
}

/* One line: "ok  WHAT: DETAIL", "no  WHAT: DETAIL" and below it the remedy. */
static void tell(const struct doctor *doctor, bool ok, const char *what, const char *detail,
		 const char *remedy)
{
	struct json json;

	if (doctor->opts.json) {
		json_init(&json, stdout);
		json_object(&json);
		json_member_string(&json, "type", "check");
		json_member_string(&json, "check", what);
		json_key(&json, "ok");
		json_bool(&json, ok);
		json_member_string(&json, "detail", detail);
		json_member_string(&json, "remedy", ok ? NULL : remedy);
		json_object_end(&json);
		return;
	}
	printf("%-3s %s: ", ok ? "ok" : "no", what);
	escape_print(stdout, detail);
	putchar('\n');
	if (!ok && remedy && *remedy) {
		fputs("      ", stdout);
		escape_print(stdout, remedy);
		putchar('\n');
	}
}

static void tell_error(const struct doctor *doctor, const char *what, const struct errmsg *err,
		       const char *remedy)
{
	tell(doctor, false, what, err->text, err->hint[0] ? err->hint : remedy);
}

/* The first line of a file of the kernel's; false: it is not there. */
static bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool ok = file && fgets(line, (int)size, file);

	if (file)
		fclose(file);
	if (ok)
		line[strcspn(line, "\n")] = 0;
	return ok;
}

static void check_lockdown(const struct doctor *doctor)
{
	char line[128];

	if (!read_line("/sys/kernel/security/lockdown", line, sizeof(line))) {
		tell(doctor, true, "lockdown", "off, or not readable", NULL);
		return;
	}
	tell(doctor, !strstr(line, "[confidentiality]"), "lockdown", line,
	     "in this mode BPF programs read no memory: boot without lockdown=confidentiality");
}

static void check_kernel(struct doctor *doctor)
{
	struct utsname uts;
	struct errmsg err = {0};
	bool uprobes = !access("/sys/bus/event_source/devices/uprobe", F_OK);
	bool btf = !access("/sys/kernel/btf/vmlinux", R_OK);

	uname(&uts);
	tell(doctor, true, "kernel", uts.release, NULL);
	tell(doctor, uprobes, "uprobes", uprobes ? "there" : "the kernel has none",
	     "it takes a kernel with CONFIG_UPROBE_EVENTS");
	if (events_check(&err))
		tell_error(doctor, "ring buffers", &err, "it takes Linux 5.8");
	else
		tell(doctor, true, "ring buffers", "there", NULL);
	tell(doctor, btf, "BTF", btf ? "/sys/kernel/btf/vmlinux" : "the kernel has none",
	     "it takes CONFIG_DEBUG_INFO_BTF; without it processes are told apart by their IDs, "
	     "and --threads does not work");
	check_lockdown(doctor);
	doctor->failed |= !uprobes;
}

/* Found out by trying, on the tool itself. None of these is needed. */
static void check_probes(const struct doctor *doctor)
{
	struct attach_trial *trial = attach_trial_start();
	enum attach_how how = attach_how();
	bool waits = attach_sleepable(), alone = attach_trial_end(trial);

	tell(doctor, how == ATTACH_MULTI, "many probes",
	     how == ATTACH_MULTI         ? "one link for all of them"
	     : how == ATTACH_PERF_COOKIE ? "a perf event for each"
					 : "a perf event and a BPF program for each",
	     "tools over thousands of functions begin and end faster from Linux 6.6 on");
	tell(doctor, waits, "memory that is paged out",
	     waits ? "probes wait for it" : "probes cannot wait for it",
	     "such values are printed as <fault>; it takes Linux 6.1");
	tell(doctor, alone, "probes in one process",
	     alone ? "-p leaves other processes of the same file alone"
		   : "with -p, other processes of the same file hit them as well",
	     "they are not traced, but slowed down; it takes Linux 6.10");
}

static void check_privileges(struct doctor *doctor)
{
	struct errmsg err = {0};
	bool may = !session_check_privileges(&err), all = session_sees_all();

	if (may)
		tell(doctor, true, "privileges", "may trace: root, or CAP_BPF and CAP_PERFMON",
		     NULL);
	else
		tell_error(doctor, "privileges", &err, NULL);
	tell(doctor, all, "others' processes",
	     all ? "root, or CAP_SYS_PTRACE" : "CAP_SYS_PTRACE is missing",
	     "as root, tools read the memory of all processes");
	doctor->failed |= !may;
	if (may && !doctor->failed)
		check_probes(doctor);
}

/* --- a program --- */

static void check_build(const struct doctor *doctor, const struct program *prog)
{
	const struct image *img = prog->img;
	struct image_section section;
	uint64_t none;
	bool dynamic = image_dynamic(img, DT_NEEDED, 0, &none), symbols = image_has_symtab(img);
	bool gccgo = prog->toolchain->libgo;
	char *text;

	text = mem_printf(prog->release_told ? "Go 1.%d%s" : "Go 1.%d or later%s", prog->release,
			  gccgo ? " (gccgo)" : "");
	tell(doctor, true, "release", text, NULL);
	free(text);
	text = mem_printf("%s, %s%s", image_is_pie(img) ? "PIE" : "not PIE",
			  dynamic ? "dynamically linked" : "static",
			  image_section(img, ".note.go.buildid", &section) ? ", with a build ID"
									   : "");
	tell(doctor, true, "file", text, NULL);
	free(text);
	text = mem_printf("%zu of %s", functab_count(prog->tab),
			  gccgo ? "the ELF symbols" : "Go's own table (pclntab)");
	tell(doctor, true, "functions", text, NULL);
	free(text);
	tell(doctor, true, "symbols", symbols ? "there" : "stripped: Go's own table has the names",
	     NULL);
}

static void check_types(const struct doctor *doctor, const struct program *prog)
{
	struct gotypes *types = gotypes_new();
	struct errmsg err = {0};
	struct debuginfo *dbg = debuginfo_open(prog->img, prog->tab, prog->release, types, &err);
	struct rtti *rtti;

	if (dbg)
		tell(doctor, true, "DWARF", "parameters by name and type", NULL);
	else
		tell_error(doctor, "DWARF", &err,
			   "parameters of functions outside the standard library need a "
			   "SIGNATURE in gotrace, or a build without -ldflags=-w");
	err = (struct errmsg){0};
	rtti = rtti_open(prog->img, prog->tab, prog->release, types, &err);
	if (rtti)
		tell(doctor, true, "type information", "values of interfaces are printed", NULL);
	else
		tell_error(doctor, "type information", &err, NULL);
	rtti_close(rtti);
	debuginfo_close(dbg);
	gotypes_free(types);
}

static void check_runtime(struct doctor *doctor, const struct program *prog)
{
	struct goruntime rt = {0};
	struct functab_func func;
	bool known, heap;

	if (prog->toolchain->libgo) {
		tell(doctor, false, "goroutines", "the runtime is libgo's",
		     "gofunccount, gofunclatency and gotrace trace it; the tools that read "
		     "goroutines do not");
		return;
	}
	goruntime_read_fields(prog, &rt);
	known = rt.g_goid && rt.g_status;
	heap = functab_named(prog->tab, "runtime.MemProfile", &func) ||
	       functab_named(prog->tab, "runtime.memProfileInternal", &func);
	tell(doctor, known, "goroutines", known ? "can be read" : "their fields were not found",
	     "is it of a release that is newer than these tools?");
	tell(doctor, heap, "heap profile",
	     heap ? "the program links runtime.MemProfile" : "the linker has left it out",
	     "goheap needs a program that refers to runtime.MemProfile, as net/http/pprof does");
}

static struct heldfile *open_target(const char *name, struct process **process, struct errmsg *err)
{
	uint64_t pid;

	if (!number_parse(name, INT32_MAX, &pid))
		return target_resolve(name, NULL, err);
	*process = process_open((pid_t)pid, err);
	return *process ? process_exe(*process, err) : NULL;
}

static void check_program(struct doctor *doctor, const char *name)
{
	struct process *process = NULL;
	struct errmsg err = {0};
	struct heldfile *file = open_target(name, &process, &err);
	struct program *prog = program_open(file, &err);

	if (prog) {
		tell(doctor, true, "program", prog->path, NULL);
		check_build(doctor, prog);
		check_types(doctor, prog);
		check_runtime(doctor, prog);
	} else {
		tell_error(doctor, "program", &err, "is it a Go program, and may it be read?");
		doctor->failed = true;
	}
	program_close(prog);
	process_close(process);
}

static const char examples[] =
	"    gotools                        # which tool answers which question\n"
	"    gotools doctor                 # can programs be traced on this machine?\n"
	"    gotools doctor 181             # what can be traced of process 181?\n"
	"    gotools doctor -j /usr/bin/etcd # JSON, of a program\n";

static int run(struct doctor *doctor, const struct options_tool *tool, struct errmsg *err)
{
	const struct options *opts = &doctor->opts;
	bool asked = opts->pattern_count && !strcmp(opts->patterns[0], "doctor");

	if (opts->pattern_count && (!asked || opts->pattern_count > 2)) {
		errmsg_set(err,
			   asked ? "doctor looks at one PID or BINARY, not at \"%s\" too"
				 : "there is no \"gotools %s\"",
			   opts->patterns[asked ? 2 : 0]);
		errmsg_hint(err, "gotools alone lists the tools by question; gotools doctor "
				 "[PID|BINARY] says what can be traced");
		options_fail(tool, err);
		return 2;
	}
	if (!asked)
		return list(opts->json);
	check_kernel(doctor);
	check_privileges(doctor);
	if (opts->pattern_count == 2)
		check_program(doctor, opts->patterns[1]);
	return doctor->failed;
}

int main(int argc, char **argv)
{
	struct doctor doctor = {0};
	struct options_tool tool = {.name = "gotools",
				    .about = "List the tools by question; say what can be traced "
					     "here, and why not",
				    .args = "[doctor [PID|BINARY]]",
				    .process = true,
				    .shared = "j",
				    .examples = examples};
	struct errmsg err = {0};
	int status;

	signals_default();
	enum options_result result = options_parse(&tool, argc, argv, &doctor.opts, &err);

	if (result != OPTIONS_RUN)
		return options_answer(&tool, result, &err);
	status = run(&doctor, &tool, &err);
	if (session_flush(&err))
		return options_fail(&tool, &err);
	return status;
}
