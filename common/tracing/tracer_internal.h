/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of tracer.c. All return 0, or -1 with *err. */
#ifndef TRACER_INTERNAL_H
#define TRACER_INTERNAL_H

#include "tracing/tracer.h"

struct heldfile;
struct probes;
struct program;

/* The program of this file, read now unless it is already; the file becomes the tracer's, NULL too:
 * then *err says why. NULL and *err. */
struct program *tracer_open(struct tracer *tracer, struct heldfile *file, struct errmsg *err);
/* The same without keeping it: one that the tool could not trace is refused. The caller closes. */
struct program *tracer_open_traceable(struct heldfile *file, struct errmsg *err);
/* Is what is traced found by what runs, where BINARY is left out? */
bool tracer_is_for_running(const struct tracer *tracer);
/* Opens it, before anything else: the first tracer->running programs. -1: there is none. */
int tracer_find_running(struct tracer *tracer, struct errmsg *err);
/* In place of patterns: config->runtime_funcs, of each BINARY. */
int tracer_add_binaries(struct tracer *tracer, struct errmsg *err);
/* Do the process and the files still go together? Asked after all was read, and when all is
 * attached. */
int tracer_check(struct tracer *tracer, struct errmsg *err);
/* Fills tracer->runtimes; opens libraries that hold a program's runtime. */
int tracer_read_runtimes(struct tracer *tracer, struct errmsg *err);
/* Fills tracer->defs when the items are known. */
int tracer_define_all(struct tracer *tracer, struct errmsg *err);
/* Fills tracer->follows, when the files that are asked for are known. */
void tracer_decide_descendants(struct tracer *tracer);
/* Ends the trial. Where the kernel can keep probes to the process, and without losing calls, there
 * is tracer->execs from then on. */
void tracer_decide_alone(struct tracer *tracer);
/* Fills tracer->cost when the sites are known. -1: it is more than the processes may have. */
int tracer_check_memory(struct tracer *tracer, struct errmsg *err);
/* Attaching has failed: with --force memory may be why, and is the hint then. */
void tracer_hint_memory(const struct tracer *tracer, struct errmsg *err);
/* Where returns are probed: does the kernel let a program carry out a RET? The trial goes on. */
void tracer_try_emulation(struct tracer *tracer);
void tracer_define_emulation(struct tracer *tracer); /* waits for its answer */
/* May the RETs of this file be carried out? All tools come to the same answer. */
bool tracer_emulates(const struct tracer *tracer, const struct program *prog,
		     const struct goruntime *rt);
/* Before anything is attached: which of them does another tracer probe? The kernel keeps those. */
void tracer_find_taken_rets(struct tracer *tracer);
/* Has the others carried out, those among `probes`: of program `n` and this part. */
void tracer_attach_emulator(struct tracer *tracer, size_t n, uint32_t part,
			    const struct probes *probes);
void tracer_free_emulators(struct tracer *tracer);
/* The probes of program `n` and this part; caller frees. */
struct probes *tracer_probes(const struct tracer *tracer, size_t n, uint32_t part);
/* Attaches each part's program, fds[part], to the sites of every file; without a gate the maps are
 * filled first. */
int tracer_attach_all(struct tracer *tracer, const int *prog_fds, struct errmsg *err);
/* Writes the places from number `first` on into the kernel side's map. */
int tracer_fill_places(const struct tracer *tracer, size_t first, struct errmsg *err);

/* For files in which g is found by a word that the loader fills in. Defines what the kernel side
 * needs for it; notes the probes of a program, and makes their cookies numbers; forgets those noted
 * last; and tells the kernel side. */
void tracer_define_tls(struct tracer *tracer);
int tracer_note_tls(struct tracer *tracer, const struct goruntime *rt, struct probes *probes,
		    struct errmsg *err);
void tracer_forget_tls(struct tracer *tracer, const struct probes *probes);
int tracer_fill_tls(const struct tracer *tracer, struct errmsg *err);
void tracer_free_tls(struct tracer *tracer);

/* Does everything up to the first call that is seen. The config outlives the tracer. NULL and *err
 * on failure. */
struct tracer *tracer_new(const struct tracer_config *config, struct errmsg *err);
/* From now on calls are seen. Items with a probe that the kernel refuses have their `skipped` set.
 * Returns 0, or -1 with *err. */
int tracer_attach(struct tracer *tracer, struct errmsg *err);
/* If the kernel can do this, ends all probes at one instant, before they are detached one after
 * another. */
void tracer_stop(struct tracer *tracer);
/* When this returns, no handler runs any more, unless `stuck` is set. */
void tracer_detach(struct tracer *tracer);
void tracer_free(struct tracer *tracer); /* NULL is all right */

#endif
