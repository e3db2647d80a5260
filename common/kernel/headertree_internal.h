/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded headers as a folder, for a compiler that insists on reading a kernel tree: in a file
 * system of its own that is mounted nowhere, so that nobody else finds it, and that goes away with
 * the process, however it ends. Where the kernel refuses one (it takes CAP_SYS_ADMIN), in a new
 * folder below /dev/shm, /run or /tmp, which is also removed if a signal ends the tool. */
#ifndef HEADERTREE_INTERNAL_H
#define HEADERTREE_INTERNAL_H

#include <stdbool.h>

struct errmsg;
struct headertree;

struct headertree *headertree_new(struct errmsg *err);     /* one at a time; NULL with *err */
const char *headertree_dir(const struct headertree *tree); /* for this process; the tree's */
bool headertree_has(const char *name);         /* is the embedded file of this name in it? */
void headertree_free(struct headertree *tree); /* removes it */

#endif
