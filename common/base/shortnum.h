/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for a narrow column: some three digits, and a unit that fits them. */
#ifndef SHORTNUM_H
#define SHORTNUM_H

enum { SHORTNUM = 16 };

/* Both return `out`. */
const char *shortnum_bytes(char out[SHORTNUM], double bytes); /* "512", "1.5K", "12M": of 1024 */
const char *shortnum_ns(char out[SHORTNUM], double ns);       /* "90ns", "1.5us", "12ms", "340s" */

#endif
