// SPDX-License-Identifier: Apache-2.0
/* gooffcputime: how long goroutines are blocked, by stack and by what they wait for. */
#include <stdio.h>

#include "base/json.h"
#include "blocked/blocked.h"
#include "blocked/stacks.h"
#include "profile/profile.h"

static void put_stack(const struct blocked *blocked, const struct wait_key *key, bool folded)
{
	(folded ? stacks_print_folded : stacks_print)(blocked_stacks(blocked), key->stack,
						      blocked_bias(blocked, key), stdout);
}

static void add_stack(const struct blocked *blocked, const struct wait_key *key, struct json *json)
{
	json_key(json, "stack");
	stacks_json(blocked_stacks(blocked), key->stack, blocked_bias(blocked, key), json);
}

static void profile_stack(const struct blocked *blocked, const struct wait_key *key,
			  struct profile *profile)
{
	stacks_profile(blocked_stacks(blocked), key->stack, blocked_bias(blocked, key), profile);
}

static const struct profile_type types[] = {{"waits", "count"}, {"delay", "nanoseconds"}};
static const struct profile_spec profile_spec = {
	.tool = "gooffcputime", .types = types, .type_count = 2, .shown = 1};

static const char examples[] =
	"    gooffcputime -p 181                      # where do goroutines of 181 block?\n"
	"    gooffcputime -d 5 -p 181                 # for 5 seconds\n"
	"    gooffcputime -m 1000 -p 181              # waits of a millisecond and longer\n"
	"    gooffcputime --state 'sync.*' -p 181     # for locks only\n"
	"    gooffcputime -f -d 30 -p 181 > out.stacks\n"
	"                                             # for flamegraph.pl --countname us\n"
	"    gooffcputime --pprof out.pb.gz -d 30 -p 181\n"
	"                                             # for go tool pprof\n"
	"    gooffcputime -- ./app arg                # run a program\n";

int main(int argc, char **argv)
{
	static const struct blocked_tool tool = {
		.name = "gooffcputime",
		.about = "Sum up blocked time of goroutines by stack and state",
		.examples = examples,
		.bpf_file = "gooffcputime.bpf.c",
		.by = "stack",
		.type = "offcpu",
		.wait = "wait",
		.waits = "waits",
		.open_rows = true,
		.above = put_stack,
		.json = add_stack,
		.profile_spec = &profile_spec,
		.profile = profile_stack,
	};

	return blocked_main(&tool, argc, argv);
}
