/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that were compiled before, in a folder of root's: /var/cache/bcc-gotools/programs, or as
 * GOTOOLS_CACHE says ("no": nowhere). A tool that finds its program there starts without Clang and
 * LLVM. The folder must belong to the user who runs the tool, and nobody else may write there;
 * else nothing is kept. It stays below 64 MiB: what has not been used for the longest goes first.
 * Of tools that start at once with the same program, one compiles it.
 */
#ifndef PROGCACHE_INTERNAL_H
#define PROGCACHE_INTERNAL_H

#include <stddef.h>

struct bpfprog_define;
struct bytecode;
struct compiled;
struct progcache;

/* What is compiled, with all that the outcome depends on: text, definitions, the headers, libbcc,
 * Clang and LLVM, the kernel. NULL: nothing is kept here; the functions below take that. */
struct progcache *progcache_open(const char *text, const struct bpfprog_define *defs, size_t ndefs);
/* The bytecode, which the caller frees; NULL: not there, or not whole: the caller compiles it.
 * Waits for a process that is compiling it, up to 30 s. */
struct bytecode *progcache_find(struct progcache *kept);
/* What compile_text() has made of it; where that cannot be written, nothing happens. */
void progcache_keep(struct progcache *kept, const struct compiled *compiled);
const char *progcache_folder(const struct progcache *kept); /* belongs to kept */
void progcache_close(struct progcache *kept);

#endif
