/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of what runs, from the kernel side's events to rows of profiles. Whoever runs says when
 * they begin and end, and shows the profiles. */
#ifndef SAMPLES_INTERNAL_H
#define SAMPLES_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errmsg.h"
#include "sampling/joined_internal.h"
#include "sampling/sampled_internal.h"
#include "sampling/sampling.h"

struct bpfprog;
struct events;
struct heldfile;
struct kallsyms;
struct profile;
struct sampler;
struct vdso;

struct samples {
	const struct sampling *sampling;
	struct sampled_wanted wanted;
	const char *label; /* the key of what is shown alone; NULL: all are */
	/* They count as time in this state: rows have it, and ns alone. NULL: rows have how many
	 * there are, and ns. */
	const char *state;
	struct profile *shown, *written; /* that each is added to; NULL: not to this one */
	struct heldfile *file;
	struct bpfprog *bpf;
	struct sampler *sampler;
	int cgroup; /* -1: all are wanted */
	struct sampled *sampled;
	struct kallsyms *kernel; /* NULL: its frames are not shown */
	struct vdso *vdso;
	struct events *events;
	struct joined joined; /* of the sample that is looked at */
};

/* All return 0, or -1 with *err. First: what is asked for is there, and may be had. `binary`: what
 * is executed by the processes that are wanted; NULL: anything. */
int samples_open(struct samples *samples, const char *binary, struct errmsg *err);
int samples_load(struct samples *samples, int *prog, struct errmsg *err);
int samples_begin(struct samples *samples, int prog, struct errmsg *err);
void samples_end(struct samples *samples);
void samples_say_lost(const struct samples *samples);
/* What it has opened. Its profiles are not its own. */
void samples_close(struct samples *samples);

#endif
