// SPDX-License-Identifier: Apache-2.0
#include "kernel/compile_internal.h"

#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "kernel/bpfcall_internal.h"
#include "kernel/bpfprog_internal.h"
#include "kernel/bytecode_internal.h"
#include "kernel/late_internal.h"
#include "kernel/libbcc_internal.h"
#include "kernel/readhelpers_internal.h"

enum { OWN_FLAGS = 4 };

/* -I for the embedded headers; -g0, as debug information would take a third of the time and nobody
 * reads it; then one -D for each definition. Clang runs LLVM's passes, and then libbcc does so
 * again: the first time is half of all. */
static const char **make_flags(const struct compiling *what, size_t *count)
{
	const char **flags = mem_zalloc(what->ndefs + OWN_FLAGS, sizeof(*flags));
	size_t n = 0;

	flags[n++] = mem_printf("-I%s", what->headers);
	flags[n++] = mem_strdup("-g0");
	if (what->passes == COMPILE_ONCE) {
		flags[n++] = mem_strdup("-Xclang");
		flags[n++] = mem_strdup("-disable-llvm-passes");
	}
	for (size_t i = 0; i < what->ndefs; i++)
		flags[n++] = late_option(&what->defs[i]);
	*count = n;
	return flags;
}

static void free_flags(const char **flags, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free((void *)flags[i]);
	free(flags);
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

static int note_library(struct dl_phdr_info *info, size_t size, void *out)
{
	static const char *const names[] = {"/libbcc.", "/libclang", "/libLLVM"};
	struct stat st;

	(void)size;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strstr(info->dlpi_name, names[i]) && !stat(info->dlpi_name, &st))
			compile_note_library(out, info->dlpi_name, &st);
	return 0;
}

void compile_note_library(FILE *out, const char *path, const struct stat *st)
{
	fprintf(out, "%llu %lld.%09ld %s\n", (unsigned long long)st->st_size,
		(long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, path);
}

static char *libraries(void)
{
	char *lines = NULL;
	size_t len;
	FILE *out = open_memstream(&lines, &len);

	dl_iterate_phdr(note_library, out);
	fclose(out);
	return lines;
}

/* libbcc looks for headers in the working directory, where others may have put some: in /proc
 * nobody can. It finds the kernel headers by an environment variable alone. */
static void *create_module(const struct libbcc *libbcc, const struct compiling *what)
{
	size_t count;
	const char **flags = make_flags(what, &count);
	void *module = NULL;

	readhelpers_try();
	setenv("BCC_KERNEL_SOURCE", what->headers, 1);
	if (!chdir("/proc"))
		module = libbcc->compile(what->text, 0, flags, count, true, NULL);
	free_flags(flags, count);
	return module;
}

int compile_here(const struct compiling *what, struct compiled *compiled, struct errmsg *err)
{
	const struct libbcc *libbcc = libbcc_open(err);
	void *module = libbcc ? create_module(libbcc, what) : NULL;

	if (!libbcc)
		return -1;
	if (!module)
		return errmsg_set(err, COMPILE_FAILS, what->file);
	compiled->code = take_code(libbcc, module);
	compiled->libraries = libraries();
	libbcc->destroy(module);
	if (!compiled->code)
		return errmsg_set(err, "cannot read the maps of %s", what->file);
	return 0;
}
