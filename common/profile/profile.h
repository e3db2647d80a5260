/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks with numbers: rows of a stack, labels and values, in the terms of pprof's profile.proto.
 *
 *	frames_each(&frames, addrs, count, profile_frame, &at);
 *	profile_label(profile, "state", "chan receive");
 *	profile_add(profile, (uint64_t[]){waits, total_ns});
 *
 * Rows with the same stack and labels become one: their values are added up. */
#ifndef PROFILE_H
#define PROFILE_H

#include <stddef.h>
#include <stdint.h>

struct errmsg;
struct frame;
struct frames;
struct profile;

struct profile_type {
	const char *name, *unit; /* "delay", "nanoseconds": a unit that pprof knows */
};

struct profile_spec { /* outlives the profile */
	const char *tool;
	const struct profile_type *types;
	size_t type_count;
	size_t shown; /* the type that is shown if none is asked for */
	/* What a sample is taken of once in each period. pprof compares profiles of the same one
	 * only. Name NULL: these are no samples. */
	struct profile_type sampled;
};

struct profile *profile_new(const struct profile_spec *spec);
void profile_free(struct profile *profile); /* NULL is all right */

/* What is added was seen from here on, and up to there. Without these it is of the moment when the
 * profile was made. */
void profile_begin(struct profile *profile);
void profile_end(struct profile *profile);
/* Where there are several, it is the longest. */
void profile_period(struct profile *profile, uint64_t period);

/* --- a row: its frames from the innermost on, and its labels, then its values --- */

struct profile_at {
	struct profile *profile;
	const struct frames *frames; /* of the program: its file outlives the profile */
};

/* For frames_each() and the like; ctx: a struct profile_at. */
void profile_frame(void *ctx, const struct frame *frame);
/* A function of the kernel's, and its module: "kernel", "ext4" */
void profile_kernel(struct profile *profile, const char *func, const char *module);
/* A line that is no function: "[lost]" */
void profile_word(struct profile *profile, const char *word);
/* `text` NULL: none */
void profile_label(struct profile *profile, const char *key, const char *text);
void profile_number(struct profile *profile, const char *key, uint64_t number);
/* Labels that the program has given. Their keys may be any, those of the labels above as well. */
void profile_program_label(struct profile *profile, const char *key, const char *text);
/* There are more, or they are not known. */
void profile_program_labels_cut(struct profile *profile);
/* One value for each type. */
void profile_add(struct profile *profile, const uint64_t *values);

/* --- from one process of the tool to another --- */

/* *fd: for what is passed; 0 if `path`, of the file that is asked for, is NULL. 0; -1 with *err.
 * The caller closes. */
int profile_channel(const char *path, int *fd, struct errmsg *err);
/* Puts all that there is in place of what was passed before; and adds it to another one. Both
 * return 0; -1 with *err. */
int profile_pass(const struct profile *profile, int fd, struct errmsg *err);
int profile_take(struct profile *profile, int fd, struct errmsg *err);

#endif
