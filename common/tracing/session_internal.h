/* SPDX-License-Identifier: Apache-2.0 */
/* What only the room tracing uses of session. */
#ifndef SESSION_INTERNAL_H
#define SESSION_INTERNAL_H

#include "tracing/session.h"

/* 'Tracing 3 functions for "main.*"... Hit Ctrl-C to end.'; patterns are printed escaped. */
void session_print_start(FILE *out, size_t functions, char *const patterns[], size_t count);

#endif
