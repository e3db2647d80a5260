/* SPDX-License-Identifier: Apache-2.0 */
/* What people type who come from bpftrace: uprobe:/bin/app:main.f /arg0 > 3/ { printf("%d\n",
 * arg0); } Language: bpftrace's man/adoc/bpftrace.adoc. */
#ifndef PROBESPEC_FOREIGN_INTERNAL_H
#define PROBESPEC_FOREIGN_INTERNAL_H

#include <stdbool.h>

struct errmsg;

/* Is it a probe of bpftrace's? Then *err says so, and its hint is the PROBE that does the same, as
 * far as there is one. */
bool probespec_foreign(const char *text, struct errmsg *err);

#endif
