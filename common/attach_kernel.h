/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's calls behind attach.h, for attach*.c only. */
#ifndef ATTACH_KERNEL_H
#define ATTACH_KERNEL_H

#include <stddef.h>

struct attach_probe;
struct errmsg;

struct attach {
	int *fds;          /* links, and perf events beneath them */
	size_t count, cap; /* cap is mem_grow's */
};

void attach_keep(struct attach *at, int fd);
void attach_drop(struct attach *at); /* closes what is kept so far */

/* Each fills `at`. 0; -1 with *err when nothing can be attached at all. */
int attach_multi(struct attach *at, int prog_fd, const char *path, struct attach_probe *probes,
		 size_t count, struct errmsg *err);
int attach_perf(struct attach *at, int prog_fd, const char *path, struct attach_probe *probes,
		size_t count, bool cookies, struct errmsg *err);

bool attach_multi_supported(void);
bool attach_perf_cookie_supported(void);

/* Why the kernel refused one probe with this error, or NULL where the error is not the probe's. */
const char *attach_refusal(int error);
/* *err for an error that no other probe can escape. Returns -1. */
int attach_fail(struct errmsg *err, const char *path, int error);

#endif
