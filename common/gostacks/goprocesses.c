// SPDX-License-Identifier: Apache-2.0
#include "gostacks/goprocesses.h"

#include <stdlib.h>
#include <string.h>

#include "base/budget_watch.h"
#include "base/index.h"
#include "base/mem.h"
#include "base/worker.h"
#include "elf/corefile.h"
#include "files/heldfile.h"
#include "files/process.h"
#include "files/process_list.h"
#include "program/program.h"
#include "selection/target.h"
#include "gostacks/goprocess_internal.h"

static char *file_name(const struct process *proc)
{
	char *path = process_exe_path(proc);
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *name = mem_strdup(slash ? slash + 1 : "?");

	free(path);
	return name;
}

/* --- in the worker --- */

/* A process that is no Go program, or ends meanwhile, is none of those that are looked for. */
enum found { FOUND, FOUND_OTHER, FOUND_REFUSED };

struct request {
	int what;
	bool several;
};

struct reply {
	enum found found; /* of the first */
	int result;
	uint64_t count;
	uint64_t core_size, core_missing;
	bool core_untold;
	struct errmsg err;
};

struct job {
	const struct goprocesses_wanted *wanted;
	const struct goprocesses_work *work;
	struct goprocesses_one one;
	bool opened;
};

static enum found refuse(const struct goprocesses_one *one)
{
	return process_runs(one->proc) ? FOUND_REFUSED : FOUND_OTHER;
}

static enum found open_process(struct goprocesses_one *one, const char *name, struct errmsg *err)
{
	process_find_root(one->proc);
	one->name = file_name(one->proc);
	if (name && !process_is_called(one->proc, name, true))
		return FOUND_OTHER;
	/* the file first: whether it is a Go program can be told with fewer privileges */
	struct heldfile *exe = process_exe(one->proc, err);

	if (!exe)
		return refuse(one);
	struct program *prog = program_open(exe, err);

	if (!prog)
		return FOUND_OTHER;
	one->gp = goprocess_open(one->proc, prog, err);
	return one->gp ? FOUND : refuse(one);
}

static char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return mem_strdup(slash ? slash + 1 : path);
}

static enum found open_core(const struct goprocesses_wanted *wanted, struct goprocesses_one *one,
			    struct reply *reply)
{
	struct errmsg *err = &reply->err;
	struct corefile *core = corefile_open(heldfile_open(NULL, wanted->core, err), err);
	struct program *prog =
		core ? program_open(target_resolve(wanted->binary, NULL, err), err) : NULL;

	if (!prog) {
		corefile_close(core);
		return FOUND_REFUSED;
	}
	one->pid = corefile_pid(core);
	reply->core_missing = corefile_missing(core, &reply->core_size);
	one->name = last_part(prog->path);
	one->gp = goprocess_open_core(core, prog, err);
	if (!one->gp)
		return FOUND_REFUSED;
	reply->core_untold = !goprocess_core_is_told(one->gp);
	return FOUND;
}

/* The first request is to open it. */
static void serve(void *ctx, const void *request, size_t len, void *out)
{
	struct job *job = ctx;
	struct goprocesses_one *one = &job->one;
	const struct request *asked = request;
	struct reply *reply = out;

	if (!job->opened) {
		job->opened = true;
		reply->found =
			one->proc ? open_process(one, job->wanted->all ? NULL : job->wanted->name,
						 &reply->err)
				  : open_core(job->wanted, one, reply);
		budget_watch_pause();
		return;
	}
	one->several = asked->several;
	budget_watch_resume();
	reply->result = job->work->look(job->work->ctx, one, asked->what, asked + 1,
					len - sizeof(*asked), &reply->count, &reply->err);
	if (job->work->result_len)
		memcpy(reply + 1, job->work->result, job->work->result_len);
	budget_watch_pause();
}

static void end_job(void *ctx)
{
	struct job *job = ctx;

	if (job->work->end)
		job->work->end(job->work->ctx);
	goprocess_close(job->one.gp);
	process_close(job->one.proc);
	free(job->one.name);
}

/* --- in the tool --- */

static bool close_one(struct goprocesses_one *one)
{
	bool good = worker_free(one->worker);

	process_close(one->proc);
	return good;
}

static void keep(struct goprocesses *procs, const struct goprocesses_one *one)
{
	procs->all = mem_grow(procs->all, procs->count, &procs->cap, sizeof(*procs->all));
	procs->all[procs->count++] = *one;
}

static int ask(const struct goprocesses *procs, const struct goprocesses_one *one,
	       const struct request *request, const void *more, size_t len, struct reply *reply,
	       struct errmsg *err)
{
	size_t size = sizeof(*request) + len;
	char *bytes = mem_alloc(size), *answer = mem_alloc(sizeof(*reply) + procs->result_len);
	struct errmsg why;

	memcpy(bytes, request, sizeof(*request));
	if (len)
		memcpy(bytes + sizeof(*request), more, len);
	int ret = worker_ask(one->worker, bytes, size, answer, &why);

	if (!ret)
		memcpy(reply, answer, sizeof(*reply));
	if (!ret && procs->result_len)
		memcpy(procs->result, answer + sizeof(*reply), procs->result_len);
	free(answer);
	free(bytes);
	if (!ret)
		return 0;
	return one->proc ? errmsg_set(err, "process %d: %s", one->pid, why.text)
			 : errmsg_set(err, "the core file: %s", why.text);
}

/* Starts who reads it, and keeps it if there is anything to read. */
static enum found begin(const struct goprocesses_wanted *wanted,
			const struct goprocesses_work *work, struct goprocesses_one *one,
			struct goprocesses *out, struct errmsg *err)
{
	struct job job = {.wanted = wanted, .work = work, .one = *one};
	const struct worker_task task = {serve, end_job, &job,
					 sizeof(struct reply) + work->result_len};
	const struct request request = {0};
	struct reply reply = {.found = FOUND_REFUSED};

	one->worker = worker_new(&task, err);
	if (one->worker && !ask(out, one, &request, NULL, 0, &reply, err))
		*err = reply.err;
	out->core_size = reply.core_size;
	out->core_missing = reply.core_missing;
	out->core_untold = reply.core_untold;
	if (reply.found == FOUND)
		keep(out, one);
	else
		close_one(one);
	return reply.found;
}

static void open_given(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		       struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		       void *ctx)
{
	struct errmsg err = {0};

	for (size_t i = 0; i < wanted->pid_count; i++) {
		struct goprocesses_one one = {.pid = wanted->pids[i]};

		one.proc = process_hold(one.pid, &err);
		if (!one.proc || begin(wanted, work, &one, out, &err) != FOUND)
			failed(ctx, &err);
	}
}

/* --- all that run --- */

struct goprocesses_other {
	pid_t pid;
	uint64_t exe; /* a hash of the path of what it executes */
	bool refused; /* it may be one, but cannot be looked at */
};

static uint64_t exe_of(const struct process *proc)
{
	char *path = process_exe_path(proc);
	uint64_t hash = path ? index_hash_text(0, path) : 0;

	free(path);
	return hash;
}

static int by_pid(const void *a, const void *b)
{
	const struct goprocesses_other *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static bool is_one(const struct goprocesses *procs, pid_t pid)
{
	for (size_t i = 0; i < procs->count; i++)
		if (procs->all[i].pid == pid)
			return true;
	return false;
}

/* The same as it was found before; NULL: it was not, or executes another file now. */
static const struct goprocesses_other *find_other(const struct goprocesses *procs,
						  const struct goprocesses_other *this)
{
	if (!procs->other_count)
		return NULL;
	const struct goprocesses_other *other =
		bsearch(this, procs->others, procs->other_count, sizeof(*this), by_pid);

	return other && other->exe == this->exe ? other : NULL;
}

/* Is it none of those that are looked for? */
static bool pass_over(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		      struct goprocesses *procs, struct goprocesses_other *this)
{
	struct goprocesses_one one = {.pid = this->pid, .proc = process_hold(this->pid, NULL)};
	struct errmsg err = {0};

	if (!one.proc)
		return false; /* it has ended: the number may be another one's next time */
	this->exe = exe_of(one.proc);
	const struct goprocesses_other *before = find_other(procs, this);

	if (before) {
		process_close(one.proc);
		this->refused = before->refused;
		return true;
	}
	enum found found = begin(wanted, work, &one, procs, &err);

	this->refused = found == FOUND_REFUSED;
	if (this->refused && !procs->why.text[0])
		procs->why = err;
	return found != FOUND;
}

void goprocesses_more(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		      struct goprocesses *procs)
{
	size_t count, kept = 0, refused = 0;
	pid_t *pids = process_list(&count);
	struct goprocesses_other *others = mem_zalloc(count + 1, sizeof(*others));

	for (size_t i = 0; i < count; i++) {
		struct goprocesses_other this = {.pid = pids[i]};

		if (is_one(procs, this.pid) || !pass_over(wanted, work, procs, &this))
			continue;
		refused += this.refused;
		others[kept++] = this;
	}
	procs->refused = refused;
	free(pids);
	free(procs->others);
	procs->others = others;
	procs->other_count = kept;
}

int goprocesses_open(const struct goprocesses_wanted *wanted, const struct goprocesses_work *work,
		     struct goprocesses *out, void (*failed)(void *ctx, const struct errmsg *err),
		     void *ctx, struct errmsg *err)
{
	struct goprocesses_one core = {0};

	*out = (struct goprocesses){.result = work->result, .result_len = work->result_len};
	if (wanted->core)
		return begin(wanted, work, &core, out, err) == FOUND ? 0 : -1;
	if (wanted->pid_count) {
		open_given(wanted, work, out, failed, ctx);
		return 0;
	}
	goprocesses_more(wanted, work, out);
	if (out->count)
		return 0;
	if (out->refused) {
		errmsg_set(err, "no Go program found; %zu processes could not be read: %s",
			   out->refused, out->why.text);
		errmsg_hint(err, "%s", out->why.hint);
		return -1;
	}
	if (wanted->name)
		return errmsg_set(err, "no Go program runs whose name contains \"%s\"",
				  wanted->name);
	return errmsg_set(err, "no Go program runs");
}

int goprocesses_look(struct goprocesses *procs, size_t i, int what, const void *more, size_t len,
		     uint64_t *count, struct errmsg *err)
{
	const struct request request = {.what = what, .several = procs->count > 1};
	struct reply reply = {0};

	*count = 0;
	if (ask(procs, &procs->all[i], &request, more, len, &reply, err))
		return -1;
	*count = reply.count;
	if (reply.result)
		*err = reply.err;
	return reply.result;
}

void goprocesses_drop(struct goprocesses *procs, size_t i)
{
	close_one(&procs->all[i]);
	procs->all[i] = procs->all[--procs->count];
}

bool goprocesses_close(struct goprocesses *procs)
{
	bool good = true;

	for (size_t i = 0; i < procs->count; i++)
		good &= close_one(&procs->all[i]);
	free(procs->all);
	free(procs->others);
	*procs = (struct goprocesses){0};
	return good;
}
