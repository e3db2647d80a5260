/* SPDX-License-Identifier: Apache-2.0 */
/* A look at the numbers of one process, within what such a look may take. */
#ifndef STATLOOK_H
#define STATLOOK_H

struct goprocesses_one;
struct stats;
struct stats_reader;

/* In the process that reads. *reader: NULL at first, kept for the next look; the caller frees. */
void statlook(struct stats_reader **reader, const struct goprocesses_one *one, struct stats *out);

#endif
