// SPDX-License-Identifier: Apache-2.0
#include "goroutines/goprocesses.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/corefile.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "program/program.h"
#include "selection/target.h"

static char *file_name(const struct process *proc)
{
	char *path = process_exe_path(proc);
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *name = mem_strdup(slash ? slash + 1 : "?");

	free(path);
	return name;
}

static bool has_name(const struct goprocesses_one *one, const char *name)
{
	char *command = process_name(one->proc);
	bool has = strstr(command, name) || strstr(one->name, name);

	free(command);
	return has;
}

static void close_one(struct goprocesses_one *one)
{
	goprocess_close(one->gp);
	process_close(one->proc);
	free(one->name);
}

static void keep(struct goprocesses *procs, const struct goprocesses_one *one)
{
	procs->all = mem_grow(procs->all, procs->count, &procs->cap, sizeof(*procs->all));
	procs->all[procs->count++] = *one;
}

/* --- those whose IDs are given --- */

static int open_one(struct goprocesses_one *one, struct errmsg *err)
{
	one->proc = process_open(one->pid, err);
	if (!one->proc)
		return -1;
	/* the file first: whether it is a Go program can be told with fewer privileges */
	struct program *prog = program_open(process_exe(one->proc, err), err);

	if (!prog)
		return -1;
	one->gp = goprocess_open(one->proc, prog, err);
	one->name = file_name(one->proc);
	return one->gp ? 0 : -1;
}

static void open_given(const struct goprocesses_wanted *wanted, struct goprocesses *out,
		       void (*failed)(void *ctx, const struct errmsg *err), void *ctx)
{
	struct errmsg err = {0};

	for (size_t i = 0; i < wanted->pid_count; i++) {
		struct goprocesses_one one = {.pid = wanted->pids[i]};

		if (open_one(&one, &err) == 0) {
			keep(out, &one);
			continue;
		}
		close_one(&one);
		failed(ctx, &err);
	}
}

/* --- those that there are --- */

/* A process that is no Go program, or ends meanwhile, is none of those that are looked for. */
enum found { FOUND, FOUND_OTHER, FOUND_REFUSED };

static enum found look_at(struct goprocesses_one *one, const char *name, struct errmsg *err)
{
	one->proc = process_open(one->pid, err);
	if (!one->proc)
		return FOUND_OTHER;
	one->name = file_name(one->proc);
	if (name && !has_name(one, name))
		return FOUND_OTHER;
	struct heldfile *exe = process_exe(one->proc, err);

	if (!exe)
		return process_runs(one->proc) ? FOUND_REFUSED : FOUND_OTHER;
	struct program *prog = program_open(exe, err);

	if (!prog)
		return FOUND_OTHER;
	one->gp = goprocess_open(one->proc, prog, err);
	if (one->gp)
		return FOUND;
	return process_runs(one->proc) ? FOUND_REFUSED : FOUND_OTHER;
}

static void open_all(const char *name, struct goprocesses *out)
{
	size_t count;
	pid_t *pids = process_list(&count);

	for (size_t i = 0; i < count; i++) {
		struct goprocesses_one one = {.pid = pids[i]};
		struct errmsg err = {0};
		enum found found = look_at(&one, name, &err);

		if (found == FOUND) {
			keep(out, &one);
			continue;
		}
		close_one(&one);
		if (found == FOUND_REFUSED && !out->refused++)
			out->why = err;
	}
	free(pids);
}

/* --- one that has ended --- */

static char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return mem_strdup(slash ? slash + 1 : path);
}

static int open_core(const struct goprocesses_wanted *wanted, struct goprocesses *out,
		     struct errmsg *err)
{
	struct corefile *core = corefile_open(heldfile_open(NULL, wanted->core, err), err);
	struct program *prog =
		core ? program_open(target_resolve(wanted->binary, NULL, err), err) : NULL;
	struct goprocesses_one one = {0};

	if (!prog) {
		corefile_close(core);
		return -1;
	}
	one.pid = corefile_pid(core);
	out->core_missing = corefile_missing(core, &out->core_size);
	one.name = last_part(prog->path);
	one.gp = goprocess_open_core(core, prog, err);
	if (!one.gp) {
		close_one(&one);
		return -1;
	}
	out->core_untold = !goprocess_core_is_told(one.gp);
	keep(out, &one);
	return 0;
}

int goprocesses_open(const struct goprocesses_wanted *wanted, struct goprocesses *out,
		     void (*failed)(void *ctx, const struct errmsg *err), void *ctx,
		     struct errmsg *err)
{
	*out = (struct goprocesses){0};
	if (wanted->core)
		return open_core(wanted, out, err);
	open_given(wanted, out, failed, ctx);
	if (wanted->pid_count)
		return 0;
	open_all(wanted->all ? NULL : wanted->name, out);
	if (out->count)
		return 0;
	if (out->refused) {
		errmsg_set(err, "no Go program found; %zu processes could not be looked at: %s",
			   out->refused, out->why.text);
		errmsg_hint(err, "%s", out->why.hint);
		return -1;
	}
	if (wanted->name)
		return errmsg_set(err, "no Go program runs whose name contains \"%s\"",
				  wanted->name);
	return errmsg_set(err, "no Go program runs");
}

void goprocesses_close(struct goprocesses *procs)
{
	for (size_t i = 0; i < procs->count; i++)
		close_one(&procs->all[i]);
	free(procs->all);
	*procs = (struct goprocesses){0};
}
