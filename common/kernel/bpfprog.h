/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs: embedded C files, compiled by libbcc when the tool starts. Kernel headers are
 * not needed: a private tree of a few embedded headers stands in for them. Output of libbcc and
 * clang is kept, and shown only if it is the error, or under -v. */
#ifndef BPFPROG_H
#define BPFPROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errmsg;
struct bpfprog;

struct bpfprog_define {
	const char *name; /* becomes -DNAME=VALUE */
	uint64_t value;
};

struct bpfprog_insert {
	const char *mark; /* the file has a line that is the comment "generated: MARK" */
	const char *text; /* lines that follow it in what is compiled */
};

/* Compiles bpf-src/FILE ("gofunccount.bpf.c"), in a process of its own, and creates its maps. Takes
 * a few tenths of a second, and may be called in any thread. NULL and *err on failure. */
struct bpfprog *bpfprog_compile(const char *file, const struct bpfprog_define *defs, size_t ndefs,
				const struct bpfprog_insert *inserts, size_t ninserts,
				struct errmsg *err);
void bpfprog_free(struct bpfprog *prog); /* closes its maps and programs; NULL is fine */

/* Loads function `name`; returns its file descriptor, owned by prog, or -1 with *err. */
int bpfprog_load(struct bpfprog *prog, const char *name, int expected_attach_type,
		 struct errmsg *err);
/* The same for a program that may sleep: it can wait for pages of user memory, and is not attached
 * through a gate. kernelfeature_sleepable() tells whether the kernel accepts such programs. */
int bpfprog_load_sleepable(struct bpfprog *prog, const char *name, int expected_attach_type,
			   struct errmsg *err);
/* The same for one that samples what runs: see sampler.h. */
int bpfprog_load_sampled(struct bpfprog *prog, const char *name, struct errmsg *err);
/* Loads function `name` and runs it at a raw tracepoint ("sched_process_exec") until the descriptor
 * that this returns is closed, by the caller; -1 with *err. */
int bpfprog_at_tracepoint(struct bpfprog *prog, const char *name, const char *tracepoint,
			  struct errmsg *err);
int bpfprog_map(const struct bpfprog *prog, const char *name); /* fd owned by prog; -1: none */
/* What is compiled: the embedded text, with the inserts in their places, and with the C files that
 * it includes, each where it is included first. libbcc finds maps in a program's main file only, so
 * what uses them cannot stand in headers, which are left to the compiler. Caller frees; NULL: no
 * such file. */
char *bpfprog_text(const char *file, const struct bpfprog_insert *inserts, size_t ninserts);
const char *bpfprog_chatter(const struct bpfprog *prog); /* what the compiler said; "" mostly */

#endif
