/* SPDX-License-Identifier: Apache-2.0 */
/* Which Go names does a PATTERN of the command line match? The rules are in gotools(7). */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>

struct errmsg;
struct pattern;

/* `*` matches any text, but for the literal star of a pointer receiver right after `(`; a name
 * without type arguments also matches its instantiations; a plain dot typed matches %2e. With
 * `regex`, a POSIX extended regular expression without back-references, anchored at the start. NULL
 * and *err: bad regex. */
struct pattern *pattern_new(const char *text, bool regex, struct errmsg *err);
void pattern_free(struct pattern *pat);
bool pattern_match(struct pattern *pat, const char *name);
bool pattern_is_name(const struct pattern *pat); /* no wildcard: it names one function */
const char *pattern_text(const struct pattern *pat);

/* How far a name is from what was typed, for "did you mean": 0 equal, larger is farther, UINT_MAX
 * too far to be meant. Letter case, (*) and a package left out count little. */
unsigned pattern_distance(const char *typed, const char *name);

#endif
