// SPDX-License-Identifier: Apache-2.0
/* --name and --all: what is traced is found by the processes that run. */
#include "tracing/tracer_internal.h"
#include "tracing/tracer_state_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget_watch.h"
#include "base/errmsg.h"
#include "base/index.h"
#include "base/mem.h"
#include "base/worker.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "program/program.h"
#include "selection/target.h"

enum { LINK_MAX = 64, NAMED_MAX = 8 /* that a line has room for */ };

struct answer {
	bool is_go;
	struct errmsg err;
};

struct search {
	struct tracer *tracer;
	struct index seen;  /* hashes of what processes execute */
	struct errmsg *why; /* of the first that has the name, and cannot be traced */
};

/* --- in a process of its own: a file of anyone's is read --- */

static void try_process(void *ctx, const void *request, size_t len, void *reply)
{
	struct process *proc = ctx;
	struct answer *answer = reply;

	(void)request;
	(void)len;
	process_find_root(proc);
	struct heldfile *file = process_exe(proc, &answer->err);
	struct program *prog = file ? tracer_open_traceable(file, &answer->err) : NULL;

	budget_watch_pause();
	answer->is_go = prog != NULL;
	program_close(prog);
}

/* --- in the tool --- */

/* By its path and the mounts that it is seen through, both of which the kernel tells without asking
 * a file system. Of a file that was replaced since, the path may be another one's. */
static bool is_new(struct search *search, const struct process *proc)
{
	char link[LINK_MAX], mounts[LINK_MAX] = "";

	snprintf(link, sizeof(link), "/proc/%d/ns/mnt", process_id(proc));
	if (readlink(link, mounts, sizeof(mounts) - 1) < 0)
		return false; /* it has ended */
	char *path = process_exe_path(proc);
	bool replaced = path && process_runs_deleted(proc, path);
	uint64_t hash = index_hash_text(index_hash_text(0, mounts), path ? path : "");

	free(path);
	if (replaced)
		return true;
	if (index_first(&search->seen, hash) != INDEX_NONE)
		return false;
	index_add(&search->seen, hash);
	return true;
}

static bool is_go(struct process *proc, struct errmsg *err)
{
	const struct worker_task task = {
		.serve = try_process, .ctx = proc, .reply_len = sizeof(struct answer)};
	struct worker *worker = worker_new(&task, err);
	struct answer answer = {0};

	if (worker && !worker_ask(worker, "", 1, &answer, err) && answer.err.text[0])
		*err = answer.err;
	worker_free(worker);
	return answer.is_go;
}

static void look_at(struct search *search, pid_t pid)
{
	struct process *proc = process_hold(pid, NULL);
	const struct tracer_config *config = search->tracer->config;
	struct errmsg err = {0};

	if (proc &&
	    (config->all || process_is_called(proc, config->named, !config->named_by_command)) &&
	    is_new(search, proc)) {
		if (is_go(proc, &err)) {
			process_find_root(proc);
			tracer_open(search->tracer, process_exe(proc, &err), &err);
		}
		if (err.text[0] && !search->why->text[0])
			*search->why = err;
	}
	process_close(proc);
}

/* "2 programs: /usr/bin/etcd, /usr/bin/caddy" */
static void note_programs(struct tracer *tracer)
{
	size_t count = tracer->program_count, named = count < NAMED_MAX ? count : NAMED_MAX;
	char *text = mem_printf("%zu program%s:", count, count == 1 ? "" : "s");

	for (size_t i = 0; i <= named; i++) {
		char *place = i < named ? heldfile_place(tracer->programs[i]->file) : NULL;
		char *longer = i < named       ? mem_printf("%s%s %s", text, i ? "," : "",
                                                      place ? place : tracer->programs[i]->path)
			       : count > named ? mem_printf("%s and %zu more", text, count - named)
					       : mem_strdup(text);

		free(place);
		free(text);
		text = longer;
	}
	selection_note(tracer->sel, text);
}

static bool has_binary(const char *pattern)
{
	struct target_spec spec = {0};
	struct errmsg err = {0};
	bool has = !target_spec_parse(pattern, false, &spec, &err);

	target_spec_free(&spec);
	return has;
}

bool tracer_is_for_running(const struct tracer *tracer)
{
	const struct tracer_config *config = tracer->config;

	if ((!config->named && !config->all) || tracer->pid)
		return false;
	if (!config->named_by_command)
		return true;
	for (size_t i = 0; i < config->pattern_count; i++)
		if (!has_binary(config->patterns[i]))
			return true;
	return false;
}

int tracer_find_running(struct tracer *tracer, struct errmsg *err)
{
	const struct tracer_config *config = tracer->config;
	struct errmsg why = {0};
	struct search search = {.tracer = tracer, .why = &why};
	size_t count;
	pid_t *pids = process_list(&count);

	for (size_t i = 0; i < count; i++)
		look_at(&search, pids[i]);
	free(pids);
	index_free(&search.seen);
	tracer->running = tracer->program_count;
	if (tracer->running) {
		note_programs(tracer);
		return 0;
	}
	if (config->all)
		errmsg_set(err, "no Go program runs here");
	else
		errmsg_set(err, "no Go program runs whose name contains \"%s\"", config->named);
	if (!config->all && why.text[0])
		errmsg_hint(err, "%s", why.text);
	else
		errmsg_hint(err, "gostat --all shows those that run");
	return -1;
}
