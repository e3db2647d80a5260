/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's structs p, one for each of GOMAXPROCS. Up to Go 1.21 only the runtime's code tells
 * their type; they hold numbers that were addresses of objects once. */
#ifndef PROCESSORS_INTERNAL_H
#define PROCESSORS_INTERNAL_H

struct object_walk;

/* Tells the walk what they are. */
void processors_find(struct object_walk *walk);

#endif
