/* SPDX-License-Identifier: Apache-2.0 */
/* A file that is read and probed, opened once: what names, links and mounts lead to later does not
 * matter to anybody who asks this module. Only regular files are opened: no FIFO is waited for, no
 * device is touched. What is read of it is copied into memory of the tool's own, each byte once:
 * files change while they are read, and what was measured must stay as it was. */
#ifndef HELDFILE_H
#define HELDFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct errmsg;
struct fileroot;
struct heldfile;

/* `root` NULL: the tool's own view. The caller closes. NULL and *err, which names the path: there
 * is none, a folder, no regular file, no permission. */
struct heldfile *heldfile_open(struct fileroot *root, const char *path, struct errmsg *err);
/* The same of an O_PATH descriptor, which is closed; `shown` is the path for messages. */
struct heldfile *heldfile_take(struct fileroot *root, int path_fd, const char *shown,
			       struct errmsg *err);
struct heldfile *heldfile_share(struct heldfile *file); /* one more user, who closes it too */
void heldfile_close(struct heldfile *file);             /* NULL is all right */

const char *heldfile_path(const struct heldfile *file); /* as it is shown */
struct fileroot *heldfile_root(const struct heldfile *file);
int heldfile_fd(const struct heldfile *file);
/* What the kernel is to open in place of the path: "/proc/self/fd/7" */
const char *heldfile_link(const struct heldfile *file);
const struct stat *heldfile_then(const struct heldfile *file);        /* as it was opened */
bool heldfile_is(const struct heldfile *file, const struct stat *st); /* is that this file? */

uint64_t heldfile_size(const struct heldfile *file); /* bytes, as it was opened */
/* `len` bytes from file offset `off` on, in memory that stays until the file is closed; NULL where
 * the file ends before, and once reading has failed. Only these bytes may be looked at. */
const void *heldfile_at(struct heldfile *file, uint64_t off, uint64_t len);
/* The same into the caller's memory, keeping nothing of what was not read before: for parts that
 * are copied anyway. */
bool heldfile_read(struct heldfile *file, uint64_t off, uint64_t len, void *out);
/* Could all be read that was asked for? -1 with *err: it was cut off meanwhile, it would take more
 * than HELDFILE_MAX bytes of memory, ... */
int heldfile_check(const struct heldfile *file, struct errmsg *err);

/* No program that is known takes a third of it; one that is made to take all that there is ends
 * here. */
enum { HELDFILE_MAX = 384 << 20 };

#endif
