/* SPDX-License-Identifier: Apache-2.0 */
/* Files by name, for target*.c only. */
#ifndef TARGET_FIND_INTERNAL_H
#define TARGET_FIND_INTERNAL_H

struct heldfile;
struct process;

/* A name without a slash: as bcc does, a library first, then a program; then a file right here.
 * NULL: none. */
struct heldfile *target_find_name(const char *name, const struct process *proc);

#endif
