/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of ROOT, and which goroutines are below them: bpf-src/parts/roots.bpf.c knows that, beside
 * what a tool traces. */
#ifndef ROOTS_H
#define ROOTS_H

struct errmsg;
struct roots;
struct tracer;

/* For the option --follow: *roots is made if it is NULL. `root`: [BINARY:]PATTERN, as typed;
 * outlives it. -1 with *err: there is a ROOT already. */
int roots_take(struct roots **roots, const char *root, struct errmsg *err);
/* For --follow-channels, before or after: they go on through channels, too. */
void roots_take_channels(struct roots **roots);
/* When all options are taken. -1 with *err: there is no --follow. */
int roots_check(const struct roots *roots, struct errmsg *err); /* NULL is all right */
void roots_free(struct roots *roots);                           /* NULL is all right */

/* For the tracer's `plan`, after all that the tool adds to the selection itself. -1 with *err. */
int roots_plan(struct roots *roots, struct tracer *tracer, struct errmsg *err);
/* Then, and whenever the tool changes its plans or parts: adds parts of its own to these, as
 * "generated: root_programs" of the kernel side. */
void roots_serve(struct roots *roots, struct tracer *tracer);
/* When probes are attached. -1 with *err: not all are that matter. */
int roots_begin(struct roots *roots, const struct tracer *tracer, struct errmsg *err);
/* What was not followed, on stderr. */
void roots_say_lost(const struct roots *roots, const char *tool);

#endif
