/* SPDX-License-Identifier: Apache-2.0 */
/* What gotrace or goargdist has lost, in words on stderr:
 *   gotrace: 90856 events lost: the ring buffer was full, as they came faster than they ... */
#ifndef TRACELOSSES_H
#define TRACELOSSES_H

struct bpfprog;
struct selection;
struct tracelosses;

struct tracelosses_words {
	const char *tool;    /* "gotrace" */
	const char *done;    /* "printed": what is done with calls */
	const char *results; /* what calls that did not return lack */
};

/* Before the first call is seen. `words` outlive it as well. The program, which has gotrace.bpf.c's
 * maps, and the selection, whose items the events name, outlive it. Caller frees. */
struct tracelosses *tracelosses_new(struct bpfprog *bpf, const struct selection *sel,
				    const struct tracelosses_words *words);
void tracelosses_free(struct tracelosses *losses); /* NULL is all right */

/* Counts the calls of processes that are gone, if it is time to, so that there is room for others.
 */
void tracelosses_sweep(struct tracelosses *losses);
/* What was lost since the time before. */
void tracelosses_say(struct tracelosses *losses);
/* What was lost in all, each number after `when`: "" or "in total "; and which calls have not
 * returned. To be called once, when nothing counts any more. */
void tracelosses_say_all(struct tracelosses *losses, const char *when);

#endif
