/* SPDX-License-Identifier: Apache-2.0 */
/* From BPF C to bytecode, by libbcc. */
#ifndef COMPILE_INTERNAL_H
#define COMPILE_INTERNAL_H

#include <stddef.h>

struct bpfprog_define;
struct bytecode;
struct errmsg;

/* Compiles `text`, which errors call `file`. libbcc creates the maps meanwhile, so it takes the
 * privileges for that. *chatter: what the compiler said, "" mostly; the caller frees both. As
 * bpfprog_compile() says, it redirects the process's output. NULL with *err, and *chatter is NULL.
 */
struct bytecode *compile_text(const char *file, const char *text, const struct bpfprog_define *defs,
			      size_t ndefs, char **chatter, struct errmsg *err);

#endif
