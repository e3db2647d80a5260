/* SPDX-License-Identifier: Apache-2.0 */
/* $label("key"), $traceid and $ctx("main.keyType"): what goroutines and contexts carry. */
#ifndef PROBESPEC_DOLLAR_INTERNAL_H
#define PROBESPEC_DOLLAR_INTERNAL_H

struct expr;
struct probespec_reader;

/* Reads any expression. */
typedef struct expr *probespec_any_fn(struct probespec_reader *reader);

/* The token is the name; NULL with the reader's error. */
struct expr *probespec_label(struct probespec_reader *reader);
struct expr *probespec_traceid(struct probespec_reader *reader, probespec_any_fn *any);
struct expr *probespec_ctx(struct probespec_reader *reader, probespec_any_fn *any);

#endif
