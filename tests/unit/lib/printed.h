/* SPDX-License-Identifier: Apache-2.0 */
/* What the code under test prints to stdout. */
#ifndef PRINTED_H
#define PRINTED_H

/* From here on stdout is memory; */
void printed_begin(void);
/* ... until here. Returns the text, which the caller frees. */
char *printed_end(void);
/* ... or here, where the text has to be `want`. */
void printed_expect(const char *want);
/* What printed_end() has returned is to be `want`; it is freed. */
void printed_is(char *got, const char *want);

#endif
