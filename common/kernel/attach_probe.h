/* SPDX-License-Identifier: Apache-2.0 */
/* One uprobe, as the ways of attaching know it, and which ways there are. */
#ifndef ATTACH_PROBE_H
#define ATTACH_PROBE_H

#include <stdint.h>
#include <sys/types.h>

enum attach_how { ATTACH_MULTI, ATTACH_PERF_COOKIE, ATTACH_PERF_STUB };

struct attach_way {
	enum attach_how how;
	int prog_fd;    /* what a hit runs */
	int cookies_fd; /* for ATTACH_PERF_STUB: its map `cookies`; -1: it asks for none */
	pid_t pid;      /* 0: every process of the file */
};

struct attach_probe {
	uint64_t off;  /* file offset */
	uint64_t addr; /* virtual address, for the caller */
	uint64_t cookie;
	const char *refused; /* filled: why the kernel refused this one, or NULL; static text */
};

#endif
