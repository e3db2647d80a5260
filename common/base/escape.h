/* SPDX-License-Identifier: Apache-2.0 */
/* Text from programs, made harmless for the place where it is printed. Whoever built a program
 * chose the names in it, and root reads them, or runs scripts made of them. */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* For a terminal or a log: control characters become \n, \t, \x1b or \u009b, and bytes that are
 * not UTF-8 become \xNN. Backslashes are kept, because the result is read by people, not parsed. */
void escape_print(FILE *out, const char *text);
void escape_write(FILE *out, const char *bytes, size_t len); /* NUL is a byte like others */
char *escape_text(const char *text); /* the same as a malloc'd string: for error messages */

/* For a comment of C or bpftrace: as for a terminal; characters that could end the comment,
 * continue it on the next line, or begin another one become \xNN. */
void escape_comment(FILE *out, const char *text);
/* For a comment of a shell, which some shells execute when it is typed: characters with a meaning
 * for a shell become \xNN too. */
void escape_shell_comment(FILE *out, const char *text);

/* For a string of bpftrace, between its double quotes: characters that cannot stand there become
 * question marks. */
void escape_literal(FILE *out, const char *text);
bool escape_is_literal(const char *text); /* no character would become one */
/* The same in a format for its printf. */
void escape_format(FILE *out, const char *text);

/* Only ASCII letters, digits and underscores, without a digit in front: a valid name anywhere? */
bool escape_is_identifier(const char *text);
/* Is the path a single word, and does it mean itself, for a shell, for bpftrace and in
 * uprobe_events? */
bool escape_is_plain_path(const char *text);

#endif
