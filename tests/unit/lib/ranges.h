/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as ranges in which one answer holds: "0-5 a, 6 b". For tests of whole tables. */
#ifndef RANGES_H
#define RANGES_H

/* Writes down (steps.h) "WHAT: " and, of each range of the numbers below `count` for which `answer`
 * gives a text, the range and that text. */
void ranges_are(const char *what, unsigned count, const char *(*answer)(void *ctx, unsigned number),
		void *ctx);

#endif
