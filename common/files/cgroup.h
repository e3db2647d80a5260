/* SPDX-License-Identifier: Apache-2.0 */
/* A cgroup (version 2), by its folder. */
#ifndef CGROUP_H
#define CGROUP_H

struct errmsg;

/* A descriptor of it, which the caller closes; -1 with *err: there is none. */
int cgroup_open(const char *path, struct errmsg *err);

#endif
