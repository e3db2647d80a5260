/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that counts by the stack of a probed place: its BPF program has a hash `counts` of u64 by
 * struct stackcount_key, and keeps stacks by stack_keep_here(). */
#ifndef STACKCOUNTS_H
#define STACKCOUNTS_H

#include "profile/profile.h"

struct stackcounts_tool {
	const char *name, *about, *examples; /* as struct options_tool's */
	const char *bpf_file;                /* in bpf-src/ */
	const char *type;                    /* of JSON objects */
	struct profile_type value;           /* what is counted */
};

/* Runs to the end and returns the exit status. */
int stackcounts_main(const struct stackcounts_tool *tool, int argc, char **argv);

#endif
