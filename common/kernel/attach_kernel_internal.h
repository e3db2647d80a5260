/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's calls behind attach.h, for attach*.c only. */
#ifndef ATTACH_KERNEL_INTERNAL_H
#define ATTACH_KERNEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/attach_probe.h"

struct errmsg;
struct heldfile;

struct attach {
	struct attach_way way;
	int stub_array; /* stubs call the program through it while it is open; or -1 */
	struct heldfile *file;
	int *fds;          /* links, or perf events without a link */
	size_t count, cap; /* cap is mem_grow's */
	int *old_fds;      /* those before attach_again(), of no use any more */
	size_t old_count;
	/* with pid: the probes that the kernel took, for attach_again() */
	struct attach_probe *taken;
	size_t taken_count;
};

void attach_keep(struct attach *at, int fd);
void attach_drop(struct attach *at); /* closes what is kept so far, the last first */

/* Each fills `at`. 0; -1 with *err when nothing can be attached at all. */
int attach_multi(struct attach *at, struct attach_probe *probes, size_t count, struct errmsg *err);
int attach_perf(struct attach *at, struct attach_probe *probes, size_t count, struct errmsg *err);

/* A program for one probe, which leaves the probe's cookie in the map and makes a tail call to the
 * program in `array` (bpfcall_prog_array). A descriptor; -1 with errno. */
int attach_stub(const struct attach_way *way, int array, uint64_t cookie);
void attach_stub_room(void); /* before the first one */

/* Why the kernel refused one probe with this errno, or NULL where the cause is not the probe. */
const char *attach_refusal(int error);
/* Sets *err for an error that concerns all probes. Returns -1. */
int attach_fail(struct errmsg *err, const struct heldfile *file, int error);

#endif
