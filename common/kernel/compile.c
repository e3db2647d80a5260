// SPDX-License-Identifier: Apache-2.0
#include "kernel/compile_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/bpfprog_internal.h"
#include "kernel/bytecode_internal.h"
#include "kernel/headertree_internal.h"
#include "kernel/late_internal.h"
#include "kernel/libbcc_internal.h"
#include "kernel/quiet_internal.h"
#include "kernel/readhelpers_internal.h"

#define KERNEL_SOURCE "BCC_KERNEL_SOURCE"

static void free_flags(const char **flags, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((void *)flags[i]);
	free(flags);
}

enum { OWN_FLAGS = 2 };

/* -I for the embedded headers; -g0, as debug information would take a third of the time and nobody
 * reads it; then one -D for each definition. Clang runs LLVM's passes, and then libbcc does so
 * again: the first time stays, a fifth of all, as some programs would need more stack than BPF has
 * without it, and LLVM ends the process then. */
static const char **make_flags(const char *dir, const struct bpfprog_define *defs, size_t ndefs)
{
	const char **flags = mem_zalloc(ndefs + OWN_FLAGS, sizeof(*flags));

	flags[0] = mem_printf("-I%s", dir);
	flags[1] = mem_strdup("-g0");
	for (size_t i = 0; i < ndefs; i++)
		flags[i + OWN_FLAGS] = late_option(&defs[i]);
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
		errmsg_hint(err, BPFPROG_PRIVILEGES);
		return;
	}
	line = find_line(chatter, "error:", &len);
	errmsg_set(err, "%s does not compile: %.*s", file, len, line);
	errmsg_hint(err, "-v shows the program");
}

/* What libbcc has created; it may be of other sizes than the text says, as for a map of all CPUs.
 */
static int take_map(const struct libbcc *libbcc, void *module, size_t n, struct bytecode_map *map)
{
	struct bpf_map_info info;

	if (bpfcall_info(libbcc->table_fd(module, n), &info, sizeof(info)))
		return -1;
	map->name = mem_strdup(libbcc->table_name(module, n));
	map->type = info.type;
	map->key_size = info.key_size;
	map->value_size = info.value_size;
	map->entries = info.max_entries;
	map->flags = info.map_flags;
	return 0;
}

/* The number of the map with this descriptor; `count`: there is none */
static uint32_t map_of(const struct libbcc *libbcc, void *module, uint32_t count, int fd)
{
	uint32_t n = 0;

	while (n < count && libbcc->table_fd(module, n) != fd)
		n++;
	return n;
}

static int take_func(const struct libbcc *libbcc, void *module, size_t n, uint32_t maps,
		     struct bytecode_func *func)
{
	size_t size = libbcc->function_size(module, n);

	func->name = mem_strdup(libbcc->function_name(module, n));
	func->count = size / sizeof(*func->insns);
	func->insns = mem_zalloc(func->count + 1, sizeof(*func->insns));
	memcpy(func->insns, libbcc->function_start(module, n), size);
	for (uint32_t i = 0; i < func->count; i++) {
		struct bpf_insn *insn = &func->insns[i];

		if (!bytecode_is_map(insn))
			continue;
		insn->imm = map_of(libbcc, module, maps, insn->imm);
		if ((uint32_t)insn->imm == maps)
			return -1;
	}
	return 0;
}

static struct bytecode *take_code(const struct libbcc *libbcc, void *module)
{
	struct bytecode *code = mem_zalloc(1, sizeof(*code));
	uint32_t maps = libbcc->num_tables(module), funcs = libbcc->num_functions(module);
	int ret = 0;

	code->maps = mem_zalloc(maps + 1, sizeof(*code->maps));
	code->funcs = mem_zalloc(funcs + 1, sizeof(*code->funcs));
	for (; code->nmaps < maps && !ret; code->nmaps++)
		ret = take_map(libbcc, module, code->nmaps, &code->maps[code->nmaps]);
	for (; code->nfuncs < funcs && !ret; code->nfuncs++)
		ret = take_func(libbcc, module, code->nfuncs, maps, &code->funcs[code->nfuncs]);
	if (!ret)
		return code;
	bytecode_free(code);
	return NULL;
}

struct bytecode *compile_text(const char *file, const char *text, const struct bpfprog_define *defs,
			      size_t ndefs, char **chatter, struct errmsg *err)
{
	const struct libbcc *libbcc = libbcc_open(err);
	struct headertree *tree = libbcc ? headertree_new(err) : NULL;
	struct bytecode *code = NULL;

	*chatter = NULL;
	if (!tree)
		return NULL;
	void *module = compile_quietly(libbcc, text, headertree_dir(tree), defs, ndefs, chatter);

	headertree_free(tree);
	if (!module) {
		set_compile_error(err, file, *chatter);
	} else {
		code = take_code(libbcc, module);
		libbcc->destroy(module);
		if (!code)
			errmsg_set(err, "cannot read the maps of %s", file);
	}
	if (!code) {
		free(*chatter);
		*chatter = NULL;
	}
	return code;
}
