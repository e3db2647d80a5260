/* SPDX-License-Identifier: Apache-2.0 */
/* Where the pieces of a signature in Go syntax end, so that it can be told from a predicate. Types
 * are not checked beyond that. Offsets are into `text`, a PROBE. */
#ifndef PROBESPEC_GOTYPE_INTERNAL_H
#define PROBESPEC_GOTYPE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/* After the bracket, of any kind, that closes the one at text[at]; brackets in strings do not
 * count. 0: it is not closed. */
size_t probespec_gotype_close(const char *text, size_t at);

/* After the Go type at text[at]; 0: there is none. `strict`: a type's name must be predeclared or
 * have a package ("error", "http.Request", not "err"). */
size_t probespec_gotype_end(const char *text, size_t at, bool strict);

/* After the parenthesis that closes the list of parameters or results at text[at]; 0: it is no
 * such list. */
size_t probespec_gotype_list_end(const char *text, size_t at, bool strict);

#endif
