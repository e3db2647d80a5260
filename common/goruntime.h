/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel side must know of a program's Go runtime to tell goroutines apart and to see
 * calls end by a panic or runtime.Goexit. Offsets are of Go's src/runtime/runtime2.go, checked
 * against the program's own code where it is stripped of everything else. */
#ifndef GORUNTIME_H
#define GORUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "site.h"

struct errmsg;
struct image;
struct pclntab;

struct goruntime {
	int minor;	     /* Go 1.MINOR; the layout's lowest when the file does not say */
	char version[64];    /* "go1.19.8", or "" */
	bool g_in_register;  /* ABIInternal with g in r14 (x28): from 1.17 */
	int32_t tls_g;	     /* amd64: g is at fs:tls_g */
	uint32_t g_stack_hi; /* byte offsets in struct g */
	uint32_t g_m, g_sched_sp, g_goid;
	uint32_t m_g0, m_curg; /* byte offsets in struct m */
	/* Frames die here without returning. addr 0: not found. */
	struct site recovered; /* runtime.recovery about to resume m.curg at its sched.sp */
	struct site goexit;    /* on the goroutine, after its deferred calls ran in Goexit */
	struct site fatal;     /* on the goroutine: an unrecovered panic ends the program */
};

int goruntime_read(const struct image *img, const struct pclntab *tab, struct site_finder *finder,
		   struct goruntime *out, struct errmsg *err);

#endif
