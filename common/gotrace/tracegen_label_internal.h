/* SPDX-License-Identifier: Apache-2.0 */
/* $label("key"): the value of a goroutine's label, a string. */
#ifndef TRACEGEN_LABEL_INTERNAL_H
#define TRACEGEN_LABEL_INTERNAL_H

#include <stddef.h>

#include "bpf-src/shared/trace.h"

struct expr;
struct gen;
struct place;

/* of a key as generated code has it, in hexadecimal words */
enum { TEXT_KEY_MAX = TRACE_KEY_TEXT / 8 * sizeof("0x0123456789abcdefULL, ") + sizeof("{64, {}}") };

/* Is the literal short enough for a key? 0, or -1 with the error set. */
int gen_check_text_key(struct gen *gen, const struct expr *expr);
/* struct text_key of bpf-src/parts/text_key.h: "{4, {0x6b657931ULL}}"; returns `text`. At most
 * TRACE_KEY_TEXT bytes. */
const char *gen_text_key(const void *bytes, size_t len, char text[TEXT_KEY_MAX]);

int gen_label_place(struct gen *gen, const struct expr *expr, struct place *out);

#endif
