/* SPDX-License-Identifier: Apache-2.0 */
/* Frames, as all tools show them. */
#ifndef FRAME_PRINT_H
#define FRAME_PRINT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct frame;
struct frames;
struct json;

/* "main.worker jobs.go:31" */
void frame_print(FILE *out, const struct frame *frame);
/* Members of the object that is open: func, file, and line; the latter null where not known. */
void frame_json(struct json *json, const struct frame *frame);

/* For folded stacks. A name with a semicolon, of a struct's type argument, must not seem to be two.
 */
void frame_print_word(FILE *out, const char *text);
/* "outermost;...;innermost;", of what frames_each() shows */
void frame_print_folded(FILE *out, const struct frames *frames, const uint64_t *addrs,
			size_t count);

#endif
