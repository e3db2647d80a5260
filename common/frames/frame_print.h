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

/* As Go's own tracebacks have it: main.Map[...] of main.Map[go.shape.int] */
void frame_print_name(FILE *out, const char *func);
/* "main.worker jobs.go:31"; of the kernel's: "vfs_write [kernel]" */
void frame_print(FILE *out, const struct frame *frame);
/* Members of the object that is open: func, file, and line; the latter null where not known. */
void frame_json(struct json *json, const struct frame *frame);
/* Such an object, with "inlined":true if the call is, and with "module" of the kernel's. */
void frame_json_object(struct json *json, const struct frame *frame);

/* The same for frames_each(): a line indented by 4, ctx a FILE; an object, ctx a struct json. */
void frame_print_line(void *ctx, const struct frame *frame);
void frame_json_item(void *ctx, const struct frame *frame);

/* For folded stacks. A name with a semicolon, of a struct's type argument, must not seem to be two.
 */
void frame_print_word(FILE *out, const char *text);
/* "outermost;...;innermost;", of what frames_each() shows */
void frame_print_folded(FILE *out, const struct frames *frames, const uint64_t *addrs,
			size_t count);

#endif
