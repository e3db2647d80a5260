/* SPDX-License-Identifier: Apache-2.0 */
/* A run of goprofile: samples of what runs are taken, put together by stack, and shown. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

struct options;
struct options_tool;

struct sampling {
	const struct options_tool *tool;
	struct options *opts;
	uint32_t hz; /* samples a second on each CPU */
	bool folded;
	bool off_cpu;       /* the time of one process's goroutines, running or not */
	const char *cgroup; /* what runs in this one alone; NULL: anywhere */
	bool kernel;        /* the kernel's frames as well */
	bool labels;        /* and labels of goroutines ... */
	const char *label;  /* ... that with this key alone; NULL: all */
};

/* Runs to the end and returns the exit status. */
int sampling_run(const struct sampling *sampling);

#endif
