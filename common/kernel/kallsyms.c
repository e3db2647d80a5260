// SPDX-License-Identifier: Apache-2.0
#include "kernel/kallsyms_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errmsg.h"
#include "base/mem.h"

struct symbol {
	uint64_t addr;
	const char *name;
	const char *module; /* "" for the kernel itself */
	bool is_text;
};

struct kallsyms {
	struct symbol *symbols; /* by address */
	size_t count, cap;
	char *text; /* that holds the names and modules */
};

void kallsyms_close(struct kallsyms *syms)
{
	if (!syms)
		return;
	free(syms->symbols);
	free(syms->text);
	free(syms);
}

/* Files of /proc report no size. */
static char *read_all(const char *path, struct errmsg *err)
{
	FILE *in = fopen(path, "re");
	char *text = NULL;
	size_t cap = 0;

	if (!in) {
		errmsg_set(err, "cannot read \"%s\": %s", path, strerror(errno));
		return NULL;
	}
	if (getdelim(&text, &cap, '\0', in) < 0) {
		errmsg_set(err, "\"%s\" is empty: the kernel has no symbols", path);
		free(text);
		text = NULL;
	}
	fclose(in);
	return text;
}

/* the module of "name\t[module]", which is cut in two; "" where there is none */
static const char *cut_module(char *name)
{
	char *end = name + strcspn(name, "\t ");
	const char *module = "";

	if (end[0] && end[1] == '[') {
		module = end + 2;
		end[2 + strcspn(module, "]")] = '\0';
	}
	end[0] = '\0';
	return module;
}

/* "ffffffff81000000 T _stext", then in modules "\t[module]" */
static bool parse_line(char *line, struct symbol *out)
{
	char *end;

	errno = 0;
	out->addr = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	out->is_text = strchr("tTwW", end[1]);
	out->name = end + 3;
	out->module = cut_module(end + 3);
	return out->name[0];
}

static int by_kernel_addr(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void parse_kallsyms(struct kallsyms *syms)
{
	struct symbol sym;
	char *next;

	for (char *line = syms->text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		/* the kernel shows hidden addresses as 0 */
		if (!parse_line(line, &sym) || !sym.addr)
			continue;
		syms->symbols =
			mem_grow(syms->symbols, syms->count, &syms->cap, sizeof(*syms->symbols));
		syms->symbols[syms->count++] = sym;
	}
	if (syms->count)
		qsort(syms->symbols, syms->count, sizeof(*syms->symbols), by_kernel_addr);
}

struct kallsyms *kallsyms_open(struct errmsg *err)
{
	return kallsyms_open_file("/proc/kallsyms", err);
}

struct kallsyms *kallsyms_open_file(const char *path, struct errmsg *err)
{
	char *text = read_all(path, err);

	if (!text)
		return NULL;
	struct kallsyms *syms = mem_zalloc(1, sizeof(*syms));

	syms->text = text;
	parse_kallsyms(syms);
	if (syms->count)
		return syms;
	kallsyms_close(syms);
	errmsg_set(err, "the kernel hides the addresses of its symbols");
	errmsg_hint(err, "run as root, or set sysctl kernel.kptr_restrict to 0");
	return NULL;
}

/* Data is no code, and neither are the marks after the last function. */
static bool is_function(const struct symbol *sym)
{
	return sym->is_text && strcmp(sym->name, "_etext") != 0 &&
	       strcmp(sym->name, "_einittext") != 0;
}

const char *kallsyms_find(const struct kallsyms *syms, uint64_t addr, uint64_t *off,
			  const char **module)
{
	size_t low = 0, high = syms->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (syms->symbols[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || !is_function(&syms->symbols[low - 1]))
		return NULL;
	const struct symbol *sym = &syms->symbols[low - 1];

	*off = addr - sym->addr;
	*module = sym->module;
	return sym->name;
}
