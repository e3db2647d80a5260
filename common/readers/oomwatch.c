// SPDX-License-Identifier: Apache-2.0
#include "readers/oomwatch.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/shortnum.h"
#include "files/memcgroup.h"

#define SECOND_NS UINT64_C(1000000000)
#define AGAIN_NS (60 * SECOND_NS)

enum { NEAR = 90 }; /* percent */

static const unsigned steps[] = {50, 75, NEAR, 92, 94, 96, 98};

struct oomwatch {
	struct memcgroups *groups;
	pid_t pid;
	char *name;
	bool has_begun;
	unsigned step; /* that was reached by the last reading, in percent; 0: none */
	uint64_t read_ns;
	uint64_t kills; /* in its cgroup, when it began */
	bool kills_known;
};

struct oomwatch *oomwatch_new(const char *proc, pid_t pid, const char *name)
{
	struct oomwatch *watch = mem_zalloc(1, sizeof(*watch));

	watch->groups = memcgroup_new(proc);
	watch->pid = pid;
	watch->name = mem_strdup(name);
	memcgroup_charge(watch->groups, pid, 1);
	watch->kills_known = memcgroup_kills(watch->groups, &watch->kills);
	return watch;
}

void oomwatch_free(struct oomwatch *watch)
{
	if (!watch)
		return;
	memcgroup_free(watch->groups);
	free(watch->name);
	free(watch);
}

/* --- what is printed --- */

static void print_json(const struct oomwatch *watch, const char *event,
		       const struct memcgroup_use *use, const struct oomwatch_options *opts,
		       FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	json_member_string(&json, "type", "oom");
	if (opts->json_time)
		opts->json_time(&json);
	json_member_i64(&json, "pid", watch->pid);
	json_member_string(&json, "comm", watch->name);
	json_member_string(&json, "event", event);
	if (use) {
		json_member_u64(&json, "used_bytes", use->used);
		json_member_u64(&json, "limit_bytes", use->limit);
		json_member_string(&json, "cgroup", use->path);
	}
	json_object_end(&json);
}

static void print_subject(const struct oomwatch *watch, const struct oomwatch_options *opts,
			  FILE *out)
{
	char *name = escape_text(watch->name);

	if (opts->text_time)
		opts->text_time(out);
	fprintf(out, "%s (%d): ", name, watch->pid);
	free(name);
}

static void print_use(const struct oomwatch *watch, const struct memcgroup_use *use,
		      const struct oomwatch_options *opts, FILE *out)
{
	char used[SHORTNUM], limit[SHORTNUM];
	char *path = escape_text(use && use->path ? use->path : "this machine");

	print_subject(watch, opts, out);
	if (use)
		fprintf(out, "%s of %s in use, %.0f%%, in %s\n",
			shortnum_bytes(used, (double)use->used),
			shortnum_bytes(limit, (double)use->limit),
			use->limit ? 100 * (double)use->used / (double)use->limit : 100.0, path);
	else
		fputs("has no limit that can be seen from here\n", out);
	free(path);
}

/* --- when --- */

static unsigned step_of(const struct memcgroup_use *use)
{
	unsigned reached = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if ((double)use->used * 100 >= (double)use->limit * steps[i])
			reached = steps[i];
	return reached;
}

bool oomwatch_due(struct oomwatch *watch, uint64_t ns, const struct oomwatch_options *opts,
		  FILE *out)
{
	struct memcgroup_use use;
	bool limited = memcgroup_fullest(watch->groups, &use);
	unsigned step = limited ? step_of(&use) : 0;
	bool first = !watch->has_begun, long_ago = ns - watch->read_ns >= AGAIN_NS;

	/* what falls and rises again at each collection is not told each time */
	if (step < watch->step && long_ago)
		watch->step = step;
	if (!first && step <= watch->step && !(step >= NEAR && long_ago))
		return false;
	watch->has_begun = true;
	watch->step = step;
	watch->read_ns = ns;
	if (opts->json)
		print_json(watch, first ? "start" : "near", limited ? &use : NULL, opts, out);
	else
		print_use(watch, limited ? &use : NULL, opts, out);
	return true;
}

void oomwatch_ended(struct oomwatch *watch, uint64_t ns, const struct oomwatch_options *opts,
		    FILE *out)
{
	uint64_t kills = 0;
	bool known = watch->kills_known && memcgroup_kills(watch->groups, &kills);
	bool killed = known && kills > watch->kills;

	if (opts->json) {
		print_json(watch, !known ? "gone" : killed ? "killed" : "ended", NULL, opts, out);
		return;
	}
	print_subject(watch, opts, out);
	if (killed)
		fprintf(out,
			"has ended: the kernel has killed a process of its cgroup for want of "
			"memory. The last reading is %.1f s old.\n",
			(double)(ns - watch->read_ns) / (double)SECOND_NS);
	else
		fputs(known ? "has ended, but not for want of memory\n"
			    : "has ended; its cgroup does not tell why\n",
		      out);
}
