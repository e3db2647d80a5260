// SPDX-License-Identifier: Apache-2.0
#include "kernel/bpfprog_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/bytecode_internal.h"
#include "kernel/compile_internal.h"
#include "kernel/late_internal.h"
#include "kernel/progcache_internal.h"

#define MAX_PROGRAMS 64
enum { LOG_SIZE = 1 << 20 };

struct bpfprog {
	struct bytecode *code;
	int *maps; /* descriptors, in its order; those below nmaps are open */
	uint32_t nmaps;
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

/* Before Linux 5.11 BPF's memory counts as locked memory, of which little is allowed. */
static int create_map(const struct bytecode_map *map)
{
	static const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
	int fd = bpfcall_named_map(map);

	if (fd < 0 && errno == EPERM && !setrlimit(RLIMIT_MEMLOCK, &all))
		fd = bpfcall_named_map(map);
	return fd;
}

static int create_maps(struct bpfprog *prog, const struct bpfprog_define *defs, size_t ndefs,
		       struct errmsg *err)
{
	const struct bytecode *code = prog->code;

	prog->maps = mem_zalloc(code->nmaps + 1, sizeof(*prog->maps));
	for (; prog->nmaps < code->nmaps; prog->nmaps++) {
		struct bytecode_map *map = &code->maps[prog->nmaps];

		map->entries = late_entries(map->entries, defs, ndefs);
		int fd = create_map(map);

		if (fd < 0) {
			int error = errno;

			errmsg_set(err, "cannot create BPF map %s: %s", map->name, strerror(error));
			if (error == EPERM)
				errmsg_hint(err, BPFPROG_PRIVILEGES);
			return -1;
		}
		prog->maps[prog->nmaps] = fd;
	}
	return 0;
}

/* Puts in the descriptors of maps, which are of this start alone. */
static void link_func(const struct bpfprog *prog, const struct bytecode_func *func)
{
	for (uint32_t i = 0; i < func->count; i++)
		if (bytecode_is_map(&func->insns[i]))
			func->insns[i].imm = prog->maps[func->insns[i].imm];
}

/* Compiled now, or once before. */
static struct bytecode *code_of(const char *file, const char *text,
				const struct bpfprog_define *defs, size_t ndefs, char **chatter,
				struct errmsg *err)
{
	struct progcache *kept = progcache_open(text, defs, ndefs);
	struct bytecode *code = progcache_find(kept);

	if (code) {
		*chatter = mem_printf("%s was compiled before: taken from %s\n", file,
				      progcache_folder(kept));
	} else {
		struct compiled compiled;

		if (!compile_text(file, text, defs, ndefs, &compiled, err)) {
			if (!*compiled.chatter)
				progcache_keep(kept, &compiled);
			free(compiled.libraries);
			*chatter = compiled.chatter;
			code = compiled.code;
		}
	}
	progcache_close(kept);
	return code;
}

struct bpfprog *bpfprog_compile(const char *file, const struct bpfprog_define *defs, size_t ndefs,
				const struct bpfprog_insert *inserts, size_t ninserts,
				struct errmsg *err)
{
	char *text = bpfprog_text(file, inserts, ninserts), *chatter;

	if (!text) {
		errmsg_set(err, "no BPF program \"%s\" in this tool", file);
		return NULL;
	}
	struct bytecode *code = code_of(file, text, defs, ndefs, &chatter, err);

	free(text);
	if (!code)
		return NULL;
	struct bpfprog *prog = mem_zalloc(1, sizeof(*prog));

	prog->code = code;
	prog->chatter = chatter;
	if (create_maps(prog, defs, ndefs, err)) {
		bpfprog_free(prog);
		return NULL;
	}
	for (uint32_t i = 0; i < code->nfuncs; i++) {
		late_put(code->funcs[i].insns, code->funcs[i].count, defs, ndefs);
		link_func(prog, &code->funcs[i]);
	}
	return prog;
}

void bpfprog_free(struct bpfprog *prog)
{
	if (!prog)
		return;
	for (size_t i = 0; i < prog->nfds; i++)
		close(prog->fds[i]);
	for (uint32_t i = 0; i < prog->nmaps; i++)
		close(prog->maps[i]);
	bytecode_free(prog->code);
	free(prog->maps);
	free(prog->chatter);
	free(prog);
}

int bpfprog_map(const struct bpfprog *prog, const char *name)
{
	for (uint32_t i = 0; i < prog->nmaps; i++)
		if (!strcmp(prog->code->maps[i].name, name))
			return prog->maps[i];
	return -1;
}

struct loading {
	struct bpfprog *prog;
	const char *name;
	int attach_type;
	bool sleepable;
	enum bpf_prog_type type;
};

static const struct bytecode_func *find_func(const struct bytecode *code, const char *name)
{
	for (uint32_t i = 0; i < code->nfuncs; i++)
		if (!strcmp(code->funcs[i].name, name))
			return &code->funcs[i];
	return NULL;
}

static int load_program(const struct loading *how, char *log)
{
	const struct bytecode_func *func = find_func(how->prog->code, how->name);

	if (!func) {
		errno = ENOENT;
		return -1;
	}
	const struct bpfcall_prog prog = {
		.type = how->type,
		.name = how->name,
		.insns = func->insns,
		.count = func->count,
		.attach_type = how->attach_type,
		.flags = how->sleepable ? BPF_F_SLEEPABLE : 0,
		.log = log,
		.log_size = LOG_SIZE,
	};

	return bpfcall_prog(&prog);
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
		errmsg_hint(err, BPFPROG_PRIVILEGES);
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
