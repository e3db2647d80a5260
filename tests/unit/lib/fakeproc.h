/* SPDX-License-Identifier: Apache-2.0 */
/* A folder that looks like /proc and /sys/fs/cgroup. */
#ifndef FAKEPROC_H
#define FAKEPROC_H

/* The state becomes the folder's path; the teardown removes it. */
int fakeproc_setup(void **state);
int fakeproc_teardown(void **state);
/* A file there and the folders that lead to it; `@` in the text is the folder of all. */
void fakeproc_put(const char *dir, const char *name, const char *text);

#endif
