/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed PROBE as text, for tests to compare. */
#ifndef PROBESPEC_DUMP_H
#define PROBESPEC_DUMP_H

struct probespec;

/* r target sig=(x int) if=(> x 1) "%d" x; y -- trees as (+ x 1), (. req Method), ([] a 0),
 * (deref p). Caller frees. */
char *probespec_dump(const struct probespec *spec);

#endif
