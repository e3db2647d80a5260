/* SPDX-License-Identifier: Apache-2.0 */
/* Events that gotrace's kernel side has sent by fakekernel.h's ring, as text. */
#ifndef EVENTTEXT_H
#define EVENTTEXT_H

#include <stddef.h>
#include <stdint.h>

/* Writes each down (steps.h), and takes it: "ITEM HOW @TIME+LATENCY gGOID" and what else differs
 * from 0, `bias` and fakegoroutine.h's names and numbers; then its words, of those that nobody has
 * written "?", or "?N" of N in a row. */
void eventtext_all(uint64_t bias);
/* The same of words that are of no event, after "WHAT" */
void eventtext_words(const char *what, const uint64_t *words, size_t count);

#endif
