/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is opened once, and then read and probed through that descriptor: a path that leads
 * elsewhere later has no effect. Only regular files are opened, so no FIFO blocks and no device is
 * touched. Each byte is read once and copied, because the file may change, and what was checked
 * must stay as it was. */
#ifndef HELDFILE_H
#define HELDFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct errmsg;
struct fileroot;
struct heldfile;

/* `root` NULL: the tool's own view. The caller closes. NULL and *err, which names the path, if
 * there is no such file, no permission, or if it is not a regular file. */
struct heldfile *heldfile_open(struct fileroot *root, const char *path, struct errmsg *err);
struct heldfile *heldfile_share(struct heldfile *file); /* one more user, who closes it too */
void heldfile_close(struct heldfile *file);             /* NULL is all right */

const char *heldfile_path(const struct heldfile *file); /* as it is shown */
struct fileroot *heldfile_root(const struct heldfile *file);
int heldfile_fd(const struct heldfile *file);
/* What the kernel is to open in place of the path: "/proc/self/fd/7" */
const char *heldfile_link(const struct heldfile *file);
/* Where the kernel says that it stands, or stood before it was deleted; malloc'd. In a container,
 * as that sees it. NULL: not known. */
char *heldfile_place(const struct heldfile *file);
const struct stat *heldfile_then(const struct heldfile *file);        /* as it was opened */
bool heldfile_is(const struct heldfile *file, const struct stat *st); /* is that this file? */

uint64_t heldfile_size(const struct heldfile *file); /* bytes, as it was opened */
/* `len` bytes from file offset `off` on, in memory that stays valid until the file is closed. NULL
 * if the file ends before that, and once reading has failed. Only these bytes may be accessed. */
const void *heldfile_at(struct heldfile *file, uint64_t off, uint64_t len);
/* The same into the caller's memory, keeping nothing of what was not read before: for parts that
 * are copied anyway. */
bool heldfile_read(struct heldfile *file, uint64_t off, uint64_t len, void *out);
/* Could everything that was asked for be read? -1 with *err: the file was cut off meanwhile,
 * reading it would take more than HELDFILE_MAX bytes of memory, ... */
int heldfile_check(const struct heldfile *file, struct errmsg *err);

/* No known program needs a third of this; a file that is made to take all memory is refused here.
 */
enum { HELDFILE_MAX = 384 << 20 };

#endif
