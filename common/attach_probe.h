/* SPDX-License-Identifier: Apache-2.0 */
/* One uprobe, as the ways of attaching know it, and which ways there are. */
#ifndef ATTACH_PROBE_H
#define ATTACH_PROBE_H

#include <stdint.h>

enum attach_how { ATTACH_MULTI, ATTACH_PERF_COOKIE, ATTACH_PERF_ADDRESS };

struct attach_probe {
	uint64_t off;  /* file offset */
	uint64_t addr; /* virtual address; only ATTACH_PERF_ADDRESS needs it */
	uint64_t cookie;
	const char *refused; /* filled: why the kernel refused this one, or NULL; static text */
};

#endif
