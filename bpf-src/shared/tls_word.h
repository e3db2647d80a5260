/* SPDX-License-Identifier: Apache-2.0 */
/* A probe in a file that finds g by a word which the dynamic linker fills in when it loads the
 * file. The attached cookie is the index of this entry in map `tls_words`. Used by both sides. */
#ifndef TLS_WORD_H
#define TLS_WORD_H

struct tls_word {
	unsigned long long cookie; /* cookie.h's */
	unsigned long long addr;   /* of the probe, in the file */
	unsigned long long word; /* its address in the file; it holds g's offset from fs, in bytes;
				    0: no such word, the offset is TLS_G */
};

#endif
