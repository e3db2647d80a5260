/* SPDX-License-Identifier: Apache-2.0 */
/* What the names in expressions stand for. */
#ifndef PROBESPEC_NAME_H
#define PROBESPEC_NAME_H

struct expr;
struct probespec_reader;

/* The token is a name that does not begin a call, or $name. NULL with *err; caller frees. */
struct expr *probespec_name_read(struct probespec_reader *reader);
struct expr *probespec_name_special(struct probespec_reader *reader);

#endif
