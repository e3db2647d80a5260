// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpfprog_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/headertree_internal.h"
#include "kernel/libbcc_internal.h"
#include "kernel/quiet_internal.h"
#include "kernel/readhelpers_internal.h"

#define MAX_PROGRAMS 64
#define KERNEL_SOURCE "BCC_KERNEL_SOURCE"
enum { LOG_SIZE = 1 << 20 };

struct bpfprog {
	const struct libbcc *libbcc;
	void *module;  /* libbcc's; owns the maps */
	char *chatter; /* never NULL */
	int fds[MAX_PROGRAMS];
	size_t nfds;
};

const char *bpfprog_source(const char *file)
{
	for (const struct embedded_file *f = embedded_files; f->name; f++)
		if (!strcmp(f->name, file))
			return f->text;
	return NULL;
}

/* The number of an embedded file; -1: there is none of this name. */
static int file_number(const char *name, size_t len)
{
	for (int i = 0; embedded_files[i].name; i++)
		if (strlen(embedded_files[i].name) == len &&
		    !strncmp(embedded_files[i].name, name, len))
			return i;
	return -1;
}

/* If the line is `before`, a name, `after`: the name and its length; else NULL. */
static const char *name_between(const char *line, size_t len, const char *before, const char *after,
				size_t *name_len)
{
	size_t head = strlen(before), tail = strlen(after);

	if (len <= head + tail || strncmp(line, before, head) ||
	    strncmp(line + len - tail, after, tail))
		return NULL;
	*name_len = len - head - tail;
	return line + head;
}

struct weaving {
	FILE *out;
	const struct bpfprog_insert *inserts;
	size_t ninserts;
	bool *included; /* by file_number() */
};

static const char *generated(const struct weaving *w, const char *line, size_t len)
{
	size_t n;
	const char *mark = name_between(line, len, "/* generated: ", " */", &n);

	for (size_t i = 0; mark && i < w->ninserts; i++)
		if (strlen(w->inserts[i].mark) == n && !strncmp(mark, w->inserts[i].mark, n))
			return w->inserts[i].text;
	return "";
}

/* The file that the line includes, if it is one with maps; -1: none. Headers are the compiler's. */
static int included_file(const char *line, size_t len)
{
	size_t n;
	const char *name = name_between(line, len, "#include \"", "\"", &n);

	return name && n > 2 && !strncmp(name + n - 2, ".c", 2) ? file_number(name, n) : -1;
}

static void weave(struct weaving *w, const char *line)
{
	while (*line) {
		size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
		int file = included_file(line, len);

		if (file < 0) {
			fwrite(line, 1, whole, w->out);
			fputs(generated(w, line, len), w->out);
		} else if (!w->included[file]) {
			w->included[file] = true;
			weave(w, embedded_files[file].text);
		}
		line += whole;
	}
}

char *bpfprog_text(const char *file, const struct bpfprog_insert *inserts, size_t ninserts)
{
	const char *source = bpfprog_source(file);
	struct weaving w = {.inserts = inserts, .ninserts = ninserts};
	size_t files = 0, len;
	char *text = NULL;

	if (!source)
		return NULL;
	while (embedded_files[files].name)
		files++;
	w.included = mem_zalloc(files, sizeof(*w.included));
	w.out = open_memstream(&text, &len);
	weave(&w, source);
	fclose(w.out);
	free(w.included);
	return text;
}

const char *bpfprog_chatter(const struct bpfprog *prog)
{
	return prog->chatter;
}

static void free_flags(const char **flags, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((void *)flags[i]);
	free(flags);
}

enum { OWN_FLAGS = 2 };

/* -I for the embedded headers; -g0, as debug information would take a third of the time and nobody
 * reads it; then one -D for each definition */
static const char **make_flags(const char *dir, const struct bpfprog_define *defs, size_t ndefs)
{
	const char **flags = mem_zalloc(ndefs + OWN_FLAGS, sizeof(*flags));

	flags[0] = mem_printf("-I%s", dir);
	flags[1] = mem_strdup("-g0");
	for (size_t i = 0; i < ndefs; i++)
		flags[i + OWN_FLAGS] =
			mem_printf("-D%s=%lluULL", defs[i].name, (unsigned long long)defs[i].value);
	return flags;
}

/* libbcc finds the kernel headers by an environment variable alone: what the user has set is
 * restored */
static void *create_module(const struct libbcc *libbcc, const char *text, const char *dir,
			   const char **flags, size_t nflags)
{
	const char *before = getenv(KERNEL_SOURCE);
	char *saved = before ? mem_strdup(before) : NULL;

	setenv(KERNEL_SOURCE, dir, 1);
	void *module = libbcc->compile(text, 0, flags, nflags, true, NULL);

	if (saved)
		setenv(KERNEL_SOURCE, saved, 1);
	else
		unsetenv(KERNEL_SOURCE);
	free(saved);
	return module;
}

/* Compiles, with what libbcc prints caught in *chatter. libbcc changes the working directory, which
 * other threads may be using, and looks for headers in the one it starts in, where others may have
 * put some: in /proc nobody can. */
static void *compile_quietly(const struct libbcc *libbcc, const char *text, const char *dir,
			     const struct bpfprog_define *defs, size_t ndefs, char **chatter)
{
	const char **flags = make_flags(dir, defs, ndefs);
	struct quiet *quiet = quiet_begin();
	void *module = NULL;

	readhelpers_try();
	unshare(CLONE_FS);
	int here = open(".", O_PATH | O_CLOEXEC);

	if (!chdir("/proc"))
		module = create_module(libbcc, text, dir, flags, ndefs + OWN_FLAGS);
	if (here >= 0 && !fchdir(here))
		close(here);

	*chatter = quiet_end(quiet);
	free_flags(flags, ndefs + OWN_FLAGS);
	return module;
}

/* The first line of `text` that has `word`, or else the first line of all, and its length. */
static const char *find_line(const char *text, const char *word, int *len)
{
	const char *found = strstr(text, word), *line = text;

	if (found)
		for (line = found; line > text && line[-1] != '\n';)
			line--;
	*len = strcspn(line, "\n");
	return line;
}

/* The compiler's first error is the cause; the others follow from it. */
static void set_compile_error(struct errmsg *err, const char *file, const char *chatter)
{
	const char *line;
	int len;

	if (strstr(chatter, "could not open bpf map")) {
		line = find_line(chatter, "could not open bpf map", &len);
		errmsg_set(err, "cannot create BPF maps: %.*s", len, line);
		errmsg_hint(err, "run as root, or with CAP_BPF and CAP_PERFMON");
		return;
	}
	line = find_line(chatter, "error:", &len);
	errmsg_set(err, "%s does not compile: %.*s", file, len, line);
	errmsg_hint(err, "-v shows the program");
}

static struct bpfprog *compile_text(const char *file, const char *text,
				    const struct bpfprog_define *defs, size_t ndefs,
				    struct errmsg *err)
{
	const struct libbcc *libbcc = libbcc_open(err);
	struct headertree *tree = libbcc ? headertree_new(err) : NULL;
	char *chatter = NULL;

	if (!tree)
		return NULL;
	void *module = compile_quietly(libbcc, text, headertree_dir(tree), defs, ndefs, &chatter);

	headertree_free(tree);
	if (!module) {
		set_compile_error(err, file, chatter);
		free(chatter);
		return NULL;
	}
	struct bpfprog *prog = mem_zalloc(1, sizeof(*prog));

	prog->libbcc = libbcc;
	prog->module = module;
	prog->chatter = chatter;
	return prog;
}

struct bpfprog *bpfprog_compile(const char *file, const struct bpfprog_define *defs, size_t ndefs,
				const struct bpfprog_insert *inserts, size_t ninserts,
				struct errmsg *err)
{
	char *text = bpfprog_text(file, inserts, ninserts);

	if (!text) {
		errmsg_set(err, "no BPF program \"%s\" in this tool", file);
		return NULL;
	}
	struct bpfprog *prog = compile_text(file, text, defs, ndefs, err);

	free(text);
	return prog;
}

void bpfprog_free(struct bpfprog *prog)
{
	if (!prog)
		return;
	for (size_t i = 0; i < prog->nfds; i++)
		close(prog->fds[i]);
	prog->libbcc->destroy(prog->module);
	free(prog->chatter);
	free(prog);
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	return prog->libbcc->table_fd(prog->module, name);
}

struct loading {
	struct bpfprog *prog;
	const char *name;
	int attach_type;
	bool sleepable;
	enum bpf_prog_type type;
};

/* libbcc cannot pass flags; its instructions contain the maps' descriptors already */
static int load_sleepable(const struct bpf_insn *insns, size_t size, int attach_type, char *log)
{
	const struct bpfcall_prog prog = {
		.insns = insns,
		.count = size / sizeof(*insns),
		.attach_type = attach_type,
		.flags = BPF_F_SLEEPABLE,
		.log = log,
		.log_size = LOG_SIZE,
	};

	return bpfcall_prog(&prog);
}

static int load_plain(const struct loading *how, struct bpf_insn *insns, size_t size, char *log)
{
	struct quiet *quiet = quiet_begin();
	int fd = how->prog->libbcc->load(how->prog->module, how->type, how->name, insns, size,
					 "GPL", 0, log ? 1 : 0, log, log ? LOG_SIZE : 0, NULL,
					 how->attach_type);
	int saved = errno;

	free(quiet_end(quiet));
	errno = saved;
	return fd;
}

static int load_program(const struct loading *how, char *log)
{
	const struct libbcc *libbcc = how->prog->libbcc;
	struct bpf_insn *insns = libbcc->function_start(how->prog->module, how->name);
	size_t size = libbcc->function_size(how->prog->module, how->name);

	if (!insns) {
		errno = ENOENT;
		return -1;
	}
	if (how->sleepable)
		return load_sleepable(insns, size, how->attach_type, log);
	return load_plain(how, insns, size, log);
}

/* The last lines of the verifier's log: they tell the reason. */
static const char *last_lines(const char *log)
{
	const char *p = log + strlen(log);

	for (int lines = 0; p > log; p--)
		if (p[-1] == '\n' && ++lines > 3)
			break;
	return p;
}

/* Loads once more, for the verifier's log, which is empty without privileges. */
static void set_load_error(const struct loading *how, struct errmsg *err)
{
	int error = errno;
	char *log = mem_zalloc(1, LOG_SIZE);

	load_program(how, log);
	if (log[0])
		errmsg_set(err, "the kernel refuses BPF program %s: %s", how->name,
			   last_lines(log));
	else
		errmsg_set(err, "cannot load BPF program %s: %s", how->name, strerror(error));
	if (error == EPERM || error == EACCES)
		errmsg_hint(err, "run as root, or with CAP_BPF and CAP_PERFMON");
	free(log);
}

static int load_and_keep(const struct loading *how, struct errmsg *err)
{
	struct bpfprog *prog = how->prog;

	if (prog->nfds == MAX_PROGRAMS)
		return errmsg_set(err, "more than %d BPF programs", MAX_PROGRAMS);
	int fd = load_program(how, NULL);

	if (fd < 0) {
		set_load_error(how, err);
		return -1;
	}
	prog->fds[prog->nfds++] = fd;
	return fd;
}

int bpfprog_load(struct bpfprog *prog, const char *name, int expected_attach_type,
		 struct errmsg *err)
{
	const struct loading how = {prog, name, expected_attach_type, false, BPF_PROG_TYPE_KPROBE};

	return load_and_keep(&how, err);
}

int bpfprog_load_sleepable(struct bpfprog *prog, const char *name, int expected_attach_type,
			   struct errmsg *err)
{
	const struct loading how = {prog, name, expected_attach_type, true, BPF_PROG_TYPE_KPROBE};

	return load_and_keep(&how, err);
}

int bpfprog_load_sampled(struct bpfprog *prog, const char *name, struct errmsg *err)
{
	const struct loading how = {prog, name, 0, false, BPF_PROG_TYPE_PERF_EVENT};

	return load_and_keep(&how, err);
}

int bpfprog_at_tracepoint(struct bpfprog *prog, const char *name, const char *tracepoint,
			  struct errmsg *err)
{
	const struct loading how = {prog, name, 0, false, BPF_PROG_TYPE_RAW_TRACEPOINT};
	int fd = load_and_keep(&how, err);
	int link = fd < 0 ? -1 : bpfcall_raw_tracepoint(tracepoint, fd);

	if (fd >= 0 && link < 0)
		errmsg_set(err, "cannot watch %s: %s", tracepoint, strerror(errno));
	return link;
}
