/* SPDX-License-Identifier: Apache-2.0 */
/* The embedded headers as a folder, for a compiler that insists on reading a kernel tree. */
#ifndef HEADERTREE_H
#define HEADERTREE_H

struct errmsg;

/* Writes them into a new private folder below TMPDIR or /tmp, or /dev/shm or /run where that
 * cannot be written. Returns its path for headertree_remove(), or NULL with *err. */
char *headertree_create(struct errmsg *err);
void headertree_remove(char *dir); /* removes the folder and frees its path */

#endif
