/* SPDX-License-Identifier: Apache-2.0 */
/* Text that comes from programs, made harmless for the place that it goes to: whoever built a
 * program chose its names, and root reads them, or runs what is made of them. */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* On a terminal or in a log: control characters become \n, \t, \x1b or \u009b, bytes that are not
 * UTF-8 \xNN. Backslashes stay as they are: the result is to be read, not to be parsed. */
void escape_print(FILE *out, const char *text);
void escape_write(FILE *out, const char *bytes, size_t len); /* NUL is a byte like others */
char *escape_text(const char *text); /* the same as a malloc'd string: for error messages */

/* In a comment of C or bpftrace, of either kind: as on a terminal, and what could end the comment,
 * go on with it on the next line, or begin another is \xNN. */
void escape_comment(FILE *out, const char *text);
/* In a comment of a shell, which some shells take for a command when it is typed: so is what a
 * shell has a meaning for. */
void escape_shell_comment(FILE *out, const char *text);

/* Between the double quotes of a string of bpftrace: what cannot stand there is a question mark. */
void escape_literal(FILE *out, const char *text);
bool escape_is_literal(const char *text); /* nothing would be one */
/* The same in a format for its printf. */
void escape_format(FILE *out, const char *text);

/* Letters, digits and underscores, of ASCII, without a digit in front: a name anywhere. */
bool escape_is_identifier(const char *text);
/* A path that is one word, and means itself, to a shell, to bpftrace and in uprobe_events. */
bool escape_is_plain_path(const char *text);

#endif
