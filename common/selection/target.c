// SPDX-License-Identifier: Apache-2.0
#include "selection/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/errmsg.h"
#include "base/mem.h"
#include "files/heldfile.h"
#include "selection/target_find_internal.h"

#define USDT "; for USDT probes use bcc's own tools"

static bool ends_here(const char *arg, const char *colon)
{
	char *path = mem_strndup(arg, colon - arg);
	struct stat st;
	bool found = stat(path, &st) == 0;

	free(path);
	return found;
}

/* The colon after BINARY. A path may contain colons itself: the first one that ends an existing
 * path counts. */
static const char *find_colon(const char *arg)
{
	const char *first = strchr(arg, ':');

	if (!first || !memchr(arg, '/', first - arg))
		return first;
	for (const char *colon = first; colon; colon = strchr(colon + 1, ':'))
		if (ends_here(arg, colon))
			return colon;
	return first;
}

static bool names_binary(const char *arg, const char *colon)
{
	struct heldfile *file;
	char *name;

	if (colon == arg || memchr(arg, '/', colon - arg))
		return true;
	name = mem_strndup(arg, colon - arg);
	file = target_find_name(name, NULL);
	free(name);
	heldfile_close(file);
	return file;
}

bool target_is_number(const char *name)
{
	return *name && !name[strspn(name, "0123456789")];
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void target_hint_words(char *const args[2], struct errmsg *err)
{
	if (!*args[0] || target_is_number(args[0]) || strchr(args[0], ':') ||
	    strchr(args[1], ':') || (strchr(args[0], '.') && !is_file(args[0])))
		return;
	errmsg_hint(err, "BINARY and PATTERN are one word: '%s:%s'", args[0], args[1]);
}

static int no_binary(const char *arg, struct errmsg *err)
{
	const char *kernel = strstr(arg, "::"); /* bcc's p::f is a function of the kernel */

	errmsg_set(err, "no BINARY in \"%s\"", arg);
	if (target_is_number(arg))
		errmsg_hint(err, "for the process with this PID: -p %s", arg);
	else if (is_file(arg))
		errmsg_hint(err, "for all of its functions: '%s:*'", arg);
	else if (*arg == ':' || (kernel && kernel == arg + 1))
		errmsg_hint(err,
			    "name the program, as in 'BINARY%s', or give a process with -p PID or "
			    "-- COMMAND; for functions of the kernel use bcc's own tools",
			    kernel ? kernel + 1 : arg);
	else
		errmsg_hint(err, "give BINARY:PATTERN, or a process with -p PID or -- COMMAND");
	return -1;
}

/* Probes of bpftrace's and of bcc's trace: uprobe:/bin/app:main.f, u:/bin/app:f. The path tells
 * them from a program with that name. False: it is none. */
static bool is_foreign(const char *arg, struct errmsg *err)
{
	static const struct {
		const char *type, *more;
	} rows[] = {{"uprobe:", ""}, {"uretprobe:", ""}, {"ur:", ""},
		    {"u:", USDT},    {"usdt:", USDT},    {"U:", USDT}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t len = strlen(rows[i].type);

		if (strncmp(arg, rows[i].type, len) != 0 || (arg[len] != '/' && arg[len] != '.'))
			continue;
		errmsg_set(err, "\"%s\" is a probe of other tools", arg);
		errmsg_hint(err, "for the function: '%.*s'%s", (int)strcspn(arg + len, " {"),
			    arg + len, rows[i].more);
		return true;
	}
	return false;
}

static const char *skip_probe_type(const char *arg, bool has_process)
{
	/* "p:NAME" without a second colon: p is the binary, unless -p or -- COMMAND gives one */
	if (strncmp(arg, "p:", 2) || (!has_process && !strchr(arg + 2, ':')))
		return arg;
	return arg + 2;
}

/* "@FILE:LINE", with nothing before it but perhaps BINARY, with or without a colon (bpftrace's). */
static const char *find_line(const char *arg)
{
	const char *at = strrchr(arg, '@'), *colon = at ? strrchr(at, ':') : NULL;

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] ? at : NULL;
}

/* 0: `arg` has no line. */
static int parse_line(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err)
{
	const char *line = find_line(arg);
	size_t len = line ? line - arg : 0;

	if (!line)
		return 0;
	if (len && arg[len - 1] == ':')
		len--;
	if (!len && !has_process)
		return no_binary(arg, err);
	if (len)
		out->binary = mem_strndup(arg, len);
	out->pattern = mem_strdup(line);
	return 1;
}

int target_spec_parse(const char *arg, bool has_process, struct target_spec *out,
		      struct errmsg *err)
{
	const char *rest = skip_probe_type(arg, has_process);
	const char *colon = find_colon(rest);
	int line;

	*out = (struct target_spec){0};
	if (is_foreign(arg, err))
		return -1;
	line = parse_line(rest, has_process, out, err);
	if (line)
		return line < 0 ? -1 : 0;
	if (has_process && colon && !names_binary(rest, colon))
		colon = NULL;
	if (!has_process && (!colon || colon == rest))
		return no_binary(arg, err);
	const char *pattern = colon ? colon + 1 : rest;

	if (!*pattern) {
		errmsg_set(err, "no PATTERN in \"%s\"", arg);
		errmsg_hint(err, "for all functions: '%s*'", arg);
		return -1;
	}
	if (colon && colon > rest)
		out->binary = mem_strndup(rest, colon - rest);
	out->pattern = mem_strdup(pattern);
	return 0;
}

void target_spec_free(struct target_spec *spec)
{
	free(spec->binary);
	free(spec->pattern);
	*spec = (struct target_spec){0};
}
