/* SPDX-License-Identifier: Apache-2.0 */
/* A probe in a file that finds g by a word of its own, filled in when it is loaded: what the
 * attached cookie is the number of in map `tls_words`. Used by both sides. */
#ifndef TLS_WORD_H
#define TLS_WORD_H

struct tls_word {
	unsigned long long cookie; /* cookie.h's */
	unsigned long long addr;   /* of the probe, in the file */
	unsigned long long word;   /* address in the file: how far from fs g is, in bytes; 0: there
				    * is no such word, and TLS_G tells */
};

#endif
