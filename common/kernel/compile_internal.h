/* SPDX-License-Identifier: Apache-2.0 */
/* From BPF C to bytecode, by libbcc in a process of its own: Clang and LLVM take 100 MB, write to
 * stdout and stderr, and end the process where they give up. */
#ifndef COMPILE_INTERNAL_H
#define COMPILE_INTERNAL_H

#include <stddef.h>
#include <stdio.h>

struct bpfprog_define;
struct bytecode;
struct errmsg;
struct stat;

/* Caller frees all three, and code by bytecode_free(). */
struct compiled {
	struct bytecode *code;
	char *chatter;   /* what the compiler said, "" mostly */
	char *libraries; /* files that it is made of: lines of compile_note_library() */
};

/* Compiles `text`, which errors call `file`. libbcc creates the maps meanwhile, so it takes the
 * privileges for that. May be called in any thread. -1 with *err, and nothing is to be freed. */
int compile_text(const char *file, const char *text, const struct bpfprog_define *defs,
		 size_t ndefs, struct compiled *compiled, struct errmsg *err);
/* A file, as `st` says it is now, as a line. */
void compile_note_library(FILE *out, const char *path, const struct stat *st);

/* --- what compile_text() has done in the child --- */

enum compile_passes {
	COMPILE_ONCE,  /* LLVM's passes by libbcc alone: for most programs; others then need more
			* stack than BPF has, and LLVM ends the process */
	COMPILE_TWICE, /* by Clang, too */
};

struct compiling {
	const char *file, *text;
	const struct bpfprog_define *defs;
	size_t ndefs;
	const char *headers; /* folder */
	enum compile_passes passes;
};

#define COMPILE_FAILS "%s does not compile"

/* In this process, which changes the working directory and the environment, and prints. Leaves
 * chatter alone. -1 with *err; it may also end the process. */
int compile_here(const struct compiling *what, struct compiled *compiled, struct errmsg *err);

#endif
