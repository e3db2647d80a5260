/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WALL_INTERNAL_H
#define WALL_INTERNAL_H

struct sampling;

/* With off_cpu: runs to the end and returns the exit status. `label`: as struct samples'. */
int wall_run(const struct sampling *sampling, const char *label);

#endif
