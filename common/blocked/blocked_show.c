// SPDX-License-Identifier: Apache-2.0
#include "blocked/blocked_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/mem.h"
#include "files/process.h"
#include "frames/frame_print.h"
#include "profile/profile.h"
#include "tracing/options.h"
#include "tracing/toolrun.h"

#define US UINT64_C(1000)

char *blocked_reason(const struct blocked *blocked, uint32_t reason)
{
	if (reason == WAIT_RUNNABLE)
		return mem_strdup("runnable");
	if (reason < WAIT_REASONS && blocked->reasons[reason])
		return mem_strdup(blocked->reasons[reason]);
	return mem_printf("wait reason %" PRIu32, reason);
}

const struct stacks *blocked_stacks(const struct blocked *blocked)
{
	return blocked->stacks;
}

/* The probe's instruction has been moved with the rest. */
uint64_t blocked_bias(const struct blocked *blocked, const struct wait_key *key)
{
	return key->probe - tracer_selection(blocked->tracer)->items[0].sites.entry.addr;
}

bool blocked_is_for(const struct blocked *blocked, const struct wait_key *key, const char *state)
{
	char *text = blocked_reason(blocked, key->reason);
	bool same = !strcmp(text, state);

	free(text);
	return same;
}

/* "etcd"; "-" if it has ended. Valid until the next call. */
static const char *process_text(struct blocked *blocked, pid_t pid)
{
	if (blocked->comm && pid == blocked->comm_pid)
		return blocked->comm;
	char *name = process_name_of(pid);

	free(blocked->comm);
	blocked->comm = name ? name : mem_strdup("-");
	blocked->comm_pid = pid;
	return blocked->comm;
}

static void print_row(struct blocked *blocked, const struct blocked_row *row, const char *reason)
{
	const struct blocked_tool *tool = blocked->tool;

	tool->above(blocked, &row->key, false);
	fputs("    -                ", stdout);
	escape_print(stdout, process_text(blocked, row->key.pid));
	printf(" (%" PRIu32 "): ", row->key.pid);
	escape_print(stdout, reason);
	putchar('\n');
	if (tool->below)
		tool->below(blocked, &row->key, false);
	printf("        %llu in %llu %s, at most %llu\n\n", row->sum.total_ns / US, row->sum.waits,
	       row->sum.waits == 1 ? tool->wait : tool->waits, row->sum.max_ns / US);
}

static void fold_row(struct blocked *blocked, const struct blocked_row *row, const char *reason)
{
	const struct blocked_tool *tool = blocked->tool;

	tool->above(blocked, &row->key, true);
	putchar('[');
	frame_print_word(stdout, reason);
	putchar(']');
	if (tool->below)
		tool->below(blocked, &row->key, true);
	printf(" %llu\n", row->sum.total_ns / US);
}

static void json_open(struct json *json, const struct blocked_open *open)
{
	json_member_u64(json, "waiting", open->waiting);
	json_member_u64(json, "process_ended", open->process_ended);
	json_member_u64(json, "open_ns", open->ns);
}

static void json_row(struct blocked *blocked, const struct blocked_row *row, const char *reason)
{
	struct json json;

	json_init(&json, stdout);
	json_object(&json);
	json_member_string(&json, "type", blocked->tool->type);
	json_member_u64(&json, "pid", row->key.pid);
	json_member_string(&json, "comm", process_text(blocked, row->key.pid));
	json_member_string(&json, "state", reason);
	json_member_u64(&json, blocked->tool->waits, row->sum.waits);
	json_member_u64(&json, "total_ns", row->sum.total_ns);
	json_member_u64(&json, "max_ns", row->sum.max_ns);
	if (blocked->tool->open_rows)
		json_open(&json, &row->open);
	blocked->tool->json(blocked, &row->key, &json);
	json_object_end(&json);
}

static void add_to_profile(struct blocked *blocked, const struct blocked_row *row,
			   const char *reason)
{
	struct profile *profile = blocked->run->profile;

	blocked->tool->profile(blocked, &row->key, profile);
	profile_number(profile, "pid", row->key.pid);
	profile_label(profile, "comm", process_text(blocked, row->key.pid));
	profile_label(profile, "state", reason);
	profile_add(profile, (uint64_t[]){row->sum.waits, row->sum.total_ns});
}

void blocked_put_rest(const struct blocked *blocked)
{
	const struct blocked_open *open = &blocked->open;
	FILE *out = blocked->opts->json || blocked->folded ? stderr : stdout;

	if (!open->waiting && !open->process_ended)
		return;
	fputs("not in the sums: ", out);
	if (open->process_ended)
		fprintf(out, "%" PRIu64 " in processes that ended%s", open->process_ended,
			open->waiting ? ", " : "");
	if (open->waiting)
		fprintf(out, "%" PRIu64 " still waiting", open->waiting);
	fputs(out == stdout ? "\n\n" : "\n", out);
}

/* Rows of nothing but waits that have not ended are for JSON, which tells those apart. */
void blocked_put(struct blocked *blocked, const struct blocked_row *row)
{
	if (!row->sum.waits && !blocked->opts->json)
		return;
	char *reason = blocked_reason(blocked, row->key.reason);

	(blocked->opts->json ? json_row
	 : blocked->folded   ? fold_row
			     : print_row)(blocked, row, reason);
	if (blocked->run->profile && row->sum.waits)
		add_to_profile(blocked, row, reason);
	free(reason);
}
