/* SPDX-License-Identifier: Apache-2.0 */
/* The cgroups of processes as folders, of version 1, which has a hierarchy for each controller, and
 * of version 2, and what the kernel tells in their files. The files' names and meaning: the
 * kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/; mountinfo's fields: proc(5). */
#ifndef CGROUP_FOLDERS_INTERNAL_H
#define CGROUP_FOLDERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup_folders; /* where cgroups are mounted */

struct cgroup_folder {
	const char *path;
	bool v2;
	bool own; /* the process is in it, not only below */
};

typedef void cgroup_folder_fn(void *ctx, const struct cgroup_folder *folder);

/* Those that have this controller ("memory"), or, of version 2, may have it. `proc`: "/proc", or in
 * tests a folder like it. Never NULL; caller frees. */
struct cgroup_folders *cgroup_folders_new(const char *proc, const char *controller);
void cgroup_folders_free(struct cgroup_folders *folders); /* NULL is all right */
/* Those that the process is in, and all above them that can be seen from here, inner ones first;
 * none where it has ended. */
void cgroup_folders_each(const struct cgroup_folders *folders, pid_t pid, cgroup_folder_fn *fn,
			 void *ctx);

/* At most size - 1 bytes of a file, as text; "" where it cannot be read. */
void cgroup_read(const char *folder, const char *name, char *text, size_t size);
/* UINT64_MAX: the file says "max", or cannot be read. */
uint64_t cgroup_limit(const char *folder, const char *name);
/* The number after a word that begins a line; 0: there is none. */
uint64_t cgroup_value(const char *text, const char *word);

#endif
